package schema

import (
	"encoding/json"
	"fmt"

	library "github.com/santhosh-tekuri/jsonschema/v6"
)

// meter reckons what judging a document costs at most, before the library does it: the library cannot be
// stopped, and a schema that refers to itself twice takes 2^n steps for a document n deep. A step is about
// a microsecond.
type meter struct{ left, budget int }

// maxSteps caps the steps of one document, whatever its size.
const maxSteps = 200_000

func newMeter(root any) *meter {
	values, bytes := measure(root)
	budget := min(500+50*values+bytes/2, maxSteps)
	return &meter{budget, budget}
}

func (m *meter) message() string {
	return fmt.Sprintf("takes more than %d steps to judge by this schema, the most for a document of its size",
		m.budget)
}

// measure counts the values under v, and the bytes of its strings and names.
func measure(v any) (values, bytes int) {
	values = 1
	switch v := v.(type) {
	case string:
		bytes = len(v)
	case map[string]any:
		for name, member := range v {
			n, b := measure(member)
			values, bytes = values+n, bytes+b+len(name)
		}
	case []any:
		for _, item := range v {
			n, b := measure(item)
			values, bytes = values+n, bytes+b
		}
	}
	return values, bytes
}

func (m *meter) spend(steps int) bool {
	m.left -= steps
	return m.left >= 0
}

// match spends what matching text takes: 256 instructions a step.
func (m *meter) match(re library.Regexp, text string) bool {
	p, ok := re.(*pattern)
	return ok && m.spend(p.size*len(text)/256)
}

// affords reports whether root can be judged by s within the budget, in whatever order the steps are taken.
func (m *meter) affords(s *library.Schema, root any) bool { return m.apply(s, root) && m.left >= 0 }

// apply spends the steps of s on v, as if each subschema applied; false: the budget is spent.
func (m *meter) apply(s *library.Schema, v any) bool {
	if !m.spend(1) {
		return false
	}
	if s.Enum != nil {
		n, _ := measure(s.Enum.Values)
		m.left -= n / 8
	}
	if s.Const != nil {
		n, _ := measure(*s.Const)
		m.left -= n / 8
	}
	for _, sub := range inPlace(s) {
		if !m.apply(sub, v) {
			return false
		}
	}
	switch v := v.(type) {
	case string:
		return m.spend(len(v)/256) && (s.Pattern == nil || m.match(s.Pattern, v))
	case map[string]any:
		return m.object(s, v)
	case []any:
		return m.array(s, v)
	}
	return true
}

func (m *meter) object(s *library.Schema, v map[string]any) bool {
	additional, _ := s.AdditionalProperties.(*library.Schema)
	for name, member := range v {
		for _, sub := range []*library.Schema{s.Properties[name], additional, s.UnevaluatedProperties} {
			if sub != nil && !m.apply(sub, member) {
				return false
			}
		}
		for re, sub := range s.PatternProperties {
			if !m.match(re, name) || !m.apply(sub, member) {
				return false
			}
		}
		if s.PropertyNames != nil && !m.apply(s.PropertyNames, name) {
			return false
		}
	}
	return m.spend((len(v) + len(s.Required)) / 8)
}

func (m *meter) array(s *library.Schema, v []any) bool {
	for i, item := range v {
		for _, sub := range []*library.Schema{s.Items2020, s.Contains, s.UnevaluatedItems} {
			if sub != nil && !m.apply(sub, item) {
				return false
			}
		}
		if i < len(s.PrefixItems) && !m.apply(s.PrefixItems[i], item) {
			return false
		}
	}
	if !s.UniqueItems {
		return m.spend(len(v) / 8)
	}
	values, bytes := measure(v) // up to 20 items are compared each with each, more are hashed
	return m.spend(min(len(v), 20) * (values + bytes/64) / 8)
}

// Floats copies v with numbers as float64, as Ajv sees them. The library would take them as rationals of any
// size: it dereferences a nil pointer at 1e-9999999.
func Floats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = Floats(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Floats(item)
		}
		return out
	case json.Number:
		f, _ := v.Float64()
		return f
	case int:
		return float64(v)
	}
	return v
}
