package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"code.dny.dev/ssrf"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/dnstest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

var forbidden = []string{
	"0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.1.1",
	"169.254.169.254", "168.63.129.16", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1",
	"192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
	"255.255.255.255",
	"::", "::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:8.8.8.8", "::127.0.0.1",
	"64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "100::1", "2001::1", "2001:0:7f00:1::", "2001:10::1",
	"2001:db8::1", "2002:7f00:1::1", "2002:a00:1::", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1",
	"fe80::1%eth0", "fec0::1", "ff02::1",
}

func TestGuards(t *testing.T) {
	for _, ip := range forbidden {
		network := "tcp4"
		if strings.Contains(ip, ":") {
			network = "tcp6"
		}
		if err := webGuard.Safe(network, net.JoinHostPort(ip, "443"), nil); err == nil {
			t.Errorf("the web guard lets %s pass", ip)
		}
		if err := whoisGuard.Safe(network, net.JoinHostPort(ip, "43"), nil); err == nil {
			t.Errorf("the WHOIS guard lets %s pass", ip)
		}
	}
	for _, addr := range []string{"8.8.8.8:443", "8.8.8.8:8443", "8.8.8.8:22", "[2606:4700::1111]:443"} {
		network := "tcp4"
		if strings.HasPrefix(addr, "[") {
			network = "tcp6"
		}
		if err := webGuard.Safe(network, addr, nil); err != nil {
			t.Errorf("the web guard refuses %s: %v", addr, err)
		}
	}
	if whoisGuard.Safe("tcp4", "8.8.8.8:43", nil) != nil || whoisGuard.Safe("tcp4", "8.8.8.8:25", nil) == nil {
		t.Error("the WHOIS guard does not stand for port 43")
	}
}

func TestNamesOfPrivateAddresses(t *testing.T) {
	w := startWeb(t)
	answers := map[string][]string{
		"two.example": {"127.0.0.1 10.0.0.1"}, "broken.example": {"fail"}, "no-address.example": {""},
	}
	for i, ip := range forbidden {
		if !strings.Contains(ip, "%") && (!strings.Contains(ip, ":") || strings.HasPrefix(ip, "::ffff:") &&
			ip != "::ffff:8.8.8.8") {
			answers[fmt.Sprintf("host%d.example", i)] = []string{ip}
		}
	}
	_, port, _ := net.SplitHostPort(w.Addr())
	l := onWeb(t, w, func(o *Options) {
		o.ConnectTo = []ConnectTo{{"redirects.example", netip.MustParseAddrPort(w.Addr())}}
		o.Resolver = dnstest.Resolver(t, answers)
		o.WHOISServer, o.RDAPURL = "", ""
	})
	for host := range answers {
		want := "invalid forbidden-address 0"
		switch host {
		case "broken.example":
			want = "unavailable resolver-failed 0"
		case "no-address.example":
			want = "absent no-such-host 0"
		}
		url := "https://" + host + ":" + port + "/"
		o := l.Observe(t.Context(), get(url, 100))
		if got := outcome(o); got != want {
			t.Errorf("%s, which is %v, gives %s, want %s: %s", host, answers[host], got, want, o.Message)
		}
		from := "https://redirects.example/" + host
		w.Set(from, webtest.Behaviour{Redirect: url})
		if got := outcome(l.Observe(t.Context(), get(from, 100))); got != strings.Replace(want, " 0", " 302", 1) {
			t.Errorf("a redirect to %s gives %s", host, got)
		}
	}
	for _, host := range []string{"nowhere.example", "localhost", "intranet"} {
		o := l.Observe(t.Context(), get("https://"+host+":"+port+"/", 100))
		if o.State == evidence.Obtained || o.State == evidence.Unavailable {
			t.Errorf("%s gives %s", host, outcome(o))
		}
	}
	for _, request := range w.Requests() {
		if !strings.HasPrefix(request, "https://redirects.example/") {
			t.Errorf("the web was asked for %s", request)
		}
	}
}

// TestResolverThatIsGone requires a message without the addresses of this machine, whose ports differ from run to run.
func TestResolverThatIsGone(t *testing.T) {
	gone := must.Get(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	_ = gone.Close()
	l := onWeb(t, startWeb(t), func(o *Options) {
		o.ConnectTo = nil
		o.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", gone.LocalAddr().String())
		}}
	})
	o := l.Observe(t.Context(), get("https://tool.example/", 100))
	if got := outcome(o); got != "unavailable resolver-failed 0" || strings.Contains(o.Message, "127.0.0.1") ||
		!strings.HasPrefix(o.Message, `the resolver has no answer for "tool.example": `) {
		t.Errorf("gives %s: %s", got, o.Message)
	}
}

// TestAnswerThatChanges lets one loopback address stand for a public one.
func TestAnswerThatChanges(t *testing.T) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	d := must.Get(newDialer(Options{Timeout: 1e10, Resolver: dnstest.Resolver(t, map[string][]string{
		"changes.example": {"127.0.0.1", "127.0.0.2"},
		"mixed.example":   {"127.0.0.2 127.0.0.1"},
	})}))(t)
	guard := ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(netip.MustParsePrefix("127.0.0.1/32")))
	for i, want := range []error{nil, ErrForbidden, ErrForbidden} {
		conn, err := d.dial(t.Context(), guard.Safe, "changes.example", ".", port)
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("dial %d gives %v, want %v", i+1, err, want)
		}
		if conn != nil {
			_ = conn.Close()
		}
	}
	conn, err := d.dial(t.Context(), guard.Safe, "mixed.example", ".", port)
	if err != nil || conn.RemoteAddr().(*net.TCPAddr).IP.String() != "127.0.0.1" {
		t.Errorf("a host with a public address beside a private one: %v", err)
	} else {
		_ = conn.Close()
	}
}

func TestConnectTo(t *testing.T) {
	one, all := netip.MustParseAddrPort("127.0.0.1:1"), netip.MustParseAddrPort("127.0.0.1:2")
	d, err := newDialer(Options{ConnectTo: []ConnectTo{{"*", all}, {"Exact.example.", one}, {"localhost", one}}})
	must.OK(t, err)
	for host, want := range map[string]netip.AddrPort{
		"exact.example": one, "EXACT.example": one, "localhost": one,
		"example.com": all, "a.exact.example": all, "www.example.com.": all,
		"a.localhost": {}, "intranet": {}, "printer.local": {}, "vault.internal": {}, "a.b.internal": {},
		"127.0.0.1": {}, "127.1": {}, "::1": {}, "": {},
	} {
		if got, ok := d.connectTo(host); ok != want.IsValid() || ok && got != want {
			t.Errorf("%q goes to %v (%t), want %v", host, got, ok, want)
		}
	}
}

func TestParseConnectTo(t *testing.T) {
	for text, want := range map[string]string{
		"example.com=127.0.0.1:8443": "{example.com 127.0.0.1:8443}",
		"*=[::1]:443":                "{* [::1]:443}",
		"EXAMPLE.com.=127.0.0.1:1":   "{example.com 127.0.0.1:1}",
		"example.com":                "", "=127.0.0.1:1": "", "example.com=localhost:1": "",
		"example.com=127.0.0.1": "",
		"127.0.0.1=127.0.0.1:1": "", "": "",
	} {
		got, err := ParseConnectTo(text)
		if (err == nil) != (want != "") || err == nil && fmt.Sprint(got) != want {
			t.Errorf("ParseConnectTo(%q) gives %v and error %v, want %s", text, got, err, want)
		}
	}
}

// startProxy is a CONNECT proxy that reaches every host at one address.
func startProxy(t *testing.T, to string) (url string, asked func() []string) {
	var mu sync.Mutex
	var hosts []string
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		hosts = append(hosts, r.Method+" "+r.Host)
		mu.Unlock()
		if r.Method != http.MethodConnect || strings.HasPrefix(r.Host, "refused.") {
			rw.WriteHeader(http.StatusBadGateway)
			return
		}
		out, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		rw.WriteHeader(http.StatusOK)
		in, _, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
		_, _ = io.Copy(in, out)
		_ = in.Close()
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { mu.Lock(); defer mu.Unlock(); return hosts }
}

func TestProxy(t *testing.T) {
	w := startWeb(t)
	w.Page("https://example.com/", []byte("{}"))
	w.Page("https://direct.example/", []byte("{}"))
	proxy, asked := startProxy(t, w.Addr())
	l := onWeb(t, w, func(o *Options) {
		o.Proxy = proxy
		o.ConnectTo = []ConnectTo{{"direct.example", netip.MustParseAddrPort(w.Addr())}}
	})
	for host, want := range map[string]string{
		"example.com": `obtained 200 "{}"`, "direct.example": `obtained 200 "{}"`,
		"localhost": "invalid forbidden-address 0", "vault.internal": "invalid forbidden-address 0",
		"refused.example": "unavailable connect-failed 0",
	} {
		if got := outcome(l.Observe(t.Context(), get("https://"+host+"/", 100))); got != want {
			t.Errorf("%s gives %s, want %s", host, got, want)
		}
	}
	for _, request := range asked() {
		if request != "CONNECT example.com:443" && request != "CONNECT refused.example:443" {
			t.Errorf("the proxy was asked for %s", request)
		}
	}
}

// TestProxyOfNamed requires that a server that was named redirects a request through the proxy to public names only.
func TestProxyOfNamed(t *testing.T) {
	w := startWeb(t)
	proxy, asked := startProxy(t, w.Addr())
	for _, tt := range []struct {
		named, target string
		forbidden     bool
	}{
		{"https://refused.example/r", "https://refused.example/r", false},
		{"https://refused.example/r", "https://refused.other.example/r", false},
		{"https://refused.intranet.internal/r", "https://refused.intranet.internal/r", false}, // the operator named it
		{"https://refused.example/r", "https://intranet/r", true},
		{"https://refused.example/r", "https://vault.internal/r", true},
		{"https://refused.example/r", "https://10.0.0.1/r", true},
		{"https://refused.example/r", "https://[fd00::1]/r", true},
		{"https://refused.example/r", "https://169.254.169.254/r", true},
	} {
		u := must.Get(url.Parse(tt.named))(t)
		transport := must.Get(NewTransport(Options{Proxy: proxy}, u))(t)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tt.target, nil)
		must.OK(t, err)
		before := len(asked())
		_, err = transport.RoundTrip(r)
		if errors.Is(err, ErrForbidden) != tt.forbidden || (len(asked()) == before) != tt.forbidden {
			t.Errorf("from %s to %s: %v, the proxy was asked for %s", tt.named, tt.target, err, asked()[before:])
		}
	}
}

func TestEnvironmentCountsForNothing(t *testing.T) {
	w := startWeb(t)
	w.Page("https://example.com/", []byte("{}"))
	file := filepath.Join(t.TempDir(), "ca.pem")
	must.OK(t, os.WriteFile(file, w.CAPEM(), 0o600))
	t.Setenv("SSL_CERT_FILE", file)
	t.Setenv("SSL_CERT_DIR", filepath.Dir(file))
	proxy, asked := startProxy(t, w.Addr())
	t.Setenv("HTTPS_PROXY", proxy)
	t.Setenv("ALL_PROXY", proxy)
	// An authority that is not the web's is the only one beside the system's.
	other := httptest.NewTLSServer(nil)
	defer other.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate().Raw})
	l := onWeb(t, w, func(o *Options) { o.CACert = authority })
	if got := outcome(l.Observe(t.Context(), get("https://example.com/", 100))); got != "invalid tls-not-verified 0" {
		t.Errorf("gives %s", got)
	}
	if len(asked()) > 0 {
		t.Errorf("the proxy was asked for %s", asked())
	}
}

func TestNewLiveRefuses(t *testing.T) {
	for name, o := range map[string]Options{
		"no PEM":             {CACert: []byte("no certificate")},
		"no proxy":           {Proxy: "localhost"},
		"no RDAP URL":        {RDAPURL: "rdap.example"},
		"RDAP by no HTTP":    {RDAPURL: "socks5://rdap.example"},
		"no WHOIS server":    {WHOISServer: "whois.example"},
		"no address":         {ConnectTo: []ConnectTo{{Host: "example.com"}}},
		"no host":            {ConnectTo: []ConnectTo{{"127.0.0.1", netip.MustParseAddrPort("127.0.0.1:1")}}},
		"no cache directory": {CACert: startWeb(t).CAPEM(), CacheDir: "/dev/null/cache"},
		"proxy of no kind":   {Proxy: "gopher://localhost"},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestWhoseNameIsDenied checks that a host that the resolver denies is its owner's fault only if the resolver knows the
// control, which is looked up once, and not before a host is denied.
func TestWhoseNameIsDenied(t *testing.T) {
	for name, c := range map[string]struct {
		control []string
		want    string
	}{
		"the owner's":   {[]string{"192.0.2.1"}, "absent no-such-host"},
		"the machine's": {nil, "unavailable resolver-denies-all"},
		"unknown":       {[]string{"fail"}, "unavailable resolver-failed"},
	} {
		answers := map[string][]string{"there.example": {"127.0.0.1"}}
		if c.control != nil {
			answers[evidence.Control] = c.control
		}
		l, err := New(Options{Now: testNow, Resolver: dnstest.Resolver(t, answers), RetryWait: time.Millisecond})
		must.OK(t, err)
		t.Cleanup(l.Close)
		if o := evidence.Ask(t.Context(), l, get("https://there.example/", 100)); o.Code != evidence.CodeForbidden ||
			len(l.Observations()) != 1 {
			t.Errorf("%s: a host that is there gives %s, and %d requests", name, outcome(o), len(l.Observations()))
		}
		for _, host := range []string{"a.example", "b.example"} {
			o := evidence.Ask(t.Context(), l, get("https://"+host+"/", 100))
			if got := o.State.String() + " " + o.Code; got != c.want {
				t.Errorf("%s: %s gives %s (%s); want %s", name, host, got, o.Message, c.want)
			}
		}
		if n := len(l.Observations()); n != 4 {
			t.Errorf("%s: %d requests; want three and the control", name, n)
		}
	}
}

// TestChallenge checks that a header of a firewall's challenge decides, whatever the status, and only with its value.
func TestChallenge(t *testing.T) {
	w := startWeb(t)
	for _, c := range challenges {
		for _, status := range []int{200, 202, 403, 429} {
			for value, want := range map[string]string{c.values[0]: "unavailable host-challenges", "none": ""} {
				url := fmt.Sprintf("https://example.com/%s/%d/%s", c.header, status, value)
				w.Set(url, webtest.Behaviour{Status: status, Header: map[string]string{c.header: value}})
				o := onWeb(t, w, nil).Observe(t.Context(), get(url, 100))
				got := o.State.String() + " " + o.Code
				if (got == "unavailable host-challenges") != (want != "") || want != "" && w.Hits(url) != 1 {
					t.Errorf("%s gives %s (%s) after %d requests", url, got, o.Message, w.Hits(url))
				}
			}
		}
	}
}

// TestCertificates checks what is said about each kind of certificate that does not verify.
func TestCertificates(t *testing.T) {
	named := &x509.Certificate{DNSNames: []string{"a.example", "b.example", "c.example", "d.example"},
		RawIssuer: []byte("i"), RawSubject: []byte("s"), IssuingCertificateURL: []string{"http://ca.example/i.crt"}}
	self := &x509.Certificate{RawIssuer: []byte("s"), RawSubject: []byte("s")}
	ended := &x509.Certificate{NotAfter: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	ahead := &x509.Certificate{NotBefore: time.Now().Add(48 * time.Hour), NotAfter: time.Now().Add(96 * time.Hour)}
	for _, c := range []struct {
		err       error
		sent      []*x509.Certificate
		says, fix string
	}{
		{x509.CertificateInvalidError{Cert: ended, Reason: x509.Expired}, nil, "has expired: it ended on 2026-01-01",
			"renew the certificate; it ended on 2026-01-01"},
		{x509.CertificateInvalidError{Cert: ahead, Reason: x509.Expired}, nil, "is not valid before",
			"correct this machine's clock (it reads "},
		{x509.HostnameError{Certificate: named, Host: "x.example"}, nil,
			"it has a.example, b.example, c.example; expected",
			"get a certificate for x.example; it has a.example, b.example, c.example"},
		{x509.HostnameError{Certificate: self, Host: "x.example"}, nil, "it has no DNS name",
			"get a certificate for x.example; it has no DNS name"},
		{x509.UnknownAuthorityError{}, []*x509.Certificate{named}, "the intermediate certificate is missing",
			"serve the full chain (fullchain.pem) instead of the certificate alone"},
		{x509.UnknownAuthorityError{}, []*x509.Certificate{self}, "self-signed", ""},
		{x509.UnknownAuthorityError{}, []*x509.Certificate{named, self}, "is not a public authority", ""},
	} {
		got := certificateRefusal(&tls.CertificateVerificationError{UnverifiedCertificates: c.sent, Err: c.err})
		if got.State != evidence.Invalid || got.Code != evidence.CodeTLS || !strings.Contains(got.Message, c.says) ||
			!strings.HasPrefix(got.Fix, c.fix) || (got.Fix == "") != (c.fix == "") {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
}
