package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// ajvDirectory names the node_modules directory in which `npm i ajv@8.20.0 ajv-formats@3.0.1` put the peer.
const ajvDirectory = "OAP_AJV_NODE_MODULES"

type ajvInput struct {
	Schemas   map[string]string   `json:"schemas,omitempty"`
	Documents map[string][]string `json:"documents,omitempty"`
	Formats   map[string][]string `json:"formats,omitempty"`
	Patterns  []patternCase       `json:"patterns,omitempty"`
}

type ajvOutput struct {
	Documents map[string][][]string
	Formats   map[string][]int
	Patterns  [][]int
}

// patternCase is [pattern, [text, ...]].
type patternCase [2]any

// ajvModules skips the test where the peer is not asked for.
func ajvModules(t *testing.T) string {
	t.Helper()
	directory := os.Getenv(ajvDirectory)
	if directory == "" {
		t.Skipf("NOT CHECKED against Ajv: %s is not set to a node_modules directory", ajvDirectory)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatalf("Ajv needs Node.js: install the package nodejs: %v", err)
	}
	for _, name := range []string{"ajv", "ajv-formats"} {
		if _, err := os.Stat(filepath.Join(directory, name)); err != nil {
			t.Fatalf("%s has no package %s: run npm ci --ignore-scripts in test/outside: %v", directory, name, err)
		}
	}
	return directory
}

func askAjv(t *testing.T, directory string, in ajvInput) ajvOutput {
	t.Helper()
	text := must.Get(json.Marshal(in))(t)
	cmd := exec.Command("node", filepath.Join("testdata", "ajv.cjs"), directory)
	cmd.Stdin = bytes.NewReader(text)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	answer, err := cmd.Output()
	if err != nil {
		t.Fatalf("running node: %v: %s", err, stderr.String())
	}
	var out ajvOutput
	must.OK(t, json.Unmarshal(answer, &out))
	return out
}

// seeds are valid documents, by the name of the built-in schema.
var seeds = map[string]string{
	"listing": `{"slug":"example-agent","name":"Example Agent","tool_did":"did:web:agent.example.org","manifest_uri":"https://agent.example.org/m.json",
		"conformance_level":"L1-NC","conformance_receipt_uri":"https://agent.example.org/r.json","conformance_receipt_sha256":"2689481cb19283e7e3e04f191022bae4f1199256bb6a5b4f338f10289f111a6d",
		"issued_at":"2026-05-04T10:34:47.660Z","expires_at":"2026-08-02T10:34:47.660Z","open_source":"https://example.org/src","license":"Apache-2.0","non_commercial":true,
		"provisional":true,"contact":"a@agent.example.org","categories":["calendar","crm"],"jurisdictions":["DE","EU"]}`,
	"revocation": `{"slug":"example-agent","revoked_receipt_sha256":"2689481cb19283e7e3e04f191022bae4f1199256bb6a5b4f338f10289f111a6d","reason":"superseded",
		"evidence_uri":"https://example.org/why","revoked_at":"2026-05-04T10:34:47Z","revoked_by_did":"did:web:agent.example.org",
		"signature":{"alg":"EdDSA","value":"AAAA","by":"did:web:agent.example.org#key-1"},
		"peer_witness_signatures":[{"witness_did":"did:web:witness.example.net","alg":"EdDSA","value":"BBBB","by":"#key-1"}]}`,
	"workflow-anchor": `{"slug":"flow-1","workflow_id":"wf_01ARZ3NDEKTSV4RRFFQ69G5FAV","workflow_manifest_id":"wfm_01ARZ3NDEKTSV4RRFFQ69G5FAV","workflow_type":"t",
		"coordinator_did":"did:web:c.example.org","failover_coordinator_did":"did:web:f.example.org","cross_match_receipt_uri":"https://c.example.org/x.json",
		"cross_match_receipt_sha256":"2689481cb19283e7e3e04f191022bae4f1199256bb6a5b4f338f10289f111a6d","anchored_at":"2026-05-04T10:34:47Z",
		"merkle_root":"sha256:2689481cb19283e7e3e04f191022bae4f1199256bb6a5b4f338f10289f111a6d","consistency_proof_to_prev":"p","jurisdictions":["DE"],"is_high_stakes":true}`,
	"receipt": `{"receipt_id":"urn:oap:conformance:a_1","type":"conformance","timestamp":"2026-05-04T10:34:47Z",
		"implementation":{"did":"did:web:agent.example.org","name":"A","version":"1","build_hash":"x","deployment_uri":"https://agent.example.org/"},
		"suite":{"name":"oap-conformance-test-suite","version":"1","spec_version":"1.0","suite_repo":"https://example.org/s","suite_commit":"c"},
		"target":{"uri":"https://agent.example.org/","manifest_hash":"h"},"claimed_levels":["L1","W1"],"profile":"standard",
		"results_summary":{"total":3,"passed":3,"failed":0,"skipped":0},"results_uri":"https://agent.example.org/results.json",
		"fixtures_hash":"sha256:2689481cb19283e7e3e04f191022bae4f1199256bb6a5b4f338f10289f111a6d","results_hash":"sha256:2689481cb19283e7e3e04f191022bae4f1199256bb6a5b4f338f10289f111a6d",
		"attestor":{"did":"did:web:x.example","name":"n","method":"self"},"validity":{"not_before":"2026-05-04T10:34:47Z","not_after":"2026-08-02T10:34:47Z"},
		"previous_receipt_hash":"genesis","signatures":[{"by":"did:web:agent.example.org#k","alg":"EdDSA","value":"AAAA"}],
		"peer_witnesses":[{"witness_did":"did:web:w.example.net","witness_receipt_uri":"https://w.example.net/r.json","alg":"EdDSA","signature":"BB","witnessed_at":"2026-05-04T10:34:47Z","controller_org":"o"}],
		"registry_anchor":{"repo_url":"https://example.org/r","commit_sha":"0123456789012345678901234567890123456789","file_path":"implementations/a.json","merkle_proof":"p"},
		"revenue":{"source":"byok","note":"n"}}`,
}

// specimens are strings that are in a format, or nearly. The mutator puts marks into them.
var specimens = map[string][]string{
	"date": {"2026-05-04", "2024-02-29", "1900-02-29", "2000-02-29", "0000-02-29", "2026-13-01", "2026-04-31"},
	"time": {"12:00:00Z", "23:59:60Z", "23:59:60.999z", "22:59:60-01:00", "24:59:00+01:00", "00:29:60-23:30",
		"12:00:59.99999999999999999999Z", "12:00:00+0130", "12:00:00-02", "00:59:60+01"},
	"date-time": {"2026-05-04T10:34:47.660Z", "2026-05-04 08:00:00+02", "2016-12-31t23:59:60z",
		"2026-05-04\u00a008:00:00Z",
		"2026-05-04\u202808:00:00+0200", "2026-05-04\ufeff08:00:00Z", "2026-05-04T24:59:00+01:00",
		"1990-12-31T15:59:60-08:00"},
	"iso-time":      {"12:00:00", "23:59:60", "12:00:00.5", "12:00:00Z"},
	"iso-date-time": {"2026-05-04T10:34:47", "2026-05-04 10:34:47Z"},
	"duration":      {"P1Y2M3DT4H5M6S", "P1W", "PT1S", "P1D", "P", "PT", "P1DT", "P1WT1S", "PT1M1H"},
	"uri": {"https://example.org/a?b=c#d", "https://u:p@example.org:80/a%20b", "javascript:alert(1)", "http:///x",
		"a:/b[::1]", "http://[::1]:80/a", "http://a@[v1.x:y]/", "http://[v1.::2:1.2.3.4]",
		"http:/[1:2:3:4:5:6:7:8]", "urn:a", "a:", "a:?q", "http://[::ffff:1.02.003.4]",
		"http://[1::2:1.2.3.4]:/?#", "http://a@b@[::1]", "http://[::1]a", "a:[::1]"},
	"uri-reference": {"../a?b#c", "//example.org/\"x", "#f", "", "?q", "a:b:c", "//[::1]:8/x", "/[::1]", "x:/[::1]#",
		"[::1]", "1:2"},
	"uri-template": {"https://example.org/{a}/{?b,c}", "{+x*}", "{a:3}", "{a:10000}", "{", "{}", "a%20b", "a%2"},
	"url": {"https://example.org/a", "http://a:b@example.co.uk:8080/x?y", "ftp://1.2.3.4", "http://10.1.1.1",
		"http://127.0.0.1", "http://172.16.1.1/", "http://x@192.168.1.1",
		"httpſ://example.org", "http://é.example", "http://a@b@c.org", "http://1.2.3.4:99999/", "http://-a.org",
		"http://a..org", "http://223.255.255.254", "http://169.254.1.1.example.org"},
	"email": {"a@b.co", "a.b@c-d.example.org", "a..b@c.org", "a@b", "a@-b.org", "\"a\"@b.org",
		"a+b@c.org", "\u212a@b.org"},
	"hostname": {"example.org", "a-b.example.org.", "-a.org", "a..b", strings.Repeat("a", 63) + ".org",
		strings.Repeat("a", 64), strings.Repeat("abcdefg.", 31) + "abcde", strings.Repeat("abcdefg.", 31) + "abcdef",
		strings.Repeat("abcdefg.", 31) + "abcde.", "."},
	"ipv4": {"1.2.3.4", "255.255.255.255", "01.2.3.4", "1.2.3", "1.2.3.256"},
	"ipv6": {"::", "::1", "1:2:3:4:5:6:7:8", "1::8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8",
		"1:2:3:4:5:6:1.2.3.4", "::ffff:1.2.3.4", "::01.2.3.4", "1:2:3:4:5::1.2.3.4", "fe80::1%eth0", ":::", "1::2::3",
		"12345::"},
	"uuid": {"123e4567-e89b-12d3-a456-426614174000",
		"urn:uuid:123E4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"},
	"json-pointer":              {"", "/", "/a/b~0~1", "a", "/~", "/~2"},
	"json-pointer-uri-fragment": {"#", "#/a/b~0", "#/%41", "#a", "/a", "#/\u017f"},
	"relative-json-pointer":     {"0", "1/a", "0#", "01", "10/a/~1", "#"},
	"byte": {"", "AAAA", "AA==", "AAA=", "A", "!!!\n", "!!!\nAAAA\r!!!", "!\u2028!", "AAAA\nAAAA",
		"!\r!", "!\n\n!"},
	"password":  {"x"},
	"binary":    {"x"},
	"int32":     {"x"},
	"iri":       {"x y"},
	"idn-email": {"x"},
	"semver":    {"x"},
}

// marks are what the mutator puts into a string.
var marks = []string{"a", "Z", "0", "9", "60", "-", ".", ":", "/", "//", "@", "%", "%41", "%4", "[", "]", "{", "}", "~",
	"~0", "#", "?", "+", "=", "_", "\"", "'", " ", "\t", "\n", "\r",
	"T", "t", "z", "W", "\u00a0", "\u2028", "\ufeff", "\u017f", "\u212a", "é", "😀", "\x00", "\\", "^", "$", "|", ",",
	"*", "!", ";", "x", "::", "v1.", "1.2.3.4", "\u0130", "\u00df"}

func mutateString(r *rand.Rand, s string) string {
	runes := []rune(s)
	for range r.IntN(3) {
		at := r.IntN(len(runes) + 1)
		switch r.IntN(3) {
		case 0:
			runes = slices.Insert(runes, at, []rune(marks[r.IntN(len(marks))])...)
		case 1:
			if at < len(runes) {
				runes = slices.Delete(runes, at, at+1)
			}
		default:
			if at < len(runes) {
				runes = slices.Replace(runes, at, at+1, []rune(marks[r.IntN(len(marks))])...)
			}
		}
	}
	return string(runes)
}

// mutate changes one value somewhere under v.
func mutate(r *rand.Rand, v any) any {
	switch in := v.(type) {
	case map[string]any:
		if r.IntN(4) > 0 && len(in) > 0 {
			names := slices.Sorted(maps.Keys(in))
			name := names[r.IntN(len(names))]
			if r.IntN(4) == 0 {
				delete(in, name)
			} else {
				in[name] = mutate(r, in[name])
			}
			return in
		}
		in[[]string{"extra", "__proto__", "a/b~c", "", "by"}[r.IntN(5)]] = substitute(r)
		return in
	case []any:
		if len(in) > 0 && r.IntN(3) > 0 {
			i := r.IntN(len(in))
			in[i] = mutate(r, in[i])
			return in
		}
		return append(in, substitute(r))
	case string:
		if r.IntN(4) > 0 {
			return mutateString(r, in)
		}
	}
	return substitute(r)
}

func substitute(r *rand.Rand) any {
	formats := slices.Sorted(maps.Keys(specimens))
	switch r.IntN(6) {
	case 0:
		return json.Number([]string{"0", "-0", "1.0", "1e2", "-1", "1.5", "1.0000000000000000001", "1e-999",
			"12345678901234567890", "1e308"}[r.IntN(10)])
	case 1:
		return r.IntN(2) == 0
	case 2:
		return nil
	case 3:
		return []any{}
	case 4:
		return map[string]any{}
	}
	some := specimens[formats[r.IntN(len(formats))]]
	return mutateString(r, some[r.IntN(len(some))])
}

func decode(t testing.TB, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	must.OK(t, d.Decode(&v))
	return v
}

// mutants are n documents, each one to four steps away from the seed.
func mutants(t testing.TB, r *rand.Rand, seed string, n int) []string {
	t.Helper()
	out := []string{seed}
	for range n {
		v := decode(t, seed)
		for range 1 + r.IntN(4) {
			v = mutate(r, v)
		}
		text := must.Get(json.Marshal(v))(t)
		out = append(out, string(text))
	}
	return out
}

func TestAjvDocuments(t *testing.T) {
	directory := ajvModules(t)
	r := rand.New(rand.NewPCG(1, 2))
	in := ajvInput{Schemas: map[string]string{}, Documents: map[string][]string{}}
	for _, name := range slices.Sorted(maps.Keys(seeds)) {
		in.Schemas[name] = string(schemas.Text(name))
		in.Documents[name] = mutants(t, r, seeds[name], 3000)
	}
	out := askAjv(t, directory, in)
	for name, texts := range in.Documents {
		valid := 0
		for i, text := range texts {
			doc := must.Get(strict.Parse("x.json", []byte(text), strict.RegistryFile))(t)
			ours := Builtin(name).Validate(doc.Root)
			theirs := slices.Sorted(slices.Values(out.Documents[name][i][1:]))
			theirs = slices.DeleteFunc(theirs, func(violation string) bool { // of a wrong type only the type is told
				at, keyword, _ := strings.Cut(violation, " ")
				return slices.Contains([]string{"enum ", "const ", "not "}, keyword) &&
					slices.Contains(theirs, at+" type ")
			})
			if ours == nil {
				valid++
			}
			if fmt.Sprint(ours == nil) != out.Documents[name][i][0] {
				t.Errorf("%s %s:\nours %v\nAjv  %q", name, text, ours, theirs)
			} else if !slices.Equal(keywords(ours), theirs) {
				t.Errorf("%s %s:\nours %q\nAjv  %q", name, text, keywords(ours), theirs)
			}
		}
		t.Logf("%s: %d documents, %d valid", name, len(texts), valid)
	}
}

func TestAjvFormats(t *testing.T) {
	directory := ajvModules(t)
	r := rand.New(rand.NewPCG(3, 4))
	in := ajvInput{Formats: map[string][]string{}}
	for _, name := range slices.Sorted(maps.Keys(specimens)) {
		for _, s := range specimens[name] {
			in.Formats[name] = append(in.Formats[name], s)
			for range 20_000 / len(specimens[name]) {
				in.Formats[name] = append(in.Formats[name], mutateString(r, s))
			}
		}
	}
	out := askAjv(t, directory, in)
	for name, texts := range in.Formats {
		s := must.Get(Compile("x", fmt.Appendf(nil, `{"format":%q}`, name)))(t)
		valid := 0
		for i, text := range texts {
			ours := s.Validate(text) == nil
			if ours {
				valid++
			}
			if ours != (out.Formats[name][i] == 1) {
				t.Errorf("%s %q: ours %v, Ajv %d", name, text, ours, out.Formats[name][i])
			}
		}
		t.Logf("%s: %d strings, %d valid", name, len(texts), valid)
	}
}

// bits are what random patterns are made of.
var bits = []string{"a", "b", "-", "0", ".", "\\d", "\\w", "\\s", "\\S", "\\D", "\\W", "[a-c]", "[^a]", "[]", "[^]",
	"[\\d-]", "[a\\-z]", "[[:alpha:]]", "[\\b]", "(", ")", "(?:", "|", "*", "+", "?", "{2}", "{1,}", "{0,2}", "{,2}",
	"{", "}", "]", "^", "$", "\\b", "\\B", "\\.", "\\/", "\\-", "\\u0061", "\\u{1F600}", "\\ud83d\\ude00", "\\x41",
	"\\cJ", "\\0", "\\1", "\\z", "\\A", "\\Q", "\\p{Lu}", "\\P{L}", "\\pL", "(?i)", "(?=a)", "(?<n>a)", "é", "😀",
	"\\k<n>", "[a-", "[z-a]", "[\\d-z]", "\\"}

func TestAjvPatterns(t *testing.T) {
	directory := ajvModules(t)
	r := rand.New(rand.NewPCG(5, 6))
	texts := []string{"", "a", "ab", "abc", "a-0", "0", "00", "A", "é", "😀", "\n", "a\n", " ", "\u00a0", "\u2028", "aa",
		"aaa", "]", "[", ":", "_", "\x00", "\b", "\u180e", "a.b/c", "p]"}
	var in ajvInput
	for range 20_000 {
		var b strings.Builder
		if r.IntN(2) == 0 {
			b.WriteByte('^')
		}
		for range 1 + r.IntN(6) {
			b.WriteString(bits[r.IntN(len(bits))])
		}
		if r.IntN(2) == 0 {
			b.WriteByte('$')
		}
		in.Patterns = append(in.Patterns, patternCase{b.String(), texts})
	}
	out := askAjv(t, directory, in)
	read, simple, beyond := 0, 0, 0
	for i, c := range in.Patterns {
		p, err := compilePattern(c[0].(string))
		if err != nil {
			if out.Patterns[i] != nil {
				if !strings.Contains(err.Error(), "supported") {
					t.Errorf("%q: %v, but Ajv reads it", c[0], err)
				}
				beyond++
			}
			continue
		}
		if out.Patterns[i] == nil {
			t.Errorf("%q is no pattern for Ajv", c[0])
			continue
		}
		read++
		if p.simple != nil {
			simple++
		}
		for j, text := range texts {
			if p.MatchString(text) != (out.Patterns[i][j] == 1) {
				t.Errorf("%q on %q: ours %v", c[0], text, p.MatchString(text))
			}
		}
	}
	t.Logf("%d patterns, %d read, of these %d by sequences; %d that only Ajv reads", len(in.Patterns), read, simple,
		beyond)
}

func TestAjvSchemas(t *testing.T) {
	directory := ajvModules(t)
	r := rand.New(rand.NewPCG(11, 12))
	in := ajvInput{Schemas: map[string]string{}, Documents: map[string][]string{}}
	for i := range 2000 {
		s := randomSchema(r, 2, true).(map[string]any)
		s["$defs"] = map[string]any{"d": randomSchema(r, 0, false)}
		text := must.Get(json.Marshal(s))(t)
		name := fmt.Sprint(i)
		in.Schemas[name] = string(text)
		for range 20 {
			text := must.Get(json.Marshal(randomValue(r, 3)))(t)
			in.Documents[name] = append(in.Documents[name], string(text))
		}
	}
	out := askAjv(t, directory, in)
	valid, invalid, crashes, departures := 0, 0, 0, 0
	for name, texts := range in.Documents {
		s, err := Compile("x", []byte(in.Schemas[name]))
		if err != nil {
			t.Fatalf("%s: %v", in.Schemas[name], err)
		}
		for i, text := range texts {
			ours := s.Validate(decode(t, text))
			switch out.Documents[name][i][0] {
			case "crash":
				crashes++
				continue
			case fmt.Sprint(ours != nil):
				if strings.Contains(in.Schemas[name], "unevaluated") { // where Ajv departs from the standard
					departures++
					continue
				}
			}
			if fmt.Sprint(ours == nil) != out.Documents[name][i][0] {
				t.Errorf("%s by %s:\nours %v\nAjv  %q", text, in.Schemas[name], ours, out.Documents[name][i])
			}
			if ours == nil {
				valid++
			} else {
				invalid++
			}
		}
	}
	t.Logf("%d valid, %d invalid, on %d Ajv crashed, on %d it departed from the standard", valid, invalid, crashes,
		departures)
}
