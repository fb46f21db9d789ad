package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

var testNow = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func get(url string, most int64) evidence.Request {
	return evidence.Request{Protocol: evidence.HTTPS, Target: url, MaxBytes: most}
}

func obtained(r evidence.Request, body string) evidence.Observation {
	sum := sha256.Sum256([]byte(body))
	return evidence.Observation{Request: r, State: evidence.Obtained, Status: 200, Body: []byte(body),
		SHA256: hex.EncodeToString(sum[:]), Address: "203.0.113.7:443", Attempts: 1, Milliseconds: 41}
}

func testBundle() *Bundle {
	domain := obtained(evidence.Request{Protocol: evidence.RDAP, Target: "example.com", MaxBytes: evidence.MaxRDAP},
		"{}")
	domain.CachedAt, domain.Date = testNow.Add(-time.Hour), testNow.Add(time.Hour)
	return &Bundle{
		Mode: "check", Base: strings.Repeat("a", 40), Head: strings.Repeat("b", 40), MergeBase: strings.Repeat("a", 40),
		Now: testNow.Add(time.Millisecond), Tool: verdict.Tool{Version: "v1", Commit: "c0ffee"},
		Flags: Flags{
			Selection:  Selection{Only: []string{"domain-age", "reissue"}},
			Governance: "review",
			Sequence:   true,
			Keyring:    []byte{},
		},
		Compared: &Compared{Size: 7, Findings: []verdict.Finding{{Severity: verdict.Notice, Code: "peer-behind"}}},
		Observations: []evidence.Observation{
			domain,
			sources.Refuse(evidence.Absent, evidence.CodeHTTPStatus,
				"answered 404 Not Found, expected 200 <&> \u2028 \uFFFD").Observation(get("https://a.example/", 100)),
			obtained(get("https://b.example/", 100), "{}"),
			obtained(get("https://b.example/", 200), ""),
		},
		NotReached: map[string][]string{"c0ffee:implementations/<a>.json": {"layout", "schema"},
			"c0ffee:registry": {"layout"}},
	}
}

func TestBundle(t *testing.T) {
	b := testBundle()
	path := filepath.Join(t.TempDir(), "bundle.json")
	must.OK(t, os.WriteFile(path, b.Encode(), 0o600))
	got := must.Get(Read(path))(t)
	b.Observations = sources.Sorted(b.Observations)
	if diff := cmp.Diff(b, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !bytes.Equal(got.Encode(), b.Encode()) {
		t.Error("encoding a decoded bundle gives other bytes")
	}
	for _, text := range [][]byte{b.Encode(), (&Bundle{}).Encode()} {
		if !Former(text) {
			t.Errorf("%.40q is not taken for a bundle", text)
		}
	}
	if Former([]byte("{\n \"tool\": {}\n}\n")) {
		t.Error("another object is taken for a bundle")
	}
}

func TestBundleRefuses(t *testing.T) {
	text := string(testBundle().Encode())
	tests := map[string]func(string) string{
		"nothing":              func(string) string { return "" },
		"an array":             func(string) string { return "[]" },
		"another version":      replace(`"version": 2`, `"version": 3`),
		"the version before":   replace(`"version": 2`, `"version": 1`),
		"a version spelled so": replace(`"version": 2`, `"version": 2.0`),
		"no version":           replace(` "version": 2,`, ``),
		"an unknown member":    replace(`"mode"`, `"more": 1, "mode"`),
		"another letter case":  replace(`"mode"`, `"Mode"`),
		"a duplicate member":   replace(`"mode"`, `"mode": "check", "mode"`),
		"no time":              replace(`"now": "2026`, `"now": "x2026`),
		"a local time":         replace(`12:00:00.001Z`, `14:00:00.001+02:00`),
		"flags of other types": replace(`"domain-age"`, `7`),
		"a flag not known":     replace(`"governance"`, `"shards": "1/2", "governance"`),
		"a flag's letter case": replace(`"governance"`, `"Governance"`),
		"a flag of no effect":  replace(`"sequence": true`, `"sequence": false`),
		"no tool":              replace("\"tool\": {\n  \"version\": \"v1\",\n  \"commit\": \"c0ffee\"\n },", ""),
		"half a tool":          replace("\"v1\",\n  \"commit\": \"c0ffee\"", `"v1"`),
		"keys in other base64": replace(`"keyring": ""`, `"keyring": "QR=="`),
		"another severity":     replace(`"severity": "notice"`, `"severity": "fatal"`),
		"no severity":          replace(`"severity": "notice",`, ``),
		"no observations":      replace(`"observations": [`, `"observations": {}, "x": [`),
		"an unknown protocol":  replace(`"protocol": "https"`, `"protocol": "ftp"`),
		"another spelling":     replace(`https://a.example/`, `https://A.example/`),
		"a second observation": replace(`"max_bytes": 200`, `"max_bytes": 100`),
		"an unknown state":     replace(`"state": "absent"`, `"state": "unsought"`),
		"a negative number":    replace(`"milliseconds": 41`, `"milliseconds": -41`),
		"a fraction":           replace(`"milliseconds": 41`, `"milliseconds": 41.5`),
		"a huge number":        replace(`"milliseconds": 41`, `"milliseconds": 1e300`),
		"another size":         replace(`"bytes": 2`, `"bytes": 3`),
		"a body over its cap":  replace(`"max_bytes": 1048576`, `"max_bytes": 1`),
		"a cap over the caps":  replace(`"max_bytes": 1048576`, `"max_bytes": 99999999999`),
		"another body":         replace(`"body": "e30="`, `"body": "e31="`),
		"another hash":         replace(`"sha256": "44`, `"sha256": "45`),
		"no hash":              replace(`"sha256": "e3`, `"x": "e3`),
		"base64 with a line":   replace(`"body": "e30="`, `"body": "e3\n0="`),
		"base64 without pad":   replace(`"body": "e30="`, `"body": "e30"`),
		"a body of nothing":    replace(`"state": "obtained"`, `"state": "absent"`),
		"absent, no code":      replace(`"code": "http-status",`, ``),
		"a time of other form": replace(`"cached_at": "2026-05-04T11:00:00Z"`,
			`"cached_at": "2026-05-04T11:00:00.0Z"`),
		"a date of other form":  replace(`"date": "2026-05-04T13:00:00Z"`, `"date": "Mon, 04 May 2026 13:00:00 GMT"`),
		"a date of nothing":     replace(`"date": "2026-05-04T13:00:00Z"`, `"date": ""`),
		"an observation null":   replace(`"observations": [`, `"observations": [null,`),
		"an empty list":         replace("\"layout\",\n   \"schema\"", ""),
		"a list out of order":   replace("\"layout\",\n   \"schema\"", `"schema", "layout"`),
		"a check twice":         replace("\"layout\",\n   \"schema\"", `"layout", "layout"`),
		"a check of no name":    replace("\"layout\",\n   \"schema\"", `""`),
		"a list that is none":   replace("[\n   \"layout\"\n  ]", `"layout"`),
		"text behind":           func(s string) string { return s + "{}" },
		"deep":                  replace(`"check"`, strings.Repeat("[", 100)+strings.Repeat("]", 100)),
		"a message of no UTF-8": replace(`answered`, "\xff"),
	}
	for name, edit := range tests {
		changed := edit(text)
		if changed == text {
			t.Errorf("%s: the edit changes nothing", name)
		}
		if b, err := Decode("bundle.json", []byte(changed)); err == nil {
			t.Errorf("%s: is read as %+v", name, b)
		}
	}
	small := strings.Replace(text, `"observations": [`, `"observations": [`+strings.Repeat("0,", 5000), 1)
	if _, err := Decode("bundle.json", []byte(small)); err == nil || !strings.Contains(err.Error(), "values") {
		t.Errorf("many values in few bytes: %v", err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there gives %v", err)
	}
}

// TestBundleVersion1 checks what the recordings in testdata do not: what is refused in a bundle of the version before.
func TestBundleVersion1(t *testing.T) {
	text := `{"version": 1, "mode": "audit", "base": "", "head": "", "merge_base": "", "now": "2026-05-04T12:00:00Z",
		"flags": {"only": "reissue,domain-age", "keyring": "QQ==", "assumed": "--offline\nx", "later": "is not known",
		"compared": "{\"findings\": [{\"severity\": \"notice\"}]}"}, "observations": []}`
	b := must.Get(Decode("bundle.json", []byte(text)))(t)
	want := Flags{
		Selection: Selection{Only: []string{"reissue", "domain-age"}},
		Keyring:   []byte("A"),
		Assumed:   []string{"--offline", "x"},
	}
	if diff := cmp.Diff(want, b.Flags); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, edit := range map[string]func(string) string{
		"a member of version 2":  replace(`"mode"`, `"tool": {"version": "", "commit": ""}, "mode"`),
		"flags that are a list":  replace(`"flags": {`, `"flags": [], "x": {`),
		"a flag that is no text": replace(`"reissue,domain-age"`, `["reissue"]`),
		"base64 of other bits":   replace(`QQ==`, `QR==`),
		"nothing compared":       replace(`"compared"`, `"nothing"`),
		"a comparison's member":  replace(`{\"findings`, `{\"more\": 1, \"findings`),
		"another severity":       replace(`notice`, `fatal`),
	} {
		changed := edit(text)
		if b, err := Decode("bundle.json", []byte(changed)); err == nil || changed == text {
			t.Errorf("%s: is read as %+v", name, b)
		}
	}
}

func replace(old, new string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, new, 1) }
}

func TestDigest(t *testing.T) {
	var all []verdict.Evidence
	for _, o := range testBundle().Observations {
		all = append(all, o.Evidence())
	}
	text := `[["https://a.example/","absent",0,""],` +
		`["https://b.example/","obtained",200,"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"],` +
		`["https://b.example/","obtained",200,"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],` +
		`["rdap:example.com","obtained",200,"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"]]`
	want := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	if got := evidence.Digest(all); got != want {
		t.Errorf("gives %s, want %s", got, want)
	}
	all[0], all[3] = all[3], all[0]
	if got := evidence.Digest(all); got != want {
		t.Errorf("in another order gives %s", got)
	}
	if got, want := evidence.Digest(nil), fmt.Sprintf("%x", sha256.Sum256([]byte("[]"))); got != want {
		t.Errorf("of nothing gives %s, want %s", got, want)
	}
}

func FuzzDecodeBundle(f *testing.F) {
	f.Add(testBundle().Encode())
	f.Add((&Bundle{}).Encode())
	f.Add([]byte(`{"version":2,"observations":[{}]}`))
	f.Add([]byte(`{"version":1,"mode":"audit","now":"2026-05-04T12:00:00Z","flags":{"only":"a,b","compared":"{}"},` +
		`"observations":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := Decode("bundle.json", text)
		if err != nil {
			return
		}
		again, err := Decode("bundle.json", b.Encode())
		if err != nil {
			t.Fatalf("its own encoding is refused: %v", err)
		}
		if !bytes.Equal(again.Encode(), b.Encode()) {
			t.Error("encoding twice gives other bytes")
		}
	})
}
