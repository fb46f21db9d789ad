package gate

import (
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
)

// Web is where the documents of an implementation come from. Live, Offline and Recorded return one; the zero value is
// an error wherever it is used.
type Web struct {
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
}

// Live returns the guarded source: it connects to public addresses only, and caps the time and the size of each answer.
// The error says what is wrong with the options.
func Live(o LiveOptions) (Web, error) { return liveBy(o, nil) }

// liveBy is Live with more options, which only tests have.
func liveBy(o LiveOptions, more func(*live.Options)) (Web, error) {
	open := func(mostBytes int64) (evidence.Source, func(), error) {
		options := live.Options{Now: o.Now, Timeout: o.Timeout, Budget: o.Budget, CACert: o.CACert,
			CacheDir: o.CacheDir, MaxTotal: mostBytes, UserAgent: "oap-gate/" + version().Version}
		if o.Now.IsZero() {
			options.Now = time.Now().UTC().Truncate(time.Millisecond)
		}
		if more != nil {
			more(&options)
		}
		src, err := live.New(options)
		if err != nil {
			return nil, nil, remedy.With(err, "name a CacheDir that can be written, and give CACert in PEM")
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
	w := Web{open: open}
	if !o.Now.IsZero() {
		w.assumed = append(w.assumed, at(o.Now))
	}
	if len(o.CACert) > 0 {
		w.assumed = append(w.assumed, "--ca-cert")
	}
	return w, nil
}

// Offline returns a source that asks nobody. Checks that need the network are skipped, and the report says so.
func Offline(now time.Time) Web {
	return Web{offline: true, assumed: []string{at(now), "--offline"},
		open: func(int64) (evidence.Source, func(), error) { return evidence.Offline(now, 0), func() {}, nil }}
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

// Fix returns the command or the value that fixes an error of this package, empty for nil.
func Fix(err error) string {
	if err == nil {
		return ""
	}
	_, fix := remedy.Describe(err)
	return fix
}

// source opens the source of one call.
func (w Web) source(mostBytes int64) (evidence.Source, func(), error) {
	if w.open == nil {
		return nil, nil, remedy.Errorf("call Live, Offline or Recorded",
			"the Web is the zero value, which has no source")
	}
	return w.open(mostBytes)
}
