package schemadiff

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// classes compares two texts as the one schema of their trees.
func classes(old, new string) []Class {
	var found []Class
	for _, d := range differences(old, new) {
		if d.Class != Note && !slices.Contains(found, d.Class) {
			found = append(found, d.Class)
		}
	}
	slices.Sort(found)
	return found
}

const theFile = "schemas/v1.0/x.schema.json"

func differences(old, new string) []Difference {
	before, after := NewTree(map[string][]byte{theFile: []byte(old)}, nil, nil),
		NewTree(map[string][]byte{theFile: []byte(new)}, nil, nil)
	return Compare(before, theFile, after, theFile)
}

// shared is a file of the directory of test data beside the clone.
func shared(t testing.TB, name string) string {
	t.Helper()
	name = filepath.Join("..", "..", "..", "..", "shared", "data", "governance", name)
	if _, err := os.Stat(name); err != nil {
		t.Skipf("NOT CHECKED: %v", err)
	}
	return name
}

func TestPairs(t *testing.T) {
	text := must.Read(t, shared(t, "schema-diff.json"))
	var pairs []struct {
		Name     string
		Old, New json.RawMessage
		Classes  []Class
	}
	must.OK(t, json.Unmarshal(text, &pairs))
	for _, p := range pairs {
		want := slices.DeleteFunc(slices.Clone(p.Classes), func(c Class) bool { return c == Note })
		got := classes(string(p.Old), string(p.New))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", p.Name, got, want)
		}
	}
	if len(pairs) == 0 {
		t.Error("no pairs")
	}
}

func lines(old, new string) string {
	var all []string
	for _, d := range differences(old, new) {
		all = append(all, string(d.Class)+" "+d.Pointer)
	}
	return strings.Join(all, "; ")
}
