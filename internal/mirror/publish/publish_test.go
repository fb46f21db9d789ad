package publish

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/prove"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var testTime = time.Date(2026, 5, 7, 0, 0, 0, 0, time.UTC)

// witness is a witness by C2SP tlog-witness, on loopback.
type witness struct {
	name    string
	private ed25519.PrivateKey
	log     *proof.Key
	server  *httptest.Server

	mu       sync.Mutex
	size     int64
	root     tlog.Hash
	now      time.Time
	requests []int64 // the sizes old
	// answer replaces the answers of the witness; nil: it is honest.
	answer func(w http.ResponseWriter)
}

func newWitness(t *testing.T, name string, log *proof.Key) *witness {
	seed := sha256.Sum256([]byte(name))
	w := &witness{name: name, private: ed25519.NewKeyFromSeed(seed[:]), log: log, now: testTime}
	w.server = httptest.NewServer(w)
	t.Cleanup(w.server.Close)
	return w
}

func (w *witness) hash() []byte {
	sum := sha256.Sum256(slices.Concat([]byte(w.name+"\n"), []byte{4}, w.private.Public().(ed25519.PublicKey)))
	return sum[:4]
}

func (w *witness) verifier() string {
	key := append([]byte{4}, w.private.Public().(ed25519.PublicKey)...)
	return fmt.Sprintf("%s+%x+%s", w.name, w.hash(), base64.StdEncoding.EncodeToString(key))
}

func (w *witness) line(text string) string {
	sig := binary.BigEndian.AppendUint64(w.hash(), uint64(w.now.Unix()))
	sig = append(sig, ed25519.Sign(w.private, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", w.now.Unix(), text))...)
	return "— " + w.name + " " + base64.StdEncoding.EncodeToString(sig) + "\n"
}

func (w *witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	head, checkpoint, _ := bytes.Cut(body, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	var old int64
	_, err := fmt.Sscanf(lines[0], "old %d", &old)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/w/add-checkpoint" {
		rw.WriteHeader(http.StatusBadRequest)
		return
	}
	w.requests = append(w.requests, old)
	if w.answer != nil {
		w.answer(rw)
		return
	}
	s, err := proof.ParseSigned(checkpoint)
	if err != nil {
		rw.WriteHeader(http.StatusBadRequest)
		return
	}
	if signature, err := w.log.Signature(s); err != nil || signature == nil {
		rw.WriteHeader(http.StatusForbidden)
		return
	}
	if old != w.size {
		rw.Header().Set("Content-Type", "text/x.tlog.size")
		rw.WriteHeader(http.StatusConflict)
		fmt.Fprintf(rw, "%d\n", w.size)
		return
	}
	var hashes tlog.TreeProof
	for _, line := range lines[1:] {
		h, err := tlog.ParseHash(line)
		if err != nil {
			rw.WriteHeader(http.StatusBadRequest)
			return
		}
		hashes = append(hashes, h)
	}
	switch {
	case old == s.Size && w.root != s.Root, old > s.Size, (old == 0 || old == s.Size) && len(hashes) > 0,
		old > 0 && old < s.Size && tlog.CheckTree(hashes, s.Size, s.Root, old, w.root) != nil:
		rw.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	w.size, w.root = s.Size, s.Root
	_, _ = io.WriteString(rw, w.line(s.Text()))
}

// published is a clone whose log is published in a directory, with witnesses of which two must cosign.
type published struct {
	t         *testing.T
	clone     *gittest.Clone
	dir       string
	signer    note.Signer
	key       *proof.Key
	witnesses []*witness
	policy    string
	now       time.Time
	// limit ends a request to a witness; nil: as in the program.
	limit func(context.Context, proof.Peer) (context.Context, context.CancelFunc)
	// audited is the commit after which an audit reads the history for the log; nil: the log reads it.
	audited *string
	// accepted is the commit of an accepted rewrite.
	accepted string
}

func newPublished(t *testing.T, witnesses int) *published {
	p := &published{t: t, clone: gittest.New(t), dir: t.TempDir(), now: testTime}
	private, public, err := note.GenerateKey(bytes.NewReader(make([]byte, 32)), "log.example")
	must.OK(t, err)
	if p.signer, err = note.NewSigner(private); err != nil {
		t.Fatal(err)
	}
	if p.key, err = proof.ParseKey(public); err != nil {
		t.Fatal(err)
	}
	p.policy = "log " + public + "\n"
	group := "group two 2"
	for i := range witnesses {
		w := newWitness(t, fmt.Sprintf("w%d.example", i), p.key)
		p.witnesses = append(p.witnesses, w)
		p.policy += fmt.Sprintf("witness w%d %s %s/w/\n", i, w.verifier(), w.server.URL)
		group += fmt.Sprintf(" w%d", i)
	}
	p.policy += group + "\nquorum two\n"
	p.clone.Commit("README.md", "registry\n")
	p.clone.Commit("implementations/a.json", "{}\n")
	return p
}

// run publishes main, and requires these codes of findings, each with its severity.
func (p *published) run(want ...string) verdict.Outcome {
	p.t.Helper()
	out := must.Get(p.try("main"))(p.t)
	var got []string
	for _, f := range out.Findings {
		got = append(got, f.Code+" "+f.Severity.String())
	}
	if !slices.Equal(got, want) {
		p.t.Fatalf("findings %q, want %q\n%+v", got, want, out.Findings)
	}
	return out
}

func (p *published) try(rev string) (verdict.Outcome, error) {
	p.t.Helper()
	repo, err := registry.Open(p.clone.Dir)
	must.OK(p.t, err)
	defer repo.Close()
	l := &Log{Dir: p.dir, Signer: p.signer, Key: p.key, Now: func() time.Time { return p.now }, limit: p.limit,
		Transport: func(u *url.URL) (http.RoundTripper, error) {
			return live.NewTransport(live.Options{}, u)
		}}
	if p.policy != "" {
		if l.Policy, err = proof.ParsePolicy([]byte(p.policy)); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := l.Open(); err != nil {
		return verdict.Outcome{}, err
	}
	tip := p.clone.Git("rev-parse", rev)
	if p.audited != nil {
		ledger := checks.NewLedger(repo, p.now)
		if *p.audited != "" {
			ledger = checks.LedgerAt(repo, *p.audited, p.now)
		}
		marker := ledger.Marker()
		l.Begin(p.t.Context(), repo, *p.audited)
		err := repo.Steps(p.t.Context(), *p.audited, tip, func(s *registry.Step) error {
			ledger.Seen = func(c registry.Change, text []byte) { l.See(s, c, text) }
			_, err := ledger.Step(p.t.Context(), s)
			l.Step(p.t.Context(), s, marker)
			return err
		})
		must.OK(p.t, err)
	}
	return l.Run(p.t.Context(), repo, tip, func(commit string) bool { return commit == p.accepted })
}

// read returns a log checkpoint of the directory, nil if it is not there.
func (p *published) read(name string) *proof.Signed {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if os.IsNotExist(err) {
		return nil
	}
	s := must.Get(proof.ParseSigned(data))(p.t)
	return s
}

// sizes requires the sizes of the two log checkpoints, 0 for none, and that witnesses cosigned the published one.
func (p *published) sizes(signed, checkpoint int64, cosigned ...int) {
	p.t.Helper()
	for name, want := range map[string]int64{"signed": signed, "checkpoint": checkpoint} {
		s := p.read(name)
		if got := int64(0); s == nil && got != want || s != nil && s.Size != want {
			p.t.Errorf("%s is %+v, want size %d", name, s, want)
		}
	}
	if s := p.read("checkpoint"); s != nil {
		var got []int
		for i, w := range p.witnesses {
			key := must.Get(proof.ParseKey(w.verifier()))(p.t)
			if _, is, err := key.Cosigned(s); err != nil {
				p.t.Error(err)
			} else if is {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, cosigned) {
			p.t.Errorf("cosigned by %v, want %v", got, cosigned)
		}
	}
}

func status(code int, text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text)
	}
}

// gibibyte answers with 1 GiB, or as much of it as is read.
func gibibyte(w http.ResponseWriter) {
	part := bytes.Repeat([]byte("x"), 1<<20)
	for range 1 << 10 {
		if _, err := w.Write(part); err != nil {
			return
		}
	}
}

func TestWitnessed(t *testing.T) {
	p := newPublished(t, 3)
	down := p.witnesses[2]
	down.answer = status(http.StatusServiceUnavailable, "")
	p.run("witness-unavailable warning")
	p.sizes(2, 2, 0, 1)
	// A quiet registry renews the cosignatures, and the witness that was down is advanced although the quorum was met.
	first := p.read("checkpoint")
	for _, w := range p.witnesses {
		w.answer, w.now = nil, testTime.Add(time.Hour)
	}
	p.now = testTime.Add(time.Hour)
	p.run()
	p.sizes(2, 2, 0, 1, 2)
	key := must.Get(proof.ParseKey(p.witnesses[0].verifier()))(t)
	before, _, _ := key.Cosigned(first)
	renewed := func() {
		t.Helper()
		if after, _, _ := key.Cosigned(p.read("checkpoint")); !after.Equal(before.Add(time.Hour)) {
			t.Errorf("the cosignature of %v is of %v, want an hour later", before, after)
		}
	}
	renewed()
	if !slices.Equal(down.requests, []int64{0, 2, 0}) {
		t.Errorf("the witness that was down was asked with old %v", down.requests)
	}
	// An earlier line over the same text stays.
	down.answer = status(http.StatusServiceUnavailable, "")
	p.run("witness-unavailable warning")
	p.sizes(2, 2, 0, 1, 2)
	// It stays too if the witness repeats an older one, or sends both.
	text := first.Text()
	newest := p.witnesses[0].line(text)
	p.witnesses[0].now = testTime
	p.run("witness-unavailable warning")
	renewed()
	must.OK(t, os.Remove(filepath.Join(p.dir, "checkpoint")))
	p.witnesses[0].answer = status(http.StatusOK, p.witnesses[0].line(text)+newest+p.witnesses[0].line(text))
	p.run("witness-unavailable warning")
	renewed()
	p.witnesses[0].answer = nil
	// The log grows.
	p.clone.Commit()
	p.clone.Commit()
	p.run("witness-unavailable warning")
	p.sizes(4, 4, 0, 1)
}

func TestUnwitnessed(t *testing.T) {
	p := newPublished(t, 3)
	p.run()
	for _, w := range p.witnesses[:2] {
		w.answer = status(http.StatusInternalServerError, "")
	}
	p.clone.Commit()
	p.run("witness-unavailable inconclusive", "witness-unavailable inconclusive", "log-unwitnessed inconclusive")
	p.sizes(3, 2, 0, 1, 2)
	// The next run goes on from what was signed, as after one that was killed before it sent anything.
	for _, w := range p.witnesses {
		w.answer = nil
	}
	p.clone.Commit()
	p.run()
	p.sizes(4, 4, 0, 1, 2)
	if got := p.witnesses[2].requests; !slices.Equal(got, []int64{0, 2, 2, 3}) {
		t.Errorf("the witness that went on was asked with old %v", got)
	}
	// Killed after the tiles and before the signature, and with a signed log checkpoint alone.
	p.clone.Commit()
	must.OK(t, os.Remove(filepath.Join(p.dir, "checkpoint")))
	p.run()
	p.sizes(5, 5, 0, 1, 2)
	must.OK(t, os.Remove(filepath.Join(p.dir, "signed")))
	p.run()
	p.sizes(5, 5, 0, 1, 2)
}

// TestHostileWitness requires that no answer costs more than two requests, and that none counts but a cosignature.
func TestHostileWitness(t *testing.T) {
	conflict := func(texts ...string) func(http.ResponseWriter) { // the last text answers all further requests
		return func(w http.ResponseWriter) {
			status(http.StatusConflict, texts[0])(w)
			texts = texts[min(1, len(texts)-1):]
		}
	}
	stranger := newWitness(t, "stranger.example", nil)
	for name, tt := range map[string]struct {
		answer   func(http.ResponseWriter)
		want     string
		requests int
	}{
		"another history":    {status(http.StatusUnprocessableEntity, ""), "witness-refused error", 1},
		"conflict for ever":  {conflict("1\n"), "witness-refused error", 2},
		"a size and no size": {conflict("1\n", "x\n"), "witness-refused error", 2},
		"another size":       {conflict("1\n", "2\n"), "witness-unavailable warning", 2},
		"another, ahead":     {conflict("1\n", "3\n"), "witness-ahead warning", 2},
		"ahead":              {conflict("3\n"), "witness-ahead warning", 1},
		"far ahead":          {conflict("9223372036854775807\n"), "witness-ahead warning", 1},
		"no size":            {conflict("x\n"), "witness-unavailable warning", 1},
		"a negative size":    {conflict("-1\n"), "witness-unavailable warning", 1},
		"a size twice":       {conflict("1\n1\n"), "witness-unavailable warning", 1},
		"unknown log":        {status(http.StatusForbidden, ""), "witness-unknown-log warning", 1},
		"not found":          {status(http.StatusNotFound, ""), "witness-unknown-log warning", 1},
		"no line":            {status(http.StatusOK, ""), "witness-unavailable warning", 1},
		"a wrong line":       {status(http.StatusOK, stranger.line("x")), "witness-unavailable warning", 1},
		"text":               {status(http.StatusOK, strings.Repeat("— x\n", 1000)), "witness-unavailable warning", 1},
		"without end":        {gibibyte, "witness-unavailable warning", 1},
		"a redirect":         {status(http.StatusTemporaryRedirect, ""), "witness-unavailable warning", 1},
		"an early hint only": {status(http.StatusNoContent, ""), "witness-unavailable warning", 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublished(t, 3)
			p.witnesses[1].answer = tt.answer
			p.run(tt.want)
			p.sizes(2, 2, 0, 2)
			if got := len(p.witnesses[1].requests); got != tt.requests {
				t.Errorf("%d requests, want %d", got, tt.requests)
			}
		})
	}
}

// TestHangingWitness requires that a witness that never ends its answer gets at most two requests, and changes nothing
// for the others. The test cancels a request as soon as it hangs, as the time limit would.
func TestHangingWitness(t *testing.T) {
	for name, tt := range map[string]struct {
		begin    []func(http.ResponseWriter) // of each request, before it hangs; nil: an answer that ends
		requests int
	}{
		"no answer":           {[]func(http.ResponseWriter){func(http.ResponseWriter) {}}, 1},
		"half an answer":      {[]func(http.ResponseWriter){status(http.StatusOK, "— w1.example AA")}, 1},
		"half a conflict":     {[]func(http.ResponseWriter){status(http.StatusConflict, "1")}, 1},
		"a conflict and none": {[]func(http.ResponseWriter){nil, func(http.ResponseWriter) {}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublished(t, 3)
			hanging, hangs, over := p.witnesses[1], make(chan struct{}), make(chan struct{})
			p.limit = func(ctx context.Context, w proof.Peer) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				if w.Key.Name() == "w1.example" {
					go func() {
						select {
						case <-hangs:
							cancel()
						case <-ctx.Done():
						}
					}()
				}
				return ctx, cancel
			}
			end := sync.OnceFunc(func() { close(over) })
			t.Cleanup(end)
			hanging.answer = func(w http.ResponseWriter) {
				begin := tt.begin[len(hanging.requests)-1]
				if begin == nil {
					status(http.StatusConflict, "1\n")(w)
					return
				}
				begin(w)
				_ = http.NewResponseController(w).Flush()
				close(hangs)
				<-over
			}
			p.policy = strings.Replace(p.policy, "group two 2", "group two 1", 1)
			out := must.Get(p.try("main"))(t)
			end()
			hanging.mu.Lock()
			defer hanging.mu.Unlock()
			found := slices.ContainsFunc(out.Findings, func(f verdict.Finding) bool {
				return f.Code == "witness-unavailable" && f.Severity == verdict.Warning &&
					strings.Contains(f.Message, `"w1.example"`)
			})
			if got := len(hanging.requests); !found || got != tt.requests {
				t.Errorf("%d requests, want %d; %+v", got, tt.requests, out.Findings)
			}
			for _, f := range out.Findings {
				if f.Code == "witness-refused" {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// TestFork requires an honest witness to refuse what a log with its key shows somebody else, and the log to refuse it
// before that.
func TestFork(t *testing.T) {
	p := newPublished(t, 2)
	p.clone.Commit("implementations/b.json", "{}\n")
	p.run()
	p.sizes(3, 3, 0, 1)
	p.clone.Git("checkout", "-q", "-B", "main", "main~1")
	p.clone.Commit("implementations/c.json", "{}\n")
	p.run("log-forked error")
	p.sizes(3, 3, 0, 1)
	if got := len(p.witnesses[0].requests); got != 1 {
		t.Errorf("%d requests", got)
	}
	p.dir = t.TempDir() // whoever loses the directory forgets what was signed
	p.run("witness-refused error", "witness-refused error", "log-unwitnessed inconclusive")
	p.sizes(3, 0)
}

func TestNoPolicy(t *testing.T) {
	p := newPublished(t, 0)
	p.policy = ""
	p.run()
	p.sizes(2, 2)
	if signed, published := p.read("signed"), p.read("checkpoint"); signed.Checkpoint != published.Checkpoint {
		t.Errorf("signed %+v, published %+v", signed, published)
	}
}

// TestDamaged requires a file that the log's key did not sign to stay as it is, and to end the run.
func TestDamaged(t *testing.T) {
	for _, name := range []string{"signed", "checkpoint"} {
		p := newPublished(t, 2)
		p.run()
		file := filepath.Join(p.dir, name)
		text := must.Read(t, file)
		for i, damaged := range [][]byte{nil, text[:len(text)/2],
			bytes.Replace(text, []byte("\n2\n"), []byte("\n1\n"), 1),
			bytes.Replace(text, []byte("log.example\n"), []byte("other.example\n"), 1)} {
			must.OK(t, os.WriteFile(file, damaged, 0o666))
			if _, err := p.try("main"); err == nil {
				t.Errorf("%s, damage %d: it is not noticed", name, i)
			}
			if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, damaged) {
				t.Errorf("%s, damage %d: the file was changed", name, i)
			}
		}
		if got := len(p.witnesses[0].requests); got != 1 {
			t.Errorf("%s: %d requests", name, got)
		}
	}
}

// TestPartialTiles requires partial tiles to go once their full tile is there, and the log to be readable at each size.
func TestPartialTiles(t *testing.T) {
	l := &Log{Dir: t.TempDir()}
	exists := func(path string) bool {
		_, err := os.Lstat(filepath.Join(l.Dir, filepath.FromSlash(path)))
		return err == nil
	}
	h := prove.NewHistory(nil)
	var checkpoints []proof.Checkpoint
	for size := range int64(258) {
		if size == 255 || size == 257 {
			root, err := h.Log.Root(size)
			if err == nil {
				err = l.writeTiles(h)
			}
			must.OK(t, err)
			checkpoints = append(checkpoints, proof.Checkpoint{Origin: "x", Size: size, Root: root})
			for _, of := range []string{"0", "entries"} {
				if exists("tile/"+of+"/000.p") == (size > 256) || exists("tile/"+of+"/000") != (size > 256) {
					t.Errorf("size %d: the partial tiles of %s are there: %v", size, of, exists("tile/"+of+"/000.p"))
				}
			}
		}
		e := proof.Entry{Commit: fmt.Sprintf("%040x", size)}
		must.OK(t, h.Log.Add(e.Text()))
		h.Entries = append(h.Entries, e)
	}
	for _, c := range checkpoints { // a reader with the earlier log checkpoint takes the full tile
		all, err := proof.ReadEntries(c, func(path string, most int64) ([]byte, error) {
			return capped.ReadFile(filepath.Join(l.Dir, filepath.FromSlash(path)), most)
		})
		if err != nil || int64(len(all)) != c.Size {
			t.Errorf("size %d: %d entries, %v", c.Size, len(all), err)
		}
	}
}
