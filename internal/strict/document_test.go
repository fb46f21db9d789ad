package strict

import (
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestPos(t *testing.T) {
	d := must.Get(Parse("x",
		[]byte("\n{\"a\": [1,\n  {\"b/c\": 2, \"~d\": 3} , \"x\"],\n \"\\u0065\" : {\"\": 4}, \"é\":5, \"f\":6}"),
		RegistryFile))(t)
	for pointer, want := range map[string]string{
		"":                        "x:2:1",
		"/a":                      "x:2:2",
		"/a/0":                    "x:2:8",
		"/a/1":                    "x:3:3",
		"/a/1/b~1c":               "x:3:4",
		"/a/1/~0d":                "x:3:14",
		"/a/2":                    "x:3:25",
		"/e":                      "x:4:2",
		"/e/":                     "x:4:14",
		"/f":                      "x:4:30", // after a name of two bytes
		"/a/3":                    "x:2:2",
		"/a/-":                    "x:2:2",
		"/a/00":                   "x:2:2",
		"/a/+1":                   "x:2:2",
		"/a/-1":                   "x:2:2",
		"/a/1/none/x":             "x:3:3",
		"/a/0/x":                  "x:2:8",
		"/none":                   "x:2:1",
		"none":                    "x:2:1",
		"/a/99999999999999999999": "x:2:2",
	} {
		if got := d.Pos(pointer).String(); got != want {
			t.Errorf("Pos(%q) = %s, want %s", pointer, got, want)
		}
	}
	if got := (Pos{Path: "x"}).String(); got != "x" {
		t.Errorf("got %s", got)
	}
}

func TestMember(t *testing.T) {
	v := map[string]any{"a": map[string]any{"b": "c", "n": nil}, "l": []any{"x"}}
	if got := String(v, "a", "b"); got != "c" {
		t.Errorf("got %q", got)
	}
	for _, names := range [][]string{{"x"}, {"a", "x"}, {"a", "b", "c"}, {"a", "n"}, {"l", "0"}} {
		if got := Member(v, names...); got != nil {
			t.Errorf("%q: got %v", names, got)
		}
	}
	if String(v, "a") != "" || String("s") != "s" || Member(nil, "a") != nil {
		t.Error("String or Member of a wrong type")
	}
}

func TestTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-05-04T10:34:47Z":            "2026-05-04T10:34:47Z",
		"2026-05-04T10:34:47.660Z":        "2026-05-04T10:34:47.66Z",
		"2026-05-04T10:34:47.1234567899Z": "2026-05-04T10:34:47.123456789Z",
		"2026-05-04T10:34:47+02:00":       "2026-05-04T08:34:47Z",
		"2026-05-04T23:34:47.5-23:59":     "2026-05-05T23:33:47.5Z",
		"2024-02-29T00:00:00Z":            "2024-02-29T00:00:00Z",
		"9999-12-31T23:59:59.999999999Z":  "9999-12-31T23:59:59.999999999Z",
		"9999-12-31T23:59:59+00:01":       "9999-12-31T23:58:59Z",
		"0000-01-01T00:00:00-00:01":       "0000-01-01T00:01:00Z",
	} {
		got, ok := Time(text)
		if !ok || got.Format(time.RFC3339Nano) != want || got.Location() != time.UTC {
			t.Errorf("Time(%q) = %v, %v, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "2026-05-04", "2026-05-04T10:34:47", "2026-05-04t10:34:47Z", "2026-05-04T10:34:47z", "2026-05-04 10:34:47Z",
		"2026-05-04T10:34:47,660Z", "2026-05-04T10:34:47.Z", "2026-05-04T1:34:47Z", "2026-05-04T10:34Z",
		"2026-05-04T10:34:60Z",
		"2026-05-04T23:59:60Z", "2026-05-04T24:00:00Z", "2025-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
		"2026-05-04T10:34:47+0200",
		"2026-05-04T10:34:47+02", "2026-05-04T10:34:47+24:00", "2026-05-04T10:34:47+02:60", "2026-05-04T10:34:47ZZ",
		" 2026-05-04T10:34:47Z",
		"2026-05-04T10:34:47Z ", "２026-05-04T10:34:47Z", "+2026-05-04T10:34:47Z", "2026-05-04T10:34:47\u221202:00",
		"9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01",
	} {
		if got, ok := Time(text); ok || !got.IsZero() {
			t.Errorf("Time(%q) = %v, %v, want none", text, got, ok)
		}
	}
}
