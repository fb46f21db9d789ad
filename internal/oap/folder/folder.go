// Package folder says where on a host an implementation's documents lie. Several implementations may share a host, each
// in a directory of its own, and none speaks for another.
package folder

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
)

// A Location is the origin of a URL and its path in segments, each decoded once, without an empty last segment.
type Location struct {
	Scheme, Host, Port string
	Path               []string
}

// Locate reads a URL. The error says which part of the path servers read in different ways.
func Locate(text string) (Location, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Location{}, err
	}
	l := Location{Scheme: u.Scheme, Host: strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), Port: u.Port()}
	if l.Port == "" {
		l.Port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(u.EscapedPath(), "/"), "/") {
		name, err := segmentOf(segment)
		if err != nil {
			return Location{}, err
		}
		l.Path = append(l.Path, name)
	}
	if last := len(l.Path) - 1; l.Path[last] == "" {
		l.Path = l.Path[:last]
	}
	if slices.Contains(l.Path, "") {
		return Location{}, errors.New("the path has an empty segment")
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

// SameOrigin reports whether two locations have the same scheme, host and port.
func (l Location) SameOrigin(as Location) bool {
	return l.Host != "" && l.Scheme == as.Scheme && l.Host == as.Host && l.Port == as.Port
}

// Below reports whether the path begins with the path of another location.
func (l Location) Below(dir []string) bool {
	return len(l.Path) >= len(dir) && slices.Equal(l.Path[:len(dir)], dir)
}

// String returns the URL of the location, as people write it.
func (l Location) String() string {
	u := url.URL{Scheme: l.Scheme, Host: l.Host, Path: "/" + strings.Join(l.Path, "/")}
	if l.Scheme != "https" || l.Port != "443" {
		u.Host += ":" + l.Port
	}
	return u.String()
}

// Of returns where a Manifest is, without the name of the file and a last .well-known. found is false for a URL that
// servers read in different ways, or that names no file. named reports whether it names a file other than a
// .well-known/oap-tool.json.
func Of(manifestURI string) (dir Location, named, found bool) {
	dir, err := Locate(manifestURI)
	if err != nil || len(dir.Path) == 0 {
		return Location{}, false, false
	}
	last := len(dir.Path) - 1
	named = !strings.EqualFold(dir.Path[last], "oap-tool.json")
	dir.Path = dir.Path[:last]
	if last--; last < 0 || !strings.EqualFold(dir.Path[last], ".well-known") {
		return dir, true, true
	}
	dir.Path = dir.Path[:last]
	return dir, named, true
}

// Owns reports whether a Manifest in a directory below the root of a host is shown to be that of an implementation: one
// whose Receipt ran in the directory, or whose did:web, at the address at, is that of the directory. A file of another
// name may also lie below them.
func Owns(dir Location, named bool, ran, at Location) bool {
	mine, theirs := ran.SameOrigin(dir), at.SameOrigin(dir)
	return mine && ran.Below(dir.Path) || theirs && slices.Equal(at.Path, dir.Path) ||
		named && theirs && len(at.Path) > 0 && dir.Below(at.Path) ||
		named && mine && len(ran.Path) > 0 && dir.Below(ran.Path)
}

// Home returns the address of a did:web, whose path is that of the DID.
func Home(id string) (Location, bool) {
	d, err := did.Parse(id)
	if err != nil || d.Method != "web" {
		return Location{}, false
	}
	at, err := Locate(Address(d))
	return at, err == nil
}

// Address returns the URL below which a did:web has its documents, without a trailing slash.
func Address(d did.DID) string {
	document, _ := d.URLs()
	at := strings.TrimSuffix(document, "/did.json")
	if !d.HasPath() {
		at = strings.TrimSuffix(at, "/.well-known")
	}
	return at
}
