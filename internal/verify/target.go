// Package verify judges one implementation by the Conformance Verification of RFC 0019 section 6, and tells it as a
// Verification Report. Each rule is that of the registry's checks: what is verified is a listing that nobody wrote.
package verify

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
)

// MaxTargets is how many targets one run has.
const MaxTargets = 10_000

// Target is what is verified.
type Target struct {
	Text        string // as it was given; empty for documents at hand
	ManifestURI string // where the Manifest is asked for; empty for documents at hand, and for a slug
	DID         string // that the Manifest must name; empty: any
	Slug        string // of a listing in the clone; empty: none
	AtHand      bool   // the documents are files; see evidence.Files
	ReceiptURI  string // in place of the one that the Manifest names; empty: none
}

// Subject is what Reaches calls the target.
func (t Target) Subject() string { return "target:" + t.Text }

// ErrForm means that a text is none of the forms of a target; Forms shows them.
var ErrForm = errors.New("no target")

// Addresses are the forms of a target that name no clone's listing, Forms are all.
const (
	Addresses = "a target is https://host[/path], https://host/….json (a Manifest's URL), did:web:host[:path]"
	Forms     = Addresses + ", or, with --registry DIR, the slug of a listing there"
)

// wellKnown is where an implementation serves its Manifest, below its own address (RFC 0019 section 6).
const wellKnown = "/.well-known/oap-tool.json"

var slugs = plain.Pattern(`^[a-z0-9][a-z0-9-]{1,63}$`)

// ParseTarget reads a target. A slug is one only where there is a clone to look it up in. The error wraps ErrForm.
func ParseTarget(text string, clone bool) (Target, error) {
	t := Target{Text: text}
	switch {
	case strings.HasPrefix(strings.ToLower(text), "did:"):
		d, err := did.Parse(text)
		if err != nil {
			return t, fmt.Errorf("%w: %.200q: %v", ErrForm, text, err)
		}
		at := address(d)
		if at == "" {
			return t, fmt.Errorf("%w: %.200q: a DID of the method %s says no address", ErrForm, text, d.Method)
		}
		t.DID, t.ManifestURI = text, at+wellKnown
		return t, t.readAlike(text)
	case evidence.IsHTTPS(text):
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Hostname() == "" || u.User != nil || strings.Contains(text, "#"):
			return t, fmt.Errorf("%w: %.200q is no URL of a document", ErrForm, text)
		case strings.HasSuffix(u.Path, ".json"):
			t.ManifestURI = text
			return t, t.readAlike(text)
		case u.RawQuery != "" || u.ForceQuery:
			return t, fmt.Errorf("%w: %.200q has a query, below which no Manifest can be", ErrForm, text)
		}
		t.ManifestURI = strings.TrimSuffix(text, "/") + wellKnown
		return t, t.readAlike(text)
	case slugs().MatchString(text) && clone:
		t.Slug = text
		return t, nil
	case slugs().MatchString(text):
		return t, fmt.Errorf("%w: %q may be a slug, and there is no clone to look it up in", ErrForm, text)
	}
	return t, fmt.Errorf("%w: %.200q", ErrForm, text)
}

// readAlike refuses a URL that servers read in different ways: the directory that it names is then not known.
func (t Target) readAlike(text string) error {
	if _, err := locate(t.ManifestURI); err != nil {
		return fmt.Errorf("%w: %.200q: %v", ErrForm, text, err)
	}
	return nil
}

// Line is a line of a list of targets that names one.
type Line struct {
	Text   string
	Number int // of the line, from 1
}

// ParseTargets reads a list of targets: one a line, # beginning a comment.
func ParseTargets(list []byte) ([]Line, error) {
	var out []Line
	lines := bufio.NewScanner(bytes.NewReader(list))
	lines.Buffer(nil, len(list)+1)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if at := strings.Index(line, "#"); at == 0 || at > 0 && strings.ContainsAny(line[at-1:at], " \t") {
			line = line[:at]
		}
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, Line{line, n})
		}
	}
	return out, lines.Err()
}

// SuiteName is the name of the suite that a Receipt must be of.
const SuiteName = "oap-conformance-test-suite"

// Suites are the versions of the suite that the caller trusts: a version, or N.x for all of a major one.
type Suites []string

// TrustedSuites are those that are trusted where the caller says nothing: the suite says 1.0.0 to 1.3.0 of itself.
var TrustedSuites = Suites{"1.x"}

var (
	suiteVersion = plain.Pattern(`^[0-9]+(\.[0-9]+)*([-+][0-9A-Za-z.+-]+)?$`)
	suiteMajor   = plain.Pattern(`^[0-9]+\.x$`)
	numbers      = plain.Pattern(`^[0-9]+(\.[0-9]+)+$`)
)

// ParseSuites reads versions and N.x, joined by commas.
func ParseSuites(text string) (Suites, error) {
	var out Suites
	for s := range strings.SplitSeq(text, ",") {
		s = strings.TrimSpace(s)
		if !suiteVersion().MatchString(s) && !suiteMajor().MatchString(s) {
			return nil, fmt.Errorf("%.60q is neither a version nor N.x", s)
		}
		out = append(out, s)
	}
	return out, nil
}

// trust reports whether a version is among those. A pre-release is no version of N.x.
func (s Suites) trust(version string) bool {
	return slices.ContainsFunc(s, func(trusted string) bool {
		major, all := strings.CutSuffix(trusted, "x")
		if all {
			return strings.HasPrefix(version, major) && numbers().MatchString(version)
		}
		return trusted == version
	})
}

func (s Suites) String() string { return strings.Join(s, ",") }
