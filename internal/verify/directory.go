package verify

import (
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/folder"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// hosted checks that the target's directory is the implementation's: anyone can show a Receipt below a directory of
// their own (RFC 0019 section 10).
func (w *work) hosted(o *verdict.Outcome) error {
	dir, named, found := folder.Of(w.target.ManifestURI)
	if !found {
		return nil
	}
	r := w.receipt()
	at, _ := folder.Home(r.ImplementationDID)
	if w.target.Slug != "" && len(at.Path) == 0 {
		return nil // the clone's listing names this Manifest, and no neighbor shares the host of its DID
	}
	ran, err := folder.Locate(r.TargetURI)
	if err != nil {
		ran = folder.Location{}
	}
	switch {
	case len(dir.Path) == 0:
		w.atRoot(o, dir, ran, at)
		return nil
	case folder.Owns(dir, named, ran, at):
		return nil
	case named && ran.SameOrigin(dir) && len(ran.Path) == 0 && len(at.Path) == 0 && !o.Has(verdict.Error):
		return w.confirmed(o, dir)
	}
	o.Errorf(manifestDocument, "", "manifest-host",
		"the target's directory is %.200q; expected one of the Receipt's signed target.uri %.200q or of %.200s",
		dir, r.TargetURI, r.ImplementationDID).
		WithFix("verify %s: anyone who has a Receipt can show it", w.itself())
	return nil
}

// atRoot warns of a Manifest at the root of a host whose Receipt is that of a directory or of another port there.
func (w *work) atRoot(o *verdict.Outcome, dir, ran, at folder.Location) {
	other := ran.Host == dir.Host || at.Host == dir.Host
	if ran.Host == dir.Host && ran.Port == dir.Port || at.Host == dir.Host && at.Port == dir.Port {
		other = false
	}
	if len(at.Path) > 0 || other {
		o.Warnf(manifestDocument, "", "target-folder",
			"the target is the root of %.200q; the Receipt is of %.200s, which ran at %.200q", dir,
			w.receipt().ImplementationDID, w.receipt().TargetURI).
			WithFix("verify %s", w.itself())
	}
}

// itself names the implementation in a fix.
func (w *work) itself() string {
	if at, web := folder.Home(w.receipt().ImplementationDID); web && at.Host != "" {
		return did.Spelling(w.receipt().ImplementationDID)
	}
	return "the implementation at its signed target.uri"
}

// confirmed asks the owner of the root whether a Manifest below it is the root's: the clone's listing names its URL,
// or the root's own Manifest has the same bytes.
func (w *work) confirmed(o *verdict.Outcome, dir folder.Location) error {
	for _, l := range w.listed() {
		listing, err := w.cfg.Standing.Listing(w.ctx, l)
		if err != nil {
			return err
		}
		if listing.ManifestURI == w.target.ManifestURI {
			w.elsewhere(o, l.Path, "the slug "+l.Slug)
			return nil
		}
	}
	root := rootOf(dir) + wellKnown
	got := evidence.Ask(w.ctx, w.src, evidence.Document(root, evidence.MaxManifest))
	from := w.facts.Manifest.From
	fix := "serve the same Manifest at " + root + ", or verify the implementation there"
	switch {
	case got.State == evidence.Obtained && len(from) > 0 && got.SHA256 == from[len(from)-1].SHA256:
		w.elsewhere(o, root, rootOf(dir))
	case got.State == evidence.Obtained:
		o.Errorf(manifestDocument, "", "manifest-host",
			"the Manifest is not that of the root of its host: %.200s has SHA-256 %s; expected the same bytes", root,
			got.SHA256).WithFix("%s", fix)
	case got.State == evidence.Absent || got.State == evidence.Invalid:
		o.Errorf(manifestDocument, "", "manifest-host",
			"the owner of the root does not confirm the Manifest: %.200s: %s", root, got.Message).WithFix("%s", fix)
	default:
		may := got.Retry(w.src.Now())
		o.Doubtf(manifestDocument, "", "manifest-host",
			"cannot ask the owner of the root whether the Manifest is theirs: %.200s: %s", root, got.Message).
			WithFix("%s", may.Fix).Until(may.At)
	}
	return nil
}

func (w *work) elsewhere(o *verdict.Outcome, by, instead string) {
	o.Warnf(manifestDocument, "", "target-folder",
		"the Manifest is at %.200q, below the root that the Receipt's signed target.uri names; %s confirms it",
		w.target.ManifestURI, by).WithFix("verify %s", instead)
}

// rootOf returns the URL of an origin, without a trailing slash.
func rootOf(l folder.Location) string {
	l.Path = nil
	return strings.TrimSuffix(l.String(), "/")
}
