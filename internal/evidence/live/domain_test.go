package live

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/dnstest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

const registered = "2020-01-01T00:00:00Z"

func TestRDAP(t *testing.T) {
	w := startWeb(t)
	tests := []struct {
		name   string
		domain *webtest.Domain
		want   string
	}{
		{"known", &webtest.Domain{Registered: registered}, "obtained 200"},
		{"unknown", nil, "absent no-registration 404"},
		{"refused", &webtest.Domain{RDAP: &webtest.Behaviour{Status: 403}}, "absent http-status 403"},
		{"busy", &webtest.Domain{RDAP: &webtest.Behaviour{Status: 429}}, "unavailable http-status 429"},
		{"busy once", &webtest.Domain{Registered: registered,
			RDAP: &webtest.Behaviour{Sequence: []webtest.Behaviour{{Status: 503}, {}}}}, "obtained 200"},
		{"huge", &webtest.Domain{RDAP: &webtest.Behaviour{Body: []byte("["), Repeat: 5 << 20}},
			"invalid body-too-large 200"},
		{"redirect on the server", &webtest.Domain{RDAP: &webtest.Behaviour{Redirect: "/domain/known.example"}},
			"obtained 200"},
		{"redirect to plain http", &webtest.Domain{RDAP: &webtest.Behaviour{Redirect: "http://example.com/"}},
			"invalid scheme-not-https 302"},
		{"redirect to loopback", &webtest.Domain{RDAP: &webtest.Behaviour{Redirect: "https://127.0.0.1/"}},
			"invalid url-not-usable 302"},
	}
	l := onWeb(t, w, nil)
	for _, test := range tests {
		name := strings.ReplaceAll(test.name, " ", "-") + ".example"
		if test.domain != nil {
			w.SetDomain(name, *test.domain)
		}
	}
	for _, test := range tests {
		name := strings.ReplaceAll(test.name, " ", "-") + ".example"
		o := l.Observe(t.Context(), evidence.Request{Protocol: evidence.RDAP, Target: name, MaxBytes: evidence.MaxRDAP})
		if got := outcome(o); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s gives %s, want %s", test.name, got, test.want)
		}
		if o.State == evidence.Obtained && !strings.HasPrefix(o.FinalURL, w.RDAPURL()+"/domain/") {
			t.Errorf("%s: final URL %q", test.name, o.FinalURL)
		}
	}
}

func TestRDAPBootstrap(t *testing.T) {
	w := startWeb(t)
	list := `{"version":"1.0","services":[
		[["test"],["http://plain.example/","https://rdap.example/v1"]],
		[["plain"],["http://plain.example/"]],
		[["twice"],["https://down.example/","https://rdap.example/v1/"]],
		[["local"],["https://127.0.0.1/"]]]}`
	w.Page(bootstrapURL, []byte(list))
	for _, domain := range []string{"a.test", "b.test", "a.twice"} {
		w.Page("https://rdap.example/v1/domain/"+domain, []byte(`{"objectClassName":"domain"}`))
	}
	w.Set("https://down.example/*", webtest.Behaviour{Status: 503})
	l := onWeb(t, w, func(o *Options) { o.RDAPURL = "" })
	for domain, want := range map[string]string{
		"a.test": "obtained 200", "b.test": "obtained 200", "a.twice": "obtained 200",
		"c.test":  "absent no-registration 404",
		"a.plain": "absent no-registration 0", "a.local": "absent no-registration 0",
		"a.unlisted": "absent no-registration 0",
	} {
		if got := outcome(l.Observe(t.Context(), evidence.Request{Protocol: evidence.RDAP, Target: domain,
			MaxBytes: evidence.MaxRDAP})); !strings.HasPrefix(got, want) {
			t.Errorf("%s gives %s, want %s", domain, got, want)
		}
	}
	if n := w.Hits(bootstrapURL); n != 1 {
		t.Errorf("the list is asked for %d times", n)
	}
	for name, page := range map[string]webtest.Behaviour{
		"gone": {Status: 404}, "down": {Status: 500}, "no JSON": {Body: []byte("<html>")},
		"of another form": {Body: []byte(`{"services":[[[]]]}`)},
	} {
		w.Set(bootstrapURL, page)
		l := onWeb(t, w, func(o *Options) { o.RDAPURL = "" })
		if o := l.Observe(t.Context(), evidence.Request{Protocol: evidence.RDAP, Target: "a.test",
			MaxBytes: evidence.MaxRDAP}); o.State != evidence.Unavailable ||
			len(l.Observations()) != 2 || !strings.HasPrefix(o.Message, "no list of RDAP servers: --connect-to leads "+
			"data.iana.org to "+w.Addr()+", so name the RDAP service with --rdap-url: ") {
			t.Errorf("a list that is %s gives %s, %q and %d observations", name, outcome(o), o.Message,
				len(l.Observations()))
		}
	}
}

func TestWHOIS(t *testing.T) {
	w := startWeb(t)
	hour := webtest.Duration(time.Hour)
	tests := []struct {
		name   string
		domain *webtest.Domain
		want   string
		edit   func(*Options)
	}{
		{"known", &webtest.Domain{Registered: registered}, "obtained 0 \"Domain Name: KNOWN.EXAMPLE", nil},
		{"unknown", nil, "obtained 0 \"No match", nil},
		{"no-line-end",
			&webtest.Domain{WHOIS: &webtest.Behaviour{Body: []byte("whois: refer: Registrar WHOIS Server: ")}},
			"obtained 0", nil},
		{"referral", &webtest.Domain{WHOIS: &webtest.Behaviour{Body: []byte("Registrar WHOIS Server: 127.0.0.1:22\n")}},
			"obtained 0", nil},
		{"empty", &webtest.Domain{WHOIS: &webtest.Behaviour{}}, "unavailable connect-failed 0", nil},
		{"blank", &webtest.Domain{WHOIS: &webtest.Behaviour{Body: []byte("\r\n \r\n")}}, "unavailable connect-failed 0",
			nil},
		{"reset", &webtest.Domain{WHOIS: &webtest.Behaviour{Reset: true}}, "unavailable connect-failed 0", nil},
		{"endless", &webtest.Domain{WHOIS: &webtest.Behaviour{Endless: true}}, "invalid body-too-large 0", nil},
		{"slow", &webtest.Domain{WHOIS: &webtest.Behaviour{Delay: hour}}, "unavailable timeout 0", short},
		{"drip", &webtest.Domain{WHOIS: &webtest.Behaviour{Endless: true, Drip: 1}}, "unavailable timeout 0", short},
	}
	for _, test := range tests {
		domain := test.name + ".example"
		if test.domain != nil {
			w.SetDomain(domain, *test.domain)
		}
		l := onWeb(t, w, test.edit)
		o := l.Observe(t.Context(), evidence.Request{Protocol: evidence.WHOIS, Target: domain,
			MaxBytes: evidence.MaxWHOIS})
		if got := outcome(o); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s gives %s, want %s", test.name, got, test.want)
		}
		if o.State == evidence.Obtained && (o.FinalURL != "whois://127.0.0.1/"+domain || o.Address != w.WHOISAddr() ||
			o.SHA256 == "") {
			t.Errorf("%s: %+v", test.name, o)
		}
	}
	l := onWeb(t, w, nil)
	if got := outcome(l.Observe(t.Context(), evidence.Request{Protocol: evidence.WHOIS, Target: "known.example",
		MaxBytes: 10})); got != "invalid body-too-large 0" {
		t.Errorf("over its cap gives %s", got)
	}
}

// whoisAt answers each question on loopback by what answers has for it.
func whoisAt(t *testing.T, answers map[string]string) netip.AddrPort {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(conn).ReadString('\n')
			_, _ = fmt.Fprint(conn, answers[strings.TrimSpace(line)])
			_ = conn.Close()
		}
	}()
	return netip.MustParseAddrPort(listener.Addr().String())
}

func TestWHOISReferral(t *testing.T) {
	w := startWeb(t)
	iana := whoisAt(t, map[string]string{
		"test":   "% IANA WHOIS server\r\nrefer:        whois.nic.test\r\n\r\ndomain:       TEST\r\n",
		"older":  "domain: OLDER\nwhois: WHOIS.nic.test.\n",
		"none":   "domain: NONE\nwhois:\n",
		"blank":  "domain: BLANK\nstatus: ACTIVE\n",
		"bad":    "whois: 127.0.0.1\n",
		"secret": "whois: secret.example\n",
	})
	registry := whoisAt(t, map[string]string{"a.test": "Domain Name: a.test\n", "a.older": "Domain Name: a.older\n"})
	l := onWeb(t, w, func(o *Options) {
		o.WHOISServer = ""
		o.ConnectTo = []ConnectTo{{"whois.iana.org", iana}, {"whois.nic.test", registry}}
		o.Resolver = dnstest.Resolver(t, map[string][]string{"secret.example": {"10.0.0.1"}})
	})
	for domain, want := range map[string]string{
		"a.test": `obtained 0 "Domain Name: a.test"`, "a.older": `obtained 0 "Domain Name: a.older"`,
		"a.none": "absent no-registration 0", "a.blank": "absent no-registration 0",
		"a.bad":    "unavailable protocol-error 0",
		"a.silent": "unavailable connect-failed 0", "a.secret": "invalid forbidden-address 0",
	} {
		if got := outcome(l.Observe(t.Context(), evidence.Request{Protocol: evidence.WHOIS, Target: domain,
			MaxBytes: evidence.MaxWHOIS})); got != want {
			t.Errorf("%s gives %s, want %s", domain, got, want)
		}
	}
	if o := l.Observe(t.Context(), evidence.Request{Protocol: evidence.WHOIS, Target: "test",
		MaxBytes: evidence.MaxWHOIS}); o.State != evidence.Obtained ||
		o.FinalURL != "whois://whois.iana.org/test" {
		t.Errorf("the referral is observed as %+v", o)
	}
}
