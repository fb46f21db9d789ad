package opengap

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// A row of a table is the path of a member, its kind, and what else is required of it: .name is a member, .* one of any
// name, [] an item. What a path leads over is a map, or a list, and has a row only if more is required of it. A map
// whose members are listed has no others. Kinds are text, number, integer, boolean, list, map and null; "or" is between
// two. The public command of dialect 0.1 refuses what does not fit.

// members01 is the table of agent.yaml.
const members01 = `
spec_version text form ^\d+\.\d+\.\d+$
name text form ^[a-z][a-z0-9-]*$ required
version text form ^\d+\.\d+\.\d+(-[a-zA-Z0-9.]+)?(\+[a-zA-Z0-9.]+)?$ required
description text characters at least 1 required
author text
license text
model.preferred text
model.fallback[] text
model.constraints.temperature number at least 0 at most 2
model.constraints.max_tokens integer at least 1
model.constraints.top_p number at least 0 at most 1
model.constraints.top_k integer at least 1
model.constraints.stop_sequences[] text
model.constraints.presence_penalty number at least -2 at most 2
model.constraints.frequency_penalty number at least -2 at most 2
extends text
dependencies[].name text form ^[a-z][a-z0-9-]*$ required
dependencies[].source text required
dependencies[].version text
dependencies[].mount text
dependencies[].vendor_management.due_diligence_date text format date
dependencies[].vendor_management.soc_report boolean
dependencies[].vendor_management.risk_assessment text one of low medium high critical
skills list without repeats
skills[] text form ^[a-z][a-z0-9-]*$
tools list without repeats
tools[] text form ^[a-z][a-z0-9-]*$
agents.*.description text
agents.*.delegation.mode text one of auto explicit router
agents.*.delegation.triggers[] text
delegation.mode text one of auto explicit router
delegation.router text
runtime.max_turns integer at least 1
runtime.temperature number at least 0 at most 2
runtime.timeout integer at least 1
a2a.url text format uri
a2a.capabilities[] text
a2a.authentication.type text one of none api_key oauth2 mtls
a2a.authentication.credentials_ref text
a2a.protocols[] text one of a2a mcp
compliance.risk_tier text one of low standard high critical
compliance.frameworks list without repeats
compliance.frameworks[] text
compliance.supervision.designated_supervisor text or null
compliance.supervision.review_cadence text one of daily weekly monthly quarterly semi_annual annual
compliance.supervision.human_in_the_loop text one of always conditional advisory none
compliance.supervision.escalation_triggers[] map with exactly one of its members
compliance.supervision.escalation_triggers[].confidence_below number at least 0 at most 1
compliance.supervision.escalation_triggers[].action_type text
compliance.supervision.escalation_triggers[].error_detected boolean
compliance.supervision.escalation_triggers[].data_classification_above text one of public internal confidential restricted
compliance.supervision.escalation_triggers[].token_count_above integer at least 1
compliance.supervision.escalation_triggers[].custom text
compliance.supervision.override_capability boolean
compliance.supervision.kill_switch boolean
compliance.recordkeeping.audit_logging boolean
compliance.recordkeeping.log_format text one of structured_json plaintext
compliance.recordkeeping.retention_period text form ^\d+[ymd]$
compliance.recordkeeping.log_contents list without repeats
compliance.recordkeeping.log_contents[] text one of prompts_and_responses tool_calls decision_pathways model_version timestamps
compliance.recordkeeping.immutable boolean
compliance.model_risk.inventory_id text or null
compliance.model_risk.validation_cadence text one of monthly quarterly semi_annual annual
compliance.model_risk.validation_type text one of full targeted change_based
compliance.model_risk.conceptual_soundness text or null
compliance.model_risk.ongoing_monitoring boolean
compliance.model_risk.outcomes_analysis boolean
compliance.model_risk.drift_detection boolean
compliance.model_risk.parallel_testing boolean
compliance.data_governance.pii_handling text one of redact encrypt prohibit allow
compliance.data_governance.data_classification text one of public internal confidential restricted
compliance.data_governance.consent_required boolean
compliance.data_governance.cross_border boolean
compliance.data_governance.bias_testing boolean
compliance.data_governance.lda_search boolean
compliance.communications.type text one of correspondence retail institutional
compliance.communications.pre_review_required boolean
compliance.communications.fair_balanced boolean
compliance.communications.no_misleading boolean
compliance.communications.disclosures_required boolean
compliance.vendor_management.due_diligence_complete boolean
compliance.vendor_management.soc_report_required boolean
compliance.vendor_management.vendor_ai_notification boolean
compliance.vendor_management.subcontractor_assessment boolean
compliance.segregation_of_duties.roles list items at least 2
compliance.segregation_of_duties.roles[].id text form ^[a-z][a-z0-9_]*$ required
compliance.segregation_of_duties.roles[].description text required
compliance.segregation_of_duties.roles[].permissions list without repeats
compliance.segregation_of_duties.roles[].permissions[] text one of create submit review approve reject execute audit report
compliance.segregation_of_duties.conflicts[] list items at least 2 items at most 2
compliance.segregation_of_duties.conflicts[][] text
compliance.segregation_of_duties.assignments.* list items at least 1
compliance.segregation_of_duties.assignments.*[] text
compliance.segregation_of_duties.isolation.state text one of full shared none
compliance.segregation_of_duties.isolation.credentials text one of separate shared
compliance.segregation_of_duties.handoffs[].action text required
compliance.segregation_of_duties.handoffs[].required_roles list items at least 2 required
compliance.segregation_of_duties.handoffs[].required_roles[] text
compliance.segregation_of_duties.handoffs[].approval_required boolean
compliance.segregation_of_duties.enforcement text one of strict advisory
compliance.financial_governance.enabled boolean required
compliance.financial_governance.firewall text
compliance.financial_governance.spending.max_per_transaction_cents integer at least 1 required
compliance.financial_governance.spending.max_monthly_cents integer at least 1
compliance.financial_governance.spending.currency text
compliance.financial_governance.spending.allowed_categories[] text
compliance.financial_governance.spending.blocked_categories[] text
compliance.financial_governance.approval.require_above_cents integer at least 0 required
compliance.financial_governance.approval.timeout_minutes integer at least 1 required
compliance.financial_governance.approval.auto_deny_on_timeout boolean required
registries[].name text required
registries[].url text format uri
tags list without repeats
tags[] text
mcp_servers.*.command text
mcp_servers.*.args[] text
mcp_servers.*.env.* text
mcp_servers.*.url text format uri
mcp_servers.*.headers.* text
metadata.* text or number or boolean`

// hooks01 is the table of hooks/hooks.yaml; EVENT is each of events01.
const hooks01 = `
hooks map required
hooks.EVENT[].script text required
hooks.EVENT[].description text required
hooks.EVENT[].timeout integer at least 1
hooks.EVENT[].compliance boolean
hooks.EVENT[].fail_open boolean`

const events01 = "on_session_start on_session_end pre_tool_use post_tool_use on_error pre_response post_response"

// shape is what a row requires of a value.
type shape struct {
	kinds       []string
	least, most float64  // bounds: a number, the characters of a text, the items of a list
	words       []string // one of them; nil: any
	form        *regexp.Regexp
	format      string // date or uri; empty: any text
	required    bool
	unique      bool   // no item is there twice
	only        bool   // it has exactly one member
	want        string // for people
	members     map[string]*shape
	any, item   *shape // each member, each item
}

var (
	agentShape = sync.OnceValue(func() *shape { return readTable(members01) })
	hooksShape = sync.OnceValue(func() *shape {
		var rows strings.Builder
		for row := range strings.Lines(hooks01) {
			if !strings.Contains(row, "EVENT") {
				rows.WriteString(row)
				continue
			}
			for event := range strings.FieldsSeq(events01) {
				rows.WriteString(strings.TrimSpace(strings.Replace(row, "EVENT", event, 1)) + "\n")
			}
		}
		return readTable(rows.String())
	})
)

var step = plain.Pattern(`\[\]|\*|[^.\[\]]+`)

func newShape() *shape { return &shape{least: math.Inf(-1), most: math.Inf(1)} }

// readTable reads a table, which is the program's own.
func readTable(table string) *shape {
	root := newShape()
	root.want = "a map"
	for row := range strings.SplitSeq(strings.TrimSpace(table), "\n") {
		path, words, _ := strings.Cut(row, " ")
		at := root
		for _, name := range step().FindAllString(path, -1) {
			of, kind := at, "map"
			switch name {
			case "[]":
				kind, of.item = "list", cmp.Or(of.item, newShape())
				at = of.item
			case "*":
				of.any = cmp.Or(of.any, newShape())
				at = of.any
			default:
				if of.members == nil {
					of.members = map[string]*shape{}
				}
				of.members[name] = cmp.Or(of.members[name], newShape())
				at = of.members[name]
			}
			if of.kinds == nil {
				of.kinds, of.want = []string{kind}, cmp.Or(of.want, kind)
			}
		}
		at.read(words)
	}
	return root
}

var (
	kinds      = plain.Pattern(`^\w+(?: or \w+)*`)
	constraint = plain.Pattern(`at (least|most) (\S+)|(one of|format|form|without|with) (.+)`)
)

// read reads the kind and the constraints of a row.
func (s *shape) read(words string) {
	s.want, s.required = strings.CutSuffix(words, " required")
	s.kinds = strings.Split(kinds().FindString(s.want), " or ")
	for _, m := range constraint().FindAllStringSubmatch(s.want, -1) {
		value := m[2] + m[4]
		switch m[1] + m[3] {
		case "least":
			s.least, _ = strconv.ParseFloat(value, 64)
		case "most":
			s.most, _ = strconv.ParseFloat(value, 64)
		case "one of":
			s.words = strings.Fields(value)
		case "form":
			s.form = regexp.MustCompile(value)
		case "format":
			s.format = value
		case "without":
			s.unique = true
		case "with":
			s.only = true
		}
	}
}

// kind returns the kind of a value as the tables name it. A whole number is an integer.
func kind(v *yaml.Node) string {
	switch v.Tag {
	case "!!int":
		return "integer"
	case "!!float":
		if n, err := strconv.ParseFloat(v.Value, 64); err == nil && n == float64(int64(n)) {
			return "integer"
		}
		return "number"
	}
	return cmp.Or(map[string]string{"!!map": "map", "!!seq": "list", "!!bool": "boolean", "!!null": "null",
		"!!str": "text"}[v.Tag], "another")
}

// fits reports whether a value has the kind and the constraints of a shape.
func (s *shape) fits(v *yaml.Node) bool {
	is := kind(v)
	if !slices.Contains(s.kinds, is) && (is != "integer" || !slices.Contains(s.kinds, "number")) {
		return false
	}
	size := float64(len(v.Content))
	var err error
	switch is {
	case "integer", "number":
		size, err = strconv.ParseFloat(v.Value, 64)
	case "text":
		size = float64(utf8.RuneCountInString(v.Value))
		switch {
		case s.words != nil && !slices.Contains(s.words, v.Value), s.form != nil && !s.form.MatchString(v.Value):
			return false
		case s.format == "date":
			_, err = time.Parse(time.DateOnly, v.Value)
		case s.format == "uri":
			u, wrong := url.Parse(v.Value)
			return wrong == nil && u.IsAbs()
		}
	case "map":
		return !s.only || len(v.Content) == 2
	case "list":
		seen := map[[2]string]bool{}
		for _, c := range v.Content {
			if key := [2]string{c.Tag, c.Value}; s.unique && c.Kind == yaml.ScalarNode && seen[key] {
				return false
			} else {
				seen[key] = true
			}
		}
	}
	return err == nil && s.least <= size && size <= s.most
}

// judge compares a value with a shape, and what is in it. name and pointer are its path; known members were judged
// before.
func (s *shape) judge(m *mapping, v, key *yaml.Node, name, pointer string, out *verdict.Outcome, known ...string) {
	if enough(out) {
		return
	}
	if !s.fits(v) {
		message := fmt.Sprintf("%s is %s; expected %s", cmp.Or(name, m.path), shownOf(v), s.want)
		f := out.Errorf(m.at(key), pointer, "member-value", "%s", message)
		if v.Kind == yaml.MappingNode && strings.HasSuffix(name, "]") && slices.Equal(s.kinds, []string{"text"}) {
			f.Message = name + " is a map; write the name alone"
			f.WithFix("write %s as a text: the name alone", name)
		}
		return
	}
	for i, c := range v.Content {
		switch {
		case v.Kind == yaml.SequenceNode && s.item != nil:
			s.item.judge(m, c, c, fmt.Sprintf("%s[%d]", name, i), fmt.Sprintf("%s/%d", pointer, i), out)
		case v.Kind == yaml.MappingNode && i%2 == 1:
			key := v.Content[i-1]
			of := cmp.Or(s.members[key.Value], s.any)
			path := strings.TrimPrefix(name+"."+key.Value, ".")
			below := pointer + "/" + strict.Escape(key.Value)
			switch {
			case of == nil && s.members != nil && !enough(out):
				out.Errorf(m.at(key), below, "unknown-field", "%s has the member %q, which dialect 0.1 does not know",
					m.path, plain.Cut(path, 200))
			case of != nil && !slices.Contains(known, below):
				of.judge(m, c, key, path, below, out)
			}
		}
	}
	for _, member := range slices.Sorted(maps.Keys(s.members)) {
		path, below := strings.TrimPrefix(name+"."+member, "."), pointer+"/"+member
		if s.members[member].required && !slices.Contains(known, below) && !hasMember(v, member) {
			out.Errorf(m.at(key), pointer, "missing-field", "%s is not there; expected %s", path,
				s.members[member].want).
				WithFix("write %s: %s", path, s.members[member].want)
		}
	}
}

// judge compares all of a mapping with a shape; known are the members that were judged before.
func (m *mapping) judge(s *shape, out *verdict.Outcome, known ...string) {
	s.judge(m, m.root, m.root, "", "", out, known...)
}

// hasMember reports whether a mapping has a member.
func hasMember(v *yaml.Node, name string) bool {
	_, value := strictyaml.Member(v, name)
	return value != nil
}
