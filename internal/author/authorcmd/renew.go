package authorcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// renewOptions are the flags of renew.
type renewOptions struct {
	recordFlags
	receipt, level string
	all            bool
	within         time.Duration
}

func NewRenew(sys frame.IO) *cobra.Command {
	var o renewOptions
	c := &cobra.Command{
		Use:   "renew SLUG | --all",
		Short: "update a listing to its implementation's new Receipt",
		Long: strings.TrimSpace(`
renew edits implementations/SLUG.json in place: the hash, the dates and the URI of the Receipt that the Manifest names
now, and name, level and provisional if they must change. Every other byte stays. It runs check on the
result first and changes nothing if check fails (exit status 1), for example because the Receipt is pinned already, is
not newer, has expired, or is another DID's. If check is inconclusive it writes the file and exits with 3.

With --all it lists what is due and changes nothing.`),
		Example: `  oap-gate renew my-agent
  oap-gate renew my-agent --dry-run
  oap-gate renew --all --within 14d`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case o.all && len(args) > 0:
				return remedy.Errorf("oap-gate renew --all, or oap-gate renew SLUG",
					"--all lists what is due, and %q was given to be renewed", args[0])
			case o.all && (o.receipt != "" || o.level != ""):
				return remedy.Errorf("run renew --all without --receipt-uri and --level",
					"--receipt-uri and --level are of one renewal, and --all makes none")
			case !o.all && len(args) != 1:
				return remedy.Errorf("oap-gate renew SLUG, or oap-gate renew --all",
					"renew requires one SLUG; %s given", plain.Count(len(args), "argument"))
			case !o.all && c.Flags().Changed("within"):
				return remedy.Errorf("add --all", "--within bounds what --all lists")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if err := listable(o.level); err != nil {
				return err
			}
			w, err := o.open(c.Context(), sys)
			if err != nil {
				return err
			}
			defer w.close()
			if o.all {
				return o.due(c.Context(), sys, w)
			}
			return o.renew(c.Context(), sys, w, args[0])
		},
	}
	o.bind(c)
	f := c.Flags()
	f.StringVar(&o.receipt, "receipt-uri", "", "`URL` of the Receipt (default: as the Manifest says)")
	f.StringVar(&o.level, "level", "",
		"conformance `LEVEL` (default: the highest that the Receipt claims, with the listing's suffix)")
	f.BoolVar(&o.all, "all", false, "list the listings that are due")
	frame.DurationVar(f, &o.within, "within", "14d",
		"time until expiry; with --all, listings with less, or that have expired")
	return c
}

// due lists the current listings that expire soon, the first to expire first.
func (o *renewOptions) due(ctx context.Context, sys frame.IO, w *workspace) error {
	st, err := w.standing(ctx)
	if err != nil {
		return err
	}
	now := w.src.Now()
	var due []*checks.Listed
	for l := range st.Listings() {
		if !l.Expires.IsZero() && l.Expires.Sub(now) <= o.within {
			due = append(due, l)
		}
	}
	slices.SortStableFunc(due, func(a, b *checks.Listed) int { return a.Expires.Compare(b.Expires) })
	for _, l := range due {
		left := "expires in " + plain.Span(l.Expires.Sub(now))
		if !now.Before(l.Expires) {
			left = "expired " + plain.Span(now.Sub(l.Expires)) + " ago"
		}
		fmt.Fprintf(sys.Stdout, "%s\t%s\t%s\n", foreign.Line(listing.SlugOf(l.Path)),
			l.Expires.Format(time.RFC3339Nano), left)
	}
	if len(due) == 0 {
		fmt.Fprintf(sys.Stderr, "no listing expires within %s\n", plain.Span(o.within))
	}
	return nil
}

// renew edits one listing.
func (o *renewOptions) renew(ctx context.Context, sys frame.IO, w *workspace, slug string) error {
	slug = listing.SlugOf(strings.TrimPrefix(slug, "./")) // a path will do
	path, err := listing.Path(slug)
	if err != nil {
		return author.Unwritten(err, "")
	}
	merged, err := w.at.Listing(ctx, path)
	if err != nil {
		return err
	}
	if merged == nil {
		return remedy.Errorf(w.unlistedFix(slug), "%s has no listing %q", w.named(), slug)
	}
	was, err := w.read(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return remedy.Errorf(w.lostFix(ctx, path), "the work tree has no %s", path)
	}
	if err != nil {
		return author.Unwritten(err, "")
	}
	doc, err := strict.Parse(path, was, strict.RegistryFile)
	if err != nil {
		return refusef("restore the listing as it was merged", "the listing cannot be read: %v", err)
	}
	l := registry.ParseListing(&registry.Record{Document: doc})
	if o.AsksNobody() {
		return remedy.Errorf("leave --offline out",
			"renew fetches the Receipt that is served, and --offline forbids it")
	}
	uri := cmp.Or(o.receipt, w.manifestNames(ctx, l.ManifestURI), l.ReceiptURI)
	served, r, err := o.served(ctx, w, uri)
	if err != nil {
		return err
	}
	if served.SHA256 == merged.ReceiptSHA256 {
		return pinned(merged)
	}
	n := listing.Renewal{Receipt: r, SHA256: served.SHA256, URI: uri, Level: level.Level(o.level)}
	if n.Level == "" { // the suffix that was merged stays
		n.Level = checks.Kept(r.ClaimedLevels, merged.Level)
	}
	now, err := listing.Renew(was, n)
	if err != nil {
		return err
	}
	rep, err := o.judgeText(ctx, w, path, now)
	if err != nil {
		return err
	}
	notAsked := o.localAge(rep, path)
	if l.Provisional && (notAsked || findingOf(rep, path, checks.DropProvisional) != nil) {
		why := "the domain is old enough"
		if notAsked {
			why = "a trial takes the domain to be at least 30 days old"
		}
		fmt.Fprintln(sys.Stderr, "provisional is dropped: "+why)
		if now, err = listing.Drop(now, "provisional"); err != nil {
			return err
		}
		if rep, err = o.judgeText(ctx, w, path, now); err != nil {
			return err
		}
	}
	if bytes.Equal(now, was) {
		return pinned(l)
	}
	if uri != l.ReceiptURI && o.receipt == "" {
		fmt.Fprintf(sys.Stderr, "conformance_receipt_uri is %s; the Manifest names %s, which replaces it\n",
			foreign.Line(l.ReceiptURI), foreign.Line(uri))
	}
	if err := o.allow(sys, w, rep, path, "the listing is not renewed"); err != nil {
		return err
	}
	change := foreign.Lines(listing.Diff(path, was, now))
	if o.dryRun {
		return o.shown(sys, w, change, rep)
	}
	if err := w.tree.Replace(path, was, now); err != nil {
		return author.Unwritten(err, "")
	}
	fmt.Fprint(sys.Stderr, change)
	return o.written(sys, w, proposal{path, "renew-" + slug, "Renew " + slug}, rep)
}

// localAge reports whether the age of a record's domain was not asked for because its host is local.
func (o *recordFlags) localAge(rep *verdict.Report, path string) bool {
	for r := range rep.Results.All() {
		if r.Subject == path && r.Check == "domain-age" && r.Verdict == verdict.Skipped {
			return len(o.Local()) > 0 && strings.HasPrefix(r.Reason, "not asked: ")
		}
	}
	return false
}

// manifestNames returns the https URI of the Receipt that the Manifest at a URL names; empty if none can be read there,
// which check then says.
func (w *workspace) manifestNames(ctx context.Context, url string) string {
	at := w.src.Observe(ctx, evidence.Document(url, evidence.MaxManifest))
	if at.State != evidence.Obtained {
		return ""
	}
	m, err := manifest.Parse(url, at.Body)
	if err != nil || !sources.IsHTTPS(m.ReceiptURI) {
		return ""
	}
	return m.ReceiptURI
}

// served returns the Receipt that a URL serves now.
func (o *recordFlags) served(ctx context.Context, w *workspace,
	url string) (evidence.Observation, *receipt.Receipt, error) {
	at := evidence.Ask(ctx, w.src, evidence.Document(url, evidence.MaxReceipt))
	if err := ctx.Err(); err != nil {
		return at, nil, err
	}
	switch {
	case at.State.Open():
		return at, nil, inconclusivef(at.Retry(w.src.Now()).Fix, "the Receipt could not be fetched: %s", at.Message)
	case at.State != evidence.Obtained:
		return at, nil, refusef("publish the Receipt, and name where it is with --receipt-uri",
			"the Receipt is not served: %s", at.Message)
	}
	r, err := receipt.Parse(url, at.Body)
	if err != nil {
		return at, nil, refusef("publish the Receipt as one strict JSON text (RFC 7493)",
			"the Receipt cannot be read: %v", err)
	}
	return at, r, nil
}

// pinned refuses a Receipt that a listing is up to already.
func pinned(l *registry.Listing) error {
	after := "that of the merged one"
	if !l.Issued.IsZero() {
		after = l.Issued.Add(time.Second).Format(time.RFC3339Nano)
	}
	return refusef("sign a new Receipt with validity.not_before after "+after+", publish it, and run it again",
		"the Receipt that is served is the one that is pinned, sha256 %s", l.ReceiptSHA256)
}

// findingOf returns the first finding on a subject that would pass with a value, or nil.
func findingOf(rep *verdict.Report, path, value string) *verdict.Finding {
	for r := range rep.Results.All() {
		for _, f := range r.Findings {
			if r.Subject == path && f.Value == value {
				return &f
			}
		}
	}
	return nil
}
