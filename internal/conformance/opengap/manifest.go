package opengap

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const manifestName = "agent.yaml"

// needText adds a finding of code missing-field where a member is not text that says something; true where it is.
func needText(m *form.File, out *verdict.Outcome, severity verdict.Severity, pointer string) (text string, ok bool) {
	v := m.Value(pointer)
	name := strings.ReplaceAll(pointer[1:], "/", ".")
	is := "is not there"
	switch {
	case v == nil:
	case !form.IsText(v):
		is = "is " + form.Show(form.Plain(v))
	case strings.TrimSpace(v.Value) == "":
		is = "is empty"
	default:
		return v.Value, true
	}
	out.Add(m, severity, pointer, "missing-field", "%s %s; expected text", name, is).WithFix("write %s: TEXT", name)
	return "", false
}

var (
	// sharp is what may begin a comment: a # at the beginning of a line or after a blank.
	sharp = plain.Pattern("(^|[ \t\r\n\u0085\u2028\u2029])#")
	mark  = plain.Pattern("\ue000[0-9]+\ue000")
	// marked is a line from its first mark on. A line ends as in YAML 1.1, by which the reader counts.
	marked = plain.Pattern("\ue000[^\r\n\u0085\u2028\u2029]*")
)

// comments returns the comments of the text, each on a line. The reader gives some of them to nodes and drops others.
// So it reads the text again with a mark behind each #: a comment is where no key and no value has the mark.
func comments(m *form.File) string {
	n := 0
	text := sharp().ReplaceAllStringFunc(m.Text, func(begin string) string {
		n++
		return fmt.Sprintf("%s\ue000%d\ue000", begin, n)
	})
	root, err := strictyaml.Parse(m.Path, []byte(text), len(text))
	if err != nil {
		return "" // a key of almost 1,024 characters, which is the most that YAML allows, has a #
	}
	inside := map[string]bool{}
	form.Walk(root, func(n, key *yaml.Node, _ string) {
		for _, one := range mark().FindAllString(key.Value+n.Value, -1) {
			inside[one] = true
		}
	})
	text = mark().ReplaceAllStringFunc(text, func(one string) string {
		if inside[one] {
			return ""
		}
		return one
	})
	return mark().ReplaceAllString(strings.Join(marked().FindAllString(text, -1), "\n"), "")
}

// judgeManifest returns the outcome of reading agent.yaml.
func (a *agent) judgeManifest() verdict.Outcome {
	var out verdict.Outcome
	m, err := a.manifest, a.unread
	var e *strictyaml.Error
	switch {
	case err == nil:
		return verdict.Pass("%d members", len(m.Root.Content)/2)
	case errors.Is(err, fs.ErrNotExist):
		f := out.Errorf(verdict.At{Path: manifestName}, "", "no-manifest", "agent.yaml is not there")
		if a.mode("agent.yml") != fs.ModeIrregular {
			f.WithFix("rename agent.yml to agent.yaml")
		}
	case errors.As(err, &e):
		out.Errorf(verdict.At(e.Pos), "", "manifest-unreadable", "%s", e.Message)
	default:
		out.Errorf(verdict.At{Path: manifestName}, "", "manifest-unreadable", "%v", err)
	}
	return out
}
