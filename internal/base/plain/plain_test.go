package plain

import (
	"encoding/json"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text string
		most int
		want string
	}{{"", 0, ""}, {"ab", 2, "ab"}, {"abc", 2, "ab…"}, {"äöü", 2, "äö…"}, {"👍👍", 2, "👍👍"}, {"a", 0, "…"}} {
		if got := Cut(test.text, test.most); got != test.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", test.text, test.most, got, test.want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{"0 checks": Count(0, "check"), "1 check": Count(1, "check"),
		"2 witnesses": Count(2, "witness"), "1 witness": Count(1, "witness")} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestIsHex(t *testing.T) {
	for text, want := range map[string]bool{"": false, "09af": true, "AF": false, "a g": false, "é": false} {
		if IsHex(text) != want {
			t.Errorf("IsHex(%q) is not %v", text, want)
		}
	}
}

func TestValue(t *testing.T) {
	var root any
	must.OK(t, json.Unmarshal([]byte(`{"a": {"b/c": [1, [2]], "~": null}, "": "empty"}`), &root))
	for pointer, want := range map[string]any{"/a/b~1c/0": 1.0, "/a/b~1c/1/0": 2.0, "/a/~0": nil, "/": "empty"} {
		if got, found := Value(root, pointer); !found || got != want {
			t.Errorf("%q leads to %v, %v, want %v", pointer, got, found, want)
		}
	}
	if got, found := Value("text", ""); !found || got != "text" {
		t.Errorf("the root is %v, %v", got, found)
	}
	for _, pointer := range []string{"/b", "/a/b~1c/2", "/a/b~1c/-1", "/a/b~1c/01", "/a/b~1c/+1", "/a/b~1c/x",
		"/a/~0/x", "/a/b~1c/0/0"} {
		if got, found := Value(root, pointer); found || got != nil {
			t.Errorf("%q leads to %v", pointer, got)
		}
	}
}
