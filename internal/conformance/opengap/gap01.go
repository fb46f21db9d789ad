package opengap

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const (
	soulName = "SOUL.md"
	textName = "SKILL.md"
)

var nameForm = plain.Pattern(`^[a-z][a-z0-9-]*$`)

// judge01 holds the directory against what the command of dialect 0.1 asks for.
func (a *agent) judge01() {
	a.say("gap01-manifest", manifestName, a.judgeManifest01())
	references := verdict.Skip("agent.yaml could not be read")
	if a.manifest != nil {
		references = a.judgeReferences()
	}
	a.say("gap01-references", manifestName, references)
	a.say("gap01-hooks", hooksName, a.judgeHooks())
	a.say("gap01-soul", soulName, a.judgeSoul())
	a.judgeTexts()
}

func (a *agent) judgeManifest01() verdict.Outcome {
	if a.manifest == nil {
		return a.judgeManifest()
	}
	var out verdict.Outcome
	known := []string{"/name"}
	for _, field := range []string{"/name", "/version", "/description"} {
		text, ok := needText(a.manifest, &out, verdict.Error, field)
		if !ok {
			known = append(known, field)
		} else if field == "/name" && !nameForm().MatchString(text) {
			out.Errorf(a.manifest, field, "name-form",
				"name is %q; expected a lower-case letter, then lower-case letters, digits and hyphens", text)
		}
	}
	judgeMembers(a.manifest, agentShape(), &out, known...)
	a.judgeServers(&out)
	a.judgeRisk(&out)
	return out.OrPass()
}

// judgeServers requires one way to each server.
func (a *agent) judgeServers(out *verdict.Outcome) {
	servers := a.manifest.Value("/mcp_servers")
	has := func(v *yaml.Node, name string) bool {
		_, value := strictyaml.Member(v, name)
		return value != nil
	}
	for i := 1; servers != nil && servers.Kind == yaml.MappingNode && i < len(servers.Content) && !enough(out); i += 2 {
		key, v := servers.Content[i-1], servers.Content[i]
		if v.Kind == yaml.MappingNode && has(v, "command") == has(v, "url") {
			out.Errorf(a.manifest.At(key), "/mcp_servers/"+strict.Escape(key.Value), "member-value",
				"mcp_servers.%s has both or none of command and url; expected one of them", plain.Cut(key.Value, 80))
		}
	}
}

// judgeRisk requires people and a log where the risk is high.
func (a *agent) judgeRisk(out *verdict.Outcome) {
	tier := a.manifest.Value("/compliance/risk_tier")
	if tier == nil || tier.Value != "high" && tier.Value != "critical" {
		return
	}
	for _, of := range []struct {
		pointer string
		values  []string
	}{
		{"/compliance/supervision/human_in_the_loop", []string{"always", "conditional"}},
		{"/compliance/recordkeeping/audit_logging", []string{"true"}},
	} {
		name, want := strings.ReplaceAll(of.pointer[1:], "/", "."), strings.Join(of.values, " or ")
		switch v := a.manifest.Value(of.pointer); {
		case v == nil:
			out.Errorf(a.manifest, of.pointer, "missing-field", "%s is not there; risk_tier %s requires %s", name,
				tier.Value, want).WithFix("write %s: %s", name, of.values[0])
		case !slices.Contains(of.values, v.Value):
			out.Errorf(a.manifest, of.pointer, "member-value", "%s is %s; risk_tier %s requires %s", name,
				form.Show(form.Plain(v)), tier.Value, want)
		}
	}
}

const hooksName = "hooks/hooks.yaml"

// judgeHooks judges the file of hooks, if there is one.
func (a *agent) judgeHooks() verdict.Outcome {
	text, err := a.file(hooksName)
	if errors.Is(err, fs.ErrNotExist) {
		return verdict.Skip("there is no %s", hooksName)
	}
	var out verdict.Outcome
	var m *form.File
	if err == nil {
		m, err = form.ReadMapping(hooksName, text, MaxFile, 0)
	}
	if e := (*strictyaml.Error)(nil); errors.As(err, &e) {
		out.Errorf(verdict.At(e.Pos), "", "hooks-unreadable", "%s", e.Message)
		return out
	}
	if err != nil {
		out.Errorf(verdict.At{Path: hooksName}, "", "hooks-unreadable", "it was not read: %v", err)
		return out
	}
	judgeMembers(m, hooksShape(), &out)
	form.Walk(m.Root, func(n, key *yaml.Node, pointer string) {
		if !hookScript().MatchString(pointer) || !form.IsText(n) || enough(&out) {
			return
		}
		if name := path.Join("hooks", n.Value); leadsOut(n.Value) || !a.mode(name).IsRegular() {
			out.Errorf(m.At(key), pointer, "script-not-there", "the script %q is not a file in hooks/",
				plain.Cut(n.Value, 200)).WithFix("add the file to hooks/, or correct its name")
		}
	})
	return out.OrPass()
}

// hookScript is the JSON Pointer of the script of a hook.
var hookScript = plain.Pattern(`^/hooks/[^/]+/[0-9]+/script$`)

// judgeReferences looks for the skills, tools and agents that agent.yaml names.
func (a *agent) judgeReferences() verdict.Outcome {
	var out verdict.Outcome
	found := 0
	for _, list := range []struct{ what, code, place, file string }{ // a file has that end; empty: a file will not do
		{"skill", "skill-not-there", "the directory skills/NAME/ with a SKILL.md", ""},
		{"tool", "tool-not-there", "the file tools/NAME.yaml", ".yaml"},
		{"agent", "agent-not-there", "the directory agents/NAME/ or the file agents/NAME.md", ".md"},
	} {
		for _, r := range named(a.manifest.Value("/" + list.what + "s")) {
			if found++; enough(&out) {
				continue
			}
			name, place := list.what+"s/"+r.name, strings.ReplaceAll(list.place, "NAME", r.name)
			isDir := list.what != "tool" && simple(r.name) && a.mode(name).IsDir()
			isFile := list.file != "" && simple(r.name) && a.mode(name+list.file).IsRegular()
			if !isDir && !isFile {
				out.Errorf(a.manifest.At(r.node), "/"+list.what+"s"+r.pointer, list.code,
					"agent.yaml names the %s %q; expected %s", list.what, r.name, place).
					WithFix("add %s, or drop the name", place)
			} else if list.what == "skill" && !a.mode(name+"/"+textName).IsRegular() {
				out.Warnf(a.manifest.At(r.node), "/skills"+r.pointer, "skill-without-text",
					"agent.yaml names the skill %q, and %s/ has no %s", r.name, name, textName).
					WithFix("add %s/%s", name, textName)
			}
		}
	}
	if out.Verified = "agent.yaml names none"; found > 0 {
		out.Verified = fmt.Sprintf("%d looked for", found)
	}
	return out
}

// simple reports whether a name is one of a file or directory, and no way to others.
func simple(name string) bool {
	return name != "." && name != ".." && name != "" && !strings.ContainsAny(name, `/\`)
}

// reference is a name in agent.yaml.
type reference struct {
	pointer, name string // the pointer from the list on
	node          *yaml.Node
}

// named returns the items of a list, the keys of a mapping, or the one text.
func named(n *yaml.Node) (all []reference) {
	switch {
	case n == nil || n.Tag == "!!null":
	case n.Kind == yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			all = append(all, reference{"/" + strict.Escape(n.Content[i].Value), n.Content[i].Value, n.Content[i]})
		}
	case n.Kind == yaml.SequenceNode:
		for i, c := range n.Content {
			if c.Kind == yaml.ScalarNode { // anything else is a finding of its own
				all = append(all, reference{fmt.Sprintf("/%d", i), c.Value, c})
			}
		}
	default:
		all = append(all, reference{"", n.Value, n})
	}
	return all
}

func (a *agent) judgeSoul() verdict.Outcome {
	var out verdict.Outcome
	at := verdict.At{Path: soulName}
	text, err := a.file(soulName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out.Errorf(at, "", "no-soul", "SOUL.md is not there")
	case err != nil:
		out.Errorf(at, "", "empty-soul", "SOUL.md was not read: %v", err)
	case !saysMore(string(text)):
		out.Errorf(at, "", "empty-soul", "SOUL.md has only headings")
	default:
		return verdict.Pass("")
	}
	return out
}

var underline = plain.Pattern(`^ {0,3}(=+|-+)[ \t]*$`)

// saysMore reports whether a Markdown text has more than headings, which begin with # or have a line of = or - below
// them.
func saysMore(text string) bool {
	lines := strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
	for i, line := range lines {
		switch line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")); {
		case line == "", line[0] == '#', underline().MatchString(line):
		case i+1 < len(lines) && underline().MatchString(lines[i+1]):
		default:
			return true
		}
	}
	return false
}

// judgeTexts judges each skills/*/SKILL.md.
func (a *agent) judgeTexts() {
	found := 0
	for _, e := range a.in("skills") {
		name := path.Join(e.path, textName)
		text, err := a.file(name)
		if errors.Is(err, fs.ErrNotExist) || !a.mode(e.path).IsDir() {
			continue
		}
		found++
		a.say("gap01-skills", name, judgeText(name, path.Base(e.path), text, err))
	}
	if found == 0 {
		a.say("gap01-skills", "skills", verdict.Skip("there is no skills/*/%s", textName))
	}
}

func judgeText(name, directory string, text []byte, err error) verdict.Outcome {
	var out verdict.Outcome
	var m *form.File
	if err == nil {
		m, err = frontMatter(name, text)
	}
	if err != nil {
		at, message := verdict.At{Path: name}, err.Error()
		var e *strictyaml.Error
		if errors.As(err, &e) {
			at, message = verdict.At(e.Pos), e.Message
		}
		out.Errorf(at, "", "no-front-matter", "the front matter cannot be read: %s", message)
		return out
	}
	if said, ok := needText(m, &out, verdict.Error, "/name"); ok {
		if utf8.RuneCountInString(said) > 64 || strings.Contains(said, "--") || strings.Trim(said, "-") != said {
			out.Errorf(m, "/name", "name-form", "name is %.100q; expected at most 64 characters, without two hyphens "+
				"in a row or a hyphen at an end", said)
		}
		if said != directory {
			out.Warnf(m, "/name", "other-name", "name is %.100q, the directory's is %q", said, directory)
		}
	}
	if said, ok := needText(m, &out, verdict.Error, "/description"); ok {
		if n := utf8.RuneCountInString(said); n > 1024 {
			out.Errorf(m, "/description", "long-description",
				"description has %d characters; expected at most 1,024", n)
		}
	}
	return out.OrPass()
}

// bar is a line ---, from where a line begins; a byte order mark may be before the first.
var bar = plain.Pattern(`(?m)^\x{feff}?---[ \t\r]*(?:\n|\z)`)

// frontMatter returns the mapping between the lines --- that a text begins with.
func frontMatter(name string, text []byte) (*form.File, error) {
	bars := bar().FindAllIndex(text, 2)
	missing := ""
	switch {
	case len(text) == 0:
		missing = "the file is empty"
	case bars == nil || bars[0][0] > 0:
		missing = "the first line is not ---"
	case len(bars) == 1:
		missing = "no second line --- ends it"
	default:
		return form.ReadMapping(name, text[bars[0][1]:bars[1][0]], MaxFile, 1)
	}
	return nil, &strictyaml.Error{Pos: strict.Pos{Path: name, Line: 1, Column: 1}, Message: missing}
}
