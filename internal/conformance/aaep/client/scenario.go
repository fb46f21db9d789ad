package client

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
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
	f, err := aaep.ReadList(path, data, "[].start text or map that is not empty required\n[].reply text one of "+
		strings.Join(replies, " ")+" required")
	if err != nil {
		return nil, err
	}
	for _, n := range f.Root.Content {
		_, start := strictyaml.Member(n, "start")
		one := Scenario{Name: aaep.TextOf(n, "name"), Reply: aaep.TextOf(n, "reply"), Start: startText(start.Value)}
		if start.Kind == yaml.MappingNode {
			var body aaep.Object
			if err = start.Decode(&body); err == nil {
				one.Start, err = json.Marshal(body)
			}
			if err != nil {
				return nil, f.Fault(start, "start is not a JSON body: %v", err)
			}
		}
		all = append(all, one)
	}
	return all, nil
}
