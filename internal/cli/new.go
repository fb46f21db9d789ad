package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// newOptions are the flags of new.
type newOptions struct {
	recordFlags
	receipt, level string
	provisional    bool
	set            []string
}

func newNew(sys IO) *cobra.Command {
	var o newOptions
	c := &cobra.Command{
		Use:   "new SLUG TARGET",
		Short: "make the listing of an implementation out of what it serves",
		Long: strings.TrimSpace(`
new fetches the Manifest, the Receipt and the DID Document of TARGET, verifies them, and writes
implementations/SLUG.json: name, DID, level, dates and hash as the documents say them, none typed by hand.
` + verify.Addresses + `.

What could never pass is refused: a Receipt that violates its schema, is another implementation's, or carries no
signature of its own that verifies; a slug or a DID that is listed.`),
		Example: `  oap-gate new my-agent https://agent.example
  oap-gate new my-agent did:web:agent.example --set license=Apache-2.0 --set 'categories=["calendar"]'
  oap-gate new my-agent https://agent.example --dry-run`,
		Args: wants(2, "oap-gate new SLUG TARGET", "new wants a slug and a target"),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), sys, args[0], args[1])
		},
	}
	o.bindAll(c)
	return c
}

func (o *newOptions) bindAll(c *cobra.Command) {
	o.bind(c)
	f := c.Flags()
	f.StringVar(&o.receipt, "receipt", "", "where the Receipt is (default: where the Manifest says)")
	f.StringVar(&o.level, "level", "", "level to list (default: the highest that the Receipt claims)")
	f.BoolVar(&o.provisional, "provisional", false, "list as provisional, whatever the domain's age")
	f.StringArrayVar(&o.set, "set", nil,
		"a member that no document says, `MEMBER=VALUE`: "+strings.Join(unsigned, ", ")+"; repeatable")
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
			return nil, usagef("set one of "+strings.Join(unsigned, ", ")+
				", as MEMBER=VALUE; all others are what documents say",
				"--set %q sets none of the members that no document says", s)
		case twice:
			return nil, usagef("set it once", "--set %s stands twice", name)
		case !utf8.ValidString(text):
			return nil, usagef("write it in UTF-8", "--set %s is no UTF-8", name)
		}
		all[name] = text
		if text == "true" || text == "false" || text != "" && strings.ContainsRune(`[{"`, rune(text[0])) {
			doc, err := strict.Parse("--set "+name, []byte(text), strict.RegistryFile)
			if err != nil {
				return nil, usagef(`write JSON, such as 'categories=["calendar"]'`, "%v", err)
			}
			all[name] = doc.Root
		}
	}
	return all, nil
}

func (o *newOptions) run(ctx context.Context, sys IO, slug, text string) error {
	path, err := listing.Path(slug)
	if err != nil {
		return unwritten(err, "")
	}
	if checks.IsDevice(slug) {
		return usagef("choose another slug", "slug %q is the name of a device on some systems, where no clone could "+
			"hold it",
			slug)
	}
	target, err := verify.ParseTarget(text, false)
	if err != nil {
		return usagef(verify.Addresses, "%v", err)
	}
	target.ReceiptURI = o.receipt
	more, err := o.members()
	if err != nil {
		return err
	}
	if err := listable(o.level); err != nil {
		return err
	}
	if o.offline {
		return usagef("leave --offline out",
			"a listing is made of the documents that are served, and --offline forbids to fetch them")
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
func (o *newOptions) list(ctx context.Context, sys IO, w *workspace, slug, path string,
	target verify.Target, from listing.From) error {
	renew := "renew it: oap-gate renew " + slug
	st, err := w.standing(ctx)
	if err != nil {
		return err
	}
	if st.BySlug(slug) != nil {
		return refusef(renew, "%s is listed", slug)
	}
	if _, err := w.read(ctx, path); !errors.Is(err, fs.ErrNotExist) {
		return unwritten(cmp.Or(err, fmt.Errorf("%q: %w", path, fs.ErrExist)), renew)
	}
	found, err := verify.Verify(ctx, w.src, target, &verify.Config{Tool: version(), Standing: st,
		Clone: &verify.Clone{Repo: w.repo, Commit: w.base, Chosen: w.how}})
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
		listed := strings.TrimSuffix(strings.TrimPrefix(same[0].Path, registry.KindListing.Folder()+"/"), ".json")
		return refusef("renew it: oap-gate renew "+listed, "%s is listed as %s", from.ToolDID, listed)
	}
	if top := listing.Highest(receipt.ClaimedLevels); from.Level == "" && top.Base() < 0 {
		return refusef("attest at one of L0 to L5", "the Receipt claims %q, which is no level of a listing", top)
	}
	draft := listing.Draft(from).Document.Data
	if !from.Provisional {
		rep, err := o.judgeText(ctx, w, path, draft)
		if err != nil {
			return err
		}
		if f := findingOf(rep, path, checks.DomainTooYoung, checks.DomainAgeUnknown); f != nil {
			until, _, _ := strings.Cut(f.Fix, ";")
			if f.Code == checks.DomainAgeUnknown {
				until = "renew drops it once the DID has stood in the registry for 30 days"
			}
			fmt.Fprintf(sys.Stderr, "provisional is set: %s; %s\n", plain.Line(f.Message), plain.Line(until))
			from.Provisional = true
			draft = listing.Draft(from).Document.Data
		}
	}
	if o.dryRun {
		_, err := sys.Stdout.Write(draft)
		return errors.Join(err, o.save(w))
	}
	if err := w.tree.Create(path, draft); err != nil {
		return unwritten(err, renew)
	}
	return o.written(ctx, sys, w, proposal{path, "list-" + slug, "List " + slug})
}

// listable refuses a --level that no listing can have.
func listable(text string) error {
	if text != "" && level.Level(text).Base() < 0 {
		return usagef("use one of L0 to L5, L1-NC, L3-NC, L5-FINANCE, L5-ORG", "--level %q is no level of a listing",
			text)
	}
	return nil
}

// decisiveSteps are the steps of verify without which no listing can be made, or none that ever passes.
var decisiveSteps = []string{"manifest", "receipt-discovery", "receipt-fetch", "schema", "identity", "signature"}

// unlistable says why a listing of a target could never pass, nil where it could.
func (o *newOptions) unlistable(sys IO, found *verify.Result) error {
	var refused, unsure error
	for _, s := range found.Steps {
		fails := s.Verdict == verdict.Failed || s.Verdict == verdict.Inconclusive
		named := s.Step == "receipt-discovery" && o.receipt != ""
		if !fails || named || !slices.Contains(decisiveSteps, s.Step) {
			continue
		}
		fix := "see what was found: oap-gate verify " + found.Target
		if len(s.Findings) > 0 {
			fix = cmp.Or(s.Findings[0].Fix, fix)
		}
		err := refusef(fix, "nothing is written, since such a listing cannot pass: %s: %s", s.Step, s.Error)
		if s.Verdict == verdict.Inconclusive {
			unsure = cmp.Or(unsure, inconclusivef(fix,
				"nothing is written, since nothing was decided: %s: %s", s.Step, s.Error))
			continue
		}
		if refused != nil {
			fmt.Fprintf(sys.Stderr, "and %s: %s\n", s.Step, plain.Line(s.Error))
			continue
		}
		refused = err
	}
	return cmp.Or(refused, unsure)
}

// sameHost reports whether two URLs have the same host.
func sameHost(a, b string) bool {
	one, err := url.Parse(a)
	if err != nil || one.Host == "" {
		return false
	}
	other, err := url.Parse(b)
	return err == nil && strings.EqualFold(one.Host, other.Host)
}
