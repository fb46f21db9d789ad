package opengap

import (
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// The public command of dialect 0.1 refuses what does not fit these tables.

// members01 is the table of agent.yaml.
const members01 = `
spec_version text form ^\d+\.\d+\.\d+$
name text form ^[a-z][a-z0-9-]*$ required
version text form ^\d+\.\d+\.\d+(-[a-zA-Z0-9.]+)?(\+[a-zA-Z0-9.]+)?$ required
description text that is not empty required
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

// hook01 is the table of the hooks of one event in hooks/hooks.yaml; EVENT is each of events01.
const hook01 = `
hooks.EVENT[].script text required
hooks.EVENT[].description text required
hooks.EVENT[].timeout integer at least 1
hooks.EVENT[].compliance boolean
hooks.EVENT[].fail_open boolean`

const events01 = "on_session_start on_session_end pre_tool_use post_tool_use on_error pre_response post_response"

var (
	agentShape = sync.OnceValue(func() *form.Shape { return form.Table("dialect 0.1", members01) })
	hooksShape = sync.OnceValue(func() *form.Shape {
		rows := "hooks map required"
		for event := range strings.FieldsSeq(events01) {
			rows += strings.ReplaceAll(hook01, "EVENT", event)
		}
		return form.Table("dialect 0.1", rows)
	})
)

// judgeMembers holds a file against a table.
func judgeMembers(f *form.File, by *form.Shape, out *verdict.Outcome, known ...string) {
	by.Judge(f.Values(), f.Path, func(pointer, code, message, fix string) {
		if !enough(out) {
			code = strings.Replace(code, "missing-member", "missing-field", 1)
			out.Errorf(f, pointer, code, "%s", message).Fix = fix
		}
	}, known...)
}
