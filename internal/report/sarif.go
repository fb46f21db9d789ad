package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// The part of SARIF 2.1.0 that a gate has something to say in.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string     `json:"id"`
		Short *sarifText `json:"shortDescription,omitempty"`
		Full  *sarifText `json:"fullDescription,omitempty"`
		Help  *sarifText `json:"help,omitempty"`
		URI   string     `json:"helpUri,omitempty"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		ExitCode      int                 `json:"exitCode"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   sarifProperties   `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
	sarifProperties struct {
		Severity verdict.Severity `json:"severity"`
		Code     string           `json:"code"`
		Pointer  string           `json:"pointer,omitempty"`
		Commit   string           `json:"commit,omitempty"`
	}
)

// maxSARIF is how many results of a run the forge takes: it refuses a file with more.
const maxSARIF = 25_000

func writeSARIF(w *bufio.Writer, r *Counted, o Options) error {
	rules, index := sarifRules(r, o.Rules)
	all := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name:           "oap-gate",
			Version:        sarifMessage(r.Tool.Version),
			InformationURI: "https://github.com/openagentprotocol-OAP/oap-gate",
			Rules:          rules,
		}},
		Invocations: []sarifInvocation{{Successful: true, ExitCode: r.Verdict.ExitStatus()}},
		Results:     []sarifResult{},
	}
	if r.Verdict == verdict.Errored {
		all.Invocations[0].Successful = false
		all.Invocations[0].Notifications = []sarifNotification{{"error",
			sarifText{sarifMessage(withFix(r.Error, r.Remedy))}}}
	}
	left, rest := r.severities, 0 // how many of each severity are reported: the most severe first
	for severity, n := range left {
		left[severity] = min(n, maxSARIF-sum(left[:severity]))
		rest += n - left[severity]
	}
	if rest > 0 {
		printed := &all.Invocations[0].Notifications
		*printed = append(*printed, sarifNotification{"note", sarifText{fmt.Sprintf(
			"%s left out, the least severe: the forge takes %d of a run. The JSON report has all.",
			plain.Count(rest, "finding"), maxSARIF)}})
	}
	seen, titles := map[string]int{}, eachTitles(r.Report)
	for f := range r.findings() {
		if left[f.Severity] > 0 {
			left[f.Severity]--
			all.Results = append(all.Results, sarifFinding(f, titles[f.subject], index[f.check], seen))
		}
	}
	text, err := JSON(sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{all},
	}, "  ")
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

func sum(all []int) (n int) {
	for _, one := range all {
		n += one
	}
	return n
}

// rulesPage explains each rule and each code.
const rulesPage = "https://github.com/openagentprotocol-OAP/oap-gate/blob/main/docs/rules.md"

// noAnchor matches what the anchor of a heading leaves out in the forge's rendering of a page.
var noAnchor = plain.Pattern(`[^\w-]`)

// sarifRules describes the whole catalogue, and each check of the report that it does not know.
func sarifRules(r *Counted, catalogue []verdict.Rule) ([]sarifRule, map[string]int) {
	rules, index := []sarifRule{}, map[string]int{}
	add := func(rule verdict.Rule) {
		if _, ok := index[rule.ID]; ok {
			return
		}
		index[rule.ID] = len(rules)
		help := rule.Fix
		if rule.Cite != "" {
			help = strings.TrimSpace(help + " (" + rule.Cite + ")")
		}
		made := sarifRule{ID: sarifMessage(rule.ID), Short: sarifOptional(rule.Title), Full: sarifOptional(rule.Why),
			Help: sarifOptional(help)}
		if rule.Title != "" { // it is one of ours
			made.URI = rulesPage + "#" + strings.ToLower(noAnchor().ReplaceAllString(rule.ID, ""))
		}
		rules = append(rules, made)
	}
	for _, rule := range catalogue {
		add(rule)
	}
	for _, id := range r.checks {
		add(verdict.Rule{ID: id})
	}
	return rules, index
}

func sarifOptional(s string) *sarifText {
	if s == "" {
		return nil
	}
	return &sarifText{sarifMessage(s)}
}

// sarifFinding returns a finding; commit is the title of the commit that was judged by itself, empty if none was.
func sarifFinding(f placed, commit string, rule int, seen map[string]int) sarifResult {
	message := withFix(f.Message, f.Fix)
	if commit != "" {
		message = "commit " + commit + ": " + message
	}
	return sarifResult{
		RuleID:    sarifMessage(f.check),
		RuleIndex: rule,
		Level:     sarifLevel(f.Severity),
		Message:   sarifText{sarifMessage(message)},
		Locations: []sarifLocation{{sarifPhysical{
			Artifact: sarifArtifact{sarifURI(f.path)},
			Region:   sarifRegion{Line: max(f.Line, 1), Column: max(f.Column, 0)},
		}}},
		Fingerprints: map[string]string{"oapGateFinding/v1": fingerprint(f, seen)},
		Properties: sarifProperties{
			Severity: f.Severity,
			Code:     sarifMessage(f.Code),
			Pointer:  sarifMessage(f.Pointer),
			Commit:   sarifMessage(f.Commit),
		},
	}
}

func withFix(message, fix string) string {
	if fix == "" {
		return message
	}
	return message + "; fix: " + fix
}

// sarifLevel: what is inconclusive blocks as an error does.
func sarifLevel(s verdict.Severity) string {
	switch s {
	case verdict.Warning:
		return "warning"
	case verdict.Notice:
		return "note"
	}
	return "error"
}

// fingerprint names a finding across runs: the message is left out, since it may hold times, and so is the
// line, which edits elsewhere move. Findings that are alike are counted.
func fingerprint(f placed, seen map[string]int) string {
	h := sha256.New()
	for _, s := range []string{f.check, f.Code, f.path, f.Pointer, f.Commit} {
		fmt.Fprintf(h, "%q\n", s)
	}
	id := hex.EncodeToString(h.Sum(nil)[:16])
	seen[id]++
	return fmt.Sprintf("%s:%d", id, seen[id])
}

var sarifMarkup = plain.Pattern(`\]\(|\{[0-9]`)

// sarifMessage makes foreign text a SARIF message: neutral, and without what a viewer takes for a link,
// "[text](target)", or a placeholder, "{0}" (SARIF 2.1.0 sections 3.11.5 and 3.11.6).
func sarifMessage(s string) string {
	return sarifMarkup().ReplaceAllStringFunc(line(s), func(m string) string {
		if m == "](" {
			return `]\x28`
		}
		return `\x7b` + m[1:]
	})
}

// sarifURI returns the relative URI of a path of the registry. A finding about the registry as a whole is placed at its
// first directory, since GitHub rejects a result without a place.
func sarifURI(path string) string {
	if path == wholeRegistry || path == "" {
		return "implementations"
	}
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return strings.TrimLeft(b.String(), "/")
}
