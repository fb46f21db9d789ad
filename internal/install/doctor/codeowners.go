package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// maxOwners is GitHub's cap on the file: a larger one is not loaded.
const maxOwners = 3 << 20

// ownerFiles are the places of the file; the first that is there counts.
var ownerFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// guard names what decides how pull requests are judged and needs a code owner.
type guard struct {
	patterns    string   // as they are in CODEOWNERS, for people
	files       []string // there or not
	directories []string // whose other files need an owner as well
}

var (
	registryGuard = guard{"/.github/ and /schemas/", []string{".github/CODEOWNERS", ".github/repo-config.yml",
		".github/gate-policy.yml", ".github/workflows/any.yml", "schemas/any.schema.json"},
		[]string{".github", "schemas"}}
	specificationGuard = guard{"/.github/ and /governance/MAINTAINERS.md", []string{".github/CODEOWNERS",
		".github/workflows/any.yml", "governance/MAINTAINERS.md"}, []string{".github"}}
	otherGuard = guard{"/.github/", []string{".github/CODEOWNERS", ".github/workflows/any.yml"}, []string{".github"}}
)

// judgeOwners looks at whether a fork can edit what judges it.
func (v *inspection) judgeOwners() {
	severity, bypass := v.organisationGates()
	if severity == verdict.Notice {
		return
	}
	guarded, missing := registryGuard, ""
	switch {
	case v.specification:
		guarded = specificationGuard
	case v.conforms() && len(v.gates()) == 0: // not a registry, whose gate init would install
		guarded, missing = otherGuard, "write the file with the line: /.github/ @ORG/TEAM"
	}
	why := "a pull request can edit what judges it, and be merged green" + bypass
	if v.config != nil && !v.config.Protection.CodeOwnerReview {
		v.add(severity, "fork-can-edit-gate", v.config.Pos("protection.code_owner_review"),
			"set protection.code_owner_review to true with CODEOWNERS on .github/ and schemas/, or let a ruleset "+
				"of the organisation require the workflow", "no review by code owners is required: %s", why)
		return
	}
	name, data, err := v.ownersFile()
	switch {
	case errors.Is(err, capped.ErrTooLarge):
		v.add(severity, "fork-can-edit-gate", strict.Pos{Path: name}, "name teams by folder instead of each file",
			"the file exceeds %d MiB, and GitHub ignores a larger one: %s", maxOwners>>20, why)
	case err != nil:
		v.add(verdict.Doubt, "codeowners", strict.Pos{Path: name}, "make it a plain file", "reading the file: %v", err)
	case data == nil:
		if missing == "" {
			missing = v.initFix()
		}
		v.add(severity, "fork-can-edit-gate", strict.Pos{Path: ownerFiles[0]}, missing, "there is no CODEOWNERS: %s",
			why)
	default:
		v.examined = append(v.examined, name)
		rules := parseOwners(string(data))
		if i := slices.IndexFunc(rules, func(r ownerRule) bool {
			return strings.Contains(strings.Join(r.owners, " "), "@example/") // of docs/workflows/CODEOWNERS
		}); i >= 0 {
			v.add(verdict.Error, "placeholder", strict.Pos{Path: name, Line: rules[i].line, Column: 1},
				"name people or a team who may write to the repository",
				"@example/… is a placeholder for a team that was not filled in: GitHub ignores an owner that it does "+
					"not know, and %s", why)
		}
		if name != ownerFiles[0] { // anyone who can change it decides about the other files
			guarded.patterns += " and /" + name
			guarded.files = append(slices.Clone(guarded.files), name)
		}
		var open []string
		at := strict.Pos{Path: name} // the rule that leaves the first of them without an owner
		for _, file := range v.files(guarded) {
			r := lastMatch(rules, file)
			if r != nil && r.owned() {
				continue
			}
			if r != nil && open == nil {
				at.Line, at.Column = r.line, 1
			}
			open = append(open, file)
		}
		if open != nil {
			v.add(severity, "fork-can-edit-gate", at, "add "+guarded.patterns+" with an owner at the end of the file",
				"%q has no code owner: %s", open[:min(len(open), 5)], why)
		}
	}
}

// organisationGates returns verdict.Notice if rulesets of the organisation demand every workflow by which pull requests
// are judged. The forge then runs the file that the ruleset names, not that of the pull request. A ruleset that demands
// other workflows, or that somebody may bypass, keeps nobody from editing the gate: verdict.Error. If the token may not
// see who bypasses it, it is verdict.Doubt. The text names the rulesets that do not count.
func (v *inspection) organisationGates() (severity verdict.Severity, bypass string) {
	var judges []*job
	switch gates := v.gates(); {
	case v.standing == nil:
		return verdict.Error, ""
	case len(gates) > 0:
		judges = slices.DeleteFunc(gates, func(j *job) bool { return !requires(v.wanted(), j.context()) })
	default:
		judges = v.jobs(governsRole, conformsRole)
	}
	if severity = verdict.Notice; len(judges) == 0 {
		severity = verdict.Error
	}
	for _, j := range judges {
		demanded := verdict.Error
		for _, l := range v.standing.Layers {
			switch {
			case !slices.Contains(l.Workflows, j.w.Path):
			case len(l.Bypass) > 0:
				bypass = fmt.Sprintf("; %s requires the workflow, but can be bypassed by %s", l.Name,
					strings.Join(l.Bypass, ", "))
			case !l.Hidden:
				demanded = verdict.Notice
			case demanded == verdict.Error:
				demanded = verdict.Doubt
				bypass = fmt.Sprintf("; %s requires the workflow, and only administrators see who may bypass it",
					l.Name)
			}
		}
		if severity != verdict.Error && demanded != verdict.Notice {
			severity = demanded
		}
	}
	return severity, bypass
}

// ownersFile returns the first existing file of ownerFiles, with its text, or nil.
func (v *inspection) ownersFile() (name string, data []byte, err error) {
	for _, name := range ownerFiles {
		if data, err := v.read(name, maxOwners); data != nil || err != nil {
			return name, data, err
		}
	}
	return "", nil, nil
}

// files returns the files of a guard and those that are there.
func (v *inspection) files(guarded guard) []string {
	files := slices.Clone(guarded.files)
	errEnough := errors.New("enough")
	for _, directory := range guarded.directories {
		// For a directory that cannot be listed, the patterns above decide: they cover every directory.
		_ = fs.WalkDir(v.tree, directory, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case len(files) >= 500:
				return errEnough
			case !d.IsDir() && !slices.Contains(guarded.files, path):
				files = append(files, path)
			}
			return nil
		})
	}
	return files
}

type ownerRule struct {
	line    int
	text    string // text of the line
	pattern *regexp.Regexp
	owners  []string
}

func (r *ownerRule) owned() bool { return len(r.owners) > 0 }

func parseOwners(text string) []ownerRule {
	var rules []ownerRule
	for i, line := range strings.Split(text, "\n") {
		text := strings.TrimSpace(line)
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		// GitHub skips lines that it cannot read, negations and character classes among them.
		if len(words) == 0 || strings.HasPrefix(words[0], "!") || strings.ContainsAny(words[0], `[]\`) {
			continue
		}
		pattern, err := ownerPattern(words[0])
		if err != nil {
			continue
		}
		r := ownerRule{line: i + 1, text: text, pattern: pattern}
		for _, w := range words[1:] {
			if strings.Contains(w, "@") {
				r.owners = append(r.owners, w)
			}
		}
		rules = append(rules, r)
	}
	return rules
}

var ownerTokens = plain.Pattern(`\*\*/|/\*\*$|\*\*|\*|\?|[^*?/]+|/`)

// ownerPattern spells a CODEOWNERS pattern, which follows .gitignore's rules, as a regular expression. It returns an
// error for a pattern that is not UTF-8.
func ownerPattern(p string) (*regexp.Regexp, error) {
	switch p {
	case "*", "**", "/**":
		return regexp.Compile(``)
	case "/":
		return regexp.Compile(`[^\s\S]`) // nothing
	}
	directory := strings.HasSuffix(p, "/")
	body := strings.TrimSuffix(p, "/")
	start := "^(?:.*/)?"
	if strings.Contains(body, "/") {
		start, body = "^", strings.TrimPrefix(body, "/")
	}
	end := "(?:/.*)?$"
	switch {
	case directory:
		end = "/.*$"
	case strings.HasSuffix(p, "/*"): // docs/* holds the files of docs and nothing deeper
		end = "$"
	}
	return regexp.Compile(start + ownerTokens().ReplaceAllStringFunc(body, func(t string) string {
		switch t {
		case "**/":
			return "(?:.*/)?"
		case "/**":
			return "/.*"
		case "**":
			return ".*"
		case "*":
			return "[^/]*"
		case "?":
			return "[^/]"
		}
		return regexp.QuoteMeta(t)
	}) + end)
}

func lastMatch(rules []ownerRule, file string) *ownerRule {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].pattern.MatchString(file) {
			return &rules[i]
		}
	}
	return nil
}
