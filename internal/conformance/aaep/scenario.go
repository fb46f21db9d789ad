package aaep

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
)

// Limits of a file of scenarios.
const (
	MaxScenarioFile = 256 << 10
	maxScenarios    = 50
)

// Scenario is one session with a running producer.
type Scenario struct {
	Name  string
	Start []byte // the JSON body that starts the session
	Reply string // to its first confirmation: one of replies
}

// The replies to a confirmation, and what each of them shows.
const (
	replyAccept = "accept"
	replyReject = "reject"
	replyNone   = "none"
	replyForged = "forged"
	replyTwice  = "twice"
	replyLate   = "late"
	replyWrong  = "wrong-kind" // to its first clarification; its confirmations are rejected
)

var replies = []string{replyAccept, replyReject, replyNone, replyForged, replyTwice, replyLate, replyWrong}

// DefaultScenarios returns one session that any agent can hold.
func DefaultScenarios() []Scenario {
	return []Scenario{{Name: "default", Start: startText("What can you do?"), Reply: replyAccept}}
}

// startText returns the body that starts a session with a text, as the public producers read it.
func startText(text string) []byte {
	body, _ := json.Marshal(map[string]string{"user_message": text})
	return body
}

// ReadScenarios reads a YAML list of {name, start, reply}: start is a text or a JSON body, reply one of accept, reject,
// none, forged, twice, late and wrong-kind. The error wraps a *strictyaml.Error where the place of the fault is known.
func ReadScenarios(path string, data []byte) (all []Scenario, err error) {
	entries, err := readList(path, data, "scenario", "reply", "", replies, "start")
	for _, e := range entries {
		all = append(all, Scenario{Name: e["name"].Value, Reply: e["reply"].Value, Start: startText(e["start"].Value)})
		if start := e["start"]; start.Kind == yaml.MappingNode {
			var body object
			err := start.Decode(&body)
			if err == nil {
				all[len(all)-1].Start, err = json.Marshal(body)
			}
			if err != nil {
				return nil, at(path, start, "start is not a JSON body: %v", err)
			}
		}
	}
	return all, err
}

// ReadPlays reads a YAML list of {name, play}: play is that of a level. The error wraps a *strictyaml.Error where the
// place of the fault is known.
func ReadPlays(path string, data []byte, level int) (all []Play, err error) {
	var known []string
	for _, one := range AllPlays(level) {
		known = append(known, one.Play)
	}
	entries, err := readList(path, data, "play", "play", fmt.Sprintf("level %d: ", level), known)
	for _, e := range entries {
		all = append(all, Play{Name: e["name"].Value, Play: e["play"].Value})
	}
	return all, err
}

// at returns an error at a node.
func at(path string, n *yaml.Node, format string, args ...any) error {
	return &strictyaml.Error{Pos: strict.Pos{Path: path, Line: n.Line, Column: n.Column},
		Message: fmt.Sprintf(format, args...)}
}

// readList reads a YAML list of mappings. Each has a name of its own, a member that is one of the words of a set, and
// bodies, which are texts or mappings.
func readList(path string, data []byte, what, member, set string, words []string, bodies ...string) (
	entries []map[string]*yaml.Node, err error) {
	root, err := strictyaml.Parse(path, data, MaxScenarioFile)
	if err != nil {
		return nil, err
	}
	if root == nil || root.Kind != yaml.SequenceNode || len(root.Content) == 0 {
		return nil, fmt.Errorf("the file is not a list of %ss", what)
	}
	if len(root.Content) > maxScenarios {
		return nil, at(path, root.Content[maxScenarios], "the file has more than %d %ss", maxScenarios, what)
	}
	members := append(append([]string{"name"}, bodies...), member)
	form := strings.Join(members[:len(members)-1], ", ") + " and " + member
	names := map[string]bool{}
	for _, n := range root.Content {
		if n.Kind != yaml.MappingNode {
			return nil, at(path, n, "a %s is a mapping of %s", what, form)
		}
		entry := map[string]*yaml.Node{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			switch {
			case !slices.Contains(members, key.Value):
				return nil, at(path, key, "a %s has %s, not %q", what, form, key.Value)
			case value.Kind == yaml.MappingNode && slices.Contains(bodies, key.Value):
			case value.Kind != yaml.ScalarNode || value.Tag != "!!str" || value.Value == "":
				return nil, at(path, value, "%s is not a text", key.Value)
			case key.Value == member && !slices.Contains(words, value.Value):
				return nil, at(path, value, "%s is %q; expected one of %s%s", member, value.Value, set,
					strings.Join(words, ", "))
			}
			entry[key.Value] = value
		}
		if len(entry) < len(members) {
			return nil, at(path, n, "a %s requires %s", what, form)
		}
		if name := entry["name"].Value; names[name] {
			return nil, at(path, n, "two %ss are called %q", what, name)
		}
		names[entry["name"].Value] = true
		entries = append(entries, entry)
	}
	return entries, nil
}
