package listing

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const pretty = "{\n  \"a\": 1,\n  \"b\" : [\"x\"] ,\n  \"c\": {\"a\": 2}\n}\n"

func TestEdit(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		edit             func([]byte) ([]byte, error)
	}{
		{"set first", pretty, "{\n  \"a\": true,\n  \"b\" : [\"x\"] ,\n  \"c\": {\"a\": 2}\n}\n", set("a", "true")},
		{"set last", pretty, "{\n  \"a\": 1,\n  \"b\" : [\"x\"] ,\n  \"c\": 3\n}\n", set("c", "3")},
		{"set new", pretty, "{\n  \"a\": 1,\n  \"b\" : [\"x\"] ,\n  \"c\": {\"a\": 2},\n  \"d\": {\n    \"e\": 1\n " +
			" }\n}\n",
			set("d", "{\n  \"e\": 1\n}")},
		{"set new on one line", `{"a":1, "b":2}`, `{"a":1, "b":2, "d": {"e":1}}`, set("d", "{\n  \"e\": 1\n}")},
		{"set in nothing", `{ }`, `{"a": 1 }`, set("a", "1")},
		{"set by an escape", `{"\u0061":1}`, `{"\u0061":2}`, set("a", "2")},
		{"drop first", pretty, "{\n  \"b\" : [\"x\"] ,\n  \"c\": {\"a\": 2}\n}\n", drop("a")},
		{"drop middle", pretty, "{\n  \"a\": 1 ,\n  \"c\": {\"a\": 2}\n}\n", drop("b")},
		{"drop last", pretty, "{\n  \"a\": 1,\n  \"b\" : [\"x\"]\n}\n", drop("c")},
		{"drop only", `{ "a" : 1 }`, `{  }`, drop("a")},
		{"drop nothing", pretty, pretty, drop("z")},
		{"append", "{\n  \"w\": [\n    {\n      \"a\": 1\n    }\n  ],\n  \"b\": 2\n}",
			"{\n  \"w\": [\n    {\n      \"a\": 1\n    },\n    {\n      \"a\": 2\n    }\n  ],\n  \"b\": 2\n}",
			add("w", "{\n  \"a\": 2\n}")},
		{"append to none", "{\n  \"b\": 2\n}\n", "{\n  \"b\": 2,\n  \"w\": [\n    {\n      \"a\": 2\n    }\n  ]\n}\n",
			add("w", "{\n  \"a\": 2\n}")},
		{"append to an empty one", `{"w": [ ]}`, `{"w": [{"a":2} ]}`, add("w", "{\n  \"a\": 2\n}")},
		{"append on one line", `{"w":[1,2]}`, `{"w":[1,2,{"a":2}]}`, add("w", "{\n  \"a\": 2\n}")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.edit([]byte(tt.text))
			if err != nil || string(got) != tt.want {
				t.Errorf("got error %v,\n%s\nwant\n%s", err, got, tt.want)
			}
		})
	}
	for _, text := range []string{"[]", "", "{", `{"w":1}`, `{} {}`, `{"w":1`} {
		if got, err := Append([]byte(text), "w", []byte("1")); err == nil {
			t.Errorf("%s became %s", text, got)
		}
	}
	if _, err := Set([]byte("[1]"), "a", []byte("1")); !errors.Is(err, ErrNoObject) {
		t.Errorf("an array was edited: %v", err)
	}
}

func set(name, value string) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return Set(text, name, []byte(value)) }
}
func drop(name string) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return Drop(text, name) }
}
func add(name, element string) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return Append(text, name, []byte(element)) }
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"plain": `"plain"`, `a"b\c`: `"a\"b\\c"`, "a\x1b[2J\n": `"a\u001b[2J\n"`,
		"\u202eevil\u200b": `"\u202eevil\u200b"`,
		"é 🙂":              `"é 🙂"`, "\U000e0041": `"\udb40\udc41"`, "$(id)": `"$(id)"`,
	} {
		if got := Quote(text); string(got) != want {
			t.Errorf("Quote(%q) = %s, want %s", text, got, want)
		}
		var back string
		if err := json.Unmarshal(Quote(text), &back); err != nil || back != text {
			t.Errorf("Quote(%q) reads as %q, %v", text, back, err)
		}
	}
}

// FuzzEdit checks that an edit of a strict JSON text changes the one member and no other.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{pretty, `{}`, `{"a":1,"\u0061b":2}`, "{\"b\"\t:\n[1 , 2]}", `{"a":{"a":{}}}`} {
		f.Add([]byte(s), "a")
		f.Add([]byte(s), "d")
	}
	read := func(t *testing.T, text []byte) map[string]any {
		t.Helper()
		doc, err := strict.Parse("", text, strict.RegistryFile)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		root, _ := doc.Root.(map[string]any)
		return root
	}
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		doc, err := strict.Parse("", text, strict.RegistryFile)
		if err != nil || !utf8.ValidString(name) {
			return
		}
		root, isObject := doc.Root.(map[string]any)
		if !isObject {
			return
		}
		before := bytes.Clone(text)
		changed := must.Get(Set(text, name, []byte(`"new"`)))(t)
		dropped := must.Get(Drop(text, name))(t)
		if !bytes.Equal(text, before) {
			t.Fatal("the text itself was changed")
		}
		if len(changed) > strict.RegistryFile.Bytes {
			return
		}
		now := read(t, changed)
		if now[name] != "new" {
			t.Fatalf("%q has %v at %q", changed, now[name], name)
		}
		delete(now, name)
		delete(root, name)
		if without := read(t, dropped); !reflect.DeepEqual(now, root) || !reflect.DeepEqual(without, root) {
			t.Fatalf("%q became %q and %q", text, changed, dropped)
		}
	})
}
