package frame

import (
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// routeFlags say how hosts are reached, and which authorities are trusted there.
type routeFlags struct{ proxy, caCert string }

// maxAuthorities caps the file of --ca-cert in bytes; a system's bundle has a quarter of a megabyte.
const maxAuthorities = 16 << 20

func (r *routeFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&r.proxy, "proxy", "", "`URL` of an HTTP proxy; proxies of the environment are not used")
	f.StringVar(&r.caCert, "ca-cert", "", "PEM `FILE` of certificate authorities to trust in addition to the system's")
}

// proxyURL is nil where there is no proxy.
func (r *routeFlags) proxyURL() (*url.URL, error) { return typed.HTTPURL("--proxy", r.proxy) }

// authorities returns the PEM text of --ca-cert, or nil.
func (r *routeFlags) authorities() ([]byte, error) {
	if r.caCert == "" {
		return nil, nil
	}
	pem, err := capped.ReadFile(r.caCert, maxAuthorities)
	if err != nil {
		return nil, remedy.Errorf("name a PEM file", "reading --ca-cert: %v", err)
	}
	return pem, nil
}

// Network say where evidence and the clock come from.
type Network struct {
	routeFlags
	At              string
	Offline         bool
	Record, Replay  string
	timeout, budget time.Duration
	retryWait       time.Duration
	jobs            int
	cache           string
	connectTo       []string
	local           []string // HOST=DIR
	rdapURL         string
	whoisServer     string
}

// Bind defines the flags; budget is the default of --budget.
func (n *Network) Bind(f *pflag.FlagSet, budget string) {
	n.BindDocuments(f, budget)
	f.IntVar(&n.jobs, "jobs", 32, "`N` requests in flight, at most 4 for one host")
	f.StringVar(&n.cache, "cache", "", "`DIR` that keeps fetched documents, which are revalidated")
	f.StringVar(&n.rdapURL, "rdap-url", "", "`URL` of the RDAP service, instead of the IANA bootstrap")
	f.StringVar(&n.whoisServer, "whois-server", "", "WHOIS server `HOST:PORT`, instead of the referral")
}

// BindLocal defines the flag of a command that may read documents from directories instead of the network.
func (n *Network) BindLocal(f *pflag.FlagSet) {
	f.StringArrayVar(&n.local, "local", nil,
		"read https://HOST/PATH from DIR/PATH instead of the network, as `HOST=DIR` (repeatable)")
}

// AsksNobody reports whether no document can be read: the run is offline, and no host is local.
func (n *Network) AsksNobody() bool { return n.Offline && len(n.local) == 0 }

// Local returns the values of --local, HOST=DIR. Without one no host is read from a directory.
func (n *Network) Local() []string { return n.local }

// unbound sets what check demands of flags that are not bound.
func (n *Network) unbound() { n.timeout, n.jobs = 10*time.Second, 1 }

// BindAt defines the flag of a command that needs only the time.
func (n *Network) BindAt(f *pflag.FlagSet) {
	n.unbound()
	f.StringVar(&n.At, "at", "", "evaluation `TIME`, RFC 3339 (default: now)")
}

// BindDocuments defines the flags of a command that gets documents and asks nothing of a domain's registration.
func (n *Network) BindDocuments(f *pflag.FlagSet, budget string) {
	n.BindAt(f)
	f.BoolVar(&n.Offline, "offline", false, "no network; checks that need it are skipped")
	n.routeFlags.bind(f)
	f.StringVar(&n.Record, "record", "", "`FILE` for the evidence bundle of this run")
	f.StringVar(&n.Replay, "replay", "", "evidence bundle `FILE` to use instead of the network")
	DurationVar(f, &n.timeout, "timeout", "10s", "time limit for one exchange: a request, with its redirects and body")
	DurationVar(f, &n.budget, "budget", budget,
		"time limit for the run; results not reached are inconclusive; 0 for none")
	DurationVar(f, &n.retryWait, "retry-wait", "1s",
		"wait before the second attempt of a request, and three times as long before the third")
	f.StringArrayVar(&n.connectTo, "connect-to", nil,
		"dial ADDR (IP:PORT) for HOST, as `HOST=ADDR`; '*' is every public DNS name (repeatable)")
}

// Check refuses what no run could use.
func (n *Network) Check() error {
	if _, ok := strict.Time(n.At); n.At != "" && !ok {
		return remedy.Errorf("write it like 2026-05-04T12:00:00Z", "--at %q is not an RFC 3339 time", n.At)
	}
	switch {
	case n.timeout == 0:
		return remedy.Errorf("give a duration such as 10s", "--timeout 0 leaves no time")
	case n.jobs < 1 || n.jobs > 1024:
		return remedy.Errorf("give a number from 1 to 1024", "--jobs %d is out of range", n.jobs)
	case n.Offline && (n.Record != "" || n.Replay != ""):
		return remedy.Errorf("leave --offline out", "--offline excludes --record and --replay")
	case n.Replay != "" && (n.Record != "" || n.cache != ""):
		return remedy.Errorf("leave --record and --cache out", "--replay excludes --record and --cache")
	}
	named := map[string]string{} // flags by the hosts that they name
	for _, c := range n.connectTo {
		to, err := live.ParseConnectTo(c)
		if err != nil {
			return remedy.Errorf("write HOST=IP:PORT, such as '*=127.0.0.1:8443'", "--connect-to %q: %v", c, err)
		}
		named[to.Host] = "--connect-to"
	}
	for _, text := range n.local {
		local, err := live.ParseLocal(text)
		if err != nil {
			return remedy.Errorf("write HOST=DIR, such as nova.example=site", "--local %q: %v", text, err)
		}
		if info, err := os.Stat(local.Dir); err != nil || !info.IsDir() {
			return remedy.Errorf("name the directory that holds .well-known/did.json",
				"--local %q: %q is not a directory", text, local.Dir)
		}
		if by := named[local.Host]; by != "" {
			return remedy.Errorf("name each host once", "--local %q: %s names %s, too", text, by, local.Host)
		}
		named[local.Host] = "--local"
	}
	if len(n.local) > 0 && n.Replay != "" {
		return remedy.Errorf("leave --local out: the bundle holds the documents", "--replay excludes --local")
	}
	if _, err := typed.HTTPURL("--rdap-url", n.rdapURL); err != nil {
		return err
	}
	if _, err := n.proxyURL(); err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(n.whoisServer); n.whoisServer != "" && err != nil {
		return remedy.Errorf("give host:port, such as whois.example:43", "--whois-server %q is not host:port",
			n.whoisServer)
	}
	return nil
}

// Assumed names the flags in effect that replace network, clock or trust root, and others, by their names, each in
// front of its value.
func (n *Network) Assumed(others ...string) []string {
	out := slices.Clone(others)
	add := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				out = append(out, name+" "+v)
			}
		}
	}
	add("--at", n.At)
	add("--ca-cert", n.caCert)
	add("--connect-to", n.connectTo...)
	add("--local", n.local...)
	if n.Offline {
		out = append(out, "--offline")
	}
	add("--proxy", typed.Redacted(n.proxy))
	add("--rdap-url", typed.Redacted(n.rdapURL))
	add("--replay", n.Replay)
	add("--whois-server", n.whoisServer)
	slices.SortStableFunc(out, func(a, b string) int {
		a, _, _ = strings.Cut(a, " ")
		b, _, _ = strings.Cut(b, " ")
		return strings.Compare(a, b)
	})
	return out
}

// Now returns the time at which dates are evaluated.
func (n *Network) Now() time.Time {
	if n.At != "" {
		t, _ := strict.Time(n.At)
		return t
	}
	return time.Now().UTC().Truncate(time.Millisecond)
}

// Source returns a source that asks nobody, a bundle, or the world. more sets further options of the live source; it
// may be nil. stop ends what is shown on stderr meanwhile.
func (n *Network) Source(sys IO, more func(*live.Options)) (_ evidence.Source, stop func(), err error) {
	stop = func() {}
	switch {
	case n.AsksNobody():
		return sources.Offline(n.Now(), n.budget), stop, nil
	case n.Replay != "":
		b, err := bundle.Read(n.Replay)
		if err != nil {
			return nil, stop, remedy.With(err, bundle.RecordAgain)
		}
		if n.At != "" {
			b.Now = n.Now()
		}
		return b.Source(), stop, nil
	}
	options, err := n.LiveOptions()
	if err != nil {
		return nil, stop, err
	}
	if more != nil {
		more(&options)
	}
	progress := newProgress(sys)
	options.Progress = progress.set
	src, err := live.New(options)
	if err != nil {
		return nil, stop, remedy.With(err,
			"name directories that can be written with --cache and --archive, and a PEM file with --ca-cert")
	}
	return src, progress.stop, nil
}

// LiveOptions returns how the world is asked.
func (n *Network) LiveOptions() (live.Options, error) {
	o := live.Options{Now: n.Now(), Timeout: n.timeout, Budget: n.budget, Jobs: n.jobs, Proxy: n.proxy,
		RDAPURL: n.rdapURL, WHOISServer: n.whoisServer, CacheDir: n.cache, RetryWait: max(n.retryWait, 1),
		UserAgent: "oap-gate/" + Version().Version}
	for _, c := range n.connectTo {
		to, err := live.ParseConnectTo(c)
		if err != nil {
			return o, err
		}
		o.ConnectTo = append(o.ConnectTo, to)
	}
	for _, text := range n.local {
		local, err := live.ParseLocal(text)
		if err != nil {
			return o, err
		}
		o.Local = append(o.Local, local)
	}
	o.LocalOnly = n.Offline
	var err error
	o.CACert, err = n.authorities()
	return o, err
}
