package aaep

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
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
	f, err := readList(path, data, "[].start text or map that is not empty required", "reply", replies)
	if err != nil {
		return nil, err
	}
	for _, n := range f.Root.Content {
		_, start := strictyaml.Member(n, "start")
		one := Scenario{Name: textOf(n, "name"), Reply: textOf(n, "reply"), Start: startText(start.Value)}
		if start.Kind == yaml.MappingNode {
			var body object
			if err = start.Decode(&body); err == nil {
				one.Start, err = json.Marshal(body)
			}
			if err != nil {
				return nil, f.Errorf(start, "start is not a JSON body: %v", err)
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// ReadPlays reads a YAML list of {name, play}: play is that of a level. The error wraps a *strictyaml.Error where the
// place of the fault is known.
func ReadPlays(path string, data []byte, level int) (all []Play, err error) {
	var known []string
	for _, one := range AllPlays(level) {
		known = append(known, one.Play)
	}
	f, err := readList(path, data, "", "play", known)
	if err != nil {
		return nil, err
	}
	for _, n := range f.Root.Content {
		all = append(all, Play{Name: textOf(n, "name"), Play: textOf(n, "play")})
	}
	return all, nil
}

// textOf returns a member that is a text.
func textOf(n *yaml.Node, name string) string {
	_, v := strictyaml.Member(n, name)
	return v.Value
}

// readList reads a YAML list of mappings. Each has a name of its own, a member that is one of some words, and what a
// row of a table says.
func readList(path string, data []byte, row, member string, words []string) (*form.File, error) {
	f, err := form.Read(path, data, MaxScenarioFile, 0)
	if err != nil {
		return nil, err
	}
	table := fmt.Sprintf(". list items at least 1 items at most %d\n[].name text that is not empty required\n"+
		"[].%s text one of %s required\n%s", maxScenarios, member, strings.Join(words, " "), row)
	if err := f.Check(form.Table("a scenario", table)); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for i, n := range f.Root.Content {
		name := f.Value(fmt.Sprintf("/%d/name", i)).Value
		if names[name] {
			return nil, f.Errorf(n, "two of the list are called %q", name)
		}
		names[name] = true
	}
	return f, nil
}
