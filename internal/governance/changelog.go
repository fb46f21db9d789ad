package governance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/markdown"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// changelog warns of a normative change that the change log does not tell. It is policy of the specification's
// repository, and no gate of the RFC.
func (p *Proposal) changelog(_ *Judgement) (verdict.Outcome, error) {
	var out verdict.Outcome
	reason := "no normative artifact is touched"
	for _, v := range p.Views {
		normative := v.normative()
		if len(normative) == 0 {
			continue
		}
		why, err := v.meaningful()
		if err != nil {
			return out, err
		}
		if len(why) == 0 {
			reason = "the change looks editorial"
			continue
		}
		reason = ""
		if !slices.ContainsFunc(v.Changes, func(c registry.Change) bool { return c.Path == "CHANGELOG.md" }) {
			at, err := v.firstChange(normative[0])
			if err != nil {
				return out, err
			}
			out.Warnf(at, "", "no-changelog",
				"a normative artifact changes, and CHANGELOG.md does not").
				WithFix("add an entry under [Unreleased]")
		}
		if err := v.accepted(&out); err != nil {
			return out, err
		}
	}
	if reason == "" && len(out.Findings) == 0 {
		reason = "CHANGELOG.md is changed"
	}
	out.Verified = reason
	return out.OrPass(), nil
}

var rfcNumber = plain.Pattern(`(?i)^rfcs/RFC-0*([0-9]+)`)

// accepted reports accepted RFCs whose requirements change.
func (v *View) accepted(out *verdict.Outcome) error {
	d, err := v.difference()
	if err != nil {
		return err
	}
	budget := maxTexts
	for i, c := range d.changes {
		if i > 0 && d.changes[i-1].path == c.path || !isRFC(c.oldPath) || !isAccepted(c.old) {
			continue
		}
		superseded, err := v.superseded(c.oldPath, &budget)
		if err != nil {
			return err
		}
		if !superseded {
			at := verdict.At{Path: c.path}
			if c.New != nil {
				at.Line = c.New.Line
			}
			out.Noticef(at, "", "accepted-rfc-changed", "the RFC is accepted, its requirements change, and "+
				"no RFC that is added supersedes it")
		}
	}
	return nil
}

func isRFC(path string) bool { return strings.HasPrefix(strings.ToLower(path), "rfcs/rfc-") }

// isAccepted reports whether one of the first lines says so.
func isAccepted(d *markdown.Document) bool {
	return slices.ContainsFunc(d.Status, func(s markdown.Status) bool {
		first, _, _ := strings.Cut(s.Text, " ")
		return s.Line <= 20 && first == "accepted"
	})
}

// superseded reports whether an RFC that the view adds names the one at path in a line with Supersedes.
func (v *View) superseded(path string, budget *int) (bool, error) {
	number := rfcNumber().FindStringSubmatch(path)
	if number == nil {
		return false, nil
	}
	names := regexp.MustCompile(fmt.Sprintf(`(?i)\bRFC[- ]?0*%s\b`, number[1]))
	for _, c := range v.Changes {
		if !isRFC(c.Path) || c.Base != nil || !isFile(c.Head) {
			continue
		}
		text, err := read(v.Head, c.Path, maxText, budget)
		if err != nil {
			return false, err
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "Supersedes") && names.MatchString(line) {
				return true, nil
			}
		}
	}
	return false, nil
}
