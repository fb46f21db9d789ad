package schemadiff

import (
	"slices"
	"testing"
)

// classes compares two texts as the one schema of their trees.
func classes(t testing.TB, old, new string) []Class {
	t.Helper()
	var found []Class
	for _, d := range differences(old, new) {
		if d.Class != Note && !slices.Contains(found, d.Class) {
			found = append(found, d.Class)
		}
	}
	slices.Sort(found)
	return found
}

func differences(old, new string) []Difference {
	const path = "schemas/v1.0/x.schema.json"
	return Compare(NewTree(map[string][]byte{path: []byte(old)}), path, NewTree(map[string][]byte{path: []byte(new)}), path)
}

func TestFields(t *testing.T) {
	tests := []struct {
		name, old, new string
		want           []Class
	}{
		{"same", `{"properties":{"a":{}}}`, `{"properties":{"a":{}}}`, nil},
		{"added", `{"properties":{"a":{}}}`, `{"properties":{"a":{},"b":{}}}`, []Class{Additive}},
		{"removed", `{"properties":{"a":{}}}`, `{"properties":{}}`, []Class{Removed}},
	}
	for _, test := range tests {
		if got := classes(t, test.old, test.new); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
