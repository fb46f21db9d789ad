package yamlform

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// A Shape is what a table requires of a value. A row of a table is the path of a member, its kind, and what else is
// required of it: .name is a member, .* one of any name, [] an item, and a full stop alone the root. What a path leads
// over is a map, or a list, and has a row only if more is required of it. A map whose members are listed has no others.
// Kinds are text, number, integer, boolean, list, map and null; "or" is between two.
type Shape struct {
	kinds       []string
	least, most float64  // bounds: a number, the characters of a text, the items of a list
	words       []string // one of them; nil: any
	form        *regexp.Regexp
	format      string // date or uri; empty: any text
	required    bool
	unique      bool   // no item is there twice
	only        bool   // it has exactly one member
	want        string // for people
	of          string // what the table is of, for people
	members     map[string]*Shape
	any, item   *Shape // each member, each item
}

var step = plain.Pattern(`\[\]|\*|[^.\[\]]+`)

// Table reads the table of something, which is the program's own.
func Table(of, table string) *Shape {
	newShape := func() *Shape { return &Shape{least: math.Inf(-1), most: math.Inf(1), of: of} }
	root := newShape()
	root.want = "a map"
	for row := range strings.SplitSeq(strings.TrimSpace(table), "\n") {
		path, words, _ := strings.Cut(row, " ")
		at := root
		for _, name := range step().FindAllString(path, -1) {
			of, kind := at, "map"
			switch name {
			case "[]":
				kind, of.item = "list", cmp.Or(of.item, newShape())
				at = of.item
			case "*":
				of.any = cmp.Or(of.any, newShape())
				at = of.any
			default:
				if of.members == nil {
					of.members = map[string]*Shape{}
				}
				of.members[name] = cmp.Or(of.members[name], newShape())
				at = of.members[name]
			}
			if of.kinds == nil {
				of.kinds, of.want = []string{kind}, cmp.Or(of.want, kind)
			}
		}
		at.read(words)
	}
	return root
}

var (
	kinds      = plain.Pattern(`^\w+(?: or \w+)*`)
	constraint = plain.Pattern(`at (least|most) (\S+)|(one of|format|form|without|with|that is) (.+)`)
)

// read reads the kind and the constraints of a row.
func (s *Shape) read(words string) {
	s.want, s.required = strings.CutSuffix(words, " required")
	s.kinds = strings.Split(kinds().FindString(s.want), " or ")
	for _, m := range constraint().FindAllStringSubmatch(s.want, -1) {
		value := m[2] + m[4]
		switch m[1] + m[3] {
		case "least":
			s.least, _ = strconv.ParseFloat(value, 64)
		case "most":
			s.most, _ = strconv.ParseFloat(value, 64)
		case "one of":
			s.words = strings.Fields(value)
		case "form":
			s.form = regexp.MustCompile(value)
		case "format":
			s.format = value
		case "without":
			s.unique = true
		case "with":
			s.only = true
		case "that is": // not empty
			s.least = 1
		}
	}
}

// kind returns the kind of a value as the tables name it. A whole number is an integer.
func kind(v *yaml.Node) string {
	switch v.Tag {
	case "!!int":
		return "integer"
	case "!!float":
		if n, err := strconv.ParseFloat(v.Value, 64); err == nil && n == float64(int64(n)) {
			return "integer"
		}
		return "number"
	}
	return cmp.Or(map[string]string{"!!map": "map", "!!seq": "list", "!!bool": "boolean", "!!null": "null",
		"!!str": "text"}[v.Tag], "another")
}

// fits reports whether a value has the kind and the constraints of a shape.
func (s *Shape) fits(v *yaml.Node) bool {
	is := kind(v)
	if !slices.Contains(s.kinds, is) && (is != "integer" || !slices.Contains(s.kinds, "number")) {
		return false
	}
	size := float64(len(v.Content))
	var err error
	switch is {
	case "integer", "number":
		size, err = strconv.ParseFloat(v.Value, 64)
	case "text":
		size = float64(utf8.RuneCountInString(v.Value))
		switch {
		case s.words != nil && !slices.Contains(s.words, v.Value), s.form != nil && !s.form.MatchString(v.Value):
			return false
		case s.format == "date":
			_, err = time.Parse(time.DateOnly, v.Value)
		case s.format == "uri":
			u, wrong := url.Parse(v.Value)
			return wrong == nil && u.IsAbs()
		}
	case "map":
		return !s.only || len(v.Content) == 2
	case "list":
		seen := map[[2]string]bool{}
		for _, c := range v.Content {
			if key := [2]string{c.Tag, c.Value}; s.unique && c.Kind == yaml.ScalarNode && seen[key] {
				return false
			} else {
				seen[key] = true
			}
		}
	}
	return err == nil && s.least <= size && size <= s.most
}

// judge compares a value with a shape, and what is in it. name and pointer are its path; known members were judged
// before.
func (s *Shape) judge(m *File, v, key *yaml.Node, name, pointer string, out *verdict.Outcome, known ...string) {
	if len(out.Findings) > maxFindings {
		return
	}
	if !s.fits(v) {
		message := fmt.Sprintf("%s is %s; expected %s", cmp.Or(name, m.Path), Show(v), s.want)
		f := out.Errorf(m.At(key), pointer, "member-value", "%s", message)
		if v.Kind == yaml.MappingNode && strings.HasSuffix(name, "]") && slices.Equal(s.kinds, []string{"text"}) {
			f.Message = name + " is a map; write the name alone"
			f.WithFix("write %s as a text: the name alone", name)
		}
		return
	}
	for i, c := range v.Content {
		switch {
		case v.Kind == yaml.SequenceNode && s.item != nil:
			s.item.judge(m, c, c, fmt.Sprintf("%s[%d]", name, i), fmt.Sprintf("%s/%d", pointer, i), out)
		case v.Kind == yaml.MappingNode && i%2 == 1:
			key := v.Content[i-1]
			of := cmp.Or(s.members[key.Value], s.any)
			path := strings.TrimPrefix(name+"."+key.Value, ".")
			below := pointer + "/" + strict.Escape(key.Value)
			switch {
			case of == nil && s.members != nil && len(out.Findings) <= maxFindings:
				out.Errorf(m.At(key), below, "unknown-field", "%s has the member %q, which %s does not know",
					m.Path, plain.Cut(path, 200), s.of)
			case of != nil && !slices.Contains(known, below):
				of.judge(m, c, key, path, below, out)
			}
		}
	}
	for _, member := range slices.Sorted(maps.Keys(s.members)) {
		path, below := strings.TrimPrefix(name+"."+member, "."), pointer+"/"+member
		if s.members[member].required && !slices.Contains(known, below) && hasNo(v, member) {
			out.Errorf(m.At(key), pointer, "missing-field", "%s is not there; expected %s", path,
				s.members[member].want).
				WithFix("write %s: %s", path, s.members[member].want)
		}
	}
}

// Judge adds what is wrong with a file, by the codes member-value, unknown-field and missing-field; known are the
// pointers of members that were judged before.
func (s *Shape) Judge(m *File, out *verdict.Outcome, known ...string) {
	s.judge(m, m.Root, m.Root, "", "", out, known...)
}

// Check returns the first that is wrong with a file; nil: nothing is.
func (s *Shape) Check(m *File) error {
	var out verdict.Outcome
	if s.Judge(m, &out); len(out.Findings) == 0 {
		return nil
	}
	first := slices.MinFunc(out.Findings, func(a, b verdict.Finding) int { return cmp.Compare(a.Line, b.Line) })
	return &strictyaml.Error{Pos: first.Pos, Message: first.Message}
}

// maxFindings is how many findings of one file are reported, and one more.
const maxFindings = 100

func hasNo(v *yaml.Node, name string) bool {
	_, value := strictyaml.Member(v, name)
	return value == nil
}
