package oasis

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Limits of a claim, in bytes.
const (
	MaxClaim  = 64 << 10
	MaxReport = 16 << 20
)

// attestation is the one sentence that a claim may attest with: a free sentence could deny what it seems to say.
const attestation = "All requirements of section 3 are met, the preflight handshake of section 3.8 included."

// Claim is a provider's claim of conformance (section 4), and the report that it rests on.
type Claim struct {
	Path   string // path of the claim, for findings
	Text   []byte // YAML or JSON, at most MaxClaim
	Now    time.Time
	MaxAge time.Duration // after which the claim counts as old

	Contract   *Contract // the profile's; nil: the claim is not compared with one
	ReportPath string    // empty: no report is given
	Report     []byte    // JSON of oap-conform oasis provider, at most MaxReport
}

// The roles of the catalogue.
const (
	roleProvider = "provider"
	roleClaimant = "claimant"
)

var claimRule = verdict.Rule{
	ID: "oasis-claim", Role: roleClaimant,
	Title: "the claim names its provider, profile, date and tiers, and attests section 3",
	Cite:  "OASIS Provider Conformance section 4",
	Why:   "a claim without a profile, a version or a date cannot be checked by anyone",
	Fix:   "write the members that the finding names",
	Codes: []strict.Code{
		{"claim-form", "the file is not one YAML or JSON mapping with one meaning",
			"write one mapping with the members of section 4, without anchors, tags and duplicate members"},
		{"missing-member", "the claim lacks a member", "add it"},
		{"wrong-type", "a member of the claim has another type than it must",
			"write one text there; each profile is a claim of its own"},
		{"empty-text", "a member of the claim is blank", "write the name there"},
		{"not-semver", "provider_version is not a version by SemVer 2.0.0",
			"write MAJOR.MINOR.PATCH, as in 1.0.0-rc1.5"},
		{"other-profile", "the claim is of another profile than --profile names",
			"name the directory of the claimed profile with --profile"},
		{"profile-version", "the claim is of another version of the profile than --profile names",
			"check out that version of the profile"},
		{"claim-date", "date is missing, is not a day, is in the future, or is long past",
			"write the day of the claim, YYYY-MM-DD"},
		{"claim-tier", "tiers is not a list of distinct integers from 1",
			"list each complexity tier that the provider supports once, such as [1, 2]"},
		{"claim-attestation", "attestation is not the sentence that section 4 requires", "write: " + attestation},
		{"unknown-member", "the claim has a member that is not read", "none needed"},
	},
}

var claimReportRule = verdict.Rule{
	ID: "oasis-claim-report", Role: roleClaimant,
	Title: "the report of a preflight passes, and is of the claimed provider, profile and tier",
	Cite:  "OASIS Provider Conformance sections 4 and 3.8",
	Why:   "the attestation includes the preflight handshake, which a report shows",
	Fix:   "run oap-conform oasis provider with --report json=FILE at the highest claimed tier, and give that file",
	Codes: []strict.Code{
		{"report-form", "the file is not a JSON report of oap-conform oasis provider",
			"write it with oap-conform oasis provider --report json=FILE"},
		{"claim-not-passed", "the verdict of the report is not a pass", "fix what the report names, and run it again"},
		{"claim-differs", "the report is of another provider, profile, version or tier than the claim",
			"give the report of the claimed provider and profile, at the highest claimed tier"},
		{"provider-not-compared", "the claim names an organization only, so the report's provider was not compared",
			"none needed; with provider and provider_version the two are compared"},
		{"claim-unverified", "no report is given, so nothing shows that the preflight passes",
			"give the JSON report of oap-conform oasis provider as REPORT"},
	},
}

// ClaimRows returns the requirements that bear on a claim.
func ClaimRows() []verdict.Rule { return rowsOf(roleClaimant) }

// ProviderRows returns the requirements that bear on a provider's answer.
func ProviderRows() []verdict.Rule { return rowsOf(roleProvider) }

func rowsOf(role string) []verdict.Rule {
	return slices.DeleteFunc(slices.Clone(Rules), func(r verdict.Rule) bool { return r.Role != role })
}

// claimed is what a claim says. Members that it does not have are empty.
type claimed struct {
	Facts        // without the tier
	organization string
	tiers        []int
}

// Judge returns the results of the claim.
func (c *Claim) Judge() ([]verdict.Result, error) {
	said, out := c.read()
	rest := c.compare(said)
	first, err := conformance.Fixed(claimRule, out).Result(claimRule, c.Path)
	if err != nil {
		return nil, err
	}
	second, err := conformance.Fixed(claimReportRule, rest).Result(claimReportRule, cmp.Or(c.ReportPath, c.Path))
	return []verdict.Result{first, second}, err
}

// claimTable is the table of a claim. What is any there is judged by itself.
var claimTable = sync.OnceValue(func() *form.Shape {
	return form.Table("section 4", `
provider text that is not blank
provider_version text that is a version by SemVer 2.0.0
organization text that is not blank
profile text that is not blank required
profile_version text that is not blank required
date any
tiers any
attestation any`)
})

// reader finds the places in a claim, and keeps what is wrong with it.
type reader struct {
	verdict.Place
	out verdict.Outcome
}

// read reads the claim; what it returns is nil if the file is not one mapping.
func (c *Claim) read() (*claimed, verdict.Outcome) {
	place, object, fault := parseMapping(c.Path, c.Text, MaxClaim)
	var out verdict.Outcome
	if fault != nil {
		out.Errorf(verdict.At(fault.Pos), fault.Pointer, "claim-form", "the claim is not one mapping: %s",
			fault.Message)
		return nil, out
	}
	r := &reader{Place: place}
	judgeMembers(place, "the claim", claimTable(), object, &r.out)
	text := func(key string) string {
		if text := strict.String(any(object), key); strings.TrimSpace(text) != "" {
			return text
		}
		return ""
	}
	_, named := object["provider"]
	for _, key := range []string{"provider", "provider_version"} {
		if _, there := object[key]; !there && (named || object["organization"] == nil ||
			object["provider_version"] != nil) {
			r.out.Errorf(r, "/"+key, "missing-member", "%s is missing from the claim", key).WithFix("add %s", key)
		}
	}
	said := &claimed{organization: text("organization")}
	said.Provider, said.ProviderVersion = text("provider"), text("provider_version")
	said.Profile, said.ProfileVersion = text("profile"), text("profile_version")
	c.againstContract(r, said)
	c.date(r, object["date"])
	said.tiers = r.tiers(object["tiers"])
	r.attested(object["attestation"])
	r.out.Verified = fmt.Sprintf("%s %s", quoted(cmp.Or(said.Provider, said.organization)), quoted(said.Profile))
	return said, r.out
}

// parseMapping reads JSON if the text begins with a brace, else YAML. Numbers are json.Number; a YAML scalar that is
// neither a number, a boolean nor null is its text, so that a date needs no quotes.
func parseMapping(path string, data []byte, most int) (verdict.Place, map[string]any, *strict.Error) {
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		limits := strict.Remote(most)
		if most > MaxClaim {
			limits = strict.Limits{Bytes: most, Depth: 64, Number: 64, Values: 1 << 19}
		}
		doc, err := strict.Parse(path, data, limits)
		if err != nil {
			return nil, nil, err.(*strict.Error)
		}
		object, _ := doc.Root.(map[string]any) // it begins with a brace
		return doc, object, nil
	}
	return parseYAML(path, data, most)
}

// parseYAML is parseMapping of YAML.
func parseYAML(path string, data []byte, most int) (verdict.Place, map[string]any, *strict.Error) {
	f, err := form.ReadMapping(path, data, most, 0)
	if err != nil {
		fault := err.(*strictyaml.Error)
		return nil, nil, &strict.Error{Pos: fault.Pos, Message: fault.Message}
	}
	return f, form.Plain(f.Root).(map[string]any), nil
}

func (r *reader) tiers(v any) []int {
	list, _ := v.([]any)
	var tiers []int
	for _, v := range list {
		number, _ := v.(json.Number)
		n, err := strconv.Atoi(number.String())
		if err != nil || n < 1 || slices.Contains(tiers, n) {
			r.out.Errorf(r, "/tiers", "claim-tier", "tiers holds %s; expected distinct integers from 1", show(v))
			return nil
		}
		tiers = append(tiers, n)
	}
	if len(tiers) == 0 {
		r.out.Errorf(r, "/tiers", "claim-tier", "tiers is %s; expected a list of distinct integers from 1",
			show(v))
	}
	return tiers
}

// attested checks the attestation, without regard to white space and letter case.
func (r *reader) attested(v any) {
	text, _ := v.(string)
	if !strings.EqualFold(strings.Join(strings.Fields(text), " "), attestation) {
		r.out.Errorf(r, "/attestation", "claim-attestation", "attestation is %s; expected %q",
			show(v), attestation)
	}
}

func (c *Claim) date(r *reader, v any) {
	text, _ := v.(string)
	day, err := time.Parse(time.DateOnly, text)
	today := c.Now.UTC().Truncate(24 * time.Hour)
	switch {
	case err != nil:
		r.out.Errorf(r, "/date", "claim-date", "date is %s; expected a day as YYYY-MM-DD",
			show(v))
	case day.After(today.AddDate(0, 0, 1)): // somewhere it is tomorrow
		r.out.Errorf(r, "/date", "claim-date", "date is %s; expected %s at the latest", text,
			today.AddDate(0, 0, 1).Format(time.DateOnly))
	case c.Now.Sub(day) > c.MaxAge:
		r.out.Warnf(r, "/date", "claim-date", "the claim is %s old; expected at most %s",
			plain.Count(int(c.Now.Sub(day).Hours()/24), "day"), plain.Count(int(c.MaxAge.Hours()/24), "day")).
			WithFix("claim again, after a new preflight")
	}
}

// againstContract compares the claimed profile with the one that --profile names.
func (c *Claim) againstContract(r *reader, said *claimed) {
	if c.Contract == nil || !c.Contract.readable {
		return
	}
	if said.Profile != "" && said.Profile != c.Contract.Profile {
		r.out.Errorf(r, "/profile", "other-profile", "profile is %s; expected %s", quoted(said.Profile),
			quoted(c.Contract.Profile))
	}
	if said.ProfileVersion != "" && said.ProfileVersion != c.Contract.Version {
		r.out.Errorf(r, "/profile_version", "profile-version", "profile_version is %s; expected %s",
			quoted(said.ProfileVersion), quoted(c.Contract.Version)).
			WithFix("check out that version of the profile, or claim %s", plain.Cut(c.Contract.Version, 100))
	}
}

// compare compares the claim with the report that it rests on.
func (c *Claim) compare(said *claimed) verdict.Outcome {
	var out verdict.Outcome
	if c.ReportPath == "" {
		out.Noticef(verdict.At{Path: c.Path}, "", "claim-unverified", "no report is given, so nothing shows that the "+
			"preflight passes")
		return out
	}
	doc, err := strict.Parse(c.ReportPath, c.Report, strict.Limits{Bytes: MaxReport, Depth: 64, Number: 64,
		Values: 1 << 19})
	if err != nil {
		fault := err.(*strict.Error)
		out.Errorf(verdict.At(fault.Pos), fault.Pointer, "report-form", "the report is not strict JSON: %s",
			fault.Message)
		return out
	}
	facts, ok := strict.Member(doc.Root, "oasis").(map[string]any)
	if !ok || strict.Member(doc.Root, "version") != json.Number("1") ||
		strict.String(doc.Root, "mode") != "conformance" || strict.String(doc.Root, "protocol") != "oasis" {
		out.Errorf(doc, "", "report-form", "the file is not a JSON report of oap-conform oasis provider")
		return out
	}
	if v := strict.String(doc.Root, "verdict"); v != string(verdict.Passed) {
		out.Errorf(doc, "/verdict", "claim-not-passed", "the verdict of the report is %s; expected pass", quoted(v))
	}
	if said == nil {
		if len(out.Findings) == 0 {
			out = verdict.Skip("%s failed", claimRule.ID)
		}
		return out
	}
	differs := func(member, claim, report string) {
		if claim != "" && claim != report {
			out.Errorf(doc, "/oasis/"+member, "claim-differs", "the report has %s %s; expected %s, as the claim says",
				member, quoted(report), quoted(claim))
		}
	}
	text := func(member string) string { return strict.String(any(facts), member) }
	differs("profile", said.Profile, text("profile"))
	differs("profile_version", said.ProfileVersion, text("profile_version"))
	differs("provider", said.Provider, text("provider"))
	differs("provider_version", said.ProviderVersion, text("provider_version"))
	if said.Provider == "" && said.organization != "" {
		out.Noticef(doc, "/oasis/provider", "provider-not-compared",
			"the claim names the organization %s only; provider not compared", quoted(said.organization))
	}
	if len(said.tiers) > 0 {
		number, _ := facts["tier"].(json.Number)
		if highest := slices.Max(said.tiers); number.String() != strconv.Itoa(highest) {
			out.Errorf(doc, "/oasis/tier", "claim-differs", "the report is of tier %s; expected %d, the highest of "+
				"the claim", cmp.Or(plain.Cut(number.String(), 20), "none"), highest).
				WithFix("run the preflight with --tier %d", highest)
		}
	}
	out.Verified = "the preflight passed"
	return out
}
