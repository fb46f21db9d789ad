package form

import (
	"cmp"
	"encoding/json"
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

	"golang.org/x/mod/semver"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// A Shape is what a table requires of a value. A row of a table is the path of a member, its kind, and what else is
// required of it: .name is a member, .* one of any name, [] an item, and a full stop alone the root. What a path leads
// over is a map, or a list, and has a row only if more is required of it. Kinds are text, number, integer, boolean,
// list, map, null and any; "or" is between two. What follows ", which is" says for people what the row requires.
type Shape struct {
	kinds       []string
	least, most float64  // bounds: a number, the characters of a text, the items of a list
	words       []string // one of them; nil: any
	anyCase     bool     // of words
	pattern     *regexp.Regexp
	format      string // date, time, uri, or what it must be; empty: any text
	required    bool
	filled      bool   // a text or a list is not empty
	unique      bool   // no item is there twice
	only        bool   // it has exactly one member
	want        string // for people
	of          string // what the table is of, which has no other members, for people; empty: it may have others
	names       []string
	members     map[string]*Shape
	any, item   *Shape // each member, each item
}

var step = plain.Pattern(`\[\]|\*|[^.\[\]]+`)

// Table reads a table, which is the program's own. A map whose members are listed has no others, and a message says of
// what, unless that is empty.
func Table(of, table string) *Shape {
	newShape := func() *Shape {
		return &Shape{least: math.Inf(-1), most: math.Inf(1), of: of, members: map[string]*Shape{}}
	}
	root := newShape()
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
				if of.members[name] == nil {
					of.members[name], of.names = newShape(), append(of.names, name)
				}
				at = of.members[name]
			}
			if of.kinds == nil {
				of.read(kind)
			}
		}
		at.read(words)
	}
	return root
}

var (
	kinds      = plain.Pattern(`^\w+(?: or \w+)*`)
	constraint = plain.Pattern(`(?:at )?(least|most|above) (\S+)|(?:of|from) ([0-9]+)(?: to ([0-9]+))?|` +
		`(\w+_) and 1 to 64|(one of|format|form|without|with|that is)( in any case)? (.+)`)
)

// read reads the kind and the constraints of a row.
func (s *Shape) read(words string) {
	words, s.required = strings.CutSuffix(words, " required")
	words, told, _ := strings.Cut(words, ", which is ")
	s.want = tell(words)
	s.kinds = strings.Split(kinds().FindString(words), " or ")
	for _, m := range constraint().FindAllStringSubmatch(words, -1) {
		if n, err := strconv.ParseFloat(cmp.Or(m[2], m[3]), 64); err == nil && m[1] != "most" {
			s.least = n
		}
		if n, err := strconv.ParseFloat(cmp.Or(m[2], m[4]), 64); err == nil && m[1] != "least" && m[1] != "above" {
			s.most = n
		}
		if m[1] == "above" {
			s.least = math.Nextafter(s.least, math.Inf(1))
		}
		if m[5] != "" {
			s.pattern = regexp.MustCompile("^" + m[5] + "[A-Za-z0-9]{1,64}$")
		}
		switch m[6] {
		case "one of":
			s.words, s.anyCase = strings.Fields(m[8]), m[7] != ""
			last := len(s.words) - 1
			s.want = strings.Join(s.words[:last], ", ") + " or " + s.words[last]
		case "form":
			s.pattern = regexp.MustCompile(m[8])
		case "format":
			s.format = m[8]
		case "without":
			s.unique = true
		case "with":
			s.only = true
		case "that is":
			if s.format = m[8]; s.format == "not empty" { // which is said of a list, too
				s.filled, s.format = true, ""
			}
		}
	}
	s.want = cmp.Or(told, s.want)
}

// spoken has words of a row, and what people read for them.
var spoken = strings.NewReplacer("text format date", "a date such as 2026-01-31", "text format time",
	"an RFC 3339 time with an offset", "text format uri", "an absolute URI", "text that is a ", "a ",
	"integer", "a whole number", "boolean", "true or false", "number", "a number", "map", "an object",
	"text", "a text", "list items", "a list, items", "list", "a list",
	fmt.Sprintf("from 0 to %d", 1<<53), "of 0 or more", "from ", "of ",
	fmt.Sprintf("from 1 to %d", 1<<53), "of 1 or more", "of 0 to ", "of up to ")

// tell says for people what a row requires.
func tell(words string) string {
	kind, rest, _ := strings.Cut(words, " form ")
	if rest != "" {
		rest = " by the form " + rest
	}
	if prefix, _ := strings.CutPrefix(kind, "text "); strings.Contains(prefix, "_ and ") {
		return prefix
	}
	return spoken.Replace(kind) + rest
}

// kind returns the kind of a value as the tables name it. A whole number is an integer, however it is spelled.
func kind(v any) string {
	switch v := v.(type) {
	case json.Number:
		if _, whole := Integer(v); whole {
			return "integer"
		}
		return "number"
	case string:
		return "text"
	case bool:
		return "boolean"
	case []any:
		return "list"
	case map[string]any:
		return "map"
	case nil:
		return "null"
	}
	return "another"
}

// Integer returns a value that is a whole number, however it is spelled: 1.0 is one.
func Integer(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return i, true
	}
	f, err := n.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// fits reports whether a value has the kind and the constraints of a shape, whatever is in it.
func (s *Shape) fits(v any) bool {
	is := kind(v)
	if s.kinds[0] == "any" {
		return true
	}
	if !slices.Contains(s.kinds, is) && (is != "integer" || !slices.Contains(s.kinds, "number")) {
		return false
	}
	size := 0.0
	switch v := v.(type) {
	case json.Number:
		var err error
		if size, err = v.Float64(); err != nil {
			return false
		}
	case string:
		size = float64(utf8.RuneCountInString(v))
		if s.filled && v == "" || s.pattern != nil && !s.pattern.MatchString(v) || !inFormat(s.format, v) {
			return false
		}
		if s.words != nil && !slices.Contains(s.words, v) &&
			!(s.anyCase && slices.Contains(s.words, strings.ToLower(v))) {
			return false
		}
	case []any:
		size = float64(len(v))
		seen := map[any]bool{}
		for _, item := range v {
			switch item.(type) {
			case []any, map[string]any:
				continue
			}
			if s.unique && seen[item] {
				return false
			}
			seen[item] = true
		}
		if s.filled && len(v) == 0 {
			return false
		}
	case map[string]any:
		return !s.only || len(v) == 1
	default:
		return true
	}
	return s.least <= size && size <= s.most
}

func inFormat(format, text string) bool {
	switch format {
	case "date":
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	case "time":
		_, ok := strict.Time(text)
		return ok
	case "uri":
		u, err := url.Parse(text)
		return err == nil && u.IsAbs()
	case "not blank":
		return strings.TrimSpace(text) != ""
	case "a version by SemVer 2.0.0":
		return IsSemVer(text)
	}
	return true
}

// A Report takes what is wrong: where, by which code, and how to fix it.
type Report func(pointer, code, message, fix string)

// IsSemVer reports whether a text is a version by SemVer 2.0.0: three numbers, no v before them.
func IsSemVer(text string) bool {
	v := "v" + text
	return semver.IsValid(v) && semver.Canonical(v)+semver.Build(v) == v
}

// Judge reports what is wrong with a value, by the codes member-value, unknown-field and missing-member; known are the
// pointers of members that were judged before. A missing member has its own pointer.
func (s *Shape) Judge(v any, document string, report Report, known ...string) {
	judgment{document, report, known}.judge(s, v, "", "")
}

// judgment is the judgment of a document.
type judgment struct {
	document string // for people
	report   Report
	known    []string
}

// found is a function of its own: the test of codes reads the source for calls of it.
func (j judgment) found(pointer, code, message, fix string) { j.report(pointer, code, message, fix) }

func (j judgment) judge(s *Shape, v any, name, pointer string) {
	if !s.fits(v) {
		message, fix := fmt.Sprintf("%s is %s; expected %s", cmp.Or(name, j.document), Show(v), s.want),
			fmt.Sprintf("set %s to %s", name, s.want)
		if isObject(v) && s.of != "" && strings.HasSuffix(name, "]") && slices.Equal(s.kinds, []string{"text"}) {
			message, fix = name+" is a map; write the name alone", "write "+name+" as a text: the name alone"
		}
		j.found(pointer, "member-value", message, fix)
		return
	}
	list, _ := v.([]any)
	for i, item := range list {
		if s.item != nil {
			j.judge(s.item, item, fmt.Sprintf("%s[%d]", name, i), fmt.Sprintf("%s/%d", pointer, i))
		}
	}
	object, _ := v.(map[string]any)
	if name != "" {
		name += "."
	}
	for _, member := range s.names {
		of := s.members[member]
		inner, there := object[member]
		if !there && !of.required || there && of.isPlain() && of.fits(inner) || object == nil {
			continue
		}
		below, path := pointer+"/"+member, name+member
		switch {
		case slices.Contains(j.known, below):
		case there:
			j.judge(of, inner, path, below)
		default:
			j.found(below, "missing-member", fmt.Sprintf("%s is missing from %s; expected %s", path, j.document,
				of.want), fmt.Sprintf("add %s: %s", path, of.want))
		}
	}
	if s.any == nil && (s.of == "" || s.names == nil) {
		return
	}
	for _, member := range slices.Sorted(maps.Keys(object)) {
		below, path := pointer+"/"+strict.Escape(member), name+member
		switch {
		case s.members[member] != nil:
		case s.any != nil:
			j.judge(s.any, object[member], path, below)
		default:
			j.found(below, "unknown-field", fmt.Sprintf("%s has the member %q, which %s does not know", j.document,
				plain.Cut(path, 200), s.of), "")
		}
	}
}

func isObject(v any) bool { _, is := v.(map[string]any); return is }

// isPlain reports whether nothing in a value is judged by itself.
func (s *Shape) isPlain() bool { return s.names == nil && s.item == nil && s.any == nil }

// Holds reports whether a value is as the table requires.
func (s *Shape) Holds(v any) bool {
	holds := true
	s.Judge(v, "", func(string, string, string, string) { holds = false })
	return holds
}

// Names returns the members of the root, in the order of the table.
func (s *Shape) Names() []string { return s.names }

// Member returns the shape of a member of the root, which the table must have.
func (s *Shape) Member(name string) *Shape { return s.members[name] }

// Required reports whether the member must be there.
func (s *Shape) Required() bool { return s.required }

// String describes the value, for people.
func (s *Shape) String() string { return s.want }

// Each calls visit with the path and the shape of each member and item, unless skip reports true of the path before.
func (s *Shape) Each(visit func(path string, of *Shape) (skip bool)) { s.each("", visit) }

func (s *Shape) each(path string, visit func(string, *Shape) bool) {
	for _, name := range s.names {
		at := strings.TrimPrefix(path+"."+name, ".")
		if of := s.members[name]; !visit(at, of) {
			of.each(at, visit)
		}
	}
	if s.item != nil && !visit(path+"[]", s.item) {
		s.item.each(path+"[]", visit)
	}
}

// Schema returns the shape as JSON Schema.
func (s *Shape) Schema() map[string]any {
	of := map[string]any{"description": s.want}
	add := func(name string, v any, there bool) {
		if there {
			of[name] = v
		}
	}
	var types []string
	bounds := "imum"
	for _, kind := range s.kinds {
		types = append(types, cmp.Or(map[string]string{"text": "string", "list": "array", "map": "object"}[kind], kind))
		bounds = cmp.Or(map[string]string{"text": "Length", "list": "Items"}[kind], bounds)
	}
	if of["type"] = types; len(types) == 1 {
		of["type"] = types[0]
	}
	add("min"+bounds, s.least, !math.IsInf(s.least, 0))
	add("max"+bounds, s.most, !math.IsInf(s.most, 0))
	add("minLength", 1, s.filled && slices.Contains(s.kinds, "text"))
	add("minItems", 1, s.filled && slices.Contains(s.kinds, "list"))
	add("enum", s.words, s.words != nil && !s.anyCase)
	add("pattern", s.regexp(), s.regexp() != "")
	add("format", "date-time", s.format == "time")
	var required []string
	properties := map[string]any{}
	for _, name := range s.names {
		if properties[name] = s.members[name].Schema(); s.members[name].required {
			required = append(required, name)
		}
	}
	add("properties", properties, len(properties) > 0)
	add("required", required, required != nil)
	if s.item != nil {
		of["items"] = s.item.Schema()
	}
	return of
}

var letter = plain.Pattern(`[a-z]`)

// regexp returns the expression that a text must match, or "".
func (s *Shape) regexp() string {
	switch {
	case s.pattern != nil:
		return s.pattern.String()
	case s.format == "time":
		return `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`
	case s.anyCase:
		return "^(" + letter().ReplaceAllStringFunc(strings.Join(s.words, "|"), func(c string) string {
			return "[" + c + strings.ToUpper(c) + "]"
		}) + ")$"
	}
	return ""
}

// Show formats a value for a message, cut.
func Show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(plain.Cut(v, 60))
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case map[string]any:
		return "an object"
	}
	return fmt.Sprint(v)
}
