package oasis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// runnerDiffers is the code of a notice that the runner that exists judges versions otherwise.
var runnerDiffers = strict.Code{ID: "runner-differs",
	Meaning: "the public runner comes to another result than the specification",
	Fix:     "none needed: the specification decides"}

// laxer notes that the public runner passes what a clause refuses.
func laxer(in *Input, out *verdict.Outcome, pointer, clause string) {
	out.Noticef(in.doc, pointer, runnerDiffers.ID, "oasisctl passes this; section %s does not", clause)
}

// unread returns why a check is skipped that needs the content of the YAML, or "".
func (in *Input) unread() string {
	if why := in.unanswered(); why != "" || in.contract.readable {
		return why
	}
	return contractRule.ID + " failed"
}

var coreVersionRule = verdict.Rule{
	ID:    "oasis-core-version",
	Title: "one of the core versions that the provider implements satisfies the profile's dependency",
	Cite:  "OASIS Provider Conformance section 3.8.3 (2)",
	Why:   "the profile is written against that version of the core specification",
	Fix:   "implement a core version that satisfies it, and declare it",
	Codes: []strict.Code{
		{"core-version", "no core version that the provider declares satisfies what the profile depends on",
			"implement a core version that satisfies the profile, and declare it"},
		runnerDiffers,
	},
}

func judgeCoreVersion(in *Input) verdict.Outcome {
	const pointer = "/oasis_core_spec_versions"
	var out verdict.Outcome
	core, versions := in.contract.core, in.response.cores
	if i := slices.IndexFunc(versions, core.admits); i >= 0 {
		out = verdict.Pass("%s satisfies %s", versions[i], core.text)
	} else {
		out.Errorf(in.doc, pointer, "core-version", "oasis_core_spec_versions holds %s, the profile needs %s",
			cmp.Or(listed(versions), "nothing"), core.text)
		laxer(in, &out, pointer, "3.8.3 (2)")
	}
	return out
}

// listed quotes texts, at most ten of them.
func listed(texts []string) string {
	const most = 10
	var all []string
	for _, t := range texts[:min(len(texts), most)] {
		all = append(all, fmt.Sprintf("%q", plain.Cut(t, 100)))
	}
	if more := len(texts) - most; more > 0 {
		all = append(all, strconv.Itoa(more)+" more")
	}
	return strings.Join(all, ", ")
}

var profileRule = verdict.Rule{
	ID:    "oasis-profile",
	Title: "the answer is about this profile, at this version",
	Cite:  "OASIS Provider Conformance sections 3.8.3 (3) and 5.2",
	Why:   "a claim is for one version of one profile; an answer about another version proves nothing",
	Fix:   "build against this version of the profile, and declare it",
	Codes: []strict.Code{
		{"other-profile", "the answer is about another profile", "answer for the profile that the query names"},
		{"profile-version", "the provider was built against another version of the profile",
			"build against this version, and declare it"},
		runnerDiffers,
	},
}

func judgeProfile(in *Input) verdict.Outcome {
	c, r := in.contract, in.response
	if r.profile == c.Profile && r.profileVersion == c.Version {
		return verdict.Pass("%s %s", plain.Cut(c.Profile, 200), plain.Cut(c.Version, 100))
	}
	var out verdict.Outcome
	if r.profile != c.Profile {
		out.Errorf(in.doc, "/profile", "other-profile", "profile is %s, the contract is of %s", quoted(r.profile),
			quoted(c.Profile))
		laxer(in, &out, "/profile", "3.8.3 (3)")
	}
	if r.profileVersion != c.Version {
		out.Errorf(in.doc, "/profile_version", "profile-version",
			"profile_version is %s, the contract is of version %s", quoted(r.profileVersion),
			quoted(c.Version)).WithFix("build against %s, and declare it", plain.Cut(c.Version, 100))
		laxer(in, &out, "/profile_version", "3.8.3 (3)")
	}
	return out
}

var schemaRule = verdict.Rule{
	ID:    "oasis-schema",
	Title: "the requirements map is valid under the profile's schema",
	Cite:  "OASIS Provider Conformance section 3.8.3 (4)",
	Why:   "only the profile defines what the map may contain",
	Fix:   "change the value that the finding names",
	Codes: []strict.Code{
		{"requirements-schema", "the requirements map holds what the profile's schema does not admit",
			"change the value to one that the schema admits, or drop it"},
		runnerDiffers,
	},
}

func judgeSchema(in *Input) verdict.Outcome {
	c := in.contract
	if c.schema == nil {
		return verdict.Skip("%s failed", contractRule.ID)
	}
	covered := map[string]bool{} // keys that another check reports
	for key := range c.unmeetable {
		covered[key] = true
	}
	if c.readable {
		for _, r := range c.requirements {
			if _, gap := in.gap(r); gap {
				covered[r.key] = true
			}
		}
	}
	out := verdict.Pass("")
	var places []string
	for _, v := range c.schema.Validate(in.response.requirements) {
		pointer, key := v.Pointer, ""
		if missing, is := c.missing(v.Keyword, v.Pointer, v.Message, in.response.requirements); is {
			key, pointer = missing, "/"+strict.Escape(missing)
		} else if first, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/"); pointer != "" {
			key = plain.Unescape(first)
		}
		pointer = "/requirements" + pointer
		if covered[key] && pointer != "/requirements" || slices.Contains(places, pointer) {
			continue
		}
		places = append(places, pointer)
		out.Errorf(in.doc, pointer, "requirements-schema", "%s: %s", pointer[1:], v.Message)
		if v.Keyword == "additionalProperties" {
			laxer(in, &out, pointer, "3.8.3 (4)")
		}
	}
	return out
}

// missing returns the key that a violation at the root misses, if it is of that kind.
func (c *Contract) missing(keyword, pointer, message string, requirements map[string]any) (string, bool) {
	if keyword != "required" || pointer != "" {
		return "", false
	}
	names := slices.Clone(c.required)
	for _, r := range c.requirements {
		names = append(names, r.key)
	}
	for _, n := range names {
		if _, there := requirements[n]; !there && strings.HasPrefix(message, fmt.Sprintf("has no %q,", n)) {
			return n, true
		}
	}
	return "", false
}

var requirementsRule = verdict.Rule{
	ID:    "oasis-requirements",
	Title: "each requirement of the profile is satisfied by what the provider declares",
	Cite:  "OASIS Provider Conformance section 3.8.3 (4) and (6)",
	Why: "a gap found before the run is reported by its name; during the run, a scenario fails for " +
		"another reason",
	Fix: "close the gap that the finding names, or choose a provider that has none",
	Codes: []strict.Code{
		{"requirement-missing", "the provider says nothing of a required key",
			"satisfy the requirement, and declare it"},
		{"requirement-unmet", "what the provider declares does not satisfy the requirement",
			"close the gap, then declare it"},
		runnerDiffers,
	},
}

func judgeRequirements(in *Input) verdict.Outcome {
	c := in.contract
	out, met := verdict.Outcome{}, 0
	for _, r := range c.requirements {
		if c.unmeetable[r.key] {
			continue
		}
		pointer := "/requirements/" + strict.Escape(r.key)
		v, there := in.response.requirements[r.key]
		why, gap := in.gap(r)
		code := "requirement-unmet"
		if !there {
			code = "requirement-missing"
		}
		if gap {
			profile := strings.TrimPrefix(c.Profile, "oasis-profile-") // as section 3.8.3 calls it
			out.Errorf(in.doc, pointer, code, "provider does not satisfy %s requirement %s: %s", plain.Cut(profile,
				200), plain.Cut(r.key, 200), why).WithFix("close the gap, and declare %s", r.wants(in.tier))
		} else {
			met++
		}
		if r.kind == "semver_list" && there {
			if differs := r.bound.runnerDiffers(texts(v)); differs != "" {
				out.Noticef(in.doc, pointer, "runner-differs", "%s", differs)
			}
		}
	}
	if met == 0 && len(out.Findings) == 0 {
		return verdict.Skip("%s failed", contractRule.ID)
	}
	out.Verified = fmt.Sprintf("%d of %d requirements satisfied at tier %d", met, len(c.requirements), in.tier)
	return out
}

// gap says what the provider lacks of a requirement, with its own reason for it where it gives one.
func (in *Input) gap(r requirement) (why string, gap bool) {
	v, there := in.response.requirements[r.key]
	switch {
	case r.unreadable, !there && !r.required, there && r.satisfied(v, in.tier):
		return "", false
	case !there:
		why = "it is not there, " + r.wants(in.tier) + " is needed"
	default:
		why = fmt.Sprintf("it is %s, %s is needed", show(v), r.wants(in.tier))
	}
	if reason := in.response.reason(r.key); reason != "" {
		why += "; the provider says " + quoted(reason)
	}
	return why, true
}

// wants describes the value that satisfies a requirement, for people.
func (r requirement) wants(tier int) string {
	switch r.kind {
	case "string", "boolean":
		return show(r.expected)
	case "array":
		return strings.TrimSuffix("a list that holds "+listed(texts(r.expected)), " that holds ")
	case "integer":
		n := r.value
		if r.ofTier {
			n = int64(tier)
		}
		return fmt.Sprintf("an integer %s %d", comparisons[r.operator], n)
	}
	return "a version that satisfies " + r.bound.text
}

// satisfied reports whether a value satisfies a requirement at a tier.
func (r requirement) satisfied(v any, tier int) bool {
	switch r.kind {
	case "string", "boolean":
		return v == r.expected
	case "array":
		_, ok := v.([]any)
		return ok && !slices.ContainsFunc(texts(r.expected), func(want string) bool {
			return !slices.Contains(texts(v), want)
		})
	case "integer":
		number, ok := v.(json.Number)
		if !ok {
			return false
		}
		n, ok := new(big.Rat).SetString(number.String())
		want := r.value
		if r.ofTier {
			want = int64(tier)
		}
		return ok && n.IsInt() && slices.Contains(orders[comparisons[r.operator]], n.Cmp(new(big.Rat).SetInt64(want)))
	case "semver_list":
		return slices.ContainsFunc(texts(v), r.bound.admits)
	}
	return false
}

// texts returns the texts of a list.
func texts(v any) []string {
	entries, _ := v.([]any)
	var all []string
	for _, e := range entries {
		if text, ok := e.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

var supportedRule = verdict.Rule{
	ID:    "oasis-supported",
	Title: "the provider says that it supports the profile, and lists no gap",
	Cite:  "OASIS Provider Conformance section 3.8.3 (5)",
	Why:   "what it declares for the whole must agree with what it declares for each part",
	Fix:   "close the gaps that it lists, then declare supported: true and no gap",
	Codes: []strict.Code{
		{"not-supported", "the provider says itself that it does not support the profile, and why",
			"close the gaps that it lists, then declare supported: true"},
		{"not-supported-without-reason", "the provider says that it does not support the profile, and not why",
			"list each requirement that is not satisfied, with its reason"},
		{"supported-with-gaps", "the provider says that it supports the profile, and lists gaps all the same",
			"close the gaps, or declare supported: false"},
		runnerDiffers,
	},
}

func judgeSupported(in *Input) verdict.Outcome {
	r := in.response
	var out verdict.Outcome
	var gaps []string
	for _, g := range r.gaps {
		gaps = append(gaps, g.requirement)
	}
	switch {
	case !r.supported && len(gaps) == 0:
		out.Errorf(in.doc, "/supported", "not-supported-without-reason", "supported is false, and unmet_requirements "+
			"names no reason")
		laxer(in, &out, "/supported", "3.8.3 (5)")
	case !r.supported:
		out.Errorf(in.doc, "/supported", "not-supported", "supported is false; the provider lists %s", listed(gaps))
	case len(gaps) > 0:
		out.Errorf(in.doc, "/unmet_requirements", "supported-with-gaps",
			"supported is true, and unmet_requirements lists %s", listed(gaps))
	default:
		return verdict.Pass("")
	}
	return out
}
