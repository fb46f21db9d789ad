package outside

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
)

const suffixModule = "github.com/weppos/publicsuffix-go"

// The product finds suffixes by this module: the cases judge how it uses it.
var suffixList = &judge{name: "Public Suffix List tests", version: goVersion(suffixModule), cases: 78, sound: true,
	run: func(r *run) {
		dir, _ := module(r, suffixModule)
		n := 0
		for line := range strings.SplitSeq(string(readFile(r, dir, "fixtures", "tests.txt")), "\n") {
			f := strings.Fields(line)
			if len(f) != 2 || strings.HasPrefix(line, "//") {
				continue
			}
			if f[0] == "null" {
				f[0] = ""
			}
			n++
			want := answer{value: f[1], refuses: f[1] == "null"}
			if ascii, err := domainage.Host(f[1]); err == nil && !want.refuses {
				want.value = ascii
			}
			r.compare(fmt.Sprintf("%d %s", n, f[0]), want, func() (string, error) {
				d, err := domainage.Registrable(f[0])
				if err == nil && d.Registrable == d.Suffix {
					err = fmt.Errorf("%s is a public suffix", d.Suffix)
				}
				return d.Registrable, err
			})
		}
	}}

const urlModule = "github.com/nlnwa/whatwg-url"

type hostCase struct {
	Input  string
	Output *string
}

// hostCases compares domainage.Host with a file of {input, output}. A host that no listing can have is out of scope.
func hostCases(r *run, file string) {
	dir, _ := module(r, urlModule)
	var raw []json.RawMessage
	readJSON(r, &raw, dir, "testdata", file)
	n := 0
	for _, text := range raw {
		var c hostCase
		if json.Unmarshal(text, &c) != nil {
			continue // a comment
		}
		n++
		want := answer{refuses: c.Output == nil}
		if c.Output != nil {
			want.value = strings.TrimSuffix(*c.Output, ".")
		}
		r.compare(fmt.Sprintf("%d %s", n, c.Input), want, func() (string, error) { return domainage.Host(c.Input) })
	}
}

// nameRule is why a name is refused that the URL standard reads: CheckHyphens, CheckBidi and UseSTD3ASCIIRules are off
// there.
const nameRule = "IDNA2008 refuses the name at lookup, which the URL standard does not require. Or a label is empty, " +
	"begins or ends with a hyphen, or has a character that host names lack (RFC 1123 section 2.1). Or the name has " +
	"more than 253 characters, or a label more than 63 (RFC 1035 section 2.3.4)"

var wptASCII = &judge{name: "WPT toascii", version: goVersion(urlModule), cases: 39, sound: true,
	explained: []explanation{
		{".*", stricter, nameRule, nil},
	},
	run: func(r *run) { hostCases(r, "toascii.json") }}

var idnaTest = &judge{name: "IdnaTestV2", version: goVersion(urlModule), cases: 2032, sound: true,
	explained: []explanation{
		{".*", stricter, nameRule, nil},
		{".*", laxer, "a capital letter that UTS 46 refused when the vectors were made, and maps to its small letter " +
			"now (U+10A0 to U+10C5, U+04C0, U+2132)", hasLateCapital},
	},
	run: func(r *run) { hostCases(r, "IdnaTestV2.json") }}

// hasLateCapital reports whether the text of a case has one of these letters, and has the same host with it in lower
// case.
func hasLateCapital(k kase) bool {
	_, text, _ := strings.Cut(k.id, " ")
	late := func(c rune) bool { return c >= 0x10a0 && c <= 0x10c5 || c == 0x4c0 || c == 0x2132 }
	lower := strings.Map(func(c rune) rune {
		if late(c) {
			return unicode.ToLower(c)
		}
		return c
	}, text)
	a, err := domainage.Host(text)
	b, err2 := domainage.Host(lower)
	return strings.ContainsFunc(text, late) && err == nil && err2 == nil && a == b
}

type urlCase struct {
	Input, Href, Hostname string
	Base                  *string
	Failure               bool
}

func urlCases(r *run) (all []urlCase) {
	dir, _ := module(r, urlModule)
	var raw []json.RawMessage
	readJSON(r, &raw, dir, filepath.Join("testdata", "urltestdata.json"))
	for _, text := range raw {
		var c urlCase
		if json.Unmarshal(text, &c) == nil {
			all = append(all, c)
		}
	}
	return all
}

// The gate reads the host of an https URL by net/url and domainage.Host. Other URLs are out of scope: a schema or the
// fetcher refuses them.
var wptURL = &judge{name: "WPT urltestdata, host", version: goVersion(urlModule), cases: 820, sound: true,
	explained: []explanation{
		{".*", stricter, "a URL that net/url or `domainage.Host` refuses: blanks and control characters, an IP " +
			"address, a bad escape, a host that is not a DNS name", nil},
	},
	run: func(r *run) {
		for i, c := range urlCases(r) {
			id := fmt.Sprintf("%d %s", i, c.Input)
			host := func() (string, error) {
				u, err := url.Parse(c.Input)
				if err != nil {
					return "", err
				}
				if u.Scheme != "https" {
					return "", fmt.Errorf("scheme %q", u.Scheme)
				}
				return domainage.Host(u.Hostname())
			}
			if !strings.HasPrefix(strings.ToLower(c.Input), "https:") || c.Base != nil {
				r.skip(id)
				guardOnly(r, id, func() { _, _ = host() })
				continue
			}
			r.compare(id, answer{value: strings.TrimSuffix(c.Hostname, "."), refuses: c.Failure}, host)
		}
	}}

var uriFormat = func() *schema.Schema {
	s, err := schema.Compile("uri", []byte(`{"format":"uri"}`))
	if err != nil {
		panic(err)
	}
	return s
}()

// The format uri is RFC 3986's as ajv-formats has it, which reads another language than the URL standard: only what
// the standard writes, an absolute URL without a fault, must be one.
var wptFormat = &judge{name: "WPT urltestdata, serialized URLs as format `uri`", version: goVersion(urlModule),
	cases: 820, explained: []explanation{
		{".*", stricter, "the URL standard leaves characters that RFC 3986 escapes, such as `|` and `^`, " +
			"or writes what is not a URI", nil},
	},
	run: func(r *run) {
		for i, c := range urlCases(r) {
			id := fmt.Sprintf("%d %s", i, c.Input)
			if c.Failure || c.Href == "" {
				r.skip(id)
				guardOnly(r, id, func() { uriFormat.Validate(c.Input) })
				continue
			}
			r.compare(id, accepts, func() (string, error) {
				if v := uriFormat.Validate(c.Href); v != nil {
					return "", fmt.Errorf("%v", v)
				}
				return "", nil
			})
		}
	}}
