package oasis

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// response is what an answer says (section 3.8.2).
type response struct {
	*strict.Document
	provider, version       string
	cores                   []string // core specification versions, whatever their spelling
	profile, profileVersion string
	supported               bool
	requirements            map[string]any
	gaps                    []gap
}

// gap is a requirement that the provider itself says it does not satisfy.
type gap struct{ requirement, reason string }

// reason returns why the provider says that it does not satisfy a requirement, or "" if it does not say so.
func (r *response) reason(key string) string {
	for _, g := range r.gaps {
		if g.requirement == key {
			return g.reason
		}
	}
	return ""
}

var responseRule = verdict.Rule{
	ID:    "oasis-response",
	Title: "the answer has the members of section 3.8.2, each of its type, and versions by SemVer 2.0.0",
	Cite:  "OASIS Provider Conformance section 3.8.2",
	Why:   "the runner can compare with the profile only what is present and has one meaning",
	Fix:   "give the member that the finding names the type that it names",
	Codes: []strict.Code{
		{"missing-member", "the answer, or an entry of it, lacks a member", "add it"},
		{"wrong-type", "a member has another type than it must", "write it with the type that the message names"},
		{"empty-text", "a member that must say something is empty or blank",
			"write the name, the requirement or the reason there"},
		{"not-semver", "a version is not one by SemVer 2.0.0", "write MAJOR.MINOR.PATCH, as in 1.0.0-rc1.5"},
		{"no-core-version", "the list of core versions is empty",
			"list each core version that the provider implements"},
		{"null-member", "unmet_requirements is null, which is read as absent", "write [] or leave it out"},
		{"unknown-member", "the answer has a member that section 3.8.2 does not name", "none needed"},
		{"not-exercised", "there was no answer to decide anything by; nothing was decided",
			"run without --offline, or give --response FILE"},
	},
}

func judgeResponse(in *Input) verdict.Outcome {
	if in.doc != nil {
		return in.shape
	}
	if in.endpoint.Skipped != "" {
		var o verdict.Outcome
		o.Doubtf(verdict.At{}, "", "not-exercised", "there is no answer to judge: %s", in.endpoint.Skipped)
		return o
	}
	return verdict.Skip("%s", in.unanswered())
}

// reader reads the members of an answer, or of a claim, and keeps what is wrong with them.
type reader struct {
	verdict.Place
	of       string // what messages call the document
	oneText  string // what a text must be
	ignores  string // what is said of a member that is not known
	out      verdict.Outcome
	unusable bool // a member is missing or has the wrong type
	covered  [verdict.Notice + 1]int
}

// maxListed is how many findings of one severity an answer gets: what is wrong a thousand times is wrong.
const maxListed = 100

func (r *reader) add(severity verdict.Severity, pointer, code, format string, args ...any) *verdict.Finding {
	if r.covered[severity]++; r.covered[severity] > maxListed {
		return new(verdict.Finding)
	}
	return r.out.Add(r, severity, pointer, code, format, args...)
}

func (r *reader) wrong(pointer string, v any, want string) {
	r.unusable = true
	r.add(verdict.Error, pointer, "wrong-type", "%s is %s; expected %s", r.name(pointer), show(v), want).
		WithFix("write %s there", want)
}

// name returns what a message calls the value of a pointer.
func (r *reader) name(pointer string) string {
	return strings.TrimPrefix(cmp.Or(pointer, "/"+r.of), "/")
}

// member returns a required member of an object.
func (r *reader) member(object map[string]any, parent, key string) (v any, pointer string, ok bool) {
	v, ok = object[key]
	pointer = parent + "/" + key
	if !ok {
		r.unusable = true
		r.add(verdict.Error, pointer, "missing-member", "%s has no member %q", r.name(parent), key).WithFix(
			"add %s", key)
	}
	return v, pointer, ok
}

func (r *reader) text(object map[string]any, parent, key string) string {
	return typed[string](r, object, parent, key, r.oneText)
}

// typed returns a required member that must be of a type.
func typed[T any](r *reader, object map[string]any, parent, key, want string) T {
	v, pointer, there := r.member(object, parent, key)
	value, ok := v.(T)
	if there && !ok {
		r.wrong(pointer, v, want)
	}
	return value
}

// filled returns a text that must not be blank, or "".
func (r *reader) filled(object map[string]any, parent, key string) string {
	text := r.text(object, parent, key)
	if _, ok := object[key].(string); ok && strings.TrimSpace(text) == "" {
		pointer := parent + "/" + key
		r.add(verdict.Error, pointer, "empty-text", "%s is %s; expected a text that is not blank", r.name(pointer),
			quoted(text)).WithFix("write the %s there", key)
		return ""
	}
	return text
}

func (r *reader) version(object map[string]any, key string) string {
	text := r.text(object, "", key)
	if _, ok := object[key].(string); ok {
		r.semVer("/"+key, text)
	}
	return text
}

func (r *reader) semVer(pointer, text string) {
	if !isSemVer(text) {
		r.add(verdict.Error, pointer, "not-semver", "%s is %s; expected a version by SemVer 2.0.0", r.name(pointer),
			quoted(text))
	}
}

func (r *reader) unknown(object map[string]any, parent string, known ...string) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(known, key) {
			pointer := parent + "/" + strict.Escape(key)
			r.add(verdict.Notice, pointer, "unknown-member", "%s has a member %s%s", r.name(parent), quoted(key),
				r.ignores)
		}
	}
}

// readResponse reads an answer. The response is nil where a member is missing or has the wrong type.
func readResponse(doc *strict.Document) (*response, verdict.Outcome) {
	r := &reader{Place: doc, of: "the answer", oneText: "a text", ignores: " that section 3.8.2 does not name"}
	object, ok := doc.Root.(map[string]any)
	if !ok {
		r.wrong("", doc.Root, "an object")
		return nil, r.out
	}
	out := &response{Document: doc, provider: r.filled(object, "", "provider"), version: r.version(object,
		"provider_version"), cores: r.cores(object), profile: r.text(object, "", "profile"),
		profileVersion: r.version(object, "profile_version")}
	out.supported = typed[bool](r, object, "", "supported", "true or false")
	out.requirements = typed[map[string]any](r, object, "", "requirements", "an object")
	out.gaps = r.gaps(object)
	r.unknown(object, "", "provider", "provider_version", "oasis_core_spec_versions", "profile", "profile_version",
		"supported", "requirements", "unmet_requirements")
	if r.unusable {
		return nil, r.out
	}
	r.out.Verified = quoted(out.provider) + " " + plain.Cut(out.version, 100)
	return out, r.out
}

func (r *reader) cores(object map[string]any) []string {
	v, pointer, there := r.member(object, "", "oasis_core_spec_versions")
	if !there {
		return nil
	}
	entries, ok := v.([]any)
	if !ok {
		r.wrong(pointer, v, "a list of texts")
		return nil
	}
	if len(entries) == 0 {
		r.add(verdict.Error, pointer, "no-core-version", "oasis_core_spec_versions is empty; "+
			"expected at least one version")
	}
	var versions []string
	for i, entry := range entries {
		at := pointer + "/" + strconv.Itoa(i)
		text, ok := entry.(string)
		if !ok {
			r.wrong(at, entry, "a text")
			continue
		}
		r.semVer(at, text)
		versions = append(versions, text)
	}
	return versions
}

func (r *reader) gaps(object map[string]any) []gap {
	v, there := object["unmet_requirements"]
	if !there {
		return nil
	}
	const pointer = "/unmet_requirements"
	if v == nil { // a nil slice in Go; it denies nothing
		r.add(verdict.Notice, pointer, "null-member", "unmet_requirements is null; it is read as absent")
		return nil
	}
	entries, ok := v.([]any)
	if !ok {
		r.wrong(pointer, v, "a list")
		return nil
	}
	var gaps []gap
	for i, entry := range entries {
		at := pointer + "/" + strconv.Itoa(i)
		one, ok := entry.(map[string]any)
		if !ok {
			r.wrong(at, entry, "an object with requirement and reason")
			continue
		}
		gaps = append(gaps, gap{r.filled(one, at, "requirement"), r.filled(one, at, "reason")})
		r.unknown(one, at, "requirement", "reason")
	}
	return gaps
}
