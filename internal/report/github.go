package report

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// AnnotationLimit is the highest MaxAnnotations: GitHub drops what is beyond ten of a severity in a step, and
// the tenth counts the rest.
const AnnotationLimit = 9

// writeGitHub writes the log of a step: annotations by workflow commands, then the text, with the table in a group.
func writeGitHub(b *bufio.Writer, r *Counted, o Options) error {
	if o.MaxAnnotations < 0 || o.MaxAnnotations > AnnotationLimit {
		return fmt.Errorf("%d annotations of each severity; expected 0 to %d", o.MaxAnnotations, AnnotationLimit)
	}
	// The library writes its messages escaped; its plain output is not, so plain lines do not go through it.
	step := githubactions.New(githubactions.WithWriter(b))
	writeChosen(b, r)
	writeAnnotations(step, r, o.MaxAnnotations)
	writeJudged(b, r, o, func(title string, write func()) {
		step.Group(title)
		write()
		step.EndGroup()
	})
	return nil
}

// annotations of one severity of GitHub's.
type level struct {
	name  string
	issue func(*githubactions.Action, string, ...any)
}

var levels = []level{
	{"error", (*githubactions.Action).Errorf},
	{"warning", (*githubactions.Action).Warningf},
	{"notice", (*githubactions.Action).Noticef},
}

func writeAnnotations(step *githubactions.Action, r *Counted, limit int) {
	if limit == 0 {
		return
	}
	if r.Verdict == verdict.Errored {
		step.WithFieldsMap(map[string]string{"title": "oap-gate could not run"}).
			Errorf("%s", annotation(r.Error, r.Remedy, ""))
	}
	var first [4]rounds // by severity
	for f := range r.findings() {
		first[f.Severity].add(f, limit)
	}
	titles := eachTitles(r.Report)
	for _, level := range levels {
		shown, rest := 0, 0
		for severity, of := range first {
			if annotationLevel(verdict.Severity(severity)) != level.name {
				continue
			}
			some := of.shown[:min(len(of.shown), limit-shown)]
			for _, one := range some {
				f := one.placed
				level.issue(step.WithFieldsMap(annotationFields(f, titles)), "%s", annotation(f.Message, f.Fix, f.Cite))
			}
			shown += len(some)
			rest += r.severities[severity] - len(some)
		}
		if rest > 0 {
			level.issue(step, "%s not shown here: the log and the summary name all",
				plain.Count(rest, "more "+level.name))
		}
	}
}

// rounds chooses findings round by round over the files that they are of: the first of each file, then the second of
// each. The zero rounds is ready.
type rounds struct {
	shown []inRound
	seen  map[string]int // findings of a file so far; as long as it is looked at, there are as many files as are shown
}

// inRound is a finding with its round, from 0.
type inRound struct {
	placed
	round int
}

// add takes a finding of the report, in its order, if it is of an earlier round than the last one of at most limit.
func (r *rounds) add(f placed, limit int) {
	if n := len(r.shown); n == limit && (n == 0 || r.shown[n-1].round == 0) {
		return
	}
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	round := r.seen[f.path]
	r.seen[f.path]++
	at := slices.IndexFunc(r.shown, func(one inRound) bool { return one.round > round })
	if at < 0 {
		at = len(r.shown)
	}
	r.shown = slices.Insert(r.shown, at, inRound{f, round})
	r.shown = r.shown[:min(len(r.shown), limit)]
}

// annotationLevel is GitHub's severity: what is inconclusive blocks as an error does.
func annotationLevel(s verdict.Severity) string {
	if s == verdict.Doubt {
		return verdict.Error.String()
	}
	return s.String()
}

func annotation(message, fix, cite string) string {
	s := line(message)
	if cite != "" {
		s += " (" + line(cite) + ")"
	}
	if fix != "" {
		s += "\nfix: " + line(fix)
	}
	return cut(s, maxField)
}

// annotationFields returns the title and the place of a finding. titles are those of commits that were judged each by
// itself: a commit is not a file.
func annotationFields(f placed, titles map[string]string) map[string]string {
	title := line(f.check)
	commit, ofCommit := titles[f.subject]
	if ofCommit {
		title += ", commit " + commit
	}
	if f.Severity == verdict.Doubt {
		title += " (inconclusive)"
	}
	fields := map[string]string{"title": title}
	// A URL is not a file of the repository.
	if f.path == wholeRegistry || ofCommit && f.path == f.subject || strings.Contains(f.path, "://") {
		return fields
	}
	fields["file"] = line(f.path)
	if f.Line > 0 {
		fields["line"] = strconv.Itoa(f.Line)
		fields["col"] = strconv.Itoa(max(f.Column, 1))
	}
	return fields
}
