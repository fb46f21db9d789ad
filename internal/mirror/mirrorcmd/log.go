package mirrorcmd

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/checkpoint"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/publish"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// logFlags say where the log is published, by which key, and which witnesses cosign it.
type logFlags struct{ dir, key, policy string }

func (l *logFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&l.dir, "log", "", "`DIR` of the published log; it is written, and needs --checkpoint")
	f.StringVar(&l.key, "log-sign-key", "",
		"`FILE` of the key that signs the log (oap-gate key new FILE --origin NAME)")
	f.StringVar(&l.policy, "witness-policy", "", "C2SP tlog-policy `FILE`: witnesses that are asked, and the quorum")
}

// checkLog refuses what no run could use.
func (o *auditOptions) checkLog() error {
	l := &o.published
	switch {
	case o.ofMirror && l.key == "" && l.policy != "":
		return remedy.Errorf("give the log's key with --log-sign-key FILE", "--witness-policy is for a log")
	case l.dir == "" && (l.key != "" || l.policy != ""):
		return remedy.Errorf("name the log's directory with --log DIR",
			"--log-sign-key and --witness-policy are for a log, and none is named")
	case l.dir != "" && l.key == "":
		return remedy.Errorf("give the log's key with --log-sign-key FILE", "--log requires a key that signs the log")
	case l.dir != "" && !o.moves():
		return remedy.Errorf("give --checkpoint FILE, and leave --only, --skip, --shard and --replay out",
			"--log requires a run that may move a checkpoint")
	}
	return nil
}

// openLog reads the log's key, policy and earlier log checkpoints; nil if no log is published.
func (o *auditOptions) openLog(repo *registry.Repository) (*publish.Log, error) {
	if o.published.dir == "" {
		return nil, nil
	}
	key, err := signing.ReadLogKey(o.published.key)
	if err != nil {
		return nil, remedy.With(err, "name the file of the log's key with --log-sign-key")
	}
	switch origin := cmp.Or(o.origin, checkpoint.Origin(repo.Store().RemoteURL())); {
	case o.signKey != "" && key.Is(o.signKey):
		return nil, remedy.Errorf("make another key with: oap-gate key new FILE --origin NAME",
			"--log-sign-key and --sign-key hold the same key: a log checkpoint and a checkpoint must never share one")
	case key.Name() == origin:
		return nil, remedy.Errorf("name the log otherwise, such as "+origin+"/log",
			"the log has the name of the registry, %q", origin)
	}
	l := &publish.Log{Dir: o.published.dir, Signer: key, Now: o.Now}
	if l.Key, err = proof.ParseKey(key.Verifier); err != nil {
		return nil, err
	}
	if l.Policy, err = o.logPolicy(l.Key); err != nil {
		return nil, err
	}
	way, err := o.LiveOptions()
	if err != nil {
		return nil, err
	}
	l.Transport = func(witness *url.URL) (http.RoundTripper, error) { return live.NewTransport(way, witness) }
	return l, l.Open()
}

// logPolicy reads the policy of the log; nil if none is named.
func (o *auditOptions) logPolicy(own *proof.Key) (*proof.Policy, error) {
	if o.published.policy == "" {
		return nil, nil
	}
	wrong := func(err error) error {
		return remedy.Errorf("correct the policy file; see https://c2sp.org/tlog-policy", "--witness-policy %q: %w",
			o.published.policy, err)
	}
	text, err := capped.ReadFile(o.published.policy, proof.MaxPolicy)
	if err != nil {
		return nil, wrong(err)
	}
	p, err := proof.ParsePolicy(text)
	if err == nil {
		err = p.OneHistory()
	}
	if err != nil {
		return nil, wrong(err)
	}
	if !slices.ContainsFunc(p.Logs, func(known proof.Peer) bool { return known.Key.String() == own.String() }) {
		return nil, remedy.Errorf("add the line: log "+own.String(),
			"--witness-policy %q does not list the log's own key", o.published.policy)
	}
	for _, w := range p.Witnesses {
		u, err := url.Parse(w.URL)
		switch {
		case w.URL == "":
		case o.Offline:
			return nil, remedy.Errorf("leave --offline out, or the URLs of witnesses",
				"--witness-policy %q names the URL of a witness, and --offline forbids to ask it", o.published.policy)
		case err != nil || u.Scheme != "https" && !typed.IsLoopback(u.Hostname()):
			return nil, remedy.Errorf("name an https URL; http is for a witness on loopback",
				"--witness-policy %q: the witness %q has the URL %q", o.published.policy, w.Key.Name(),
				typed.Redacted(w.URL))
		}
	}
	return p, nil
}

// publish continues the log if the history holds, and adds what it finds to the report.
func (o *auditOptions) publish(ctx context.Context, repo *registry.Repository, l *publish.Log, rep *verdict.Report,
	holds bool, taken *verdict.Accepted) error {
	if l == nil {
		return nil
	}
	if !holds || ctx.Err() != nil {
		return mirror.AddLog(rep, verdict.Skip("the history of this head was not verified, so that nothing is signed"))
	}
	out, err := l.Run(ctx, repo, rep.Head, func(commit string) bool {
		return taken != nil && slices.ContainsFunc(taken.Lines, func(line verdict.AcceptedLine) bool {
			return line.Commit == commit && mirror.TakesRewrite(line)
		})
	})
	if err != nil {
		return err
	}
	return mirror.AddLog(rep, out)
}
