package doctor

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// strangersEvents start a workflow of the default branch, with the base's token and secrets, even if a stranger
// caused the event.
// The caller of workflow_call may be any of them.
var strangersEvents = []string{"check_run", "check_suite", "discussion", "discussion_comment", "issue_comment",
	"issues", "pull_request_review", "pull_request_review_comment", "pull_request_target", "repository_dispatch",
	"status", "workflow_run", "workflow_call"}

// scopes are the permissions by which a job's token changes what the gate protects.
var scopes = []string{"contents", "pull-requests", "checks", "statuses", "actions", "id-token"}

// otherJob is a job, with what decides how much its deeds matter.
type otherJob struct {
	*job
	*inspection
	event  string   // a stranger's event that starts it; "": none
	secret bool     // it has a secret of its own
	may    []string // the scopes that its token can write
}

// deeds are what a job does that the gate's check does not survive.
var deeds = []struct {
	code, words string
	done        func(o *otherJob, s *step) bool // whether a step does it
	reading     bool                            // a warning of a job whose token can only read; else nothing
}{
	{"runs-head", "runs what a pull request proposes", (*otherJob).runsHead, true},
	{"approves", "approves", (*otherJob).approves, false},
	{"merges", "merges", (*otherJob).merges, false},
	{"reports-as-gate", "reports a check that may be the gate's", (*otherJob).reportsAsGate, false},
	{"stranger-text", "runs a script with text that a stranger words: ", (*otherJob).strangerText, true},
	{"pushes-past-gate", "pushes to the default branch", (*otherJob).pushesPastGate, false},
}

// judgeOther looks at what a job does to the gate's branch. Scripts of the repository, composite actions and called
// files are not followed.
func (v *inspection) judgeOther(j *job) {
	o := v.otherJob(j)
	writes, found := o.secret || len(o.may) > 0, false
	for _, d := range deeds {
		switch {
		case j.role != noRole && d.code == "stranger-text":
			d.code = "script-injection"
		case j.role == commentRole && d.code == "runs-head":
			d.code = "privileged-checkout"
		}
		worst, words := verdict.Notice, d.words
		var at *step
		for _, s := range j.steps {
			severity := verdict.Error
			if !writes && d.code != "script-injection" || d.code == "merges" && o.mayMerge(s) {
				severity = verdict.Warning
			}
			if severity < worst && (writes || d.reading) && d.done(o, s) {
				worst, at = severity, s
			}
		}
		if at == nil {
			continue
		}
		if strings.HasSuffix(words, " ") {
			words += strconv.Quote(at.worded(j))
		}
		found = true
		v.add(worst, d.code, at.ran().Pos, "", "%s, and it %s", o.describe(), words)
	}
	if o.event != "" && o.event != "workflow_call" && writes && !found && j.role == noRole {
		v.add(verdict.Warning, "privileged-workflow", j.Pos, "", "%s; what it runs was not read", o.describe())
	}
}

// otherJob returns a job with what its token can write.
func (v *inspection) otherJob(j *job) *otherJob {
	o := &otherJob{job: j, inspection: v}
	secrets, _ := j.secrets()
	o.secret = secrets != nil || j.get("secrets").text == "inherit"
	p := j.get("permissions")
	reads := v.standing != nil && v.standing.Workflows != nil && v.standing.Workflows.Default == "read"
	for _, scope := range scopes {
		if p.text == "write-all" || p.get(scope).text == "write" || !p.there() && !reads {
			o.may = append(o.may, scope)
		}
	}
	if i := slices.IndexFunc(strangersEvents, func(e string) bool { return j.w.runsOn(e) }); i >= 0 {
		o.event = strangersEvents[i]
	}
	return o
}

// describe returns the event, the job and what its token can write.
func (o *otherJob) describe() string {
	event, own, can := o.event, "", "only read"
	if event == "" {
		var all []string
		for _, e := range o.w.on.kids {
			all = append(all, e.key)
		}
		slices.Sort(all)
		event = cmp.Or(strings.Join(all, ", "), "no event")
	}
	if o.secret {
		own = ", which has a secret"
	}
	if o.may != nil {
		can = "write " + strings.Join(o.may, ", ")
	}
	return fmt.Sprintf("%s starts job %q%s, whose token can %s", plain.Cut(event, 80), plain.Cut(o.key, 80), own, can)
}

// mayMerge reports whether a merge by the step is only a warning: people or a bot start it, and it keeps to the rules.
func (o *otherJob) mayMerge(s *step) bool {
	return !does(s, "--admin", adminMerge) && (guarded(o.get("if").text) || guarded(s.get("if").text) ||
		o.event == "" && !o.w.runsOn("pull_request"))
}

var (
	trusted = plain.Pattern(`^(?:github\.event\.pull_request\.user\.login == '[A-Za-z0-9-]+\[bot\]'|` +
		`github\.event\.comment\.author_association == '(?:OWNER|MEMBER|COLLABORATOR)'|` +
		`contains\(fromJSON\('\[\s*"(?:OWNER|MEMBER|COLLABORATOR)"(?:\s*,\s*"(?:OWNER|MEMBER|COLLABORATOR)")*\s*\]'\),` +
		` github\.event\.comment\.author_association\))$`)
	wrapped = plain.Pattern(`^\$\{\{(.*)\}\}$`)
)

// guarded reports whether a condition has one part that only a bot or a member of the repository fulfills. A condition
// with an alternative or a group may mean something else.
func guarded(condition string) (safe bool) {
	condition = wrapped().ReplaceAllString(strings.Join(strings.Fields(condition), " "), "$1")
	for part := range strings.SplitSeq(condition, "&&") {
		part = strings.TrimSpace(part)
		switch {
		case trusted().MatchString(part):
			safe = true
		case strings.ContainsAny(part, "()|"):
			return false
		}
	}
	return safe
}

// does reports whether a step's script matches, or its action is of a table. What matches has the mark, which is looked
// for first: a pattern takes long.
func does(s *step, mark string, pattern func() *regexp.Regexp, actions ...string) bool {
	return strings.Contains(s.script, mark) && pattern().MatchString(s.script) || slices.Contains(actions, s.action())
}

// arguments are the rest of a shell's command, whose quoted words may hold what ends one. ghPR begins a command of gh.
const (
	arguments = `(?:"[^"\n]*"|'[^'\n]*'|[^\n;|&"'])*`
	ghPR      = `\bgh\s+pr\s+(?:(?:-R|--repo)[=\s]?\s*\S+\s+)?`
)

var (
	headCheckout = plain.Pattern(ghPR + `checkout\b`)
	headFetch    = plain.Pattern(`\bgit\s+(?:\S+\s+)*?(?:fetch|pull)\b` + arguments +
		`["']?[^\s;|&"']*\bpull/|\brefs/pull/`)
	ofBase = plain.Pattern(`^(?:github\.(?:sha|ref|ref_name|base_ref|repository)|` +
		`github(?:\.[\w-]+)+\.default_branch|github(?:\.[\w-]+)*\.base(?:\.[\w-]+)+)$`)
	notOfBase = plain.Pattern(`\.(?:head|client_payload)\b`)
	expressed = plain.Pattern(`\$\{\{\s*((?:[^}']|'[^']*')*?)\s*\}\}`)
	approval  = plain.Pattern(ghPR + `review\b` + arguments + `\s["']?(?:--approve\b|-[a-z]*a)|` +
		`(?s:(?:/reviews|[cC]reateReview|[aA]ddPullRequestReview|submitReview).*\bAPPROVE\b|` +
		`\bAPPROVE\b.*(?:/reviews|[cC]reateReview|[aA]ddPullRequestReview|submitReview))`)
	merge = plain.Pattern(ghPR + `merge\b|\bpulls/[^\s"'` + "`" + `]*/merge\b|\bpulls\.merge\b|` +
		`\benablePullRequestAutoMerge\b|\bmergePullRequest\b`)
	adminMerge = plain.Pattern(ghPR + `merge\b` + arguments + `\s["']?--admin\b`)
	checkWrite = plain.Pattern(`\bcheck-runs\b|\bstatuses/|\bchecks\.create\b|\bcreateCommitStatus\b`)
	checkName  = plain.Pattern(`\b(?:name|context)["']?\s*[=:]`)
	// literal is a name that is written out, in the words of a shell or of a script.
	literal = plain.Pattern(`\b(?:name|context)["']?\s*(?:[=:]\s*(?:"[^"$]+"|'[^'$]+'|` + "`[^`$]+`" + `)|` +
		`=\s*[^\s"'$,})` + "`" + `]+(?:[\s"',})` + "`" + `]|$))`)
	push = plain.Pattern(`\bgit\s+(?:-[cC]\s*\S+\s+)*push\b(` + arguments + `)`)
)

// runsHead reports whether a step takes something from a pull request's head, on an event that strangers cause.
func (o *otherJob) runsHead(s *step) bool {
	taken := does(s, "checkout", headCheckout) || does(s, "pull/", headFetch)
	if s.kind == "checkout" {
		for _, in := range []string{s.input("ref").text, s.input("repository").text} {
			taken = taken || strings.Contains(in, "refs/pull/")
			for _, one := range expressed().FindAllStringSubmatch(dotted(in), -1) {
				taken = taken || !ofBase().MatchString(one[1]) || notOfBase().MatchString(one[1])
			}
		}
		unsafe := s.input("allow-unsafe-pr-checkout").text
		taken = taken || unsafe != "" && unsafe != "false"
	}
	return taken && o.event != ""
}

func (o *otherJob) approves(s *step) bool {
	return does(s, "eview", approval, "hmarr/auto-approve-action", "juliangruber/approve-pull-request-action")
}

func (o *otherJob) merges(s *step) bool {
	return does(s, "erge", merge, "pascalgn/automerge-action", "peter-evans/enable-pull-request-automerge",
		"fastify/github-action-merge-dependabot", "reitermarkus/automerge")
}

// reportsAsGate reports whether a step reports a check or a status under a required name, or under one that nobody can
// read.
func (o *otherJob) reportsAsGate(s *step) bool {
	if !slices.Contains(o.may, "checks") && !slices.Contains(o.may, "statuses") {
		return false
	}
	if s.role == noRole && slices.ContainsFunc(s.get("with").kids, func(in *node) bool {
		return slices.Contains(o.deciding, in.text)
	}) {
		return true
	}
	names := func(pattern func() *regexp.Regexp) int { return len(pattern().FindAllString(s.script, -1)) }
	return checkWrite().MatchString(s.script) && (names(checkName) == 0 || names(checkName) > names(literal) ||
		slices.ContainsFunc(o.deciding, func(name string) bool { return strings.Contains(s.script, name) }))
}

// strangerText reports whether a stranger words text in a script, on an event that strangers cause or on a push. A job
// that uses the gate has no such script on any event.
func (o *otherJob) strangerText(s *step) bool {
	return (o.role != noRole || o.event != "" || o.w.runsOn("push")) && s.worded(o.job) != ""
}

// pushesPastGate reports whether a step pushes to the default branch of this repository by a token of its own, which
// protections may let pass.
func (o *otherJob) pushesPastGate(s *step) bool {
	alone, pushed := len(o.w.on.kids) == 1, o.w.on.get("push")
	if !o.secret || alone && pushed.get("tags").there() && !pushed.get("branches").there() ||
		slices.ContainsFunc(o.steps, func(c *step) bool {
			return c.kind == "checkout" && c.input("repository").there()
		}) {
		return false
	}
	proposed := alone && o.w.runsOn("pull_request") // what it pushes by default is the proposal's branch
	for _, m := range push().FindAllStringSubmatch(s.script, -1) {
		words := strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(m[1]))
		refs := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word[0] == '-' })
		refs = refs[min(1, len(refs)):] // behind the remote
		unnamed := len(refs) == 0 && !slices.Contains(words, "--tags") || len(refs) == 1 && refs[0] == "HEAD"
		if unnamed && !proposed || slices.ContainsFunc(words, func(word string) bool {
			return word == "--all" || word == "--mirror" || word == "--branches"
		}) || slices.ContainsFunc(refs, func(ref string) bool {
			to := strings.TrimPrefix(ref[strings.Index(ref, ":")+1:], "+")
			return strings.TrimPrefix(to, "refs/heads/") == o.branch
		}) {
			return true
		}
	}
	return !proposed && slices.Contains([]string{"stefanzweifel/git-auto-commit-action", "ad-m/github-push-action",
		"endbug/add-and-commit"}, s.action())
}
