package checks

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	jsonschema "github.com/openagentprotocol-OAP/oap-gate/internal/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// schemaFix says what would pass in place of a violation, "" where only the schema itself can say. The message says
// that a value is not allowed; what is allowed depends on the member.
func schemaFix(s *Subject, judge *jsonschema.Schema, v jsonschema.Violation) string {
	root, _ := s.Record.Document.Root.(map[string]any)
	name := strings.TrimPrefix(v.Pointer, "/")
	if v.Keyword == "required" && v.Pointer == "" {
		return requiredFix(root, judge, v.Message)
	}
	if strings.Contains(name, "/") { // below a member: jurisdictions/0
		return ""
	}
	text, _ := root[name].(string)
	switch {
	case v.Keyword == "additionalProperties":
		if like := nearest(name, without(judge.Members(), root)); like != "" {
			return fmt.Sprintf("did you mean %q? rename the member", like)
		}
		return "leave it out; the members are " + plain.Cut(strings.Join(judge.Members(), ", "), 400)
	case name == "conformance_level":
		return `use one of "L0", "L1", "L1-NC", "L2", "L3", "L3-NC", "L4", "L5", "L5-FINANCE", "L5-ORG"`
	case slices.Contains(times[s.Kind], name):
		return `write it like "2026-05-04T08:00:00Z"`
	case strings.HasSuffix(name, "_sha256") && len(text) == 64 && strings.Trim(text, "0123456789abcdefABCDEF") == "":
		return fmt.Sprintf("set %s to %q: lower case", name, strings.ToLower(text))
	case v.Keyword == "type" && (text == "true" || text == "false") && strings.Contains(v.Message, "boolean"):
		return fmt.Sprintf("set %s to %s, without quotes", name, text)
	}
	return ""
}

// requiredFix names the member that may be meant for the one that is missing, which the message quotes.
func requiredFix(root map[string]any, judge *jsonschema.Schema, message string) string {
	known := judge.Members()
	for _, missing := range known {
		if !strings.Contains(message, fmt.Sprintf("has no %q,", missing)) {
			continue
		}
		unknown := slices.DeleteFunc(slices.Sorted(maps.Keys(root)),
			func(n string) bool { return slices.Contains(known, n) })
		if like := nearest(missing, unknown); like != "" {
			return fmt.Sprintf("rename %q to %q", like, missing)
		}
		return fmt.Sprintf("add %q", missing)
	}
	return ""
}

func without(names []string, object map[string]any) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { _, there := object[n]; return there })
}

// nearest is the name that one word differs from by the fewest slips of a hand, three at most; "" where none is near.
func nearest(word string, names []string) string {
	const longest = 64
	best, least := "", min(3, len(word)/3)+1
	for _, n := range names {
		if len(word) > longest || len(n) > longest {
			continue
		}
		if d := Distance([]rune(word), []rune(n), least-1); d < least {
			best, least = n, d
		}
	}
	return best
}

// withValue puts the value at fault before a message that tells only of its kind or size.
func withValue(root any, v jsonschema.Violation) string {
	if v.Pointer == "" || !strings.HasPrefix(v.Message, "is ") || v.Keyword == "" {
		return v.Message
	}
	switch value := strict.Member(root, v.Pointer[1:]).(type) {
	case string:
		return fmt.Sprintf("%q ", plain.Cut(value, 80)) + v.Message
	case json.Number:
		return plain.Cut(value.String(), 80) + " " + v.Message
	case bool:
		return fmt.Sprintf("%t ", value) + v.Message
	}
	return v.Message
}
