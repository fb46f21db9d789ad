package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
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
			out.Warnf(file(normative[0].Path), "", "no-changelog",
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

var (
	statusLine = plain.Pattern(`(?i)^\W*status\W*\s*accepted\b`)
	rfcNumber  = plain.Pattern(`^rfcs/RFC-0*([0-9]+)`)
)

// accepted tells of accepted RFCs whose sentences change.
func (v *View) accepted(out *verdict.Outcome) error {
	d, err := v.sentences()
	if err != nil {
		return err
	}
	differs := map[string]bool{}
	for _, s := range d.all() {
		differs[s] = true
	}
	budget := maxTexts
	for _, c := range v.normative() {
		if !strings.HasPrefix(c.Path, "rfcs/RFC-") || isJSON(c.Path) || !isFile(c.Base) {
			continue
		}
		old, err := v.normativeText(v.Base, c.Path, c.Base, &budget)
		if err != nil {
			return err
		}
		new, err := v.normativeText(v.Head, c.Path, c.Head, &budget)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(slices.Concat(old, new), func(s string) bool { return differs[s] }) {
			continue
		}
		text, err := read(v.Base, c.Path, maxText, &budget)
		if err != nil {
			return err
		}
		if !isAccepted(string(text)) {
			continue
		}
		superseded, err := v.superseded(c.Path, &budget)
		if err != nil {
			return err
		}
		if !superseded {
			out.Noticef(file(c.Path), "", "accepted-rfc-changed", "the RFC is accepted, its sentences with a key word "+
				"change, and no RFC that is added supersedes it")
		}
	}
	return nil
}

// isAccepted reports whether one of the first lines says so.
func isAccepted(text string) bool {
	n := 0
	for line := range strings.Lines(text) {
		if statusLine().MatchString(line) {
			return true
		}
		if n++; n == 20 {
			break
		}
	}
	return false
}

// superseded reports whether an RFC that the view adds names the one at path in a line with Supersedes.
func (v *View) superseded(path string, budget *int) (bool, error) {
	number := rfcNumber().FindStringSubmatch(path)
	if number == nil {
		return false, nil
	}
	names := regexp.MustCompile(fmt.Sprintf(`(?i)\bRFC[- ]?0*%s\b`, number[1]))
	for _, c := range v.Changes {
		if !strings.HasPrefix(c.Path, "rfcs/RFC-") || c.Base != nil || !isFile(c.Head) {
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
