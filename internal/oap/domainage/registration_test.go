package domainage

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func rdapReply(events string) string {
	return `{"objectClassName":"domain","ldhName":"EXAMPLE.com","events":[` + events + `]}`
}

func event(action, date string) string {
	return fmt.Sprintf(`{"eventAction":%q,"eventDate":%q}`, action, date)
}

func TestFromRDAP(t *testing.T) {
	registered := event("registration", "1995-08-14T04:00:00Z")
	tests := []struct {
		name, body, want string
		err              error
	}{
		{"registration", rdapReply(registered), "1995-08-14T04:00:00Z", nil},
		{"other events", rdapReply(registered + `,` + event("last changed", "2026-01-01T00:00:00Z")),
			"1995-08-14T04:00:00Z", nil},
		{"reregistration is later", rdapReply(registered + `,` + event("reregistration", "2026-04-01T02:00:00+02:00")),
			"2026-04-01T00:00:00Z", nil},
		{"reregistration stands first", rdapReply(event("reregistration", "2026-04-01T00:00:00Z") + `,` + registered),
			"2026-04-01T00:00:00Z", nil},
		{"registered again after it was gone",
			rdapReply(registered + `,` + event("deletion", "2026-03-01T00:00:00Z") + `,` +
				event("reinstantiation", "2026-04-01T00:00:00Z")), "2026-04-01T00:00:00Z", nil},
		{"given to another registrar", rdapReply(registered + `,` + event("transfer", "2026-04-01T00:00:00Z")),
			"1995-08-14T04:00:00Z", nil},
		{"action in other letters", rdapReply(registered + `,` + event(" ReRegistration", "2026-04-01T00:00:00Z")),
			"2026-04-01T00:00:00Z", nil},
		{"future", rdapReply(event("registration", "2999-01-01T00:00:00Z")), "2999-01-01T00:00:00Z", nil},
		{"trailing dot", `{"objectClassName":"domain","ldhName":"example.com.","events":[` + registered + `]}`,
			"1995-08-14T04:00:00Z", nil},

		{"events of an entity", `{"objectClassName":"domain","ldhName":"example.com","entities":[{"events":[` +
			registered + `]}]}`, "", ErrNoDate},
		{"no events", `{"objectClassName":"domain","ldhName":"example.com"}`, "", ErrNoDate},
		{"events of other types",
			`{"objectClassName":"domain","ldhName":"example.com","events":{"eventAction":"registration"}}`, "",
			ErrNoDate},
		{"event is no object", rdapReply(`"registration",7,null`), "", ErrNoDate},
		{"date without zone", rdapReply(event("registration", "1995-08-14T04:00:00")), "1995-08-14T16:00:00Z", nil},
		{"date without time", rdapReply(event("registration", "1995-08-14")), "1995-08-15T11:59:59Z", nil},
		{"unicodeName", `{"objectClassName":"domain","unicodeName":"example.com","events":[` + registered + `]}`,
			"1995-08-14T04:00:00Z", nil},
		{"unicodeName of another", `{"objectClassName":"domain","ldhName":"example.net","unicodeName":"example.com",` +
			`"events":[` + registered + `]}`, "", ErrOtherDomain},
		{"byte order mark", "\xef\xbb\xbf" + rdapReply(registered), "1995-08-14T04:00:00Z", nil},
		{"another member twice", strings.Replace(rdapReply(registered), "{", "{\"lang\":1,\"lang\":\"\xe9\",", 1),
			"1995-08-14T04:00:00Z", nil},
		{"an event's actor twice", rdapReply(strings.Replace(registered, "{",
			"{\"eventActor\":1,\"eventActor\":\"\xe9\",", 1)),
			"1995-08-14T04:00:00Z", nil},
		{"events twice", strings.Replace(rdapReply(registered), "{", `{"events":[],`, 1), "", ErrUnreadable},
		{"events twice, escaped", strings.Replace(rdapReply(registered), "{", `{"\u0065vents":[],`, 1), "",
			ErrUnreadable},
		{"eventDate twice", rdapReply(strings.Replace(registered, "{", `{"eventDate":"1999-01-01",`, 1)), "",
			ErrUnreadable},
		{"a status that is not UTF-8", strings.Replace(rdapReply(registered), "{", "{\"status\":[\"\xe9\"],", 1), "",
			ErrUnreadable},
		{"an action that is not UTF-8", rdapReply(registered + "," + event("x", "y") +
			",{\"eventAction\":\"reregistration\xe9\"}"), "", ErrUnreadable},
		{"two values", rdapReply(registered) + "{}", "", ErrUnreadable},
		{"one date is not readable", rdapReply(registered + `,` + event("reregistration", "lately")), "", ErrDate},
		{"date is no string", rdapReply(registered + `,{"eventAction":"registration","eventDate":20260101}`), "",
			ErrDate},
		{"first day", rdapReply(event("registration", "1985-01-01T00:00:00Z")), "1985-01-01T00:00:00Z", nil},
		{"year 9998", rdapReply(event("registration", "9998-12-31T23:59:59Z")), "9998-12-31T23:59:59Z", nil},
		{"epoch", rdapReply(event("registration", "1970-01-01T00:00:00Z")), "", ErrDate},
		{"the day before the first", rdapReply(event("registration", "1984-12-31T23:59:59Z")), "", ErrDate},
		{"year one", rdapReply(event("registration", "0001-01-01T00:00:00Z")), "", ErrDate},
		{"year 9999", rdapReply(event("registration", "9999-01-01T00:00:00Z")), "", ErrDate},
		{"year 9999 by its zone", rdapReply(event("registration", "9998-12-31T23:59:59-12:00")), "", ErrDate},
		{"year 10000", rdapReply(event("registration", "10000-01-01T00:00:00Z")), "", ErrDate},
		{"year 10000 by its zone", rdapReply(event("registration", "9999-12-31T23:59:59-12:00")), "", ErrDate},
		{"other domain", strings.Replace(rdapReply(registered), "EXAMPLE", "example2", 1), "", ErrOtherDomain},
		{"no name", `{"objectClassName":"domain","events":[` + registered + `]}`, "", ErrOtherDomain},
		{"an entity", `{"objectClassName":"entity","ldhName":"example.com","events":[` + registered + `]}`, "",
			ErrOtherDomain},
		{"an RDAP error", `{"errorCode":404,"title":"Not Found"}`, "", ErrOtherDomain},
		{"an array", `[]`, "", ErrUnreadable},
		{"not JSON", `<html>`, "", ErrUnreadable},
		{"duplicate member", `{"objectClassName":"domain","objectClassName":"domain"}`, "", ErrUnreadable},
		{"brackets", strings.Repeat("[", 1<<19), "", ErrUnreadable},
		{"over the cap", rdapReply(registered) + strings.Repeat(" ", MaxRDAP), "", ErrUnreadable},
		{"empty", ``, "", ErrUnreadable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := FromRDAP("example.com", []byte(test.body))
			expect(t, got, err, test.want, test.err)
		})
	}
}

func expect(t *testing.T, got Registration, err error, want string, wantErr error) {
	t.Helper()
	if wantErr != nil {
		if !errors.Is(err, wantErr) || got != (Registration{}) {
			t.Errorf("gives %v and error %v, want error %v", got, err, wantErr)
		}
		return
	}
	if err != nil || got.At.Format(time.RFC3339) != want {
		t.Errorf("gives %v and error %v, want %s", got.At, err, want)
	}
}

const whoisReply = `   Domain Name: EXAMPLE.COM
   Registry Domain ID: 2336799_DOMAIN_COM-VRSN
   Registrar WHOIS Server: whois.registrar.example
   Updated Date: 2025-08-14T07:01:38Z
   Creation Date: 1995-08-14T04:00:00Z
   Registry Expiry Date: 2026-08-13T04:00:00Z
   Registrar: Example Registrar
   Domain Status: clientDeleteProhibited https://icann.org/epp#clientDeleteProhibited
>>> Last update of whois database: 2026-05-04T08:11:53Z <<<

NOTICE: The expiration date displayed in this record is the date the
registrar's sponsorship of the domain name registration in the registry is
currently set to expire.
`

// .hk writes the day first. Another line counts there as anywhere.
func TestFromWHOISOfHongKong(t *testing.T) {
	for _, test := range []struct{ lines, want string }{
		{"Domain Name Commencement Date: 11-07-2017\n", "2017-07-12T11:59:59Z"},
		{"Domain Name Commencement Date: 13-07-2017\n", "2017-07-14T11:59:59Z"},
		{"Domain Name Commencement Date: 11-07-2017\nCreated: 2020-01-02\n", "2020-01-03T11:59:59Z"},
		{"Domain Name Commencement Date: 11/07/2017\n", "2017-11-08T11:59:59Z"},
	} {
		got, err := FromWHOIS("example.hk", []byte("Domain Name: EXAMPLE.HK\n"+test.lines))
		expect(t, got, err, test.want, nil)
	}
}

func TestFromWHOIS(t *testing.T) {
	edit := func(old, new string) string { return strings.Replace(whoisReply, old, new, 1) }
	tests := []struct {
		name, body, want string
		err              error
	}{
		{"a reply", whoisReply, "1995-08-14T04:00:00Z", nil},
		{"CR LF", strings.ReplaceAll(whoisReply, "\n", "\r\n"), "1995-08-14T04:00:00Z", nil},
		{"latest of several", edit("Updated Date:", "Creation Date:"), "2025-08-14T07:01:38Z", nil},
		{"latest stands last", whoisReply + "Created: 2026-04-30\n", "2026-05-01T11:59:59Z", nil},
		{"earlier line is planted", "Domain Name: example.com\nRegistrant Street:\nCreation Date: " +
			"1990-01-01\nCreation Date: 2026-05-01T00:00:00Z\n", "2026-05-01T00:00:00Z", nil},
		{"future", edit("1995-08", "2099-08"), "2099-08-14T04:00:00Z", nil},

		{"two readings, the later one", "Domain Name: example.com\nRegistered: 11-07-2017\n",
			"2017-11-08T11:59:59Z", nil},
		{"contact that is newer", whoisReply + "\nnic-hdl: X1\nperson: X\ncreated: 2026-05-01\n",
			"1995-08-14T04:00:00Z", nil},
		{"contact that is newer, under a comment", "% rights\n\ndomain: example.com\ncreated: 1995-08-14\n\n" +
			"% Registrant:\n% ====\nperson: X\ncreated: 2026-05-01\n", "1995-08-15T11:59:59Z", nil},
		{"name server that is newer", whoisReply + "\nnserver: a.example.com\nregistered: 2026-05-01\n",
			"1995-08-14T04:00:00Z", nil},
		{"registrar that is older", "domain: example.com\ncreated: 2026-05-01\n\n" +
			"registrar: X\nregistered: 1990-01-01\n", "2026-05-02T11:59:59Z", nil},
		{"contact of the same day", "domain: example.com\ncreated: 1995-08-14\n\nperson: X\ncreated: 1995-08-14\n",
			"1995-08-15T11:59:59Z", nil},
		{"contact whose date is not readable", whoisReply + "\nperson: X\ncreated: 0000-00-00\n",
			"1995-08-14T04:00:00Z", nil},
		{"domain in the block of its registrar", "Registrar: X\nDomain Name: example.com\nCreated: 1995-08-14\n",
			"1995-08-15T11:59:59Z", nil},
		{"dates in a block of their own", "Domain Name: example.com\n\nRegistrar: X\n\nRelevant dates:\n" +
			"Registered on: 1995-08-14\n", "1995-08-15T11:59:59Z", nil},
		{"domain's date among a contact's lines", "Domain Name: example.com\n\nRegistrant Contact:\nX\n" +
			"Domain Create Date: 1995-08-14\n", "1995-08-15T11:59:59Z", nil},
		{"year 9998", edit("1995-08-14", "9998-12-30"), "9998-12-30T04:00:00Z", nil},

		{"contact alone", "domain: example.com\n\nperson: X\ncreated: 1990-01-01\n", "", ErrNoDate},
		{"name server alone", "domain: example.com\n\nnserver: a.example.com\ncreated: 1990-01-01\n", "", ErrNoDate},
		{"year 9999", edit("1995-08-14", "9999-12-31"), "", ErrDate},
		{"year 10000", edit("1995-08-14", "10000-01-01"), "", ErrDate},
		{"other domain", edit("EXAMPLE.COM", "EXAMPLE.NET"), "", ErrOtherDomain},
		{"second domain", whoisReply + "Domain Name: example.net\nCreation Date: 1990-01-01\n", "", ErrOtherDomain},
		{"name in running text alone", "The domain example.com is here\nCreation Date: 1990-01-01\n", "",
			ErrNoRegistration},
		{"no date", edit("Creation Date", "Sometime"), "", ErrNoDate},
		{"not readable", edit("1995-08-14T04:00:00Z", "yesterday"), "", ErrDate},
		{"one of two is not readable", whoisReply + "Registered on: soon\n", "", ErrDate},
		{"epoch", edit("1995-08-14", "1970-01-01"), "", ErrDate},
		{"year one", edit("1995-08-14T04:00:00Z", "0001-01-01"), "", ErrDate},
		{"no match", `No match for domain "EXAMPLE.COM".`, "", ErrNoRegistration},
		{"not found", "Domain not found.\n", "", ErrNoRegistration},
		{"limited", "WHOIS LIMIT EXCEEDED - SEE WWW.PIR.ORG/WHOIS FOR DETAILS\n", "", ErrLimited},
		{"garbage", "\x00\x01\xff\xfe", "", ErrUnreadable},
		{"empty", "", "", ErrUnreadable},
		{"over the cap", whoisReply + strings.Repeat("\n", MaxWHOIS), "", ErrUnreadable},
		{"over the lines", whoisReply + strings.Repeat("\n", 2000), "", ErrUnreadable},
		{"parser panics on it", ".edu", "", ErrUnreadable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := FromWHOIS("example.com", []byte(test.body))
			expect(t, got, err, test.want, test.err)
		})
	}
}

// TestFromWHOISForms reads what registries of many forms answer; the file says domain and date.
func TestFromWHOISForms(t *testing.T) {
	files, err := filepath.Glob("testdata/whois/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("reading testdata: %d files, %v", len(files), err)
	}
	for _, file := range files {
		text := must.Read(t, file)
		head, body, _ := strings.Cut(string(text), "\n")
		var domain, want string
		if _, err := fmt.Sscan(head, &domain, &want); err != nil {
			t.Fatalf("%s: reading its first line: %v", file, err)
		}
		got, err := FromWHOIS(domain, []byte(body))
		if want == "none" {
			expect(t, got, err, "", ErrNoDate)
			continue
		}
		expect(t, got, err, want, nil)
	}
}

// TestRead checks the earliest and the latest time that a date may mean.
func TestRead(t *testing.T) {
	for text, want := range map[string][2]string{
		"1999-05-31":                  {"1999-05-30T10:00:00Z", "1999-06-01T11:59:59Z"},
		"14-Feb-1999":                 {"1999-02-13T10:00:00Z", "1999-02-15T11:59:59Z"},
		"before Aug-1996":             {"1985-01-01T00:00:00Z", "1996-08-01T12:00:00Z"},
		"before 1 January 1996":       {"1985-01-01T00:00:00Z", "1996-01-01T12:00:00Z"},
		"Before 2001":                 {"1985-01-01T00:00:00Z", "2001-01-01T12:00:00Z"},
		"1999. 07. 28.":               {"1999-07-27T10:00:00Z", "1999-07-29T11:59:59Z"},
		"27.2.2001 20:00:00":          {"2001-02-27T06:00:00Z", "2001-02-28T08:00:00Z"},
		"2001-02-27 20:00":            {"2001-02-27T06:00:00Z", "2001-02-28T08:00:59Z"},
		"2001-02-27T20:00Z":           {"2001-02-27T20:00:00Z", "2001-02-27T20:00:59Z"},
		"19961206 #24302":             {"1996-12-05T10:00:00Z", "1996-12-07T11:59:59Z"},
		"2011-01-23 00:00:07 +02:00":  {"2011-01-22T22:00:07Z", "2011-01-22T22:00:07Z"},
		"2000-08-29 10:22:50 (UTC+8)": {"2000-08-29T02:22:50Z", "2000-08-29T02:22:50Z"},
		"2006-02-13T00:00:00-0800":    {"2006-02-13T08:00:00Z", "2006-02-13T08:00:00Z"},
		"2024-05-01 10:00:00 UTC":     {"2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z"},
		"2024-05-01 10:00:00 CLST":    {"2024-04-30T20:00:00Z", "2024-05-01T22:00:00Z"},
		"2024-05-01T10:00:00":         {"2024-04-30T20:00:00Z", "2024-05-01T22:00:00Z"},
		"03/04/2026":                  {"2026-03-03T10:00:00Z", "2026-04-04T11:59:59Z"},
		"04/03/2026":                  {"2026-03-03T10:00:00Z", "2026-04-04T11:59:59Z"},
		"2026-04-01T00:00:00+15:00":   {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
		"":                            {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
		"soon":                        {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
		"2024-13-01":                  {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
	} {
		s := read(text, false)
		if got := [2]string{s.earliest.Format(time.RFC3339), s.latest.Format(time.RFC3339)}; got != want {
			t.Errorf("%q is read as %v; want %v", text, got, want)
		}
	}
	if s := read("03-04-2026", true); s.latest.Format(time.RFC3339) != "2026-04-04T11:59:59Z" {
		t.Errorf("with the day first: %v", s)
	}
}

// FuzzDate writes a time in each form, as a registry of some zone does, in both kinds of reply. However it is read, it
// is not read as older than it is, and for the holder's sake not as younger either.
func FuzzDate(f *testing.F) {
	f.Add(int64(800000000), 0, 0)
	f.Add(int64(1777700000), -12*60, 3)
	f.Add(int64(1777700000), 14*60, 40)
	f.Fuzz(func(t *testing.T, unix int64, minutes, form int) {
		layouts := slices.Concat(timeLayouts, dateLayouts)
		at := time.Unix(unix, 0).UTC()
		if at.Year() < 1986 || at.Year() > 2067 || minutes < -12*60 || minutes > 14*60 || form < 0 ||
			form >= len(layouts) {
			return
		}
		layout := layouts[form]
		zone := time.FixedZone("XYZ", minutes*60)
		switch {
		case strings.HasSuffix(layout, "Z") || strings.Contains(layout, "UTC"):
			zone = time.UTC
		case strings.HasSuffix(layout, "-07") && minutes%60 != 0:
			return
		}
		text := at.In(zone).Format(layout)
		whois := "Domain Name: EXAMPLE.COM\nCreation Date: " + text + "\n"
		for source, r := range map[string]func() (Registration, error){
			"RDAP": func() (Registration, error) {
				return FromRDAP("example.com", []byte(rdapReply(event("registration", text))))
			},
			"WHOIS": func() (Registration, error) { return FromWHOIS("example.com", []byte(whois)) },
		} {
			got, err := r()
			if err == nil && (got.At.Before(at.Truncate(time.Second)) || got.Earliest.After(at)) {
				t.Errorf("%s: %q of %v is read as %v to %v", source, text, at, got.Earliest, got.At)
			}
			if err != nil && source == "RDAP" {
				t.Errorf("%s: %q of %v: %v", source, text, at, err)
			}
		}
	})
}

func TestChecked(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for text, ok := range map[string]bool{
		"1985-01-01T00:00:00Z": true, "2026-06-01T12:00:00Z": true, "2026-06-03T12:00:00Z": true,
		"2026-06-03T12:00:01Z": false, "2026-06-04T12:00:00Z": false, "9998-12-31T23:59:59Z": false,
	} {
		at := must.Get(time.Parse(time.RFC3339, text))(t)
		if err := (Registration{At: at}).Checked(now); (err == nil) != ok || err != nil && !errors.Is(err, ErrDate) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestLatest(t *testing.T) {
	early := Registration{At: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), Source: SourceRDAP}
	late := Registration{At: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), Source: SourceWHOIS}
	want := late
	if got := Latest(early, Registration{}, late); got != want {
		t.Errorf("gives %v, want %v", got, want)
	}
	if got := Latest(late, early); got != want {
		t.Errorf("in the other order gives %v, want %v", got, want)
	}
	if got := Latest(Registration{}); got != (Registration{}) {
		t.Errorf("of no date gives %v", got)
	}
}

func FuzzFromRDAP(f *testing.F) {
	f.Add("example.com", []byte(rdapReply(event("registration", "1995-08-14T04:00:00Z"))))
	f.Add("example.com", []byte(rdapReply(event("reregistration", "1995-08-14T04:00:00+24:00"))))
	f.Fuzz(func(t *testing.T, domain string, body []byte) {
		r, err := FromRDAP(domain, body)
		check(t, r, err)
	})
}

func FuzzFromWHOIS(f *testing.F) {
	f.Add("example.com", []byte(whoisReply))
	f.Add("example.edu", []byte("Domain Name: EXAMPLE.EDU\nRegistrant:\n a\nDomain record activated:    02-Oct-1985\n"))
	f.Add("example.ua", []byte("domain: example.ua\n% Registrar:\nx\n"))
	f.Add("example.kr", []byte("Domain Name : example.kr\nRegistered Date : 1999. 07. 28.\n"))
	f.Fuzz(func(t *testing.T, domain string, body []byte) {
		r, err := FromWHOIS(domain, body)
		check(t, r, err)
	})
}

func check(t *testing.T, r Registration, err error) {
	t.Helper()
	if err == nil && !plausible(r.At) || err != nil && !r.At.IsZero() {
		t.Errorf("gives %v and error %v", r, err)
	}
}
