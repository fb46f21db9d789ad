package checks

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	jsonschema "github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// schemaFix says what would pass instead of a violation, or "" if only the schema itself can say. The message says that
// a value is not allowed; what is allowed depends on the member.
func schemaFix(s *Subject, judge *jsonschema.Schema, v jsonschema.Violation) string {
	root, _ := s.Record.Document.Root.(map[string]any)
	name := strings.TrimPrefix(v.Pointer, "/")
	if v.Keyword == "required" && v.Pointer == "" {
		return requiredFix(s, root, judge, v.Message)
	}
	if strings.Contains(name, "/") { // below a member: jurisdictions/0
		return ""
	}
	text, _ := root[name].(string)
	switch {
	case v.Keyword == "additionalProperties":
		missing := slices.DeleteFunc(slices.Clone(judge.Members()),
			func(n string) bool { _, there := root[n]; return there })
		like := nearest(name, missing)
		if like != "" && plain.Distance([]rune(name), []rune(like), 2) <= 2 {
			return fmt.Sprintf("rename %q to %q", name, like)
		}
		return fmt.Sprintf("remove %q", plain.Cut(name, 80))
	case name == "conformance_level":
		return `use one of "L0", "L1", "L1-NC", "L2", "L3", "L3-NC", "L4", "L5", "L5-FINANCE", "L5-ORG"`
	case slices.Contains(times[s.Kind], name):
		return `write it like "2026-05-04T08:00:00Z"`
	case strings.HasSuffix(name, "_sha256") && Respelled(text) != "":
		return fmt.Sprintf("set %s to %q", name, Respelled(text))
	case v.Keyword == "type" && text != "" && strings.Contains(v.Message, "array"):
		return fmt.Sprintf("set %s to [%q]", name, text)
	case v.Keyword == "format" && strings.Contains(v.Message, "email"):
		return fmt.Sprintf("set %s to an e-mail address (the schema's format is email)", name)
	case name == "name" && s.Kind == registry.KindListing && (v.Keyword == "minLength" || v.Keyword == "maxLength"):
		return s.nameFix()
	case v.Keyword == "type" && (text == "true" || text == "false") && strings.Contains(v.Message, "boolean"):
		return fmt.Sprintf("set %s to %s, without quotes", name, text)
	}
	return ""
}

// nameFix returns the fix of a name that no listing can have.
func (s *Subject) nameFix() string {
	return fmt.Sprintf("sign a Receipt whose implementation.name has %d to %d characters, publish it, set name to it, "+
		"then %s", minName, maxName, s.again())
}

// Respelled returns the SHA-256 that a text spells with upper-case digits or with the prefix sha256:; empty if it does
// not.
func Respelled(text string) string {
	lower := strings.TrimPrefix(strings.ToLower(text), "sha256:")
	if lower == text || !plain.IsSHA256(lower) {
		return ""
	}
	return lower
}

// requiredFix says which member to add, and with which value if the record says it, or which one to rename to the
// member that is missing, which the message quotes.
func requiredFix(s *Subject, root map[string]any, judge *jsonschema.Schema, message string) string {
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
		return fmt.Sprintf("add %q: %s", missing, valueOf(s, root, missing))
	}
	return ""
}

// valueOf returns the value of a member of a record as its file's name or its other members say it, else its form.
func valueOf(s *Subject, root map[string]any, name string) string {
	uri := manifest.URI(strict.String(root, "tool_did"))
	at := host(strict.String(root, "manifest_uri"))
	switch {
	case name == "slug" && s.Kind == registry.KindListing:
		return strconv.Quote(strings.TrimSuffix(path.Base(s.Path), ".json"))
	case name == "manifest_uri" && uri != "":
		return strconv.Quote(uri)
	case name == "tool_did" && at != "":
		return strconv.Quote("did:web:" + at)
	case slices.Contains(times[s.Kind], name):
		return `a time such as "2026-05-04T08:00:00Z"`
	case strings.HasSuffix(name, "_sha256"):
		return "a SHA-256 of 64 lower-case digits"
	case strings.HasSuffix(name, "_uri"):
		return "an https URL"
	}
	return "the value that the Receipt signs"
}

// nearest returns the name with the fewest typing errors from a word, at most three, or "" if no name is near.
func nearest(word string, names []string) string {
	const longest = 64
	best, least := "", min(3, len(word)/3)+1
	for _, n := range names {
		if len(word) > longest || len(n) > longest {
			continue
		}
		if d := plain.Distance([]rune(word), []rune(n), least-1); d < least {
			best, least = n, d
		}
	}
	return best
}

// withValue puts the value at fault before a message that only describes its kind or size.
func withValue(root any, v jsonschema.Violation) string {
	if v.Pointer == "" || !strings.HasPrefix(v.Message, "is ") || v.Keyword == "" {
		return v.Message
	}
	switch value := strict.Member(root, v.Pointer[1:]).(type) {
	case string:
		return strconv.Quote(plain.Cut(value, 80)) + " " + v.Message
	case json.Number:
		return plain.Cut(value.String(), 80) + " " + v.Message
	case bool:
		return strconv.FormatBool(value) + " " + v.Message
	}
	return v.Message
}
