// Package publish keeps the published log of a registry: its entries and tiles, its log checkpoints, and the map at the
// last entry. It keeps the log checkpoint that the log signed last, and the last one that enough witnesses cosigned.
//
// A run continues the log in a directory. Each of its steps is durable before the next, so that a run that is killed
// anywhere is continued by the next one, and no two log checkpoints that left the machine are inconsistent.
package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/prove"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Rule is what the catalogue of an audit says about the log.
var Rule = verdict.Rule{
	ID:    "log",
	Title: "the published log continues, and enough witnesses cosign it",
	Cite:  "RFC 0026 sections 7 and 8",
	Why:   "a log that shows two readers different histories makes every proof from it worthless",
	Fix:   "keep the log's directory and the clone, and compare them with another mirror",
	Codes: []strict.Code{
		{ID: codeForked, Meaning: "the clone's history is not a continuation of the log that was signed before; " +
			"nothing is signed", Fix: keepBoth},
		{ID: codeRefused, Meaning: "a witness holds another history of the log than the one that it is shown",
			Fix: keepBoth},
		{ID: codeAhead, Meaning: "a witness holds a larger size of the log: another mirror of this log is ahead",
			Fix: fetchIt},
		{ID: codeUnknown, Meaning: "a witness does not know the log's key or name", Fix: askWitness},
		{ID: codeUnavailable, Meaning: "a witness gave no answer, or one without a cosignature of its key",
			Fix: tryLater},
		{ID: codeUnwitnessed, Meaning: "too few witnesses cosigned the new log checkpoint, so that the old one stays",
			Fix: tryLater},
	},
}

const (
	codeForked      = "log-forked"
	codeRefused     = "witness-refused"
	codeAhead       = "witness-ahead"
	codeUnknown     = "witness-unknown-log"
	codeUnavailable = "witness-unavailable"
	codeUnwitnessed = "log-unwitnessed"

	keepBoth   = "keep the log's directory and the clone, and ask the maintainers which history is the registry's"
	fetchIt    = "fetch the registry, and run again"
	askWitness = "ask the witness's operator to add the log's verifier key"
	tryLater   = "run again later"
)

// Log is a log that is published.
type Log struct {
	Dir    string
	Signer note.Signer
	Key    *proof.Key    // the signer's key; its name is the log's
	Policy *proof.Policy // nil: no witness is asked, and each log checkpoint is published
	Now    func() time.Time
	// Transport makes connections to a witness that the operator named.
	Transport func(witness *url.URL) (http.RoundTripper, error)

	history           *prove.History // what Begin and Step have logged; nil: nothing
	restored          *proof.Hash    // root of the map that its file has; nil: the file is missing or damaged
	signed, published *proof.Signed  // of earlier runs; nil: none
	cosignatures      []byte         // the lines of published
	// limit ends a request to a witness; nil: it ends after askTime.
	limit func(context.Context, proof.Peer) (context.Context, context.CancelFunc)
}

// Open reads the log checkpoints of earlier runs. It refuses those that the log's key did not sign: they are neither
// rebuilt nor ignored.
func (l *Log) Open() (err error) {
	if l.signed, _, err = l.readOwn("signed"); err == nil {
		l.published, l.cosignatures, err = l.readOwn("checkpoint")
	}
	return err
}

// readOwn returns a log checkpoint of the log, and its signature lines.
func (l *Log) readOwn(name string) (s *proof.Signed, lines []byte, err error) {
	file := filepath.Join(l.Dir, name)
	data, err := capped.ReadFile(file, proof.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err == nil {
		s, err = proof.ParseSigned(data)
	}
	if err == nil {
		var signature []byte
		signature, err = l.Key.Signature(s)
		if err == nil && (signature == nil || s.Origin != l.Key.Name()) {
			err = fmt.Errorf("the log %q did not sign it", l.Key.Name())
		}
	}
	if err != nil {
		return nil, nil, remedy.Errorf("put the last good copy of the file there, or give the key that signed it with "+
			"--log-sign-key", "reading %q: %w", file, err)
	}
	_, lines, _ = bytes.Cut(data, []byte("\n\n"))
	return s, lines, nil
}

// newest returns the larger of the earlier log checkpoints, or nil.
func (l *Log) newest() *proof.Signed {
	if l.signed == nil || l.published != nil && l.published.Size > l.signed.Size {
		return l.published
	}
	return l.signed
}

// Run continues the log up to a commit whose history was verified. accepted reports whether a rewrite that brought a
// commit is accepted.
func (l *Log) Run(ctx context.Context, repo *registry.Repository, tip string,
	accepted func(commit string) bool) (out verdict.Outcome, err error) {
	h, forked, err := l.build(ctx, repo, tip, accepted)
	if err != nil {
		return out, err
	}
	if forked != "" {
		out.Errorf(verdict.At{}, "", codeForked, "%s", forked).WithFix("%s", keepBoth)
		return out, nil
	}
	if err := l.writeTiles(h); err != nil {
		return out, err
	}
	c := proof.Checkpoint{Origin: l.Key.Name(), Size: h.Log.Size()}
	if c.Root, err = h.Log.Root(c.Size); err != nil {
		return out, err
	}
	signed, err := note.Sign(&note.Note{Text: c.Text()}, l.Signer)
	if err != nil {
		return out, fmt.Errorf("signing the log checkpoint: %w", err)
	}
	if err := l.write("signed", signed); err != nil {
		return out, err
	}
	if err := l.writeMap(h); err != nil {
		return out, err
	}
	whole, cosigned, err := l.cosign(ctx, h, c, signed, &out)
	if err != nil || whole == nil {
		return out, err
	}
	out.Verified = fmt.Sprintf("size %d, root %s, cosigned by %d", c.Size, c.Root, cosigned)
	return out, l.write("checkpoint", whole)
}

// Begin continues the log up to from, the commit after which an audit is about to read the history, so that See and
// Step can log what the audit reads. Run logs the rest, and finds again what goes wrong here.
func (l *Log) Begin(ctx context.Context, repo *registry.Repository, from string) {
	h, err := l.resume(ctx, repo)
	if err == nil && from != "" {
		var chain []string
		chain, err = repo.FirstParents(ctx, "", from)
		if err == nil && (h.Log.Size() == 0 || slices.Contains(chain, h.Last.Commit)) {
			err = h.Extend(ctx, from, 0)
		}
	}
	if err == nil {
		l.history = h
	}
}

// See remembers what a change of the next Step brings. Changes come in path order.
func (l *Log) See(s *registry.Step, c registry.Change, text []byte) {
	if l.history != nil {
		l.history.See(s, c, text)
	}
}

// Step logs a commit that the audit judged, if it continues the log. The marker is that of the audit's ledger.
func (l *Log) Step(ctx context.Context, s *registry.Step, m *checks.Marker) {
	if l.history != nil && l.history.Step(ctx, s, m) != nil {
		l.history = nil
	}
}

// resume returns the log as it was signed last.
func (l *Log) resume(ctx context.Context, repo *registry.Repository) (*prove.History, error) {
	h := prove.NewHistory(repo)
	old := l.newest()
	if old == nil {
		return h, nil
	}
	known, _ := proof.ReadEntries(old.Checkpoint, func(path string, most int64) ([]byte, error) {
		return capped.ReadFile(filepath.Join(l.Dir, filepath.FromSlash(path)), most)
	})
	if known == nil { // without its tiles the log is built only from the clone
		return h, nil
	}
	last := known[len(known)-1].Commit
	if _, err := repo.Commit(ctx, last); errors.Is(err, gitstore.ErrNotFound) {
		return nil, remedy.Errorf("fetch it from a mirror of the registry, and keep a branch at it",
			"the clone lacks commit %s, the last one in the log", last)
	}
	if m, size := l.readMap(known); m != nil {
		if there, err := prove.Restore(ctx, repo, known[:size], m); err == nil { // else the clone lacks a commit
			h, l.restored = there, &known[size-1].Files
		}
	}
	if err := h.Follow(ctx, known); err != nil {
		return nil, err
	}
	return h, h.Extend(ctx, last, old.Size)
}

// build continues the log up to tip, and says why it is not a continuation of the earlier one.
func (l *Log) build(ctx context.Context, repo *registry.Repository, tip string,
	accepted func(commit string) bool) (h *prove.History, forked string, err error) {
	if h = l.history; h == nil {
		if h, err = l.resume(ctx, repo); err != nil {
			return nil, "", err
		}
	}
	chain, err := repo.FirstParents(ctx, "", tip)
	if err != nil {
		return nil, "", err
	}
	logged := map[string]bool{}
	for _, e := range h.Entries {
		logged[e.Commit] = true
	}
	came := func(commit string) bool { return !logged[commit] && accepted(commit) }
	if last := h.Last.Commit; last != "" && !slices.Contains(chain, last) && !slices.ContainsFunc(chain, came) {
		return nil, fmt.Sprintf("the last logged commit %s is not in the first-parent history of %s, and no "+
			"accepted rewrite brought a commit of it", last, tip), nil
	}
	if err := h.Extend(ctx, tip, 0); err != nil {
		return nil, "", err
	}
	for _, s := range []*proof.Signed{l.signed, l.published} {
		if s == nil {
			continue
		}
		if s.Size > h.Log.Size() {
			return nil, fmt.Sprintf("the log was signed at size %d, and the clone gives %d", s.Size, h.Log.Size()), nil
		}
		if root, err := h.Log.Root(s.Size); err != nil || root != s.Root {
			return nil, fmt.Sprintf("the log was signed at size %d with the root %s, and the clone gives %s", s.Size,
				s.Root, root), err
		}
	}
	return h, "", nil
}

// writeTiles writes the tiles that are missing or that differ.
func (l *Log) writeTiles(h *prove.History) error {
	hashes, bundles := proof.Tiles(0, h.Log.Size())
	for _, t := range hashes {
		data, err := tlog.ReadTileData(t, &h.Log)
		if err == nil {
			err = l.writeTile(t, data)
		}
		if err != nil {
			return err
		}
	}
	for _, t := range bundles {
		var data []byte
		first := t.N << t.H
		for _, e := range h.Entries[first : first+int64(t.W)] {
			data = proof.AppendEntry(data, e.Text())
		}
		if err := l.writeTile(t, data); err != nil {
			return err
		}
	}
	return nil
}

// writeTile writes a tile. If the tile is full, it then removes the partial tiles that earlier runs left of it.
func (l *Log) writeTile(t tlog.Tile, data []byte) error {
	err := l.write(proof.TilePath(t), data)
	if err == nil && t.W == 1<<t.H {
		err = os.RemoveAll(filepath.Join(l.Dir, filepath.FromSlash(proof.TilePath(t)+".p")))
	}
	return err
}

// write replaces a file of the directory if it differs, durably.
func (l *Log) write(path string, data []byte) error {
	file := filepath.Join(l.Dir, filepath.FromSlash(path))
	if old, err := capped.ReadFile(file, int64(len(data))); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return l.replace(file, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// replace replaces a file of the directory, durably.
func (l *Log) replace(file string, fill func(io.Writer) error) error {
	err := os.MkdirAll(filepath.Dir(file), 0o777)
	if err == nil {
		err = atomicfile.WriteFunc(file, 0o666, fill)
	}
	for dir := filepath.Dir(file); err == nil; dir = filepath.Dir(dir) {
		err = atomicfile.SyncDirectory(dir)
		if dir == filepath.Clean(l.Dir) || dir == filepath.Dir(dir) {
			break
		}
	}
	if err != nil {
		return remedy.Errorf("name a directory that can be written with --log", "writing %q: %w", file, err)
	}
	return nil
}

// cosign asks each witness, and returns the log checkpoint with all cosignatures if they meet the policy.
func (l *Log) cosign(ctx context.Context, h *prove.History, c proof.Checkpoint, signed []byte,
	out *verdict.Outcome) (whole []byte, cosigned int, err error) {
	if l.Policy == nil {
		return signed, 0, nil
	}
	lines := make([]string, len(l.Policy.Witnesses))
	if l.published != nil && l.published.Checkpoint == c {
		for i, w := range l.Policy.Witnesses {
			lines[i] = lineOf(l.cosignatures, w.Key, c, l.Now())
		}
	}
	answers := l.askAll(ctx, h, c, signed)
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	var findings []verdict.Finding
	for i, a := range answers {
		lines[i] = lineOf([]byte(a.line+lines[i]), l.Policy.Witnesses[i].Key, c, l.Now())
		if a.code != "" {
			findings = append(findings, verdict.Finding{Severity: a.severity, Code: a.code, Message: a.message,
				Fix: a.fix})
		}
	}
	whole = signed
	for _, line := range lines {
		if line != "" {
			cosigned++
			whole = append(whole, line...)
		}
	}
	missing := l.Policy.Missing(func(witness int) bool { return lines[witness] != "" })
	for i := range findings {
		if missing == 0 && findings[i].Severity == verdict.Doubt {
			findings[i].Severity = verdict.Warning
		}
	}
	out.Findings = append(out.Findings, findings...)
	if missing > 0 {
		out.Doubtf(verdict.At{}, "", codeUnwitnessed, "%d of %d witnesses cosigned size %d, and the quorum lacks %d; "+
			"the published log checkpoint stays", cosigned, len(lines), c.Size, missing).WithFix("%s", tryLater)
		return nil, 0, nil
	}
	return whole, cosigned, nil
}
