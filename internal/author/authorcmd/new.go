package authorcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
	"github.com/openagentprotocol-OAP/oap-gate/registry/ondisk"
)

// newOptions are the flags of new.
type newOptions struct {
	recordFlags
	receipt, level string
	provisional    bool
	set            []string
}

func NewNew(sys frame.IO) *cobra.Command {
	var o newOptions
	c := &cobra.Command{
		Use:   "new SLUG TARGET",
		Short: "create a listing from published documents",
		Long: strings.TrimSpace(`
new fetches the Manifest, the Receipt and the DID Document of TARGET, verifies them, and writes
implementations/SLUG.json: name, DID, level, dates and hash as the documents say them, none typed by hand.
A target is` + strings.TrimPrefix(verify.Addresses, "a target is") + `.

It runs check on the file first and writes nothing if check fails (exit status 1). If check is inconclusive it writes
the file and exits with 3. It refuses a slug or a DID that the base, the present branch or the work tree lists.`),
		Example: `  oap-gate new my-agent https://agent.example
  oap-gate new my-agent did:web:agent.example --set license=Apache-2.0 \
    --set 'categories=["calendar"]'
  oap-gate new my-agent https://agent.example --dry-run`,
		Args: frame.Wants(2, "oap-gate new SLUG TARGET", "new requires a SLUG and a TARGET"),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), sys, args[0], args[1])
		},
	}
	o.bind(c)
	f := c.Flags()
	f.StringVar(&o.receipt, "receipt-uri", "", "`URL` of the Receipt (default: as the Manifest says)")
	f.StringVar(&o.level, "level", "", "conformance `LEVEL` (default: the highest that the Receipt claims)")
	f.BoolVar(&o.provisional, "provisional", false, "list as provisional, whatever the domain's age")
	f.StringArrayVar(&o.set, "set", nil,
		"set a member that no document has, as `MEMBER=VALUE`: "+strings.Join(unsigned, ", ")+" (repeatable)")
	return c
}

// unsigned are the members of a listing that no document says.
var unsigned = []string{"open_source", "license", "contact", "categories", "jurisdictions"}

// members reads --set. A value is JSON where it begins with [, { or a quote, or is true or false; else it is text.
func (o *newOptions) members() (map[string]any, error) {
	all := map[string]any{}
	for _, s := range o.set {
		name, text, found := strings.Cut(s, "=")
		_, twice := all[name]
		switch {
		case !found || !slices.Contains(unsigned, name):
			return nil, remedy.Errorf("set one of "+strings.Join(unsigned, ", ")+
				", as MEMBER=VALUE; the documents say all others",
				"--set %q does not name a member that can be set", s)
		case twice:
			return nil, remedy.Errorf("set it once", "--set %s is given twice", name)
		case !utf8.ValidString(text):
			return nil, remedy.Errorf("write it in UTF-8", "--set %s is not UTF-8", name)
		}
		all[name] = text
		if text == "true" || text == "false" || text != "" && strings.ContainsRune(`[{"`, rune(text[0])) {
			doc, err := strict.Parse("--set "+name, []byte(text), strict.RegistryFile)
			if err != nil {
				return nil, remedy.Errorf(`write JSON, such as 'categories=["calendar"]'`, "%v", err)
			}
			all[name] = doc.Root
		}
	}
	return all, nil
}

func (o *newOptions) run(ctx context.Context, sys frame.IO, slug, text string) error {
	path, err := listing.Path(slug)
	if _, wrong := listing.Path(text); wrong == nil && err != nil && sources.IsHTTPS(slug) {
		return remedy.Errorf("oap-gate new "+text+" "+plain.ShellWord(plain.Cut(slug, 200)), "%v", err)
	}
	if err != nil {
		return err
	}
	if checks.IsDevice(slug) {
		return remedy.Errorf("choose another slug",
			"slug %q is the name of a device on some systems, where no clone could "+"hold it", slug)
	}
	target, err := verify.ParseTarget(text, false)
	if err != nil {
		return remedy.Errorf(verify.FormsOf(text, verify.Addresses), "%v", err)
	}
	target.ReceiptURI = o.receipt
	more, err := o.members()
	if err != nil {
		return err
	}
	if err := listable(o.level); err != nil {
		return err
	}
	if o.AsksNobody() {
		return remedy.Errorf("leave --offline out",
			"new fetches the documents that are served, and --offline forbids it")
	}
	if err := o.check(); err != nil {
		return err
	}
	w, err := o.open(ctx, sys)
	if err != nil {
		return err
	}
	defer w.close()
	return o.list(ctx, sys, w, slug, path, target, listing.From{Slug: slug, Level: level.Level(o.level),
		Provisional: o.provisional, More: more})
}

// list makes the listing and writes it.
func (o *newOptions) list(ctx context.Context, sys frame.IO, w *workspace, slug, path string,
	target verify.Target, from listing.From) error {
	renew := "renew it: oap-gate renew " + slug
	st, err := w.standing(ctx)
	if err != nil {
		return err
	}
	if l := st.BySlug(slug); l != nil {
		return refusef("if it is yours, "+renew+"; if not, choose another slug", "the slug %s is listed, for %s", slug,
			l.ToolDID)
	}
	if err := allowed(st.Schemas.Of(registry.KindListing), from.More); err != nil {
		return err
	}
	if err := allowsDID(st.Schemas.Of(registry.KindListing), target.DID); err != nil {
		return err
	}
	unmerged := func(slug string) string {
		_, _, ofClone := w.fromHere("")
		return fmt.Sprintf("not merged yet: run oap-gate check --worktree --fix%s, or remove %s/%s.json and run new "+
			"again", ofClone, registry.KindListing.Directory(), slug)
	}
	if _, err := w.read(ctx, path); !errors.Is(err, fs.ErrNotExist) {
		return author.Unwritten(cmp.Or(err, fmt.Errorf("%q: %w", path, fs.ErrExist)), unmerged(slug))
	}
	pending, err := o.unmerged(ctx, w)
	if err != nil {
		return err
	}
	for _, l := range pending {
		if l.Slug == slug || l.path == path {
			return remedy.Errorf(unmerged(listing.SlugOf(l.path)),
				"the present branch or the work tree lists %s in %q, and nothing is overwritten", slug, l.path)
		}
	}
	found, err := verify.Verify(ctx, w.src, target, &verify.Config{Tool: frame.Version(), Standing: st,
		Clone: &verify.Clone{Repo: w.repo, Commit: w.base, Chosen: w.how}, Local: o.Local()})
	if err != nil {
		return err
	}
	if err := o.unlistable(sys, found); err != nil {
		return err
	}
	manifest, receipt := found.Facts.Manifest, found.Facts.Receipt.Value
	from.ToolDID, from.ManifestURI, from.ReceiptURI = did.Spelling(manifest.Value.ToolDID), found.ManifestURI,
		found.ReceiptURI
	from.ReceiptSHA256, from.Receipt = found.Facts.ReceiptText.Value.SHA256, receipt
	if at := manifest.From; len(at) > 0 && sameHost(at[0].FinalURL, from.ManifestURI) {
		from.ManifestURI = at[0].FinalURL
	}
	if same := st.ByDID(from.ToolDID); len(same) > 0 {
		listed := listing.SlugOf(same[0].Path)
		return refusef("renew it: oap-gate renew "+listed, "%s is listed as %s", from.ToolDID, listed)
	}
	for _, l := range pending {
		if did.Alike(l.ToolDID, from.ToolDID) {
			listed := listing.SlugOf(l.path)
			return refusef(unmerged(listed)+"; once it is merged: oap-gate renew "+plain.ShellWord(listed),
				"%s is listed as %s on the present branch or in the work tree", from.ToolDID, listed)
		}
	}
	if err := allowsDID(st.Schemas.Of(registry.KindListing), from.ToolDID); err != nil {
		return err
	}
	if top := listing.Highest(receipt.ClaimedLevels); from.Level == "" && top.Base() < 0 {
		return refusef("attest at one of L0 to L5", "the Receipt claims %q, which is not a level of a listing", top)
	}
	draft := listing.Draft(from).Document.Data
	rep, err := o.judgeText(ctx, w, path, draft)
	if err != nil {
		return err
	}
	young := findingOf(rep, path, checks.SetProvisional)
	if young != nil && !from.Provisional {
		until, _, _ := strings.Cut(young.Fix, ";")
		if young.RetryAt.IsZero() { // no date of registration is known
			until = "renew drops it once the DID has been in the registry for 30 days"
		}
		fmt.Fprintf(sys.Stderr, "provisional is set: %s; %s\n", foreign.Line(young.Message), foreign.Line(until))
		from.Provisional = true
		draft = listing.Draft(from).Document.Data
		if rep, err = o.judgeText(ctx, w, path, draft); err != nil {
			return err
		}
	}
	if err := o.allow(sys, w, rep, path, "nothing is written"); err != nil {
		return err
	}
	if o.dryRun {
		return o.shown(sys, w, string(draft), rep)
	}
	if err := w.tree.Create(path, draft); err != nil {
		return author.Unwritten(err, unmerged(slug))
	}
	return o.written(sys, w, proposal{path, "list-" + slug, "List " + slug}, rep)
}

// allowed refuses values of --set that the schema of listings refuses; a nil schema refuses none. It names the form
// that would pass if that is the same value as an array, as its only element, or as text.
func allowed(s *schema.Schema, more map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(more)) {
		v := refused(s, name, more[name])
		if v == nil {
			continue
		}
		forms := []any{[]any{more[name]}}
		switch value := more[name].(type) {
		case []any:
			if len(value) == 1 {
				forms = []any{value[0]}
			}
		case bool:
			forms = append(forms, strconv.FormatBool(value))
		}
		fix := "set a value as that requires; oap-gate schema listing shows the schema"
		for _, form := range forms {
			if text, err := json.Marshal(form); err == nil && refused(s, name, form) == nil {
				fix = "--set " + plain.ShellWord(name+"="+string(text))
				break
			}
		}
		return remedy.Errorf(fix, "--set %s: %s", name, v.Message)
	}
	return nil
}

// refused returns why a schema refuses a value of a member, nil if it does not; a nil schema refuses none.
func refused(s *schema.Schema, name string, value any) *schema.Violation {
	if s == nil {
		return nil
	}
	for _, v := range s.Validate(map[string]any{name: value}) {
		if v.Pointer == "/"+name || strings.HasPrefix(v.Pointer, "/"+name+"/") {
			return &v
		}
	}
	return nil
}

// allowsDID refuses a DID that is not empty and that the schema of listings refuses, such as a did:web with a port.
func allowsDID(s *schema.Schema, id string) error {
	v := refused(s, "tool_did", id)
	if v == nil || id == "" {
		return nil
	}
	fix := "use a did:web or a did:key that the listing schema allows"
	if d, err := did.Parse(id); err == nil && d.Method == "web" && strings.Contains(id, "%") {
		fix = "use a did:web without a port; the listing schema does not allow one"
	}
	return refusef(fix, "no listing can have the DID %q: %s", id, v.Message)
}

// placed is a listing with the path of its file.
type placed struct {
	*registry.Listing
	path string
}

// unmerged returns the listings that the base does not hold: those that the present branch adds, and those on disk that
// differ from it. What cannot be read as a listing is left out.
func (o *recordFlags) unmerged(ctx context.Context, w *workspace) ([]placed, error) {
	repo, err := registry.Open(o.repo) // a work tree is read once from a repository that is open
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	if _, err := repo.Resolve("HEAD"); err != nil { // a branch without commits lists nothing
		return nil, nil
	}
	head, err := repo.Tree(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	var all []placed
	for e, err := range head.Entries(registry.KindListing) {
		if err != nil {
			return nil, err
		}
		if head.Commit() == w.at.Commit() {
			break // the tree of the base, which may be large
		}
		was, err := w.at.Leaf(e.Path)
		if err != nil {
			return nil, err
		}
		if was != nil {
			continue // the base's listing of the slug decides, also if another owner took it meanwhile
		}
		l, err := head.Listing(ctx, e.Path)
		if err != nil {
			return nil, err
		}
		if l != nil {
			all = append(all, placed{l, e.Path})
		}
	}
	if w.tree == nil {
		return all, nil
	}
	for _, path := range ondisk.Uncommitted(ctx, repo) {
		text, err := w.tree.Read(path)
		if err != nil || registry.KindOf(path) != registry.KindListing {
			continue
		}
		if doc, err := strict.Parse(path, text, strict.RegistryFile); err == nil {
			all = append(all, placed{registry.ParseListing(&registry.Record{Path: path, Document: doc}), path})
		}
	}
	return all, nil
}

// listable refuses a --level that no listing can have.
func listable(text string) error {
	if text != "" && level.Level(text).Base() < 0 {
		return remedy.Errorf("use one of L0 to L5, L1-NC, L3-NC, L5-FINANCE, L5-ORG",
			"--level %q is not a level of a listing", text)
	}
	return nil
}

// decisiveSteps are the steps of verify that a listing cannot pass without, and whether no listing can be made without
// a decision of the step: the others may be undecided, which check then says.
var decisiveSteps = map[string]bool{"manifest": true, "receipt-discovery": true, "receipt-fetch": true, "schema": true,
	"validity": false, "identity": false, "signature": false, "claims": false}

// unlistable says why a listing of a target could never pass, nil where it could.
func (o *newOptions) unlistable(sys frame.IO, found *verify.Result) error {
	return o.refuseSteps(sys, found, "nothing is written, since such a listing cannot pass",
		"nothing is written, since nothing was decided", func(s verify.Step) bool {
			needed, decisive := decisiveSteps[s.Step]
			named := s.Step == "receipt-discovery" && o.receipt != ""
			return decisive && !named && (needed || s.Verdict == verdict.Failed)
		})
}

// refuseSteps refuses a target for the first of the steps that count and failed, and else for the first that decided
// nothing: cannot and open say so. It prints the other steps that failed.
func (o *recordFlags) refuseSteps(sys frame.IO, found *verify.Result, cannot, open string,
	counts func(verify.Step) bool) error {
	var refused, unsure error
	for _, s := range found.Steps {
		fix, code := o.verifyCommand(found.Target), ""
		if len(s.Findings) > 0 {
			fix, code = cmp.Or(s.Findings[0].Fix, fix), " ["+s.Findings[0].Code+"]"
		}
		switch {
		case !counts(s):
		case s.Verdict == verdict.Inconclusive:
			unsure = cmp.Or(unsure, inconclusivef(fix, "%s: %s: %s", open, s.Step, s.Error))
		case s.Verdict == verdict.Failed && refused == nil:
			refused = refusef(fix, "%s: %s: %s%s", cannot, s.Step, s.Error, code)
		case s.Verdict == verdict.Failed:
			fmt.Fprintf(sys.Stderr, "and %s: %s\n", s.Step, foreign.Line(s.Error))
		}
	}
	return cmp.Or(refused, unsure)
}

// verifyCommand returns the fix that shows all steps of a target.
func (o *recordFlags) verifyCommand(target string) string {
	return "oap-gate verify --registry " + plain.ShellWord(o.repo) + " " + plain.ShellWord(target) + " shows each step"
}

// sameHost reports whether two URLs have the same host.
func sameHost(a, b string) bool {
	one, unreadable := url.Parse(a)
	other, err := url.Parse(b)
	return cmp.Or(unreadable, err) == nil && one.Host != "" && strings.EqualFold(one.Host, other.Host)
}
