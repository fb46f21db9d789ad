package verify

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// A location is the origin of a URL and its path in segments, each decoded once, without an empty last segment.
type location struct {
	scheme, host, port string
	path               []string
}

// locate reads a URL. The error says which part of the path servers read in different ways.
func locate(text string) (location, error) {
	u, err := url.Parse(text)
	if err != nil {
		return location{}, err
	}
	l := location{scheme: u.Scheme, host: strings.TrimSuffix(strings.ToLower(hostOf(text)), "."), port: u.Port()}
	if l.port == "" {
		l.port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(u.EscapedPath(), "/"), "/") {
		name, err := segmentOf(segment)
		if err != nil {
			return location{}, err
		}
		l.path = append(l.path, name)
	}
	if last := len(l.path) - 1; l.path[last] == "" {
		l.path = l.path[:last]
	}
	if slices.Contains(l.path, "") {
		return location{}, errors.New("the path has an empty segment")
	}
	return l, nil
}

// segmentOf decodes a path segment once. A segment that decodes further is checked in each form: some servers decode
// twice.
func segmentOf(escaped string) (string, error) {
	first, err := url.PathUnescape(escaped)
	if err != nil {
		return "", err
	}
	for name, last := first, ""; name != last; {
		dots, _, _ := strings.Cut(name, ";") // a servlet reads "..;" as ".."; Windows drops trailing dots and blanks
		switch {
		case strings.HasPrefix(dots, ".") && strings.Trim(dots, ". ") == "":
			return "", fmt.Errorf("the path segment %.60q is a dot segment", escaped)
		case !utf8.ValidString(name): // in a longer form than the shortest it may be a dot or a slash
			return "", fmt.Errorf("the path segment %.60q is not UTF-8", escaped)
		case strings.ContainsAny(name, `/\`) || strings.ContainsFunc(name, unicode.IsControl):
			return "", fmt.Errorf("the path segment %.60q has an escaped slash, a backslash or a control character",
				escaped)
		}
		last = name
		if next, err := url.PathUnescape(name); err == nil {
			name = next
		}
	}
	return first, nil
}

// sameOrigin reports whether two locations have the same scheme, host and port.
func (l location) sameOrigin(as location) bool {
	return l.host != "" && l.scheme == as.scheme && l.host == as.host && l.port == as.port
}

// below reports whether the path begins with the path of another location.
func (l location) below(dir []string) bool {
	return len(l.path) >= len(dir) && slices.Equal(l.path[:len(dir)], dir)
}

// String returns the URL of the location, as people write it.
func (l location) String() string {
	u := url.URL{Scheme: l.scheme, Host: l.host, Path: "/" + strings.Join(l.path, "/")}
	if l.scheme != "https" || l.port != "443" {
		u.Host += ":" + l.port
	}
	return u.String()
}

// directory returns where a target's Manifest is, without the name of the file and a last .well-known. found is false
// for documents at hand and for a slug, which have no directory. named reports whether the target names a file other
// than a .well-known/oap-tool.json.
func (t Target) directory() (dir location, named, found bool) {
	if t.AtHand || t.Slug != "" {
		return location{}, false, false
	}
	dir, err := locate(t.ManifestURI)
	if err != nil || len(dir.path) == 0 { // ParseTarget refuses the one, and a target always names a file
		return location{}, false, false
	}
	last := len(dir.path) - 1
	named = !strings.EqualFold(dir.path[last], "oap-tool.json")
	dir.path = dir.path[:last]
	if last--; last < 0 || !strings.EqualFold(dir.path[last], ".well-known") {
		return dir, true, true
	}
	dir.path = dir.path[:last]
	return dir, named, true
}

// home returns the address of a did:web, whose path is that of the DID.
func home(id string) (location, bool) {
	d, err := did.Parse(id)
	if err != nil || d.Method != "web" {
		return location{}, false
	}
	at, err := locate(address(d))
	return at, err == nil
}

// address returns the URL below which a did:web has its documents, without a trailing slash.
func address(d did.DID) string {
	document, _ := d.URLs()
	at := strings.TrimSuffix(document, "/did.json")
	if !d.HasPath() {
		at = strings.TrimSuffix(at, "/.well-known")
	}
	return at
}

// hosted checks that the target's directory is the implementation's: anyone can show a Receipt below a directory of
// their own (RFC 0019 section 10).
func (w *work) hosted(o *verdict.Outcome) error {
	dir, named, found := w.target.directory()
	if !found {
		return nil
	}
	r := w.receipt()
	ran, err := locate(r.TargetURI)
	if err != nil {
		ran = location{}
	}
	at, web := home(r.ImplementationDID)
	mine := ran.sameOrigin(dir)
	theirs := web && at.sameOrigin(dir)
	switch {
	case len(dir.path) == 0:
		w.atRoot(o, dir, ran, at)
		return nil
	case mine && ran.below(dir.path), theirs && slices.Equal(at.path, dir.path):
		return nil
	case named && theirs && len(at.path) > 0 && dir.below(at.path),
		named && mine && len(ran.path) > 0 && dir.below(ran.path):
		return nil
	case named && mine && len(ran.path) == 0 && len(at.path) == 0 && !o.Has(verdict.Error):
		return w.confirmed(o, dir)
	}
	o.Errorf(manifestDocument, "", "manifest-host",
		"the target's directory is %.200q; expected one of the Receipt's signed target.uri %.200q or of %.200s",
		dir, r.TargetURI, r.ImplementationDID).
		WithFix("verify %s: anyone who has a Receipt can show it", w.itself())
	return nil
}

// atRoot warns of a Manifest at the root of a host whose Receipt is that of a directory or of another port there.
func (w *work) atRoot(o *verdict.Outcome, dir, ran, at location) {
	other := ran.host == dir.host || at.host == dir.host
	if ran.host == dir.host && ran.port == dir.port || at.host == dir.host && at.port == dir.port {
		other = false
	}
	if len(at.path) > 0 || other {
		o.Warnf(manifestDocument, "", "target-folder",
			"the target is the root of %.200q; the Receipt is of %.200s, which ran at %.200q", dir,
			w.receipt().ImplementationDID, w.receipt().TargetURI).
			WithFix("verify %s", w.itself())
	}
}

// itself names the implementation in a fix.
func (w *work) itself() string {
	if at, web := home(w.receipt().ImplementationDID); web && at.host != "" {
		return did.Spelling(w.receipt().ImplementationDID)
	}
	return "the implementation at its signed target.uri"
}

// confirmed asks the owner of the root whether a Manifest below it is the root's: the clone's listing names its URL,
// or the root's own Manifest has the same bytes.
func (w *work) confirmed(o *verdict.Outcome, dir location) error {
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
		o.Doubtf(manifestDocument, "", "manifest-host",
			"cannot ask the owner of the root whether the Manifest is theirs: %.200s: %s", root, got.Message).
			WithFix("%s", evidence.OpenFix(got.State, got.Code))
	}
	return nil
}

func (w *work) elsewhere(o *verdict.Outcome, by, instead string) {
	o.Warnf(manifestDocument, "", "target-folder",
		"the Manifest is at %.200q, below the root that the Receipt's signed target.uri names; %s confirms it",
		w.target.ManifestURI, by).WithFix("verify %s", instead)
}

// rootOf returns the URL of an origin, without a trailing slash.
func rootOf(l location) string {
	l.path = nil
	return strings.TrimSuffix(l.String(), "/")
}
