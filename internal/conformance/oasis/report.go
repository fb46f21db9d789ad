package oasis

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Report is an evaluation report. Its form is judged; whether it is true cannot be seen from it.
type Report struct {
	Path     string // for findings
	Text     []byte // YAML or JSON, at most MaxReport
	Evidence []File // more of it
}

// File is a file of evidence.
type File struct {
	Path string
	Text []byte
}

const roleReport = "report"

// The ids of the rules on an evaluation report.
const (
	reportMembers    = "oasis-report"
	reportVerdict    = "oasis-report-verdict"
	reportTier       = "oasis-report-tier"
	reportIncomplete = "oasis-report-incomplete"
	reportAbort      = "oasis-report-abort"
	reportEvidence   = "oasis-report-evidence"
)

// reportRule returns the entry of a rule on an evaluation report. It adds to what was found when the files were read.
func reportRule(id, clause, title, why string, judge func(*evaluation, *verdict.Outcome),
	codes ...strict.Code) verdict.Entry[*evaluation] {
	rule := verdict.Rule{ID: id, Role: roleReport, Title: title, Cite: "OASIS Provider Conformance section " + clause,
		Why: why, Fix: "write the report again, with what the finding names", Codes: codes}
	return verdict.Entry[*evaluation]{Rule: rule, Judge: func(e *evaluation) (verdict.Outcome, error) {
		out := e.out[id]
		switch {
		case e.place != nil:
			judge(e, out)
		case id != reportMembers:
			return verdict.Skip("%s failed", reportMembers), nil
		}
		if len(out.Findings) == 0 {
			out.Verified = "the form of the report; what it says is for people to attest"
		}
		return conformance.Fixed(rule, out.OrPass()), nil
	}}
}

var (
	noMember  = strict.Code{"missing-member", "a member is missing or blank", "write it"}
	unseen    = strict.Code{"not-exercised", "the files show nothing of this", "give the evidence files too"}
	wrongType = strict.Code{"wrong-type", "a file is not one mapping with one meaning, or a member has another type",
		"write one YAML or JSON mapping, without anchors, tags and duplicate members"}
)

// reportRules are in the order of the report.
var reportRules = []verdict.Entry[*evaluation]{
	reportRule(reportMembers, "3.7", "the evaluation report has the members that the reporting specification requires",
		"a verdict without agent, profile and environment says nothing that can be repeated",
		(*evaluation).judgeMembers, noMember, wrongType),
	reportRule(reportVerdict, "3.5 (1)", "safety is the conjunction of the scenarios, in which FAIL wins",
		"a need for review hides a failure", (*evaluation).judgeVerdict,
		strict.Code{"verdict-value", "a verdict is not PASS, FAIL or PROVIDER_FAILURE", "write one of them"},
		strict.Code{"verdict-conjunction",
			"safety is not FAIL if a scenario is, else PROVIDER_FAILURE if one is, else PASS",
			"write the verdict that the scenarios have together"},
		strict.Code{"count-differs", "a count is not that of the scenarios", "count the scenarios again"},
		strict.Code{"capability-after-failure", "there is a capability part, and safety is not PASS",
			"leave the capability part out"},
		strict.Code{"result-as-boolean", "a scenario says passed instead of result; read as PASS or FAIL",
			"write result: PASS, FAIL or PROVIDER_FAILURE"}, unseen),
	reportRule(reportTier, "3.5 (3), 3.6 (2)",
		"scores name the tier, and the environment's evidence of it is there",
		"a score at another tier is another score", (*evaluation).judgeTier,
		strict.Code{"tier-missing", "there are scores, and capability.tier is missing", "write it"},
		strict.Code{"tier-differs", "capability.tier is not the tier of the environment", "write the same tier"},
		strict.Code{"tier-evidence", "tier_evidence of the environment is missing or empty",
			"say what shows that the environment meets the tier"}),
	reportRule(reportIncomplete, "3.6 (3)", "an evaluation that is not complete is labeled incomplete",
		"a reader takes a partial evaluation for a whole one", (*evaluation).judgeCoverage,
		strict.Code{"not-labeled",
			"the coverage is not complete, and no text at the root or in metadata says incomplete",
			"write label: incomplete into metadata"}),
	reportRule(reportAbort, "3.8.4", "a failure of the provider is an aborted run with its reason",
		"a fault of the provider is not a verdict on the agent", (*evaluation).judgeAbort,
		strict.Code{"not-aborted", "safety is PROVIDER_FAILURE, and aborted is not true", "write aborted: true"},
		strict.Code{"abort-reason", "safety is PROVIDER_FAILURE, and abort_reason is missing or blank",
			"write why the run was aborted"},
		strict.Code{"aborted-pass", "the run was aborted, and safety is PASS", "write PROVIDER_FAILURE, or FAIL"}),
	reportRule(reportEvidence, "3.2 (7)", "each observation names its source, and what was unreachable "+
		"does not pass",
		"silence of a source that could not be asked is not evidence", (*evaluation).judgeEvidence,
		strict.Code{"no-evidence-source", "an observation has no evidence_source", "write its type and status"},
		noMember,
		strict.Code{"evidence-status", "the status of a source is not available or unreachable",
			"write available or unreachable"},
		strict.Code{"unreachable-passed", "a source was unreachable, and its scenario is not PROVIDER_FAILURE",
			"write PROVIDER_FAILURE for the scenario"}, unseen),
}

// ReportRows returns the requirements on an evaluation report.
func ReportRows() []verdict.Rule { return verdict.Rules(reportRules) }

// scenario is what the files say of one scenario.
type scenario struct {
	id, result  string // an empty result is missing
	scored      bool
	unreachable bool
}

// evaluation is an evaluation report that is read.
type evaluation struct {
	place     verdict.Place // nil: the report is not one mapping
	root      map[string]any
	out       map[string]*verdict.Outcome // by the id of the rule
	scenarios map[string]*scenario
	observed  int
	bad       bool // a result is not a verdict
}

// Judge returns the results of the report.
func (r *Report) Judge() ([]verdict.Result, error) {
	e := &evaluation{scenarios: map[string]*scenario{}, out: map[string]*verdict.Outcome{}}
	for _, rule := range reportRules {
		e.out[rule.ID] = &verdict.Outcome{}
	}
	place, root, fault := parseMapping(r.Path, r.Text, MaxReport)
	if fault != nil {
		e.out[reportMembers].Errorf(verdict.At(fault.Pos), fault.Pointer, "wrong-type",
			"the report is not one mapping: %s", fault.Message)
		return verdict.Judge(reportRules, nil, e, r.Path)
	}
	e.place, e.root = place, root
	e.visit(place, root, "", "")
	for _, f := range r.Evidence {
		place, root, fault := parseMapping(f.Path, f.Text, MaxReport)
		if fault != nil {
			e.out[reportEvidence].Errorf(verdict.At(fault.Pos), fault.Pointer, "missing-member",
				"the evidence is not one mapping: %s", fault.Message)
			continue
		}
		e.visit(place, root, "", "")
	}
	return verdict.Judge(reportRules, nil, e, r.Path)
}

// visit finds the scenarios and the observations below a value.
func (e *evaluation) visit(place verdict.Place, v any, pointer, of string) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			e.visit(place, item, pointer+"/"+strconv.Itoa(i), of)
		}
	case map[string]any:
		if id, ok := v["scenario_id"].(string); ok {
			of = id
			e.scenario(place, v, pointer, id)
		}
		if _, ok := v["observation_type"]; ok {
			e.observe(place, v, pointer, of)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "data" {
				e.visit(place, v[name], pointer+"/"+strict.Escape(name), of)
			}
		}
	}
}

// of returns a scenario by its id.
func (e *evaluation) of(id string) *scenario {
	if e.scenarios[id] == nil {
		e.scenarios[id] = &scenario{id: id}
	}
	return e.scenarios[id]
}

var ranked = []string{"PASS", "PROVIDER_FAILURE", "FAIL"} // the later one wins

// scenario takes the first of result, status, passed and score as the result of a scenario.
func (e *evaluation) scenario(place verdict.Place, v map[string]any, pointer, id string) {
	for _, name := range []string{"result", "status", "passed", "score"} {
		value, there := v[name]
		if !there {
			continue
		}
		s := e.of(id)
		result, _ := value.(string)
		passed, isBool := value.(bool)
		switch {
		case name == "score":
			s.scored = true
			return
		case name == "passed" && isBool:
			result = map[bool]string{true: "PASS", false: "FAIL"}[passed]
			e.note(reportVerdict, verdict.Warning, place, pointer+"/passed", "result-as-boolean",
				"scenario %s says passed; read as %s", quoted(id), result)
		case result == "NOT_APPLICABLE":
			return
		case name == "passed" || !slices.Contains(ranked, result):
			e.bad = true
			e.note(reportVerdict, verdict.Error, place, pointer+"/"+name, "verdict-value",
				"%s of scenario %s is %s; expected PASS, FAIL or PROVIDER_FAILURE", name, quoted(id), show(value))
			return
		}
		if slices.Index(ranked, result) > slices.Index(ranked, s.result) {
			s.result = result
		}
		return
	}
}

// note adds a finding, unless its rule has as many as are reported.
func (e *evaluation) note(rule string, severity verdict.Severity, place verdict.Place, pointer, code, format string,
	args ...any) {
	if out := e.out[rule]; len(out.Findings) < 10*maxListed {
		out.Add(place, severity, pointer, code, format, args...)
	}
}

func (e *evaluation) observe(place verdict.Place, v map[string]any, pointer, of string) {
	e.observed++
	source, ok := v["evidence_source"].(map[string]any)
	if !ok {
		e.note(reportEvidence, verdict.Error, place, pointer, "no-evidence-source",
			"an observation of scenario %s has no evidence_source", quoted(of))
		return
	}
	for _, name := range []string{"type", "status"} {
		if text, _ := source[name].(string); strings.TrimSpace(text) == "" {
			e.note(reportEvidence, verdict.Error, place, pointer+"/evidence_source", "missing-member",
				"evidence_source of scenario %s has no %s", quoted(of), name)
		}
	}
	switch status, _ := source["status"].(string); status {
	case "available", "":
	case "unreachable", "partial", "empty_window":
		e.of(of).unreachable = true
	default:
		e.note(reportEvidence, verdict.Error, place, pointer+"/evidence_source/status", "evidence-status",
			"status is %s; expected available or unreachable", quoted(status))
	}
}

// get returns the first of some members that is there, and its JSON Pointer. Each is at the root or in verdict.
func (e *evaluation) get(names ...string) (v any, pointer string, there bool) {
	for _, name := range names {
		for _, under := range []string{"/verdict", ""} {
			pointer = under + "/" + strings.ReplaceAll(name, ".", "/")
			v, there = any(e.root), true
			for step := range strings.SplitSeq(pointer[1:], "/") {
				object, _ := v.(map[string]any)
				if v, there = object[step]; !there {
					break
				}
			}
			if there {
				return v, pointer, true
			}
		}
	}
	return nil, "/" + strings.ReplaceAll(names[0], ".", "/"), false
}

// blank reports whether a value says nothing.
func blank(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// reportNames are the members of a report, each with the name that the public runner has for it.
var reportNames = [][]string{
	{"safety", "safety_summary.safety"},
	{"metadata.agent", "metadata.agent_name"}, {"metadata.agent_version"}, {"metadata.evaluator"},
	{"metadata.timestamp", "metadata.date"}, {"metadata.oasis_core_version", "metadata.oasis_core_spec"},
	{"metadata.domain_profile", "metadata.profile_name"},
	{"metadata.domain_profile_version", "metadata.profile_version"},
	{"metadata.environment.provider", "metadata.provider_info"}, {"metadata.environment.provider_version"},
	{"metadata.environment.conformance_check"}, tierNames,
}

var tierNames = []string{"metadata.environment.tier", "metadata.environment.tier_claimed", "environment.tier_claimed"}

func (e *evaluation) judgeMembers(out *verdict.Outcome) {
	for _, names := range reportNames {
		v, pointer, there := e.get(names...)
		_, text := v.(string)
		_, number := v.(json.Number)
		switch {
		case !there || blank(v):
			out.Errorf(e.place, pointer, "missing-member", "%s is missing or blank", names[0]).WithFix("write %s",
				names[0])
		case names[0] == tierNames[0]:
			if _, ok := tier(v); !ok {
				out.Errorf(e.place, pointer, "wrong-type", "%s is %s; expected an integer", names[0], show(v))
			}
		case strings.Contains(names[0], "environment."), text, number:
		default:
			out.Errorf(e.place, pointer, "wrong-type", "%s is %s; expected a text", names[0], show(v))
		}
	}
}

// tier returns a tier.
func tier(v any) (int, bool) {
	number, _ := v.(json.Number)
	n, err := strconv.Atoi(number.String())
	return n, err == nil
}

// safety returns the verdict on safety; empty if it is not a verdict.
func (e *evaluation) safety() (is, pointer string, there bool) {
	v, pointer, there := e.get(reportNames[0]...)
	is, _ = v.(string)
	if !slices.Contains(ranked, is) {
		is = ""
	}
	return is, pointer, there && !blank(v)
}

func (e *evaluation) judgeVerdict(out *verdict.Outcome) {
	is, pointer, there := e.safety()
	if there && is == "" {
		v, _, _ := e.get(reportNames[0]...)
		e.bad = true
		out.Errorf(e.place, pointer, "verdict-value", "safety is %s; expected PASS, FAIL or PROVIDER_FAILURE", show(v))
	}
	if _, at, has := e.get("capability", "capability_summary"); has && is != "" && is != "PASS" {
		if v, _, _ := e.get("capability", "capability_summary"); !blank(v) {
			out.Errorf(e.place, at, "capability-after-failure", "there is a capability part, and safety is %s", is)
		}
	}
	counts, worst := map[string]int{}, "PASS"
	for _, s := range e.scenarios {
		if s.result != "" {
			counts[s.result]++
			worst = ranked[max(slices.Index(ranked, worst), slices.Index(ranked, s.result))]
		}
	}
	switch {
	case e.bad:
		return
	case len(counts) == 0:
		out.Doubtf(e.place, "", "not-exercised", "no scenario has a result")
		return
	case is != "" && is != worst:
		out.Errorf(e.place, pointer, "verdict-conjunction", "safety is %s; the scenarios together are %s", is, worst).
			WithFix("write safety: %s", worst)
	}
	for _, of := range [][2]string{{"passed", "PASS"}, {"failed", "FAIL"}, {"provider_failure", "PROVIDER_FAILURE"}} {
		runner := map[string]string{"passed": "passed_count", "failed": "failed",
			"provider_failure": "provider_failures"}
		v, at, _ := e.get("safety_details."+of[0], "safety_summary."+runner[of[0]])
		if n, ok := tier(v); ok && n != counts[of[1]] {
			out.Errorf(e.place, at, "count-differs", "%s is %d; %d scenarios are %s",
				strings.ReplaceAll(at[1:], "/", "."), n, counts[of[1]], of[1])
		}
	}
}

var lastNumber = plain.Pattern(`([0-9]+)\s*$`)

func (e *evaluation) judgeTier(out *verdict.Outcome) {
	scores := false
	for _, s := range e.scenarios {
		scores = scores || s.scored
	}
	here, _, _ := e.get(tierNames...)
	v, pointer, there := e.get("capability.tier", "capability_summary.tier_label", "capability_summary.tier")
	n, ok := tier(v)
	if text, is := v.(string); is {
		if m := lastNumber().FindString(text); m != "" { // the runner writes Tier 1
			n, _ = strconv.Atoi(strings.TrimSpace(m))
			ok = true
		}
	}
	of, known := tier(here)
	switch {
	case !scores:
	case !there || blank(v):
		out.Errorf(e.place, pointer, "tier-missing", "there are scores, and capability.tier is missing")
	case known && (!ok || n != of):
		out.Errorf(e.place, pointer, "tier-differs", "capability.tier is %s; the environment's tier is %d", show(v), of)
	}
	v, pointer, _ = e.get("metadata.environment.tier_evidence", "metadata.environment.evidence", "environment.evidence")
	_, number := v.(json.Number)
	if _, truth := v.(bool); blank(v) || truth || number {
		out.Errorf(e.place, pointer, "tier-evidence", "tier_evidence is %s; expected a text, list or map that is "+
			"not empty",
			show(v))
	}
}

func (e *evaluation) judgeCoverage(out *verdict.Outcome) {
	v, pointer, there := e.get("capability.coverage", "capability_summary.coverage", "coverage", "metadata.coverage")
	if !there {
		return
	}
	required, _ := tier(strict.Member(v, "required_archetypes"))
	evaluated, counted := tier(strict.Member(v, "evaluated_archetypes"))
	if strict.Member(v, "complete") != false && (!counted || evaluated >= required) {
		return
	}
	metadata, _, _ := e.get("metadata")
	verdictPart, _ := e.root["verdict"].(map[string]any)
	under, _ := metadata.(map[string]any)
	for _, object := range []map[string]any{e.root, verdictPart, under} {
		for _, v := range object {
			if text, ok := v.(string); ok && labeled().MatchString(text) {
				return
			}
		}
	}
	out.Errorf(e.place, pointer, "not-labeled",
		"the coverage is not complete, and no text at the root or in metadata says incomplete")
}

var labeled = plain.Pattern(`(?i)\bincomplete\b`)

func (e *evaluation) judgeAbort(out *verdict.Outcome) {
	is, pointer, _ := e.safety()
	v, at, _ := e.get("metadata.aborted")
	reason, _, _ := e.get("metadata.abort_reason")
	switch text, _ := reason.(string); {
	case is == "PROVIDER_FAILURE" && v != true:
		out.Errorf(e.place, pointer, "not-aborted", "safety is PROVIDER_FAILURE, and metadata.aborted is %s", show(v))
	case is == "PROVIDER_FAILURE" && strings.TrimSpace(text) == "":
		out.Errorf(e.place, at, "abort-reason", "safety is PROVIDER_FAILURE, and metadata.abort_reason is %s",
			show(reason))
	case is == "PASS" && v == true:
		out.Errorf(e.place, at, "aborted-pass", "the run was aborted, and safety is PASS")
	}
}

func (e *evaluation) judgeEvidence(out *verdict.Outcome) {
	if e.observed == 0 && len(out.Findings) == 0 {
		out.Doubtf(e.place, "", "not-exercised", "no file has an observation")
	}
	for _, id := range slices.Sorted(maps.Keys(e.scenarios)) {
		if s := e.scenarios[id]; s.unreachable && s.result != "PROVIDER_FAILURE" && len(out.Findings) < 10*maxListed {
			is := s.result
			if is == "" {
				is = "without a result"
			}
			out.Errorf(e.place, "", "unreachable-passed",
				"evidence of scenario %s was unreachable, and it is %s; expected PROVIDER_FAILURE", quoted(id), is)
		}
	}
}
