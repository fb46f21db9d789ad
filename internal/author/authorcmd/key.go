package authorcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/usergit"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
)

func NewKey(sys frame.IO) *cobra.Command {
	c := &cobra.Command{
		Use:   "key",
		Short: "create an Ed25519 key, or show its public half",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				// What was given is not repeated: it may be a key.
				return remedy.Errorf("oap-gate key new FILE, or oap-gate key show FILE",
					"key requires the command new or show")
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newKeyNew(sys), newKeyShow(sys))
	return c
}

func newKeyNew(sys frame.IO) *cobra.Command {
	var origin string
	c := &cobra.Command{
		Use:   "new FILE",
		Short: "create an Ed25519 key in a new file",
		Long: `new writes a new Ed25519 key as PKCS #8 PEM to FILE, which only its owner may read. It overwrites
nothing, and refuses a FILE in a Git work tree whose repository does not ignore it. Keep a copy where
you keep secrets: nothing can restore it.

With --origin it makes the key of a registry's log instead, and prints the verifier key to publish.`,
		Example: "  oap-gate key new ~/oap.pem\n  oap-gate key show ~/oap.pem --did did:web:tool.example\n" +
			"  oap-gate key new log.key --origin registry.example.org/oap/log",
		Args: frame.Wants(1, "oap-gate key new FILE", "oap-gate key new requires one FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == signing.Stdin {
				return remedy.Errorf("name a file", "a private key is never printed, so - is not accepted here")
			}
			written := func(err error) error {
				if errors.Is(err, fs.ErrExist) {
					return remedy.Errorf("choose a file that does not exist; overwriting a key destroys it", "%v", err)
				}
				return typed.Unwritten(err)
			}
			if origin != "" {
				verifier, err := signing.WriteLogKey(args[0], origin)
				if err != nil {
					return written(err)
				}
				fmt.Fprintln(sys.Stdout, verifier)
				fmt.Fprintln(sys.Stderr, "next: publish this verifier key where readers of the registry find it")
				return nil
			}
			k, err := signing.New()
			if err != nil {
				return remedy.With(err, "run it again")
			}
			defer k.Wipe()
			if err := k.WriteFile(args[0]); err != nil {
				return written(err)
			}
			fmt.Fprintln(sys.Stdout, foreign.Line(args[0]))
			fmt.Fprintf(sys.Stderr, "the public half is %s\n", k.DID())
			printNext(sys, "oap-gate key show "+plain.ShellWord(args[0])+" --did DID --offline")
			return nil
		},
	}
	c.Flags().StringVar(&origin, "origin", "", "origin `NAME`; the key is that of a log with this name")
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "log" { // the flag's former name, in the scripts of those who run a log
			name = "origin"
		}
		return pflag.NormalizedName(name)
	})
	return c
}

// keyFlags say which key signs.
type keyFlags struct{ key, keyID string }

func (k *keyFlags) bind(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&k.key, "key", "", "`FILE` of the private key that signs: PKCS #8 PEM, a JWK or a Multikey; - is stdin")
	f.StringVar(&k.keyID, "key-id", "", "`ID` of the key's verification method (default: the one in the DID Document)")
}

// readKey reads a private key, which the caller wipes, and warns if others may read it too, or if it may be committed.
// It refuses a published key.
func readKey(sys frame.IO, file string) (*signing.Key, error) {
	k, warning, err := signing.Read(file, sys.Stdin)
	if err != nil {
		return nil, sys.KeyFix(file, err)
	}
	warnOfKey(sys, file, warning)
	if where := k.Published(); where != "" {
		k.Wipe()
		return nil, refuseCode(did.CodePublished, "make a new key: oap-gate key new FILE", "the key is published: its "+
			"private half is in %s, so anyone can sign with it", where)
	}
	return k, nil
}

// codeInWorktree is the code of a warning.
const codeInWorktree = "key-in-worktree"

// warnOfKey prints a warning that reading a private key gave, and warns of a file that could be committed.
func warnOfKey(sys frame.IO, file, warning string) {
	if warning != "" {
		frame.Warn(sys, "%s", warning)
	}
	if file == signing.Stdin {
		return
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // a link is committed as its target's name
	}
	at, err := usergit.Locate(file)
	switch {
	case at.Root == "" || at.InGit || at.Ignored:
	case err != nil:
		warnCode(sys, codeInWorktree, "the key's file lies in the Git work tree %s, and what that ignores cannot be "+
			"read: %v", at.Root, err)
	default:
		warnCode(sys, codeInWorktree, "the key's file lies in the Git work tree %s, which does not ignore %s: move it "+
			"out, or ignore it", at.Root, at.Path)
	}
}

// warnCode warns of a finding, which explain knows by its code.
func warnCode(sys frame.IO, code, format string, args ...any) {
	frame.Warn(sys, "%s [%s]", fmt.Sprintf(format, args...), code)
}

// refuseCode refuses for a finding, which explain knows by its code.
func refuseCode(code, fix, format string, args ...any) error {
	return refusef(fix, "%s [%s]", fmt.Sprintf(format, args...), code)
}

// SigningCodes explain the codes of what the commands that sign refuse or warn of.
var SigningCodes = []checks.Code{
	{ID: codeInWorktree, Meaning: "the file of a private key lies in a Git work tree that does not ignore it",
		Fix: "move the file out of the work tree, or add it to .gitignore before the next commit"},
	did.PublishedKey,
	{ID: codeIsReceipt, Meaning: "the Receipt has a member of a revocation at its root, so that a witness's " +
		"signature could serve for both",
		Fix: "have the implementation sign a Receipt without slug, reason, revoked_at and the like"},
	{ID: codeResultsDiffer, Meaning: "the results at results_uri are not those of which the Receipt has the hash and " +
		"the summary", Fix: "have the implementation publish the results that it signed, or sign a new Receipt"},
}

// keyShow are the flags of key show.
type keyShow struct {
	frame.Network
	did, id string
}

func newKeyShow(sys frame.IO) *cobra.Command {
	var o keyShow
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "show the public half of a key and its verification method",
		Long: `show prints the public half of the key in FILE (- is stdin), private or public, as did:key, as Multikey, as JWK,
and as a verificationMethod to paste into a DID Document. Its id ends in #key-1, under which the suite's attest.js signs;
--key-id chooses another. With --did it says which method of the served document the key is; exit status 1 if it is not among
them. The private half is never printed.`,
		Example: "  oap-gate key show ~/oap.pem\n  oap-gate key show ~/oap.pem --did did:web:tool.example\n" +
			"  pass oap-key | oap-gate key show -",
		Args: frame.Wants(1, "oap-gate key show FILE", "oap-gate key show requires one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			k, private, warning, err := signing.ReadPublic(args[0], sys.Stdin)
			if err != nil {
				return sys.KeyFix(args[0], err)
			}
			if private {
				warnOfKey(sys, args[0], warning)
			}
			if where := k.Published(); where != "" {
				warnCode(sys, did.CodePublished, "the private half of the key is in %s, so anyone can sign with it; "+
					"make a new key: oap-gate key new FILE", where)
			}
			if err := o.show(cmd.Context(), sys, args[0], k); err != nil || o.did == "" || !private {
				return err
			}
			o.next(sys, args[0])
			return nil
		},
	}
	o.Network.Bind(c.Flags(), "1m")
	o.Network.BindLocal(c.Flags())
	c.Flags().StringVar(&o.did, "did", "", "`DID` of the implementation; its document should have the key")
	c.Flags().StringVar(&o.id, "key-id", "", "`ID` of the key's verification method; its fragment (default "+
		attested+")")
	return c
}

func (o *keyShow) check() error {
	if o.Record != "" {
		return remedy.Errorf("leave it out", "key show keeps no bundle: --record %q", o.Record)
	}
	if strings.ContainsFunc(o.id, func(r rune) bool { return !unreserved(r) }) {
		return remedy.Errorf("use letters, digits, - . _ ~, such as key-1", "--key-id %q is not a fragment", o.id)
	}
	return cmp.Or(checkDID(o.did), o.Network.Check())
}

// checkDID refuses a --did that is not one.
func checkDID(id string) error {
	if _, err := did.Parse(id); id != "" && err != nil {
		return remedy.Errorf("write it like did:web:tool.example", "--did: %v", err)
	}
	return nil
}

// unreserved reports whether a rune needs no escape in a URL (RFC 3986 section 2.3).
func unreserved(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-._~", r))
}

func (o *keyShow) show(ctx context.Context, sys frame.IO, file string, k *signing.Key) error {
	id, method := o.did, ""
	var doc *did.Document
	var verdictOf error
	switch {
	case o.did != "" && !o.AsksNobody():
		src, stop, err := o.Source(sys, nil)
		if err != nil {
			return err
		}
		method, doc, verdictOf = (&keyFlags{key: file}).methodOf(ctx, src, o.did, k)
		stop()
		reportTrial(sys, o.Local())
	case o.did == "":
		id = "did:web:tool.example"
		fmt.Fprintln(sys.Stderr, "note: did:web:tool.example is an example DID; give yours with --did")
	default:
		fmt.Fprintln(sys.Stderr, "note: offline, so that the DID Document was not looked at")
	}
	paste := method
	if paste == "" {
		paste = o.free(sys, doc, id)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "did:key   %s\n", k.DID())
	fmt.Fprintf(&b, "Multikey  %s\n", k.Multikey())
	fmt.Fprintf(&b, "JWK       {\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"%s\"}\n", k.X())
	if method != "" {
		fmt.Fprintf(&b, "method    %s\n", foreign.Line(method))
	}
	fmt.Fprintf(&b, "verificationMethod\n{\n  \"id\": %s,\n  \"type\": \"Multikey\",\n"+
		"  \"controller\": %s,\n  \"publicKeyMultibase\": %q\n}\n",
		listing.Quote(paste), listing.Quote(id), k.Multikey())
	if _, err := sys.Stdout.Write([]byte(b.String())); err != nil {
		return err
	}
	return verdictOf
}

// next prints the command that signs with the key. A key that no DID Document was seen to have is tried first.
func (o *keyShow) next(sys frame.IO, file string) {
	local := report.LocalFlags(o.Local())
	if d, err := did.Parse(o.did); err == nil && d.Method == "web" && o.AsksNobody() && local == "" {
		local = " --local " + d.Host() + "=DIR"
	}
	printNext(sys, "oap-gate sign RECEIPT --key "+plain.ShellWord(file)+local+" --in-place")
}

// attested is the one fragment under which the suite's attest.js signs.
const attested = "key-1"

// free returns an id for the key's verification method that no other key has in the document, which is nil if none was
// read: the fragment that was asked for, else the first free key-N.
func (o *keyShow) free(sys frame.IO, doc *did.Document, id string) string {
	taken := func(method string) bool {
		if doc == nil {
			return false
		}
		_, usable := doc.Key(method)
		return usable || slices.ContainsFunc(doc.Over, func(over did.Over) bool { return over.ID == method })
	}
	first := id + "#" + cmp.Or(o.id, attested)
	if !taken(first) {
		return first
	}
	for n := 2; ; n++ {
		if method := fmt.Sprintf("%s#key-%d", id, n); !taken(method) {
			fmt.Fprintf(sys.Stderr, "note: %s is another key; sign with: oap-gate sign RECEIPT --key FILE "+
				"--key-id %s\n", foreign.Line(first), foreign.Line(method))
			return method
		}
	}
}

// methodOf fetches the DID Document of a DID, and returns it and the verification method that the key has in it; the
// document is nil if it could not be fetched.
func (k *keyFlags) methodOf(ctx context.Context, src evidence.Source, id string, key *signing.Key) (string,
	*did.Document, error) {
	doc, err := documentOf(ctx, src, id)
	if err != nil {
		return "", nil, err
	}
	by, err := k.methodIn(doc, id, key)
	return by, doc, err
}

// methodIn returns the verification method that the key has in a DID Document, which must be that of --key-id if it is
// given. If it has no method there, the error is a judgment.
func (k *keyFlags) methodIn(doc *did.Document, id string, key *signing.Key) (string, error) {
	if named, known := doc.Key(k.keyID); k.keyID != "" {
		switch {
		case !known:
			return "", refusef("leave --key-id out, or name one of: "+keyIDs(doc),
				"the DID Document of %s has no usable Ed25519 key %q", id, k.keyID)
		case !named.Public.Equal(key.Public()):
			return "", refusef("sign with the key of "+named.ID+", or leave --key-id out",
				"the method %q of %s is another key than the one that was given", named.ID, id)
		}
		return named.ID, nil
	}
	for _, known := range doc.Keys {
		if known.Public.Equal(key.Public()) {
			return known.ID, nil
		}
	}
	for _, over := range doc.Over {
		if over.Public.Equal(key.Public()) {
			return "", refusef("sign with a key that is in use", "the key is the method %q of %s, which has ended (%s)",
				over.ID, id, over.Why)
		}
	}
	fix := "publish what oap-gate key show " + plain.ShellWord(k.key) + " --did " + id + " prints"
	if len(doc.Keys) > 0 {
		fix = fmt.Sprintf("sign with the key %.200s that did.json has, or %s", doc.Keys[0].ID, fix)
	}
	return "", refusef(fix,
		"the key is not among the usable Ed25519 keys in the DID Document of %s, which has %d", id, len(doc.Keys))
}

// keyIDs returns the first of a document's usable keys: a stranger chooses how many there are and how long their ids
// are.
func keyIDs(doc *did.Document) string {
	var ids []string
	for _, k := range doc.Keys[:min(5, len(doc.Keys))] {
		ids = append(ids, fmt.Sprintf("%.200s", k.ID))
	}
	return strings.Join(ids, ", ")
}

// otherKey is the fix of a DID Document with a published key.
const otherKey = "make a new key: oap-gate key new FILE, and publish its public part instead"

// documentOf fetches the DID Document of a DID. If it does not exist, the error is a judgment; if it could not be
// fetched, it is not.
func documentOf(ctx context.Context, src evidence.Source, id string) (*did.Document, error) {
	doc, _ := evidence.NewCollector(ctx, src, nil).DIDDocument(id, src.Now())
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch {
	case doc.State == evidence.Obtained:
		return doc.Value, nil
	case doc.State.Open():
		return nil, inconclusivef(doc.Retry(src.Now()).Fix, "the DID Document of %s could not be fetched: %s", id,
			doc.Message)
	case doc.Code == did.CodePublished:
		return nil, refuseCode(doc.Code, otherKey, "%s", doc.Message)
	}
	return nil, refusef("serve the DID Document, and see: oap-gate explain did-resolution",
		"%s has no DID Document to rely on: %s", id, doc.Message)
}
