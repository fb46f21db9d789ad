package doctor

import (
	"fmt"
	"regexp"
	"slices"
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
	branch   string
	required []string // names of the checks that the branch requires
	event    string   // a stranger's event that starts it; "": none
	may      []string // the scopes that its token can write; ownSecret if it has a secret of its own
}

// writes reports whether the job can write anything.
func (j *otherJob) writes() bool { return len(j.may) > 0 }

// deeds are what a job does that the gate's check does not survive.
var deeds = []struct {
	code, words string
	found       func(o *otherJob, s *step) *node // what of the step does it; the zero field: it does not
	reading     bool                             // a warning of a job whose token can only read; else nothing
}{
	{"runs-head", "runs what a pull request proposes", (*otherJob).runsHead, true},
	{"approves", "approves", (*otherJob).approves, false},
	{"merges", "merges", (*otherJob).merges, false},
	{"reports-as-gate", "reports a check that may be the gate's", (*otherJob).reportsAsGate, false},
	{"stranger-text", "runs a script with text that a stranger words", (*otherJob).strangerText, true},
	{"pushes-past-gate", "pushes to the default branch", (*otherJob).pushesPastGate, false},
}

// judgeOther looks at what a job does to the gate's branch. Scripts of the repository, composite actions and called
// files are not followed.
func (v *inspection) judgeOther(j *job) {
	o := &otherJob{job: j, branch: v.branch, required: v.contexts(), may: v.mayWrite(j)}
	for _, e := range strangersEvents {
		if o.event == "" && j.w.runsOn(e) {
			o.event = e
		}
	}
	found := false
	for _, d := range deeds {
		gate := j.role != noRole // for which another rule judges its scripts, and the checkout of one that comments
		if !o.writes() && !d.reading || gate && d.code == "stranger-text" ||
			j.role == commentRole && d.code == "runs-head" {
			continue
		}
		worst, at := verdict.Notice, absent
		for _, s := range j.steps {
			if f := d.found(o, s); f.there() && o.weighs(d.code, s) < worst {
				worst, at = o.weighs(d.code, s), f
			}
		}
		if at.there() {
			found = true
			v.add(worst, d.code, at.Pos, "", "%s, and it %s", o.describe(), d.words)
		}
	}
	if o.event != "" && o.event != "workflow_call" && o.writes() && !found && j.role == noRole {
		v.add(verdict.Warning, "privileged-workflow", j.Pos, "", "%s; what it runs was not read", o.describe())
	}
}

// describe returns the event, the job and what its token can write.
func (o *otherJob) describe() string {
	event := o.event
	if event == "" {
		var all []string
		for _, e := range o.w.on.kids {
			all = append(all, e.key)
		}
		slices.Sort(all)
		event = strings.Join(all, ", ")
	}
	own, token := "", o.may
	if len(token) > 0 && token[0] == ownSecret {
		own, token = ", which has a secret", token[1:]
	}
	can := "can only read"
	if len(token) > 0 {
		can = "can write " + strings.Join(token, ", ")
	}
	return fmt.Sprintf("%s starts job %q%s, whose token %s", plain.Cut(event, 80), plain.Cut(o.key, 80), own, can)
}

// ownSecret is what a job can write by a secret of its own.
const ownSecret = "secret"

// mayWrite returns what the token of a job can write.
func (v *inspection) mayWrite(j *job) (may []string) {
	if secrets, _ := j.secrets(); secrets != nil || j.get("secrets").text == "inherit" {
		may = append(may, ownSecret)
	}
	p := j.permissions()
	reads := v.standing != nil && v.standing.Workflows != nil && v.standing.Workflows.Default == "read"
	for _, scope := range scopes {
		if p.text == "write-all" || p.get(scope).text == "write" || !p.there() && !reads {
			may = append(may, scope)
		}
	}
	return may
}

// contexts returns the names of the checks that decide: those that the branch requires, and the gate's jobs.
func (v *inspection) contexts() (names []string) {
	if v.config != nil {
		for _, c := range v.config.Protection.RequiredChecks {
			names = append(names, c.Context)
		}
	}
	for _, j := range v.jobs(checkRole, governsRole) {
		names = append(names, j.context())
	}
	return names
}

// weighs returns the severity of what a step does.
func (o *otherJob) weighs(code string, s *step) verdict.Severity {
	guards := guarded(o.get("if").text) || guarded(s.get("if").text)
	switch {
	case !o.writes():
		return verdict.Warning
	case code == "merges" && !adminMerge().MatchString(o.script(s)) &&
		(guards || o.event == "" && !o.w.runsOn("pull_request")):
		return verdict.Warning
	}
	return verdict.Error
}

var (
	botIs    = plain.Pattern(`^github\.event\.pull_request\.user\.login == '[A-Za-z0-9-]+\[bot\]'$`)
	memberIs = plain.Pattern(`^github\.event\.comment\.author_association == '(?:OWNER|MEMBER|COLLABORATOR)'$`)
	memberIn = plain.Pattern(`^contains\(fromJSON\('\[\s*"(?:OWNER|MEMBER|COLLABORATOR)"` +
		`(?:\s*,\s*"(?:OWNER|MEMBER|COLLABORATOR)")*\s*\]'\), github\.event\.comment\.author_association\)$`)
	wrapped = plain.Pattern(`^\$\{\{(.*)\}\}$`)
)

// guarded reports whether a condition has one part that only a bot or a member of the repository fulfills. A condition
// with an alternative or a group may mean something else.
func guarded(condition string) bool {
	condition = strings.Join(strings.Fields(condition), " ")
	if m := wrapped().FindStringSubmatch(condition); m != nil {
		condition = m[1]
	}
	if strings.Contains(condition, "||") {
		return false
	}
	parts, safe := strings.Split(condition, "&&"), false
	for _, part := range parts {
		part = strings.TrimSpace(part)
		switch {
		case botIs().MatchString(part), memberIs().MatchString(part), memberIn().MatchString(part):
			safe = true
		case strings.ContainsAny(part, "()"):
			return false
		}
	}
	return safe
}

// script returns what a step runs: a shell's script, or the one that an action is given.
func (o *otherJob) script(s *step) string {
	return commands(s.get("run").text + "\n" + s.input("script").text)
}

// does returns the place of the step if its script matches, or its action is of a table.
func (o *otherJob) does(s *step, pattern func() *regexp.Regexp, actions ...string) *node {
	if pattern().MatchString(o.script(s)) || slices.Contains(actions, s.action()) {
		return s.ran()
	}
	return absent
}

// arguments are the rest of a shell's command, whose quoted words may hold what ends one. ghPR begins a command of gh.
const (
	arguments = `(?:"[^"\n]*"|'[^'\n]*'|[^\n;|&"'])*`
	ghPR      = `\bgh\s+pr\s+(?:(?:-R|--repo)[=\s]?\s*\S+\s+)?`
)

var (
	headFetch = plain.Pattern(ghPR + `checkout\b|\bgit\s+(?:\S+\s+)*?(?:fetch|pull)\b` + arguments +
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
	checkName  = plain.Pattern(`\b(?:name|context)["']?\s*(?:=|:\s*(?:["'` + "`" + `]|$))\s*["'` + "`" + `]?([^\s"'` + "`" + `,})]*)`)
	unquoted   = plain.Pattern(`\b(?:name|context)["']?\s*:\s*[^\s"'` + "`" + `]`)
	push       = plain.Pattern(`\bgit\s+(?:-[cC]\s*\S+\s+)*push\b(` + arguments + `)`)
)

// runsHead finds what a step takes from a pull request's head, on an event that strangers cause.
func (o *otherJob) runsHead(s *step) *node {
	if o.event == "" {
		return absent
	}
	if isCheckout(s) {
		for _, name := range []string{"ref", "repository"} {
			in := s.input(name).text
			bad := strings.Contains(in, "refs/pull/")
			for _, one := range expressed().FindAllStringSubmatch(dotted(in), -1) {
				bad = bad || !ofBase().MatchString(one[1]) || notOfBase().MatchString(one[1])
			}
			if bad {
				return s.get("uses")
			}
		}
		if unsafe := s.input("allow-unsafe-pr-checkout").text; unsafe != "" && unsafe != "false" {
			return s.get("uses")
		}
	}
	return o.does(s, headFetch)
}

func (o *otherJob) approves(s *step) *node {
	return o.does(s, approval, "hmarr/auto-approve-action", "juliangruber/approve-pull-request-action")
}

func (o *otherJob) merges(s *step) *node {
	return o.does(s, merge, "pascalgn/automerge-action", "peter-evans/enable-pull-request-automerge",
		"fastify/github-action-merge-dependabot", "reitermarkus/automerge")
}

// reportsAsGate finds a check or a status under a required name, or under one that nobody can read.
func (o *otherJob) reportsAsGate(s *step) *node {
	if !slices.ContainsFunc(o.may, func(m string) bool { return m == "checks" || m == "statuses" }) {
		return absent
	}
	if s.role == noRole {
		for _, in := range s.get("with").kids {
			if s.get("uses").there() && slices.Contains(o.required, in.text) {
				return s.get("uses")
			}
		}
	}
	script := o.script(s)
	if !checkWrite().MatchString(script) {
		return absent
	}
	names := checkName().FindAllStringSubmatch(script, -1)
	computed := len(names) == 0 || unquoted().MatchString(script)
	for _, name := range names {
		computed = computed || name[1] == "" || strings.Contains(name[1], "$")
	}
	if computed || slices.ContainsFunc(o.required, func(name string) bool { return strings.Contains(script, name) }) {
		return s.ran()
	}
	return absent
}

// strangerText finds text that a stranger words in a script, on an event that strangers cause or on a push.
func (o *otherJob) strangerText(s *step) *node {
	if o.event == "" && !o.w.runsOn("push") {
		return absent
	}
	at, _ := s.worded(o.job)
	return at
}

// pushesPastGate finds a push to the default branch of this repository by a token of its own, which protections may let
// pass.
func (o *otherJob) pushesPastGate(s *step) *node {
	if !slices.Contains(o.may, ownSecret) || slices.ContainsFunc(o.steps, func(c *step) bool {
		return isCheckout(c) && c.input("repository").there()
	}) {
		return absent
	}
	if on := o.w.on.get("push"); len(o.w.on.kids) == 1 && on.get("tags").there() && !on.get("branches").there() {
		return absent
	}
	ownBranch := o.w.runsOn("pull_request") && len(o.w.on.kids) == 1 // what it pushes by default is the proposal's
	for _, m := range push().FindAllStringSubmatch(o.script(s), -1) {
		var named []string
		tags, everything := false, false
		for _, word := range strings.Fields(m[1]) {
			word = strings.Trim(word, `"'`)
			switch {
			case word == "--tags":
				tags = true
			case word == "--all", word == "--mirror", word == "--branches":
				everything = true
			case !strings.HasPrefix(word, "-"):
				named = append(named, word)
			}
		}
		refs := named[min(1, len(named)):] // behind the remote
		toDefault := slices.ContainsFunc(refs, func(ref string) bool {
			_, to, both := strings.Cut(strings.TrimPrefix(ref, "+"), ":")
			if !both {
				to = strings.TrimPrefix(ref, "+")
			}
			return strings.TrimPrefix(to, "refs/heads/") == o.branch
		})
		unnamed := len(refs) == 0 && !tags || len(refs) == 1 && refs[0] == "HEAD"
		if toDefault || everything || unnamed && !ownBranch {
			return s.ran()
		}
	}
	if !ownBranch && slices.Contains([]string{"stefanzweifel/git-auto-commit-action", "ad-m/github-push-action",
		"endbug/add-and-commit"}, s.action()) {
		return s.ran()
	}
	return absent
}
