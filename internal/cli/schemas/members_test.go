package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
)

// TestMembersAreDescribed requires a description of each member of each schema. A condition may repeat a member
// without it.
func TestMembersAreDescribed(t *testing.T) {
	members := 0
	for _, name := range schemas.Names {
		var schema map[string]any
		if err := json.Unmarshal(schemas.Text(name), &schema); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if schema["$id"] != schemas.ID(name) || schema["title"] == "" {
			t.Errorf("%s has the $id %v and the title %v", name, schema["$id"], schema["title"])
		}
		described := map[string]bool{}
		walk("", schema, described)
		for path, has := range described {
			members++
			if !has {
				t.Errorf("%s: %s has no description", name, path)
			}
		}
	}
	if members < 390 {
		t.Errorf("only %d members were found", members)
	}
}

// walk notes each member below a schema, and whether it has a description somewhere.
func walk(path string, schema any, described map[string]bool) {
	o, _ := schema.(map[string]any)
	for keyword, value := range o {
		switch keyword {
		case "properties", "$defs", "definitions":
			all, _ := value.(map[string]any)
			for name, sub := range all {
				at := path + "/" + name
				if keyword == "properties" {
					member, _ := sub.(map[string]any)
					text, _ := member["description"].(string)
					described[at] = described[at] || strings.TrimSpace(text) != ""
				}
				walk(at, sub, described)
			}
		case "items", "additionalProperties", "if", "then", "else", "not":
			walk(path, value, described)
		case "allOf", "anyOf", "oneOf":
			list, _ := value.([]any)
			for _, sub := range list {
				walk(path, sub, described)
			}
		}
	}
}
