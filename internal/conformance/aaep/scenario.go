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
func ReadScenarios(path string, data []byte) ([]Scenario, error) {
	entries, refuse, err := readList(path, data, "scenario", "name, start and reply")
	if err != nil {
		return nil, err
	}
	var all []Scenario
	for _, n := range entries {
		var s Scenario
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			switch {
			case key.Value == "start" && value.Kind == yaml.MappingNode:
				var body map[string]any
				err := value.Decode(&body)
				if err == nil {
					s.Start, err = json.Marshal(body)
				}
				if err != nil {
					return nil, refuse(value, "start is not a JSON body: %v", err)
				}
			case value.Kind != yaml.ScalarNode || value.Tag != "!!str" || value.Value == "":
				return nil, refuse(value, "%s is not a text", key.Value)
			case key.Value == "start":
				s.Start = startText(value.Value)
			case key.Value == "name":
				s.Name = value.Value
			case key.Value == "reply":
				if s.Reply = value.Value; !slices.Contains(replies, s.Reply) {
					return nil, refuse(value, "reply is %q; expected one of %s", s.Reply, strings.Join(replies, ", "))
				}
			default:
				return nil, refuse(key, "a scenario has name, start and reply, not %q", key.Value)
			}
		}
		switch {
		case s.Name == "" || s.Start == nil || s.Reply == "":
			return nil, refuse(n, "a scenario needs name, start and reply")
		case slices.ContainsFunc(all, func(o Scenario) bool { return o.Name == s.Name }):
			return nil, refuse(n, "two scenarios are called %q", s.Name)
		}
		all = append(all, s)
	}
	return all, nil
}

// ReadPlays reads a YAML list of {name, play}: play is that of a level. The error wraps a *strictyaml.Error where the
// place of the fault is known.
func ReadPlays(path string, data []byte, level int) ([]Play, error) {
	entries, refuse, err := readList(path, data, "play", "name and play")
	if err != nil {
		return nil, err
	}
	var all []Play
	for _, n := range entries {
		var p Play
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			switch {
			case value.Kind != yaml.ScalarNode || value.Tag != "!!str" || value.Value == "":
				return nil, refuse(value, "%s is not a text", key.Value)
			case key.Value == "name":
				p.Name = value.Value
			case key.Value == "play":
				var known []string
				for _, one := range AllPlays(level) {
					known = append(known, one.Play)
				}
				if p.Play = value.Value; !slices.Contains(known, p.Play) {
					return nil, refuse(value, "play is %q; expected one of level %d: %s", p.Play, level,
						strings.Join(known, ", "))
				}
			default:
				return nil, refuse(key, "a play has name and play, not %q", key.Value)
			}
		}
		switch {
		case p.Name == "" || p.Play == "":
			return nil, refuse(n, "a play requires name and play")
		case slices.ContainsFunc(all, func(o Play) bool { return o.Name == p.Name }):
			return nil, refuse(n, "two plays are called %q", p.Name)
		}
		all = append(all, p)
	}
	return all, nil
}

// readList reads a YAML list of mappings, and returns what refuses one of them.
func readList(path string, data []byte, what, members string) (entries []*yaml.Node,
	refuse func(n *yaml.Node, format string, args ...any) error, err error) {
	root, err := strictyaml.Parse(path, data, MaxScenarioFile)
	if err != nil {
		return nil, nil, err
	}
	refuse = func(n *yaml.Node, format string, args ...any) error {
		return &strictyaml.Error{Pos: strict.Pos{Path: path, Line: n.Line, Column: n.Column},
			Message: fmt.Sprintf(format, args...)}
	}
	if root == nil || root.Kind != yaml.SequenceNode || len(root.Content) == 0 {
		return nil, nil, fmt.Errorf("the file is not a list of %ss", what)
	}
	if len(root.Content) > maxScenarios {
		return nil, nil, refuse(root.Content[maxScenarios], "the file has more than %d %ss", maxScenarios, what)
	}
	for _, n := range root.Content {
		if n.Kind != yaml.MappingNode {
			return nil, nil, refuse(n, "a %s is a mapping of %s", what, members)
		}
	}
	return root.Content, refuse, nil
}
