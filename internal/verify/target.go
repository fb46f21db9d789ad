// Package verify judges one implementation by RFC 0019 section 6.
//
// It reports the Conformance Verification as a Verification Report. Each rule is one of the registry's checks: it
// verifies a listing that nobody wrote.
package verify

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/folder"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
)

// MaxTargets is how many targets one run has.
const MaxTargets = 10_000

// Target is what is verified.
type Target struct {
	Text        string // as it was given; empty for documents at hand
	ManifestURI string // where the Manifest is asked for; empty for documents at hand, and for a slug
	DID         string // that the Manifest must name; empty: any
	Slug        string // slug of a listing in the clone; may be empty
	AtHand      bool   // the documents are files; see Files
	ReceiptURI  string // replaces the one that the Manifest names; may be empty
}

// Subject returns the name of the target in Reaches.
func (t Target) Subject() string { return "target:" + t.Text }

// ErrForm means that a text has none of the forms of a target; Forms shows them.
var ErrForm = errors.New("not a target")

// Addresses are the forms of a target that name no clone's listing, Forms are all.
const (
	Addresses = "a target is https://host[/path], https://host/….json (a Manifest's URL), did:web:host[:path]"
	Forms     = Addresses + ", or, with --registry DIR, the slug of a listing there"
	inFile    = "; a Receipt in a file is given with --receipt FILE"
)

// FormsOf returns the fix for a text that is not a target: the URL that was meant if it is a host name
// or begins with http:, else forms.
func FormsOf(text, forms string) string {
	if host, err := domainage.Host(text); err == nil && strings.Contains(host, ".") {
		return "did you mean https://" + host + "?"
	}
	if rest, found := strings.CutPrefix(text, "http://"); found && sources.IsHTTPS("https://"+rest) {
		return "did you mean https://" + plain.Cut(rest, 200) + "?"
	}
	return forms
}

// wellKnown is where an implementation serves its Manifest, below its own address (RFC 0019 section 6).
const wellKnown = "/.well-known/oap-tool.json"

// ParseTarget reads a target. A slug is one only where there is a clone to look it up in. The error wraps ErrForm.
func ParseTarget(text string, clone bool) (Target, error) {
	t := Target{Text: text}
	switch {
	case strings.HasPrefix(strings.ToLower(text), "did:"):
		d, err := did.Parse(text)
		if err != nil {
			return t, fmt.Errorf("%w: %.200q: %v", ErrForm, text, err)
		}
		at := folder.Address(d)
		if at == "" {
			return t, fmt.Errorf("%w: %.200q: a DID of the method %s names no host", ErrForm, text, d.Method)
		}
		t.DID, t.ManifestURI = text, at+wellKnown
		return t, t.readAlike(text)
	case sources.IsHTTPS(text):
		u, _ := url.Parse(text) // IsHTTPS has read it
		switch {
		case u.User != nil || strings.Contains(text, "#"):
			return t, fmt.Errorf("%w: %.200q is not the URL of a document", ErrForm, text)
		case strings.HasSuffix(u.Path, ".json"):
			t.ManifestURI = text
			return t, t.readAlike(text)
		case u.RawQuery != "" || u.ForceQuery:
			return t, fmt.Errorf("%w: %.200q has a query, below which no Manifest can be", ErrForm, text)
		}
		t.ManifestURI = strings.TrimSuffix(text, "/") + wellKnown
		return t, t.readAlike(text)
	case proof.IsSlug(text) && clone:
		t.Slug = text
		return t, nil
	case proof.IsSlug(text):
		return t, fmt.Errorf("%w: %q may be a slug, and there is no clone to look it up in", ErrForm, text)
	}
	return t, fmt.Errorf("%w: %.200q", ErrForm, text)
}

// readAlike refuses a URL that servers read in different ways: the directory that it names is then not known.
func (t Target) readAlike(text string) error {
	if _, err := folder.Locate(t.ManifestURI); err != nil {
		return fmt.Errorf("%w: %.200q: %v", ErrForm, text, err)
	}
	return nil
}

// Line is a line of a list of targets that names one.
type Line struct {
	Text   string
	Number int // number of the line, from 1
}

// ParseTargets reads a list of targets: one a line, # beginning a comment.
func ParseTargets(list []byte) []Line {
	var out []Line
	n := 0
	for line := range strings.Lines(string(list)) {
		n++
		if at := strings.Index(line, "#"); at >= 0 && (at == 0 || strings.ContainsAny(line[at-1:at], " \t")) {
			line = line[:at]
		}
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, Line{line, n})
		}
	}
	return out
}
