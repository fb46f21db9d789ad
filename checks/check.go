package checks

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Check is one requirement. Its documentation is made from Title, Cite, Why and Fix, one sentence each.
type Check struct {
	ID, Title, Cite, Why, Fix string

	Row   string          // a row in section 6 of RFC 0026, which its checks hold together
	Kinds []registry.Kind // kinds of records that it judges
	Owns  evidence.Kind   // this check reports that it is missing; 0: none

	// First says that the check runs before any evidence is sought, since it decides what to seek.
	First bool
	// PerCommit says that the check judges what happens to files: also to one that the range removes, and to one that
	// only single commits of it touch.
	PerCommit bool
	// inHistory says that an audit judges each commit of the history by the check, as far as Git shows it.
	inHistory bool
	// After are the checks without which this one has nothing to judge: where one of them Blocks it, it is skipped.
	After []*Check
	// Blocks returns what the check reports of a record whose members a later check reads, so that the later one has
	// nothing to judge; the pointer is the member at fault. The message is empty if the check reports nothing.
	Blocks func(s *Subject, reads []string) (pointer, code, message string)
	// reads are the members without which the check has nothing to judge.
	reads []string
	// Needs must be Obtained before Run is called, in the order in which a missing one is named.
	Needs func(*Subject) []evidence.Kind
	// Domains says that the check needs registrable domains. It decides nothing where the policy, which may add public
	// suffixes, cannot be read.
	Domains bool
	// partial says that a part of the check is judged without the network too, where it owns or needs evidence.
	partial bool
	// Uses is sought as well, but Run judges for itself what it means that it is missing.
	Uses []evidence.Kind
	// applies gives the reason why the check does not apply to the subject; empty where it does.
	applies func(*Subject) string
	// Run judges one record. The error is that of the gate itself, such as an object that cannot be read.
	Run func(*Subject) (verdict.Outcome, error)
	// again reports whether the check judges a file like a new one that gets the bytes back that it had when it last
	// was a record; nil: it does not.
	again func(*Subject) bool
	// runRecovered compares a file that gets the bytes back that it had when it last was a record with the rest of the
	// tree; nil: the check asks nothing more of it.
	runRecovered func(*Subject) verdict.Outcome
	// RunRegistry judges the registry as a whole; nil where there is nothing to say about it.
	RunRegistry func(*Run) (verdict.Outcome, error)

	// Codes explains each code that the check gives its findings, those that come with evidence included.
	Codes []Code
}

// Code explains one code of a finding.
type Code = strict.Code

// fetched are the codes of a fetched document that cannot be used, in addition to those of its own format.
var fetched = slices.Concat(evidence.Codes, strict.Codes)

// Rule returns what the catalogue says about the check.
func (c *Check) Rule() verdict.Rule {
	return verdict.Rule{ID: c.ID, Title: c.Title, Cite: c.Cite, Why: c.Why, Fix: c.Fix, Codes: c.Codes}
}

// Online reports whether the check can say nothing without the network.
func (c *Check) Online() bool { return (c.Owns != 0 || c.Needs != nil) && !c.partial }

// Early reports whether the check needs no evidence. It is judged before any is sought, so that a web that spends the
// budget does not hide what the clone shows.
func (c *Check) Early() bool { return c.Owns == 0 && c.Needs == nil && c.Uses == nil }

// Judges reports whether the check has something to say about records of kind k.
func (c *Check) Judges(k registry.Kind) bool {
	return slices.Contains(c.Kinds, k)
}

// Wants returns the evidence to fetch for a subject.
func (c *Check) Wants(s *Subject) evidence.Set {
	var set evidence.Set
	if owner, _, _, _ := c.Blocked(s); owner != "" || c.inapplicable(s) != "" {
		return set
	}
	if c.Owns != 0 {
		set = set.With(c.Owns)
	}
	if c.Needs != nil {
		for _, k := range c.Needs(s) {
			set = set.With(k)
		}
	}
	for _, k := range c.Uses {
		set = set.With(k)
	}
	return set
}

// inapplicable returns why the check does not apply to the subject, or "".
func (c *Check) inapplicable(s *Subject) string {
	if c.applies == nil {
		return ""
	}
	return c.applies(s)
}

func needs(kinds ...evidence.Kind) func(*Subject) []evidence.Kind {
	return func(*Subject) []evidence.Kind { return kinds }
}

// Blocked names the check that already reports why c has nothing to judge, and what it reports; the
// pointer is the member at fault. It is empty where c can be judged.
func (c *Check) Blocked(s *Subject) (owner, pointer, code, message string) {
	if s.Record == nil {
		return "", "", "", ""
	}
	for _, o := range c.After {
		if pointer, code, message = o.Blocks(s, c.reads); message != "" {
			return o.ID, pointer, code, message
		}
	}
	return "", "", "", ""
}

// LeftOut is why a check is skipped that a flag left out.
const LeftOut = "left out by --only or --skip"

// Offline is why a check is skipped that can say nothing without the network.
const Offline = "offline"

// NotReached is why a check that applies decided nothing where the run's budget was spent before.
const NotReached = "not reached: the run's budget was spent"

// Judge runs c on s, unless what it reads or needs is missing. With an error there is no verdict.
func (c *Check) Judge(s *Subject) (verdict.Outcome, error) {
	if !s.Run.Selected(c.ID) {
		return verdict.Outcome{Skipped: LeftOut}, nil
	}
	if s.Run.Offline && c.Online() {
		return verdict.Outcome{Skipped: Offline}, nil
	}
	if !c.PerCommit {
		if s.Record == nil {
			return verdict.Skip("the file is deleted"), nil
		}
		if is, err := s.Recovers(); err != nil || is && (c.again == nil || !c.again(s)) {
			return c.recovered(s), err
		}
	}
	if owner, pointer, code, message := c.Blocked(s); owner != "" {
		return deferTo(s, owner, pointer, code, message), nil
	}
	if why := c.inapplicable(s); why != "" {
		return verdict.Outcome{Skipped: why}, nil
	}
	if !s.Run.Reaches(c.ID, s.Path) {
		return verdict.Outcome{Doubtful: NotReached}, nil
	}
	if c.Domains && s.Run.Base.Policy.Broken != nil {
		return PolicyUnreadable(s, s.Run.Base.Policy.Broken), nil
	}
	if c.Needs != nil {
		if out, missing := unobtained(s, c.Needs(s)...); missing {
			return out, nil
		}
	}
	return c.Run(s)
}

// recovered judges a file that the range recovers.
func (c *Check) recovered(s *Subject) verdict.Outcome {
	if c.runRecovered != nil {
		if out := c.runRecovered(s); len(out.Findings) > 0 {
			return out
		}
	}
	return verdict.Skip("the file gets back what it had as a merged record")
}

// deferTo skips a check because check owner reports the cause; where a flag left the owner out, it fails itself.
func deferTo(s *Subject, owner, pointer, code, message string) verdict.Outcome {
	if s.Run.Selected(owner) {
		return verdict.Outcome{Skipped: owner + " failed", DeferredTo: owner}
	}
	var out verdict.Outcome
	out.Errorf(s, pointer, code, "%s", message).WithFix("run %s too; it says what would pass", owner)
	return out
}

// unobtained says what happens to a check where evidence is not there: the first of these kinds that is missing.
func unobtained(s *Subject, kinds ...evidence.Kind) (out verdict.Outcome, missing bool) {
	for _, k := range kinds {
		found := s.Facts.Of(k)
		owner := s.Run.owner(k)
		switch found.State {
		case evidence.Obtained:
			continue
		case evidence.Absent, evidence.Invalid:
			return deferTo(s, owner, "", found.Code, fmt.Sprintf("needs the %s: %s", k, found.Message)), true
		}
		if !s.Run.Selected(owner) {
			retry(out.Doubtf(s, "", found.Code, "needs the %s: %s", k, found.Message), found.Retry(s.Run.Now))
		}
		out.Doubtful = fmt.Sprintf("needs the %s, which could not be fetched: see %s", k, owner)
		return out, true
	}
	return out, false
}

// lacks reports whether evidence is missing that the rest of a check needs. Unless an error was found before, the
// outcome is then what unobtained says, after what was found.
func lacks(o *verdict.Outcome, s *Subject, kinds ...evidence.Kind) bool {
	out, missing := unobtained(s, kinds...)
	if missing && !o.Has(verdict.Error) {
		out.Findings = append(o.Findings, out.Findings...)
		*o = out
	}
	return missing
}

// owner returns the id of the check that reports that evidence k is missing.
func (r *Run) owner(k evidence.Kind) string {
	for _, c := range r.Catalogue {
		if c.Owns == k {
			return c.ID
		}
	}
	return ""
}

// errorIf returns Error for what blocks a change, else Warning.
func errorIf(blocks bool) verdict.Severity {
	if blocks {
		return verdict.Error
	}
	return verdict.Warning
}

// report turns missing evidence into its owner's finding, and returns that; nil if the evidence was obtained.
func report[T any](o *verdict.Outcome, s *Subject, pointer string, found evidence.Result[T],
	message, fix string) *verdict.Finding {
	switch {
	case found.State == evidence.Obtained:
		return nil
	case found.State.Open():
		return retry(o.Doubtf(s, pointer, found.Code, "%s", message), found.Retry(s.Run.Now))
	}
	return o.Errorf(s, pointer, found.Code, "%s", message).WithFix("%s", cmp.Or(found.Fix, fix))
}

// retry sets what may decide a finding of evidence that is open.
func retry(f *verdict.Finding, r evidence.Retry) *verdict.Finding {
	return f.WithFix("%s", r.Fix).Until(r.At)
}

// didFix returns the fix of a new listing whose tool_did is not the one that Manifest and Receipt both name: theirs.
// Else it returns otherwise.
func (s *Subject) didFix(otherwise string) string {
	m, r := s.Facts.Manifest, s.Facts.Receipt
	if !s.Added() || m.State != evidence.Obtained || r.State != evidence.Obtained {
		return otherwise
	}
	d, err := did.Parse(m.Value.ToolDID)
	if err != nil || !did.Same(m.Value.ToolDID, r.Value.ImplementationDID) ||
		did.Same(m.Value.ToolDID, s.Listing.ToolDID) {
		return otherwise
	}
	return fmt.Sprintf("set tool_did to %q, as Manifest and Receipt say", d.Spelling())
}

// documentFix returns the fix of a document that could not be fetched from the URL of a member, else otherwise.
func documentFix[T any](member, text string, found evidence.Result[T], most int64, otherwise string) string {
	u, err := url.Parse(text)
	if err != nil || len(found.From) == 0 {
		return otherwise
	}
	last := found.From[len(found.From)-1]
	switch found.Code {
	case evidence.CodeScheme:
		if strings.EqualFold(u.Scheme, "http") {
			return fmt.Sprintf("set %s to %q", member, "https"+text[len("http"):])
		}
	case evidence.CodeTLS:
		return "install a certificate of a public authority; to try it locally add --ca-cert FILE"
	case evidence.CodeNoHost:
		return fmt.Sprintf("create a DNS record for %s, or correct %s", u.Hostname(), member)
	case evidence.CodeTooLarge:
		if most%(1<<20) == 0 {
			return fmt.Sprintf("serve at most %d MiB", most>>20)
		}
		return fmt.Sprintf("serve at most %d KiB", most>>10)
	case evidence.CodeHTTPStatus:
		if last.State == evidence.Absent {
			return fmt.Sprintf("serve %s with status 200 (it answers %d)", cmp.Or(u.EscapedPath(), "/"), last.Status)
		}
	}
	return otherwise
}

// located puts in front of the message of a result the URL that answered so, unless it begins with it. A decoder's
// message names its document itself.
func located[T any](found evidence.Result[T]) string {
	if n := len(found.From); n > 0 {
		last := found.From[n-1]
		if last.State != evidence.Obtained && !strings.HasPrefix(found.Message, strconv.Quote(last.Target)) {
			return last.Target + ": " + found.Message
		}
	}
	return found.Message
}
