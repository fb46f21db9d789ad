package oasis

import (
	"maps"
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
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

// maxListed is how many findings of one severity an answer gets: what is wrong a thousand times is wrong.
const maxListed = 100

// responseTable is the table of an answer.
var responseTable = sync.OnceValue(func() *form.Shape {
	return form.Table("section 3.8.2", `
provider text that is not blank required
provider_version text that is a version by SemVer 2.0.0 required
oasis_core_spec_versions list that is not empty required
oasis_core_spec_versions[] text that is a version by SemVer 2.0.0
profile text required
profile_version text that is a version by SemVer 2.0.0 required
supported boolean required
requirements map required
unmet_requirements[].requirement text that is not blank required
unmet_requirements[].reason text that is not blank required`)
})

// judgeMembers holds a document against a table, and reports whether each member is there and has its type.
func judgeMembers(at verdict.Place, document string, by *form.Shape, root any, out *verdict.Outcome) (usable bool) {
	usable = true
	listed := map[verdict.Severity]int{}
	by.Judge(root, document, func(pointer, code, message, fix string) {
		v, _ := plain.Value(root, pointer)
		list, isList := v.([]any)
		of := verdict.Error
		switch {
		case code == "unknown-field":
			of, code = verdict.Notice, "unknown-member"
		case code == "missing-member":
			usable = false
		case isList && len(list) == 0 && strings.HasSuffix(message, "not empty"):
			code = "no-core-version"
		case isText(v) && strings.HasSuffix(message, "not blank"):
			code = "empty-text"
		case isText(v) && strings.HasSuffix(message, "SemVer 2.0.0"):
			code, fix = "not-semver", ""
		default:
			code, usable = "wrong-type", false
		}
		if listed[of]++; listed[of] <= maxListed {
			out.Add(at, of, pointer, code, "%s", message).Fix = fix
		}
	})
	return usable
}

func isText(v any) bool { _, is := v.(string); return is }

// readResponse reads an answer. The response is nil where a member is missing or has the wrong type.
func readResponse(doc *strict.Document) (*response, verdict.Outcome) {
	var out verdict.Outcome
	root := doc.Root
	object, _ := root.(map[string]any)
	if v, there := object["unmet_requirements"]; there && v == nil { // a nil slice in Go; it denies nothing
		out.Noticef(doc, "/unmet_requirements", "null-member", "unmet_requirements is null; it is read as absent")
		object = maps.Clone(object)
		delete(object, "unmet_requirements")
		root = object
	}
	if !judgeMembers(doc, "the answer", responseTable(), root, &out) {
		return nil, out
	}
	r := &response{Document: doc, provider: strict.String(root, "provider"),
		version: strict.String(root, "provider_version"), cores: texts(object["oasis_core_spec_versions"]),
		profile: strict.String(root, "profile"), profileVersion: strict.String(root, "profile_version"),
		supported: object["supported"] == true}
	r.requirements, _ = object["requirements"].(map[string]any)
	gaps, _ := object["unmet_requirements"].([]any)
	for _, g := range gaps {
		r.gaps = append(r.gaps, gap{strict.String(g, "requirement"), strict.String(g, "reason")})
	}
	out.Verified = quoted(r.provider) + " " + plain.Cut(r.version, 100)
	return r, out
}
