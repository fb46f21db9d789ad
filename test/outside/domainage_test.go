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

// whoisFiles yields each reply of a folder of the corpus, by the name of its domain.
func whoisFiles(r *run, folder string, f func(name, domain string, reply []byte)) {
	dir, _ := module(r, whoisModule)
	dir = filepath.Join(dir, "testdata", folder)
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
