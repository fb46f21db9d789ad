package outside

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
)

const whoisModule = "github.com/likexian/whois-parser"

// whoisFiles yields each reply of a directory of the corpus, by the name of its domain.
func whoisFiles(r *run, directory string, f func(name, domain string, reply []byte)) {
	dir, _ := module(r, whoisModule)
	dir = filepath.Join(dir, "testdata", directory)
	files, err := os.ReadDir(dir)
	if err != nil {
		r.Fatal(err)
	}
	for _, file := range files {
		name := file.Name()
		_, domain, found := strings.Cut(name, "_")
		if ext := filepath.Ext(name); !found || ext == ".json" || ext == ".pre" || ext == ".md" {
			continue
		}
		f(name, domain, readFile(r, dir, name))
	}
}

// The corpus has the date as the reply spells it, and the instant that its own parser reads: none for some spellings,
// and the wrong one for an offset in parentheses.
var whoisReplies = &judge{name: "WHOIS replies", version: goVersion(whoisModule), cases: 209,
	explained: []explanation{
		{`com_git\.com`, stricter, "the date has a hyphen before the time, which no registry writes", nil},
		{`xn--fiqs8s_.*`, stricter, "the reply names the domain in two spellings, and one is another domain", nil},
	},
	run: func(r *run) {
		dir, _ := module(r, whoisModule)
		whoisFiles(r, "noterror", func(name, domain string, reply []byte) {
			var record struct {
				Domain struct {
					Punycode string
					Created  string     `json:"created_date"`
					At       *time.Time `json:"created_date_in_time"`
				}
			}
			readJSON(r, &record, dir, "testdata", "noterror", name+".json")
			if p := record.Domain.Punycode; p != "" {
				domain = p
			}
			at, day := spelled(record.Domain.Created)
			if at.IsZero() && record.Domain.At != nil {
				at, day = record.Domain.At.UTC(), !strings.Contains(record.Domain.Created, ":")
			}
			if day {
				at = at.Add(24*time.Hour - time.Second) // a date without a time is the end of the day
			}
			want := answer{value: at.Format(time.RFC3339), refuses: record.Domain.Created == ""}
			r.compare(name, want, func() (string, error) {
				got, err := domainage.FromWHOIS(domain, reply)
				if err == nil && !at.After(got.At) && !at.Before(got.Earliest) { // a date without a zone may mean any
					return want.value, nil
				}
				return got.At.Truncate(time.Second).Format(time.RFC3339), err
			})
		})
	}}

var beforeDate = regexp.MustCompile(`^before (.*)$`)

// spelled reads the spellings of dates that the corpus has without an instant.
func spelled(text string) (at time.Time, day bool) {
	if m := beforeDate.FindStringSubmatch(text); m != nil {
		at, _ = time.Parse("2 January 2006", m[1])
		return at, false
	}
	text, _, _ = strings.Cut(text, " #")
	text = strings.NewReplacer(" (YYYY-MM-DD)", "", "(GMT+0:00)", "+00:00", "(UTC+8)", "+08:00").Replace(text)
	for _, layout := range []string{"2006-01-02T15:04:05-0700", "2006-01-02 15:04:05 -07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), false
		}
	}
	for _, layout := range []string{"20060102", "2006-01-02", "2 January 2006", "2 Jan 2006"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

var whoisNotFound = &judge{name: "WHOIS replies about names that are free", version: goVersion(whoisModule), cases: 88,
	explained: []explanation{
		{`(jp|tk)_.*`, stricter, "the reply does not name the domain in a line of its own; it may be about another",
			nil},
	},
	run: func(r *run) {
		whoisFiles(r, "notfound", func(name, domain string, reply []byte) {
			r.compare(name, answer{value: "free"}, func() (string, error) {
				got, err := domainage.FromWHOIS(domain, reply)
				switch {
				case err == nil:
					return fmt.Sprint(got.At), nil
				case errors.Is(err, domainage.ErrNoRegistration):
					return "free", nil
				}
				return "", err
			})
		})
	}}

const rdapModule = "github.com/openrdap/rdap"

var rdapReplies = &judge{name: "RDAP replies", version: goVersion(rdapModule), cases: 1, run: func(r *run) {
	dir, _ := module(r, rdapModule)
	text := readFile(r, dir, "test", "testdata", "rdap", "rdap.nic.cz", "domain-example.cz.json")
	var reply struct {
		Events []struct {
			Action string    `json:"eventAction"`
			Date   time.Time `json:"eventDate"`
		}
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		r.Fatal(err)
	}
	for _, e := range reply.Events {
		if e.Action == "registration" {
			r.compare("example.cz", answer{value: e.Date.UTC().Format(time.RFC3339)}, func() (string, error) {
				got, err := domainage.FromRDAP("example.cz", text)
				return got.At.Format(time.RFC3339), err
			})
		}
	}
}}

// rdapExamples are the examples of RFC 9083, reduced to the members that FromRDAP reads: the objects of sections 5.1 to
// 5.5, the events of section 4.5 and the error of section 6. An empty date means that the domain has none.
var rdapExamples = []struct{ section, asked, members, events, date string }{
	{"5.1 entity", "xn--fo-5ja.example", `"objectClassName": "entity", "handle": "XXXX"`, registered, ""},
	{"5.2 nameserver", "ns1.xn--fo-5ja.example", `"objectClassName": "nameserver",
		"ldhName": "ns1.xn--fo-5ja.example"`, registered, ""},
	{"5.3 domain of an address block", "0.2.192.in-addr.arpa", `"objectClassName": "domain", "handle": "XXXX",
		"ldhName": "0.2.192.in-addr.arpa", "nameservers": [{"objectClassName": "nameserver",
		"ldhName": "ns1.rir.example"}], "network": {"objectClassName": "ip network", "events": [` + registered + `]}`,
		registered, "1990-12-31T23:59:59Z"},
	{"5.3 domain", "xn--fo-5ja.example", `"objectClassName": "domain", "handle": "XXXX",
		"ldhName": "xn--fo-5ja.example", "unicodeName": "fóo.example"`, registered + `,
		{"eventAction": "transfer", "eventDate": "1991-12-31T23:59:59Z", "eventActor": "joe@example.com"},
		{"eventAction": "expiration", "eventDate": "2016-12-31T23:59:59Z"}`, "1990-12-31T23:59:59Z"},
	{"5.3 domain in Unicode", "fóo.example", `"objectClassName": "domain", "ldhName": "xn--fo-5ja.example"`,
		registered, "1990-12-31T23:59:59Z"},
	{"5.3 domain of a name server's date", "xn--fo-5ja.example", `"objectClassName": "domain",
		"ldhName": "xn--fo-5ja.example", "nameservers": [{"objectClassName": "nameserver",
		"ldhName": "ns1.example.com", "events": [` + registered + `]}]`, "", ""},
	{"5.4 IP network", "2001:db8::", `"objectClassName": "ip network", "handle": "XXXX-RIR"`, registered, ""},
	{"5.5 autonomous system", "xn--fo-5ja.example", `"objectClassName": "autnum", "handle": "XXXX-RIR"`, registered,
		""},
	{"4.5 expiration alone", "xn--fo-5ja.example", `"objectClassName": "domain", "ldhName": "xn--fo-5ja.example"`,
		`{"eventAction": "expiration", "eventDate": "2011-12-31T23:59:59Z"}`, ""},
	{"6 error", "xn--fo-5ja.example", `"errorCode": 418, "title": "Your Beverage Choice is Not Available"`, "", ""},
}

const registered = `{"eventAction": "registration", "eventDate": "1990-12-31T23:59:59Z"},
	{"eventAction": "last changed", "eventDate": "1991-12-31T23:59:59Z", "eventActor": "joe@example.com"}`

var rdapStandard = &judge{name: "RDAP replies of RFC 9083", version: "sections 4 to 6", cases: len(rdapExamples),
	run: func(r *run) {
		for _, e := range rdapExamples {
			text := fmt.Sprintf(`{"rdapConformance": ["rdap_level_0"], %s, "events": [%s]}`, e.members, e.events)
			r.compare(e.section, answer{value: e.date, refuses: e.date == ""}, func() (string, error) {
				domain, err := domainage.Host(e.asked)
				if err != nil {
					return "", err
				}
				got, err := domainage.FromRDAP(domain, []byte(text))
				return got.At.Format(time.RFC3339), err
			})
		}
	}}
