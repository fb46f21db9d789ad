// Package oasis checks an evaluation provider's answer against the contract of a domain profile: the preflight of OASIS
// Provider Conformance section 3.8. The answer is that of the provider's conformance endpoint.
//
// What a provider declares is compared with what the profile asks for. Whether a declaration is true nobody can see
// from the answer: those requirements are in the catalogue for people to attest.
package oasis

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// MaxResponse is the size of a provider's answer, in bytes.
const MaxResponse = 1 << 20

// Rules are the catalogue: what is decided of a provider, in the order of the report, then what people attest, then
// what is decided of a claim, and of an evaluation report.
var Rules = rules()

func rules() []verdict.Rule {
	all := slices.Concat(verdict.Rules(checks), attested)
	for i := range all {
		all[i].Role = roleProvider
	}
	return append(append(all, claimRule, claimReportRule), ReportRows()...)
}

// checks are those that are decided, in the order of the report.
var checks = []verdict.Entry[*Input]{
	entry(contractRule, nil, judgeContract),
	entry(endpointRule, nil, func(in *Input) verdict.Outcome { return in.endpoint }),
	entry(responseRule, nil, judgeResponse),
	entry(coreVersionRule, (*Input).unread, judgeCoreVersion),
	entry(profileRule, (*Input).unread, judgeProfile),
	entry(schemaRule, (*Input).unanswered, judgeSchema),
	entry(requirementsRule, (*Input).unread, judgeRequirements),
	entry(supportedRule, (*Input).unanswered, judgeSupported),
}

// entry returns the entry of a check. It is skipped if the input lacks what it needs: lacks says why; nil: it needs
// nothing.
func entry(rule verdict.Rule, lacks func(*Input) string, judge func(*Input) verdict.Outcome) verdict.Entry[*Input] {
	return verdict.Entry[*Input]{Rule: rule, Judge: func(in *Input) (verdict.Outcome, error) {
		if lacks != nil {
			if why := lacks(in); why != "" {
				return verdict.Skip("%s", why), nil
			}
		}
		return conformance.Fixed(rule, judge(in)), nil
	}}
}

// Input is what is judged: an answer and the contract that it is compared with.
type Input struct {
	contract *Contract
	tier     int

	endpoint verdict.Outcome  // of requesting the answer and reading it as JSON
	doc      *strict.Document // the answer; may be nil
	shape    verdict.Outcome  // of checking the members of the answer
	response *response        // what the answer says; nil where its shape does not let it be read
}

// Asked returns the input of a requested answer, at the complexity tier to evaluate.
func Asked(c *Contract, o evidence.Observation, tier int) *Input {
	in := &Input{contract: c, tier: tier}
	switch {
	case o.State == evidence.Obtained:
		in.read("", o.Body)
		if in.doc != nil {
			in.endpoint = verdict.Pass("answered %d with %d bytes of JSON", o.Status, len(o.Body))
		}
	case o.State == evidence.Unsought:
		in.endpoint = verdict.Skip("%s", notAsked)
	case o.State == evidence.Unavailable && ours(o.Code):
		in.endpoint.Doubtf(verdict.At{}, "", o.Code, "asking %s: %s", o.Request, o.Message).WithFix("run it again")
	default:
		in.endpoint.Errorf(verdict.At{}, "", o.Code, "asking %s: %s", o.Request, o.Message)
	}
	return in
}

// ours reports whether a code says that this program, and not the provider, is why there is no answer.
func ours(code string) bool {
	return slices.Contains([]string{evidence.CodeBudget, evidence.CodeNotRecorded, evidence.CodeResolver,
		evidence.CodeDeniesAll, evidence.CodeTotal}, code)
}

// Unasked returns the input of an endpoint that was not asked, and why.
func Unasked(c *Contract, why string) *Input {
	return &Input{contract: c, endpoint: verdict.Skip("%s", why)}
}

// notAsked is why there is no answer of an endpoint in an offline run.
const notAsked = "offline: the endpoint was not asked"

// Saved returns the input of an answer in a file; path is the file in findings. For a file that is larger than
// MaxResponse, data need only have the first byte more.
func Saved(c *Contract, path string, data []byte, tier int) *Input {
	in := &Input{contract: c, tier: tier}
	in.read(path, data)
	if in.doc != nil {
		in.endpoint = verdict.Skip("no endpoint was asked: the answer is a file's")
	}
	return in
}

// read reads the answer as strict JSON, and its members.
func (in *Input) read(path string, data []byte) {
	if len(data) > MaxResponse {
		in.endpoint.Errorf(verdict.At{Path: path}, "", evidence.CodeTooLarge, "the answer has more than %d bytes",
			MaxResponse)
		return
	}
	doc, err := strict.Parse(path, data, strict.Remote(MaxResponse))
	if err != nil {
		fault := err.(*strict.Error)
		in.endpoint.Errorf(verdict.At(fault.Pos), fault.Pointer, "not-json", "the answer is not strict JSON: %s",
			fault.Message)
		return
	}
	in.doc = doc
	in.response, in.shape = readResponse(doc)
}

// Facts are what a preflight was about: the member oasis of a report.
type Facts struct {
	Provider        string `json:"provider,omitempty" jsonschema:"description=absent if the answer could not be read"`
	ProviderVersion string `json:"provider_version,omitempty" jsonschema:"description=version that the provider states"`
	Profile         string `json:"profile" jsonschema:"description=of the contract"`
	ProfileVersion  string `json:"profile_version" jsonschema:"description=version of the profile"`
	Tier            int    `json:"tier" jsonschema:"description=complexity tier that was evaluated"`
}

// Facts returns what the run was about, for the report: profile and tier, and the provider if its answer could be read.
func (in *Input) Facts() *Facts {
	f := &Facts{Profile: in.contract.Profile, ProfileVersion: in.contract.Version, Tier: in.tier}
	if in.response != nil {
		f.Provider, f.ProviderVersion = in.response.provider, in.response.version
	}
	return f
}

// Judge decides what can be decided of the input; subject is what the results are said about.
func Judge(in *Input, subject string) ([]verdict.Result, error) {
	return verdict.Judge(checks, nil, in, subject)
}

var endpointRule = verdict.Rule{
	ID: "oasis-endpoint", Method: verdict.Live,
	Title: "the endpoint /v1/conformance answers 200 with JSON",
	Cite:  "OASIS Provider Conformance section 3.8.1",
	Why:   "a provider that does not answer must be found before the run, not during it",
	Fix:   "serve GET /v1/conformance?profile=ID with status 200 and one JSON object",
	Codes: append([]strict.Code{
		{"not-json", "the answer is not JSON with one meaning", "answer with one JSON object, as section 3.8.2 has it"},
	}, asking()...),
}

// asking returns the codes in which requesting a document may end.
func asking() []strict.Code {
	return slices.DeleteFunc(slices.Clone(evidence.Codes), func(c strict.Code) bool {
		return !slices.Contains([]string{evidence.CodeHTTPStatus, evidence.CodeTimeout, evidence.CodeBudget,
			evidence.CodeConnect, evidence.CodeResolver, evidence.CodeNoHost, evidence.CodeTLS, evidence.CodeForbidden,
			evidence.CodeScheme, evidence.CodeURL, evidence.CodeTooLarge, evidence.CodeRedirects, evidence.CodeEncoding,
			evidence.CodeProtocol, evidence.CodeTotal, evidence.CodeNotRecorded, evidence.CodeDeniesAll}, c.ID)
	})
}

// unanswered returns why a check is skipped that needs the members of the answer, or "".
func (in *Input) unanswered() string {
	switch {
	case in.doc == nil:
		return "there is no answer: see " + endpointRule.ID
	case in.response == nil:
		return responseRule.ID + " failed"
	}
	return ""
}

// show formats a value for people: as JSON, cut.
func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "what JSON cannot hold"
	}
	return plain.Cut(string(text), 200)
}

// quoted is foreign text for people.
func quoted(text string) string { return fmt.Sprintf("%q", plain.Cut(text, 500)) }
