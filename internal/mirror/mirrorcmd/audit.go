// Package mirrorcmd has the commands audit, mirror and merge.
package mirrorcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/checkpoint"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/commitsig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/bulk"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt/explain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// auditOptions are the flags of audit.
type auditOptions struct {
	frame.Checks
	frame.Network
	frame.Output
	repo, rev string
	strict    bool
	shard     string
	part      [2]int // the shard and how many there are; 0 of 0: all

	requireSigned           bool
	keyring, allowedSigners string
	keys                    struct{ keyring, signers []byte } // what these files hold; nil where they are not named
	accepted, signedSince   string
	past                    []byte // what the file of --accepted holds; nil where none is named
	checkpoint, origin      string
	former                  report.Former // recognizes a checkpoint that may be replaced
	signKey, verifyKey      string
	temp                    string // directory for copies of peers and for results; empty: the system's
	known                   string // commit that a mirror verified; empty: none
	peers                   []string
	peersNeeded             int   // only for a mirror; 0: each peer must be readable
	peerPack                int64 // bytes of a peer's pack that a mirror has room for; 0: any that a fetch allows
	archive                 string
	documents               string     // directory of a mirror's cache; empty: --cache
	ofMirror                bool       // archive and cache are a mirror's own; its reports name no path
	room                    *live.Room // shared by archive and cache; nil: without limit
	maxAge                  time.Duration
	verifyAll               bool
	published               logFlags

	// before is what a mirror does before the checkpoint moves; holds says whether the head is valid.
	before func(rep *verdict.Report, holds bool) error
	// extra returns what a mirror found before the audit and finds about the head; nil: nothing.
	extra func(ctx context.Context, repo *registry.Repository, head string) ([]verdict.Finding, error)
}

func NewAudit(sys frame.IO) *cobra.Command {
	var o auditOptions
	c := &cobra.Command{
		Use:   "audit",
		Short: "revalidate a whole clone: each record and the history",
		Long: strings.TrimSpace(`
audit trusts neither the forge nor the maintainers: it judges every first-parent commit by the
rules of a pull request, and every record at the head as of now. An expired or revoked listing
is a fact, not a failure, unless --strict.`),
		Example: `  oap-gate audit
  oap-gate audit --offline
  oap-gate audit --report html=audit.html --report prometheus=oap.prom`,
		Args: frame.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.Tell(func() (*verdict.Report, error) {
				if err := o.check(checkpoint.IsFile); err != nil {
					return nil, err
				}
				return o.run(cmd.Context(), sys)
			})
		},
	}
	o.bind(c, sys)
	c.AddCommand(newMerge(sys))
	return c
}

func (o *auditOptions) bind(c *cobra.Command, sys frame.IO) {
	f := c.Flags()
	known, others := mirror.Selectable()
	o.Checks.Bind(c, known, others, func(id string) bool {
		check := checks.ByID(id)
		return check != nil && check.Online()
	})
	o.Network.Bind(f, "0")
	o.Output.Judges(mirror.Catalogue(), func(string, string) *verdict.Report { return o.empty() }, nil)
	o.Output.Bind(c, sys, true)
	o.Statements(c, mirror.RulesText(frame.Version()))
	frame.BindRepo(c, &o.repo)
	f.StringVar(&o.rev, "rev", "HEAD", "commit `REV` to read; it and its history")
	f.BoolVar(&o.strict, "strict", false, "expired and revoked listings are failures")
	f.BoolVar(&o.requireSigned, "require-signed", false, "every commit must carry a good signature")
	f.StringVar(&o.keyring, "keyring", "", "`FILE` of OpenPGP public keys that may sign commits")
	f.StringVar(&o.allowedSigners, "allowed-signers", "",
		"`FILE` of SSH keys that may sign commits, as for ssh-keygen(1)")
	f.StringVar(&o.checkpoint, "checkpoint", "", "`FILE` of the last verified tip: required if it exists, written if "+
		"history and consistency pass")
	f.StringVar(&o.origin, "origin", "",
		"origin `NAME`; the registry's in the checkpoint (default: the remote's URL without scheme)")
	f.StringVar(&o.signKey, "sign-key", "", "`FILE` of the Ed25519 note key that signs the checkpoint")
	f.StringVar(&o.verifyKey, "verify-key", "", "Ed25519 note `KEY` whose signature the checkpoint must have")
	f.StringArrayVar(&o.peers, "peer", nil, "`URL|DIR` of another copy of the registry to compare with (repeatable)")
	frame.DurationVar(f, &o.maxAge, "max-age", "0", "maximum age: that of the head; an older head fails; 0 for any age")
	f.BoolVar(&o.verifyAll, "verify-all", false, "hash every object that the clone stores, not only the packs")
	f.StringVar(&o.accepted, "accepted", "",
		"`FILE` of lines COMMIT CHECK/CODE reason: these findings of the history are warnings")
	f.StringVar(&o.signedSince, "signed-since", "",
		"full id `COMMIT` of the first-parent commit from which on --require-signed applies")
	f.StringVar(&o.archive, "archive", "",
		"`DIR` that keeps every document by its SHA-256, for use if the origin is gone")
	o.published.bind(f)
	f.StringVar(&o.shard, "shard", "", "only part `I/N` of the records, stable by slug")
}

// empty returns a report without results.
func (o *auditOptions) empty() *verdict.Report {
	return mirror.NewReport(sources.Offline(o.Now(), 0),
		judge.Config{Tool: frame.Version(), Selected: o.Selected, Assumed: o.assumed()})
}

// assumed names the flags in effect that leave a check out or replace network, clock or trust root, by their names.
func (o *auditOptions) assumed() []string {
	others := o.Selection.Assumed()
	if o.archive != "" && !o.ofMirror {
		others = append(others, "--archive "+o.archive)
	}
	all := o.Network.Assumed(others...)
	for i, f := range all {
		if o.ofMirror && strings.HasPrefix(f, "--ca-cert ") {
			all[i] = "--ca-cert"
		}
	}
	return all
}

// maxResults is how many results memory holds; one has about 200 bytes.
const maxResults = 1 << 16

// spool returns a place for results that are too many for memory: a file in the directory, or in the system's if
// directory is empty. If that directory does not exist, as in an image from scratch, memory holds all results.
func spool(directory string) bulk.Spool {
	if directory == "" {
		if _, err := os.Stat(os.TempDir()); errors.Is(err, os.ErrNotExist) {
			return bulk.Spool{}
		}
	}
	return bulk.Spool{Memory: maxResults, File: func() (bulk.File, error) { return atomicfile.NewScratch(directory) }}
}

// check judges the flags. former reports whether a file is a checkpoint that may be replaced once it is verified.
func (o *auditOptions) check(former report.Former) error {
	o.former = former
	var files []report.Target
	if o.moves() {
		files = []report.Target{{Flag: "--checkpoint", Path: o.checkpoint, Former: former}}
	}
	for _, name := range []string{"checkpoint", "signed", "map"} {
		path := filepath.Join(o.published.dir, name)
		if _, err := os.Stat(path); err == nil && o.published.dir != "" {
			files = append(files, report.Target{Flag: "--log", Path: path, Former: report.Any})
		}
	}
	return typed.First(
		func() error { return o.Checks.Check(o.Offline) },
		o.Network.Check,
		func() error {
			if slices.Contains(o.peers, "") {
				return remedy.Errorf("name a URL or a directory, or leave --peer out", "--peer \"\" names no copy")
			}
			return nil
		},
		func() (err error) { o.part, err = mirror.ParseShard(o.shard); return err },
		func() error {
			if o.signedSince == "" {
				return nil
			}
			if _, err := gitobject.ParseID(o.signedSince); err != nil {
				return remedy.Errorf("give the full id of a commit", "--signed-since: %v", err)
			}
			if !o.requireSigned {
				return remedy.Errorf("give --require-signed with it",
					"--signed-since says from when on --require-signed holds")
			}
			return nil
		},
		func() error {
			if o.checkpoint == "" && (o.signKey != "" || o.verifyKey != "") {
				return remedy.Errorf("name the checkpoint with --checkpoint FILE",
					"--sign-key and --verify-key are for a checkpoint, and none is named")
			}
			return nil
		},
		o.checkLog,
		func() error {
			return o.Place(&o.Network, files, [][2]string{{"--archive", o.archive}, {"--cache", o.documents}})
		},
	)
}

func (o *auditOptions) run(ctx context.Context, sys frame.IO) (_ *verdict.Report, err error) {
	if o.before == nil { // a mirror sees to its clone itself
		defer func() { err = mirror.CorruptClone(err) }()
	}
	if o.shard != "" {
		frugal(mostOfShard)
	}
	repo, err := frame.OpenClone(sys, o.repo)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	if o.before == nil {
		if err := mirror.CheckPacks(ctx, repo); err != nil {
			return nil, err
		}
	}
	head, err := repo.Resolve(o.rev)
	if err != nil {
		return nil, err
	}
	if o.before == nil && o.verifyAll {
		if err := mirror.CheckObjects(ctx, repo, head); err != nil {
			return nil, err
		}
	}
	src, stop, err := o.Source(sys, func(live *live.Options) {
		live.MaxTotal = 1 << 30 // every document of a registry, not of one pull request
		live.ArchiveDir, live.Room, live.CacheDir = o.archive, o.room, cmp.Or(o.documents, live.CacheDir)
	})
	if err != nil {
		return nil, err
	}
	defer stop()
	keys, err := o.signatures()
	if err != nil {
		return nil, err
	}
	taken, err := o.readAccepted()
	if err != nil {
		return nil, err
	}
	log, err := o.openLog(repo)
	if err != nil {
		return nil, err
	}
	state, err := o.namedCheckpoint(keys, taken).Read(ctx, repo, head)
	if err != nil {
		return nil, err
	}
	old, err := mirror.Age(ctx, repo, head, o.Now(), o.maxAge)
	if err != nil {
		return nil, err
	}
	way, err := o.LiveOptions()
	if err != nil {
		return nil, err
	}
	copies := mirror.Peers{Names: o.peers, Needed: o.peersNeeded, Verified: o.known, Temp: o.temp,
		MaxPack: o.peerPack, Offline: o.Offline, Live: way, Budget: way.Budget, Public: o.ofMirror}
	peers, apart, err := copies.Compare(ctx, repo, head)
	if err != nil {
		return nil, err
	}
	if o.extra != nil {
		more, err := o.extra(ctx, repo, head)
		if err != nil {
			return nil, err
		}
		old = append(old, more...)
	}
	found, err := state.Consistency(ctx, repo, head, slices.Concat(old, apart)...)
	if err != nil {
		return nil, err
	}
	cfg := mirror.AuditConfig{
		Config: judge.Config{Tool: frame.Version(), Origin: cmp.Or(o.origin,
			checkpoint.PublicOrigin(repo.Store().RemoteURL())),
			Chosen: fmt.Sprintf("head %s (%s)", plain.Short(head), o.rev), Selected: o.Selected, Offline: o.Offline,
			Assumed: o.assumed(), Explain: explain.Signature},
		Strict: o.strict, Archive: o.archive != "", OwnArchive: o.ofMirror, Shard: o.part[0], Of: o.part[1],
		RequireSigned: o.requireSigned, Keys: keys,
		Spool: spool(o.temp), Peers: peers, Verified: state.Tip, VerifiedSize: state.Size,
		Consistency: found, Accepted: taken, SignedSince: o.signedSince, Log: log,
	}
	if state.Last != nil {
		cfg.Checkpoint = state.Last.Tip
	}
	rep, err := mirror.Audit(ctx, repo, head, src, cfg)
	if err != nil {
		return nil, err
	}
	next, file, err := state.Next(ctx, repo, rep)
	if err != nil {
		return nil, err
	}
	rep.History.CheckpointFile = file
	if o.Record != "" {
		cfg.Assumed = rep.Assumed // that the run was interrupted, too
		if slices.Contains(rep.Assumed, verdict.Interrupted) {
			cfg.Unwalked = rep.History.Commits - cfg.VerifiedSize - rep.History.Walked
		}
		if err := report.Keep(o.Record, o.auditBundle(cfg, head, src, file)); err != nil {
			return nil, err
		}
	}
	if o.before != nil {
		if ctx.Err() != nil { // what was not judged any more would count as not refused
			next, rep.History.CheckpointFile = nil, &verdict.CheckpointFile{Reason: "the run was interrupted"}
		} else if err := o.before(rep, state.Holds(next, file)); err != nil {
			return nil, err
		}
	}
	if err := state.Write(next, o.save); err != nil {
		return nil, err
	}
	return rep, o.publish(ctx, repo, log, rep, state.Holds(next, file), taken)
}

// save writes the checkpoint.
func (o *auditOptions) save(text []byte) error {
	err := report.Save("--checkpoint "+o.checkpoint, o.checkpoint, o.former, text)
	if err == nil {
		err = atomicfile.SyncDirectory(filepath.Dir(report.Resolve(o.checkpoint))) // the rename is durable only then
	}
	return err
}

// readAccepted reads the findings of the history that are accepted; nil where no file is named.
func (o *auditOptions) readAccepted() (*verdict.Accepted, error) {
	if o.accepted == "" {
		return nil, nil
	}
	var err error
	if o.past, err = capped.ReadFile(o.accepted, mirror.MaxAccepted); err != nil {
		return nil, remedy.Errorf("name a file of lines COMMIT CHECK/CODE reason", "reading --accepted: %v", err)
	}
	return mirror.ParseAccepted(o.past)
}

// namedCheckpoint returns the checkpoint that the flags name.
func (o *auditOptions) namedCheckpoint(keys *commitsig.Verifier, taken *verdict.Accepted) mirror.Checkpoint {
	c := mirror.Checkpoint{File: o.checkpoint, Origin: o.origin, SignKey: o.signKey, VerifyKey: o.verifyKey,
		Moves: o.moves(), Known: o.known, Accepted: taken, SignedSince: o.signedSince}
	if o.requireSigned {
		c.Keys = keys
	}
	return c
}

// moves reports whether this run may move the checkpoint.
func (o *auditOptions) moves() bool {
	return o.checkpoint != "" && len(o.Only) == 0 && len(o.Skip) == 0 && o.shard == "" && o.Replay == ""
}

// signatures reads the keys that may sign commits; nil where none were given.
func (o *auditOptions) signatures() (*commitsig.Verifier, error) {
	if o.keyring == "" && o.allowedSigners == "" {
		if o.requireSigned {
			return nil, remedy.Errorf("give --keyring FILE or --allowed-signers FILE",
				"--require-signed needs the keys that may sign")
		}
		return nil, nil
	}
	read := func(path string, most int64) ([]byte, error) {
		if path == "" {
			return nil, nil
		}
		return capped.ReadFile(path, most)
	}
	var err error
	if o.keys.keyring, err = read(o.keyring, commitsig.MaxKeyring); err != nil {
		return nil, remedy.Errorf("name a file of OpenPGP public keys", "reading --keyring: %v", err)
	}
	if o.keys.signers, err = read(o.allowedSigners, commitsig.MaxAllowedSigners); err != nil {
		return nil, remedy.Errorf("name an allowed signers file, as ssh-keygen(1) describes it",
			"reading --allowed-signers: %v", err)
	}
	keys, err := commitsig.New(o.keys.keyring, o.keys.signers)
	return keys,
		remedy.With(err, "name a file of OpenPGP public keys with --keyring, an allowed signers file with "+
			"--allowed-signers")
}

// What commands promise to stay below, in bytes.
const (
	mostOfShard  = 500 << 20 // and of merge
	mostOfMirror = 400 << 20 // at 100,000 listings
)

// frugal collects garbage more often as memory nears the limit that a command promises, unless GOMEMLIMIT says
// otherwise. Exceeding the limit is not an error.
func frugal(most int64) {
	const own = 36 << 20 // the program's own pages, less the floor
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(most - own)
	}
}
