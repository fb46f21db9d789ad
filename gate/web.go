package gate

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
)

// Web is where the documents of an implementation come from. Live, Local, Offline and Recorded return one. A
// function that gets the zero value returns an error.
type Web struct {
	refused error // that each use returns; may be nil
	keeps   *Recording
	open    func(mostBytes int64) (evidence.Source, func(), error) // nil: the zero value
	bundle  *bundle.Bundle                                         // nil: nothing was recorded
	offline bool
	assumed []string
}

// LiveOptions says how Live asks the web. The zero value judges by the clock and has no end.
type LiveOptions struct {
	Now      time.Time     // the time by which dates are judged; zero: the clock's when a call begins
	Budget   time.Duration // for each call; results not reached are inconclusive; 0: none
	Timeout  time.Duration // for one request; 0: 10 s
	CACert   []byte        // PEM, trusted in addition to the system's authorities
	CacheDir string        // directory of the disk cache; empty: none

	ConnectTo   map[string]string // by host, the ip:port to dial for it; "*": for every public name
	RDAPURL     string            // base of RDAP queries; empty: as IANA's list says
	WHOISServer string            // host:port; empty: as IANA's referral says
}

// Live returns the guarded source: it connects to public addresses only, and caps the time and the size of each answer.
// The error says what is wrong with the options.
func Live(o LiveOptions) (Web, error) { return liveBy(o, nil) }

// liveBy is Live with more options, which only tests have.
func liveBy(o LiveOptions, more func(*live.Options)) (Web, error) {
	var routes []live.ConnectTo
	var assumed []string
	for _, host := range slices.Sorted(maps.Keys(o.ConnectTo)) {
		route, err := live.ParseConnectTo(host + "=" + o.ConnectTo[host])
		if err != nil {
			return Web{}, remedy.Errorf("give an ip:port by the name of its host", "LiveOptions.ConnectTo: %v", err)
		}
		routes = append(routes, route)
		assumed = append(assumed, "--connect-to "+host+"="+o.ConnectTo[host])
	}
	for _, f := range [][2]string{{"--rdap-url ", typed.Redacted(o.RDAPURL)}, {"--whois-server ", o.WHOISServer}} {
		if f[1] != "" {
			assumed = append(assumed, f[0]+f[1])
		}
	}
	open := func(mostBytes int64) (evidence.Source, func(), error) {
		options := live.Options{Now: o.Now, Timeout: o.Timeout, Budget: o.Budget, CACert: o.CACert,
			CacheDir: o.CacheDir, MaxTotal: mostBytes, UserAgent: "oap-gate/" + version().Version,
			ConnectTo: routes, RDAPURL: o.RDAPURL, WHOISServer: o.WHOISServer}
		if o.Now.IsZero() {
			options.Now = time.Now().UTC().Truncate(time.Millisecond)
		}
		if more != nil {
			more(&options)
		}
		src, err := live.New(options)
		if err != nil {
			return nil, nil, remedy.With(err, "name a CacheDir that can be written, give CACert in PEM, "+
				"RDAPURL as a URL and WHOISServer as host:port")
		}
		return src, src.Close, nil
	}
	if o.Budget < 0 || o.Timeout < 0 {
		return Web{}, remedy.Errorf("give 0 for the default",
			"Budget is %s and Timeout is %s; expected no negative one", o.Budget, o.Timeout)
	}
	_, done, err := open(0)
	if err != nil {
		return Web{}, err
	}
	done()
	w := Web{open: open, assumed: assumed}
	if !o.Now.IsZero() {
		w.assumed = append(w.assumed, at(o.Now))
	}
	if len(o.CACert) > 0 {
		w.assumed = append(w.assumed, "--ca-cert")
	}
	return w, nil
}

// Local returns a source for tests of a program: https://HOST/PATH is the file PATH in the file system of HOST, as
// --local HOST=DIR reads it, and no other host is asked. The report assumes --local, so that it is not a full run's.
func Local(now time.Time, hosts map[string]fs.FS) (Web, error) {
	options := live.Options{Now: now, LocalOnly: true}
	w := Web{assumed: []string{at(now), "--offline"}}
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		host, err := domainage.Host(name)
		if err != nil || hosts[name] == nil {
			return Web{}, remedy.Errorf("give a file system by the name of its host, such as nova.example",
				"host %q has no name that the web knows, or no file system", name)
		}
		options.Local = append(options.Local, live.Local{Host: host, Dir: host, FS: hosts[name]})
		w.assumed = append(w.assumed, "--local "+host)
	}
	if w.refused = zeroTime(now); w.refused != nil {
		return Web{}, w.refused
	}
	w.open = func(mostBytes int64) (evidence.Source, func(), error) {
		options := options
		options.MaxTotal = mostBytes
		src, err := live.New(options)
		if err != nil {
			return nil, nil, err
		}
		return src, src.Close, nil
	}
	return w, nil
}

// zeroTime refuses a time that nobody set.
func zeroTime(now time.Time) error {
	if now.IsZero() {
		return remedy.Errorf("give time.Now(), or the time by which dates are judged", "now is the zero time")
	}
	return nil
}

// A Recording keeps the bundle of the one call that uses its Web.
type Recording struct {
	mu     sync.Mutex
	calls  int
	bundle []byte
}

// Record returns a Web that asks w, and what keeps the bundle of the one call that uses it.
func Record(w Web) (Web, *Recording) {
	w.keeps = &Recording{}
	return w, w.keeps
}

// Bundle returns the bundle of the call, as --record writes it. It is an error before the call has ended with a report,
// and after a second one.
func (r *Recording) Bundle() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls != 1 || r.bundle == nil {
		return nil, remedy.Errorf("call Check, Audit or Verify once with the Web of the recording",
			"the recording has %s; expected one that ended with a report", plain.Count(r.calls, "call"))
	}
	return r.bundle, nil
}

// begin counts a call.
func (r *Recording) begin() {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.calls++
	}
}

// keep keeps the bundle of a call.
func (r *Recording) keep(made func() *bundle.Bundle) {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.bundle = made().Encode()
	}
}

// Offline returns a source that asks nobody. Checks that need the network are skipped, and the report says so. With the
// zero time each call is an error.
func Offline(now time.Time) Web {
	return Web{offline: true, refused: zeroTime(now), assumed: []string{at(now), "--offline"},
		open: func(int64) (evidence.Source, func(), error) { return sources.Offline(now, 0), func() {}, nil }}
}

// Recorded returns a source that answers from a bundle, as --record writes one. A call with it gives the report of the
// recorded run, and refuses other commits, another target and other options than the bundle names.
func Recorded(bundle []byte) (Web, error) {
	b, err := decode(bundle)
	if err != nil {
		return Web{}, err
	}
	return Web{bundle: b,
		open: func(int64) (evidence.Source, func(), error) { return b.Source(), func() {}, nil }}, nil
}

// at names the flag by which a run has another clock.
func at(t time.Time) string { return "--at " + t.UTC().Format(time.RFC3339Nano) }

// Fix returns the command or the value that fixes an error of this package, empty for nil and for any other error.
func Fix(err error) string {
	if e, ok := errors.AsType[remedy.Fixer](err); ok {
		return e.Fix()
	}
	return ""
}

// goNames are what errors of the command line are about, by the names of this package.
var goNames = strings.NewReplacer("--only", "Options.Only", "--skip", "Options.Skip",
	"--registry DIR", "VerifyOptions.Registry", "--without-registry", "VerifyOptions.WithoutRegistry",
	"--rev", "VerifyOptions.Rev", "--level", "VerifyOptions.Level", "--max-age", "VerifyOptions.MaxAge",
	"--record", "gate.Record", "--offline", "gate.Offline", "--base", "base", "--repo DIR", "registry.Open")

// inGo is an error in the names of this package.
type inGo struct{ error }

func (e inGo) Error() string { return goNames.Replace(e.error.Error()) }
func (e inGo) Unwrap() error { return e.error }
func (e inGo) Fix() string   { return goNames.Replace(Fix(e.error)) }

// ended returns the error of a call, that of its context first; nil stays nil.
func ended(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return remedy.Errorf("raise the context's deadline", "the call was not finished in time: %w", ctx.Err())
	case err == nil:
		return ctx.Err()
	}
	return inGo{err}
}

// source opens the source of one call.
func (w Web) source(mostBytes int64) (evidence.Source, func(), error) {
	if w.refused != nil {
		return nil, nil, w.refused
	}
	if w.open == nil {
		return nil, nil, remedy.Errorf("call Live, Local, Offline or Recorded",
			"the Web is the zero value, which has no source")
	}
	w.keeps.begin()
	return w.open(mostBytes)
}
