package ghtest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// Command is a workflow command that the runner would execute.
type Command struct {
	Name  string
	Props map[string]string
	Text  string
}

// Commands reads a log as the runner does: lines end at CR and LF, and each is tried by two grammars.
//
// It finds more than the runner. The runner compares strings by culture, which ignores controls, format characters and
// variation selectors, so Commands removes them first. The runner knows a set of names; Commands accepts any word.
func Commands(log string) []Command {
	var found []Command
	for _, line := range strings.FieldsFunc(log, func(r rune) bool { return r == '\r' || r == '\n' }) {
		line = strings.Map(significant, line)
		if c, ok := parseV2(line); ok {
			found = append(found, c)
		} else if c, ok := parseV1(line); ok {
			found = append(found, c)
		}
	}
	return found
}

// Outputs reads a file of outputs as the runner does: name<<delimiter, the value's lines, delimiter.
func Outputs(text string) (map[string]string, error) {
	outputs := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		name, delimiter, ok := strings.Cut(lines[i], "<<")
		end := slices.Index(lines[i+1:], delimiter)
		if !ok || end < 0 {
			return nil, fmt.Errorf("line %q of the outputs", lines[i])
		}
		outputs[name] = strings.Join(lines[i+1:i+1+end], "\n")
		i += end + 1
	}
	return outputs, nil
}

func significant(r rune) rune {
	if ' ' <= r && r <= '~' {
		return r // to look each up in the tables takes long
	}
	if !unicode.IsSpace(r) && (unicode.Is(unicode.C, r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)) {
		return -1
	}
	return r
}

// parseV2 is "::name key=value,key=value::text" after white space at the start of a line.
func parseV2(line string) (Command, bool) {
	line, ok := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::")
	if !ok {
		return Command{}, false
	}
	info, text, ok := strings.Cut(line, "::")
	return parseInfo(info, text, ",", ok)
}

// parseV1 is "##[name key=value;key=value]text" anywhere in a line.
func parseV1(line string) (Command, bool) {
	_, line, ok := strings.Cut(line, "##[")
	if !ok {
		return Command{}, false
	}
	info, text, ok := strings.Cut(line, "]")
	return parseInfo(info, text, ";", ok)
}

var commandName = plain.Pattern(`^[A-Za-z_-]+$`)

func parseInfo(info, text, separator string, ok bool) (Command, bool) {
	name, rest, _ := strings.Cut(info, " ")
	if !ok || !commandName().MatchString(name) {
		return Command{}, false
	}
	c := Command{name, map[string]string{}, unescape.Replace(text)}
	for _, pair := range strings.Split(rest, separator) {
		if key, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok {
			c.Props[key] = unescape.Replace(value)
		}
	}
	return c, true
}

var unescape = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%", "%3B", ";", "%5D", "]")
