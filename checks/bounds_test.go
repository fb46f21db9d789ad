package checks

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	jsonschema "github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Each list of findings names as many as its bound says, and counts the rest in one more finding.
func TestNamedFindings(t *testing.T) {
	receiptOf := func(signatures int) *receipt.Receipt {
		value := receipt.Signature{Value: "placeholder:none"}
		return &receipt.Receipt{Signatures: slices.Repeat([]receipt.Signature{value}, signatures)}
	}
	found := func(out verdict.Outcome, err error) verdict.Outcome {
		if err != nil {
			t.Error(err)
		}
		return out
	}
	added := func(path string, n int) *Run {
		change := registry.Change{Path: path, Head: &registry.Entry{Mode: registry.ModeSubmodule}}
		return &Run{Range: &registry.Range{Changes: slices.Repeat([]registry.Change{change}, n)}}
	}
	for _, c := range []struct {
		name   string
		bound  int
		find   func(n int) verdict.Outcome
		counts string // what the finding after the bound says of one more, and of two
	}{
		{"violations", 20, func(n int) verdict.Outcome {
			return ReceiptSchema(&receipt.Receipt{}, make([]jsonschema.Violation, n))
		}, "%d more place"},
		{"placeholders", 20, func(n int) verdict.Outcome { return Placeholders(receiptOf(n)) }, "%d more signature"},
		{"private keys", 100, func(n int) verdict.Outcome {
			r := &Run{}
			r.leakage.set(slices.Repeat([]leak{{path: "a.pem", kind: "a PEM block"}}, n), nil)
			return found(privateKeys(r))
		}, "%d more file"},
		{"refused objects", 100, func(n int) verdict.Outcome {
			var out verdict.Outcome
			reportRefused(&out, make([]registry.Refused, n), "remove it")
			return out
		}, "%d more object"},
		{"twins", 100, func(n int) verdict.Outcome {
			return twinFindings(slices.Repeat([]twin{{"a", "A", false}}, n))
		}, "%d more pairs"},
		{"standing twins", 100, func(n int) verdict.Outcome {
			out := twinFindings(slices.Repeat([]twin{{"a", "A", true}}, n))
			if out.Has(verdict.Error) {
				t.Error("a twin that the base tree has is an error")
			}
			return out
		}, "%d more pairs"},
		{"long paths", 100, func(n int) verdict.Outcome {
			return found(longPaths(added(strings.Repeat("a", 256), n)))
		}, "%d more new path"},
		{"paths with a colon", 100, func(n int) verdict.Outcome {
			return found(portable(added("a:b", n)))
		}, "%d more new governance file"},
	} {
		for more := range 3 {
			out := c.find(c.bound + more)
			if len(out.Findings) != c.bound+min(more, 1) {
				t.Errorf("%s: %d findings of %d", c.name, len(out.Findings), c.bound+more)
			}
			if want := fmt.Sprintf(c.counts, more); more > 0 && !strings.Contains(out.Findings[c.bound].Message, want) {
				t.Errorf("%s: %q does not have %q", c.name, out.Findings[c.bound].Message, want)
			}
		}
	}
	levels := slices.Repeat([]level.Level{"L1"}, 11)
	if got, want := levelList(levels), strings.Repeat("L1, ", 9)+"L1"; got != want {
		t.Errorf("of 11 levels: %q; expected %q", got, want)
	}
	if got := levelList(nil); got != "none" {
		t.Errorf("of no level: %q", got)
	}
}

// A new path may have 1,024 bytes, and 255 in each part.
func TestLongPaths(t *testing.T) {
	part := strings.Repeat("a", 255)
	for path, want := range map[string]int{part: 0, part + "a": 1, "b/" + part: 0, "b/a" + part: 1,
		strings.Repeat("aaaaaaa/", 127) + "aaaaaaaa": 0, strings.Repeat("aaaaaaa/", 127) + "aaaaaaaaa": 1} {
		change := registry.Change{Path: path, Head: &registry.Entry{}}
		find := func(c registry.Change) int {
			out, err := longPaths(&Run{Range: &registry.Range{Changes: []registry.Change{c}}})
			if err != nil {
				t.Error(err)
			}
			return len(out.Findings)
		}
		if got := find(change); got != want {
			t.Errorf("a path of %d bytes: %d findings; expected %d", len(path), got, want)
		}
		for _, sides := range [][2]*registry.Entry{{change.Head, change.Head}, {change.Head, nil}, {nil, nil}} {
			if find(registry.Change{Path: path, Base: sides[0], Head: sides[1]}) != 0 {
				t.Errorf("a path of %d bytes that is not new: a finding", len(path))
			}
		}
	}
}

// A search for private keys that would take too long is an error, not a pass.
func TestKeySearchLimits(t *testing.T) {
	r := must.Get(fixture.NewRepo(t.TempDir()))(t)
	r.Write("a.txt", []byte("0123456789"))
	r.Commit("Write", fixture.Clock)
	r.Branch("main")
	must.OK(t, r.Sync())
	repo := opened(t, r.Dir)
	tree := must.Get(repo.Tree(t.Context(), "main"))(t)
	entry := must.Get(tree.Leaf("a.txt"))(t)
	run := &Run{Context: t.Context(), Repo: repo, Base: emptyStanding(tree)}
	seen := map[registry.Entry]*leak{}
	for n := range maxKeyFiles - 1 {
		seen[registry.Entry{Mode: registry.Mode(n + 1<<20)}] = nil
	}
	for _, c := range []struct {
		name  string
		bytes int
		more  bool // as many files as may be were read
		want  error
	}{
		{"the last byte", maxKeyBytes - 10, false, nil},
		{"a byte more", maxKeyBytes - 9, false, registry.ErrLimit},
		{"a file more", 0, true, registry.ErrLimit},
	} {
		if seen[registry.Entry{}] = nil; !c.more {
			delete(seen, registry.Entry{})
		}
		s := &keySearch{run: run, seen: seen, bytes: c.bytes}
		if _, err := s.search("a.txt", *entry); !errors.Is(err, c.want) {
			t.Errorf("%s: %v; expected %v", c.name, err, c.want)
		}
		if _, kept := seen[*entry]; kept != (c.want == nil) {
			t.Errorf("%s: the file counts: %t", c.name, kept)
		}
		delete(seen, *entry)
	}
	s := newKeySearch(run)
	for range 2 {
		if _, err := s.search("a.txt", *entry); err != nil || s.bytes != 10 {
			t.Errorf("a file that is there twice: %d bytes, %v; expected 10", s.bytes, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	run.Context = ctx
	if _, err := newKeySearch(run).search("a.txt", *entry); err == nil {
		t.Error("a search after the end of the run: no error")
	}
}

// A file of 64 MiB is searched for hashes, and one of 128 MiB for private keys. A larger one is taken to hold some. Of
// these files only the heads exist, so that reading what may be read is an error.
func TestLargestFile(t *testing.T) {
	w, repo := built(t, "base: [{listing: ada}]")
	run := &Run{Context: t.Context(), Repo: repo}
	hash := func(e registry.Entry) (bool, error) {
		why, err := run.holds(&registry.Record{Path: "revocations/x.json", Entry: e}, 1)
		return why == "has more than 64 MiB, which are not searched for hashes", err
	}
	key := func(e registry.Entry) (bool, error) {
		found, err := (&keySearch{run: run, seen: map[registry.Entry]*leak{}}).search("x", e)
		return found != nil && found.kind == "", err
	}
	for i, c := range []struct {
		size  int
		holds func(registry.Entry) (bool, error)
		large bool
	}{{64 << 20, hash, false}, {64<<20 + 1, hash, true}, {128 << 20, key, false}, {128<<20 + 1, key, true}} {
		name := fmt.Sprintf("%040x", i+1)
		path := filepath.Join(w.Repo.Dir, "objects", name[:2], name[2:])
		var object bytes.Buffer
		to := zlib.NewWriter(&object)
		fmt.Fprintf(to, "blob %d\x00", c.size)
		id, err := gitobject.ParseID(name)
		must.OK(t, errors.Join(err, to.Close(), os.MkdirAll(filepath.Dir(path), 0o777),
			os.WriteFile(path, object.Bytes(), 0o666)))
		holds, err := c.holds(registry.Entry{Mode: registry.ModeFile, ID: id})
		if holds != c.large || errors.Is(err, gitobject.ErrCorrupt) == c.large {
			t.Errorf("%d bytes: %t, %v; expected %t", c.size, holds, err, c.large)
		}
	}
}

// A record of at most 4 KiB is kept while others are judged.
func TestPutAside(t *testing.T) {
	record := func(bytes int) *registry.Record {
		return &registry.Record{Document: &strict.Document{Data: make([]byte, bytes)}}
	}
	for _, c := range []struct {
		head, base *registry.Record
		kept       bool
	}{{record(maxKept), nil, true}, {record(maxKept + 1), nil, false}, {record(1), record(maxKept), true},
		{nil, record(maxKept + 1), false}, {&registry.Record{}, nil, true}} {
		s := &Subject{Run: &Run{Asks: OfHead}, Record: c.head, BaseRecord: c.base}
		s.PutAside()
		if kept := s.Record == c.head && s.BaseRecord == c.base; kept != c.kept || kept == s.forgotten {
			t.Errorf("%v, %v: kept %t", c.head, c.base, kept)
		}
	}
}

// An audit warns of the private keys that it finds until the search would take too long, and of no large file.
func TestKeysAtHead(t *testing.T) {
	_, repo := built(t, "base: [{write: a.pem, text: a}, {write: b.pem, text: b}, {write: c.pem, text: c}]")
	tree := must.Get(repo.Tree(t.Context(), "main"))(t)
	run := &Run{Context: t.Context(), Repo: repo, Range: &registry.Range{Result: tree}, Base: emptyStanding(tree)}
	for _, c := range []struct {
		bytes int
		seen  map[string]*leak
		want  string
	}{
		{0, map[string]*leak{"b.pem": {kind: "a PEM block"}}, " b.pem"},
		{0, map[string]*leak{"a.pem": {id: "large"}, "b.pem": {kind: "a PEM block"}}, " b.pem"},
		{maxKeyBytes, map[string]*leak{"a.pem": {kind: "a PEM block"}, "c.pem": {kind: "a PEM block"}}, " a.pem"},
	} {
		s := newKeySearch(run)
		s.bytes = c.bytes
		must.OK(t, tree.Walk(func(path string, e registry.Entry) error {
			if l, known := c.seen[path]; known || path != "b.pem" {
				s.seen[e] = l
			}
			return nil
		}))
		found, err := s.atHead()
		got := ""
		for _, l := range found {
			got += " " + l.path
		}
		if err != nil || got != c.want {
			t.Errorf("after %d bytes:%s, %v; expected%s", c.bytes, got, err, c.want)
		}
	}
}

// A commit may land 24 hours after its date.
func TestBackdatedBound(t *testing.T) {
	w, repo := built(t, "base: [{listing: ada}]\npr: [{listing: nova}]")
	rng := must.Get(repo.Range(t.Context(), w.Base, w.Head))(t)
	when := must.Get(repo.FirstParentTime(t.Context(), w.Head, w.Now))(t)
	for _, c := range []struct {
		name    string
		landing *Landing
		now     time.Time
		want    string
	}{
		{"no event", nil, when.AddDate(1, 0, 0), ""},
		{"24 hours", &Landing{At: when.Add(MaxBackdated)}, when.AddDate(1, 0, 0), ""},
		{"later", &Landing{At: when.Add(MaxBackdated + 1)}, when.AddDate(1, 0, 0), "error commit-backdated"},
		{"landed", &Landing{At: when.Add(MaxBackdated + 1), Landed: true}, when.AddDate(1, 0, 0),
			"warning commit-backdated"},
		{"24 hours by the clock", &Landing{}, when.Add(MaxBackdated), ""},
		{"later by the clock", &Landing{}, when.Add(MaxBackdated + 1), "error commit-backdated"},
	} {
		var out verdict.Outcome
		if err := backdated(&out, &Run{Context: t.Context(), Repo: repo, Range: rng, Now: c.now,
			Landing: c.landing}); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range out.Findings {
			got += f.Severity.String() + " " + f.Code
			if f.Commit != rng.Head.Commit() || f.Fix == "" {
				t.Errorf("%s: of commit %q, fix %q", c.name, f.Commit, f.Fix)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q; expected %q", c.name, got, c.want)
		}
	}
}

// A time may be ahead of the commit that lands it by the skew. What landed, and what no commit holds, is judged by the
// clock alone.
func TestAheadBound(t *testing.T) {
	w, repo := built(t, "base: [{listing: ada}]\npr: [{listing: nova}]")
	rng := must.Get(repo.Range(t.Context(), w.Base, w.Head))(t)
	when := must.Get(repo.FirstParentTime(t.Context(), w.Head, w.Now))(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late := when.Add(Skew + 1)
	for _, c := range []struct {
		name string
		at   time.Time
		edit func(*Run)
		want string
	}{
		{"by the skew", when.Add(Skew), func(*Run) {}, ""},
		{"by more", late, func(*Run) {}, "warning ahead /at"},
		{"in an audit", late, func(r *Run) { r.Asks = OfHead }, ""},
		{"in the history", late, func(r *Run) { r.Asks = ofCommit }, ""},
		{"on disk", late, func(r *Run) { r.Range = &registry.Range{Base: rng.Base, Head: &registry.Tree{}} }, ""},
		{"of the base", late, func(r *Run) { r.Range = &registry.Range{Base: rng.Head, Head: rng.Head} }, ""},
		{"without the commit", late, func(r *Run) { r.Context = ended }, "an error"},
	} {
		r := &Run{Context: t.Context(), Repo: repo, Range: rng, Now: w.Now, Base: emptyStanding(rng.Base)}
		c.edit(r)
		var out verdict.Outcome
		err := notAhead(&out, &Subject{Run: r}, "at", "ahead", c.at)
		got := spelled(out)
		if err != nil {
			got = "an error"
		}
		if got != c.want {
			t.Errorf("ahead %s: %q, %v; expected %q", c.name, got, err, c.want)
		}
	}
	var out verdict.Outcome
	if err := backdated(&out, &Run{Context: t.Context(), Repo: repo, Now: w.Now, Landing: &Landing{},
		Range: &registry.Range{Base: rng.Base, Head: &registry.Tree{}}}); err != nil || len(out.Findings) > 0 {
		t.Errorf("files on disk: %+v, %v", out.Findings, err)
	}
}

// A domain is old after 30 days, by its registration or else by how long the DID has been listed without a lapse.
func TestJudgeAge(t *testing.T) {
	now := fixture.Clock
	const day = 24 * time.Hour
	listed := func(stood, lapse time.Duration) func(*Subject) {
		return func(s *Subject) { s.Stood, s.Listing.Expires = now.Add(-stood), now.Add(lapse) }
	}
	source := func(state evidence.State) evidence.Result[domainage.Registration] {
		return evidence.Result[domainage.Registration]{State: state}
	}
	for _, c := range []struct {
		name       string
		registered time.Duration // ago; 0: no source has a date
		listed     func(*Subject)
		state      evidence.State
		want       ages
	}{
		{"30 days", 30 * day, nil, evidence.Obtained, ageOld},
		{"a moment less", 30*day - 1, nil, evidence.Obtained, ageYoung},
		{"a moment less, and listed for long", 30*day - 1, listed(40*day, day), evidence.Obtained, ageYoung},
		{"no date", 0, nil, evidence.Absent, ageUnknown},
		{"no date, listed for 30 days", 0, listed(30*day, 1), evidence.Absent, ageOld},
		{"no date, listed for a moment less", 0, listed(30*day-1, 1), evidence.Absent, ageUnknown},
		{"no date, listed for 30 days, expired now", 0, listed(30*day, 0), evidence.Absent, ageUnknown},
		{"a source that does not answer", 0, nil, evidence.Unavailable, ageUnsure},
		{"a source that does not answer, listed for 30 days", 0, listed(30*day, 1), evidence.Unavailable, ageOld},
	} {
		s := &Subject{Run: &Run{Base: emptyStanding(nil), Now: now, Asks: OfHead}, Listing: &registry.Listing{},
			Facts: &evidence.Facts{}}
		if c.listed != nil {
			c.listed(s)
		}
		reg := &s.Facts.DomainAge
		reg.State, reg.Value.RDAP, reg.Value.WHOIS = evidence.Obtained, source(c.state), source(evidence.Absent)
		if c.registered > 0 {
			reg.Value.RDAP.Value.At = now.Add(-c.registered)
		}
		got, _, err := judgeAge(s)
		if err != nil || got != c.want {
			t.Errorf("%s: %d, %v; expected %d", c.name, got, err, c.want)
		}
		// The sources in the other order say the same.
		reg.Value.RDAP, reg.Value.WHOIS = reg.Value.WHOIS, reg.Value.RDAP
		if got, _, _ := judgeAge(s); got != c.want {
			t.Errorf("%s, by WHOIS: %d; expected %d", c.name, got, c.want)
		}
	}
	for state, want := range map[evidence.State]ages{evidence.Unsought: ageUnsure, evidence.Unavailable: ageUnsure,
		evidence.Absent: ageUnknown, evidence.Invalid: ageUnknown} {
		s := &Subject{Run: &Run{Base: emptyStanding(nil), Now: now}, Listing: &registry.Listing{},
			Facts: &evidence.Facts{DomainAge: evidence.Result[evidence.Registration]{State: state, Message: "why"}}}
		s.Facts.DomainAge.Value.RDAP.Value.At = now.Add(-40 * day) // of evidence that is not there
		if got, a, err := judgeAge(s); err != nil || got != want || a.why != "why" {
			t.Errorf("%s evidence: %d, %q, %v; expected %d", state, got, a.why, err, want)
		}
		// Only evidence that was not asked for, since the host is local, lets the check be skipped.
		s.Listing.ToolDID = "did:web:nova.example"
		for _, code := range []string{"", evidence.CodeLocal} {
			s.Facts.DomainAge.Code = code
			out, err := runDomainAge(s)
			if skipped := state == evidence.Unsought && code != ""; err != nil || (out.Skipped == "why") != skipped {
				t.Errorf("%s evidence with the code %q: %+v, %v", state, code, out, err)
			}
		}
	}
}

// A domain changed hands if it was registered after its DID was listed, however its date is read.
func TestChangedHands(t *testing.T) {
	at := fixture.Clock
	for _, c := range []struct {
		age  age
		want bool
	}{
		{age{Registration: domainage.Registration{At: at, Earliest: at}, stood: at}, false},
		{age{Registration: domainage.Registration{At: at.Add(1), Earliest: at.Add(1)}, stood: at}, true},
		{age{Registration: domainage.Registration{At: at.Add(1), Earliest: at.Add(1)}}, false},
		{age{stood: at}, false},
		{age{Registration: domainage.Registration{At: at.Add(1), Earliest: at}, stood: at}, false},
	} {
		if got := c.age.changedHands(); got != c.want {
			t.Errorf("%+v: %t", c.age, got)
		}
	}
}

// The message for a forced revocation counts the listings that could sign it, up to three.
func TestEligible(t *testing.T) {
	now := fixture.Clock
	entry := func(slug string, edit func(*Listed)) *Listed {
		l := &Listed{Path: listed.Path(slug), Slug: slug, ToolDID: "did:web:" + slug + ".example", Level: "L4",
			ReceiptSHA256: strings.Repeat("0", 64), Issued: now, Expires: now.Add(1)}
		if edit != nil {
			edit(l)
		}
		return l
	}
	revoked := entry("evil", nil)
	for _, c := range []struct {
		name string
		all  []*Listed
		want int
	}{
		{"the revoked one", []*Listed{revoked}, 0},
		{"one", []*Listed{entry("ada", nil)}, 1},
		{"four", []*Listed{entry("ada", nil), entry("bob", nil), entry("cyd", nil), entry("dan", nil)}, 3},
		{"at L3", []*Listed{entry("ada", func(l *Listed) { l.Level = "L3" })}, 0},
		{"expires now", []*Listed{entry("ada", func(l *Listed) { l.Expires = now })}, 0},
		{"by did:key", []*Listed{entry("ada", func(l *Listed) {
			l.ToolDID = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
		})}, 0},
		{"two of one DID", []*Listed{entry("ada", nil), entry("bob", func(l *Listed) {
			l.ToolDID = "did:web:ADA.example"
		})}, 1},
		{"provisional", []*Listed{entry("ada", func(l *Listed) { l.Provisional = true })}, 0},
	} {
		st := emptyStanding(nil)
		for _, l := range c.all {
			st.listings.Add(listed.Pack(l, uint8(sound)))
		}
		if got, err := eligible(&Run{Context: t.Context(), Base: st, Now: now, Asks: OfHead},
			[]string{revoked.ToolDID}); got != c.want || err != nil {
			t.Errorf("%s: %d, %v; expected %d", c.name, got, err, c.want)
		}
	}
}

// The bootstrap rule ends at the beginning of 2027-05-04, and is for the reference server at L4.
func TestBootstrapEnd(t *testing.T) {
	const server = "did:web:ref.example"
	policy := Policy{ReferenceServer: server, Maintainers: []string{"did:web:mia.example"}}
	for _, c := range []struct {
		name       string
		now        time.Time
		level, did string
		policy     Policy
		then       *Moment
		want       int
	}{
		{"the last moment", bootstrapEnd.Add(-1), "L4", server, policy, nil, 1},
		{"over", bootstrapEnd, "L4", server, policy, nil, 0},
		{"at L5", bootstrapEnd.Add(-1), "L5", server, policy, nil, 0},
		{"another DID", bootstrapEnd.Add(-1), "L4", server + ":x", policy, nil, 0},
		{"no server, no DID", bootstrapEnd.Add(-1), "L4", "", Policy{Maintainers: policy.Maintainers}, nil, 0},
		{"merged in time", bootstrapEnd.AddDate(1, 0, 0), "L4", server, Policy{},
			&Moment{When: bootstrapEnd.Add(-1), Policy: policy}, 1},
		{"merged too late", bootstrapEnd.Add(-1), "L4", server, policy, &Moment{When: bootstrapEnd, Policy: policy}, 0},
		{"merged under no policy", bootstrapEnd.Add(-1), "L4", server, policy, &Moment{When: bootstrapEnd.Add(-1)}, 0},
	} {
		st := emptyStanding(nil)
		st.Policy = c.policy
		s := &Subject{Run: &Run{Base: st, Now: c.now}, Merged: c.then,
			Listing: &registry.Listing{Level: level.Level(c.level), ToolDID: c.did}}
		if got := s.bootstrapMaintainers(); len(got) != c.want {
			t.Errorf("%s: %q; expected %d", c.name, got, c.want)
		}
	}
}

// A document of a witness that the network kept back leaves it open; one that is wrong decides against it.
func TestDocuments(t *testing.T) {
	answered := func(status int) []evidence.Observation {
		return []evidence.Observation{{Code: evidence.CodeHTTPStatus, Status: 200},
			{Code: evidence.CodeHTTPStatus, Status: status}}
	}
	for _, c := range []struct {
		name         string
		did, receipt evidence.State
		code         string
		from         []evidence.Observation
		want         weight
	}{
		{"both", evidence.Obtained, evidence.Obtained, "", nil, counts},
		{"no DID Document", evidence.Absent, evidence.Obtained, "", nil, ignored},
		{"a broken DID Document", evidence.Invalid, evidence.Obtained, "", nil, ignored},
		{"a DID Document that is not reached", evidence.Unavailable, evidence.Obtained, "", nil, unsure},
		{"a DID Document that is not sought", evidence.Unsought, evidence.Obtained, "", nil, unsure},
		{"no Receipt", evidence.Obtained, evidence.Absent, "", answered(404), ignored},
		{"a broken Receipt", evidence.Obtained, evidence.Invalid, "json-syntax", nil, ignored},
		{"a Receipt that is not reached", evidence.Obtained, evidence.Unavailable, "", nil, unsure},
		{"a Receipt that is not sought", evidence.Obtained, evidence.Unsought, "", nil, unsure},
		{"another Receipt", evidence.Obtained, evidence.Invalid, evidence.CodeHashMismatch, nil, unsure},
		{"a large Receipt", evidence.Obtained, evidence.Invalid, evidence.CodeTooLarge, nil, unsure},
		{"status 399", evidence.Obtained, evidence.Absent, "", answered(399), unsure},
		{"status 400", evidence.Obtained, evidence.Absent, "", answered(400), ignored},
		{"status 499", evidence.Obtained, evidence.Absent, "", answered(499), ignored},
		{"status 500", evidence.Obtained, evidence.Absent, "", answered(500), unsure},
		{"status 500, but not of the last answer", evidence.Obtained, evidence.Absent, "",
			[]evidence.Observation{{Code: evidence.CodeHTTPStatus, Status: 500}, {Code: evidence.CodeTLS}}, ignored},
		{"one open, one wrong", evidence.Unavailable, evidence.Absent, "", answered(404), ignored},
		{"one wrong, one open", evidence.Absent, evidence.Unavailable, "", nil, ignored},
	} {
		known := &evidence.Witness{}
		known.DIDDocument.State, known.Receipt.State = c.did, c.receipt
		known.Receipt.Code, known.Receipt.From = c.code, c.from
		if got, why, _ := documents(known, fixture.Clock); got != c.want || (why == "") != (c.want == counts) {
			t.Errorf("%s: %d, %q; expected %d", c.name, got, why, c.want)
		}
	}
}

// Of a revocation, 32 witness signatures are read. If there are more, none is.
func TestRevocationWitnesses(t *testing.T) {
	for n, want := range map[int]string{evidence.MaxWitnesses: "not-authorised",
		evidence.MaxWitnesses + 1: "too-many-witnesses"} {
		v := &registry.Revocation{RevokedByDID: "did:web:eve.example"}
		for range n {
			v.Witnesses = append(v.Witnesses, registry.WitnessSignature{WitnessDID: "did:example:a"})
		}
		s := &Subject{Run: &Run{Base: emptyStanding(nil)}, Path: "revocations/a.json", Revocation: v,
			Facts: &evidence.Facts{}}
		out, err := authority(verdict.Outcome{}, s, []version{{did: "did:web:ada.example"}},
			"did:web:ada.example", nil)
		if err != nil || len(out.Findings) == 0 || out.Findings[len(out.Findings)-1].Code != want {
			t.Errorf("%d signatures: %+v, %v; expected %s", n, out.Findings, err, want)
		}
	}
}

// Two witnesses count as one if they share a DID, a domain that is registered, a key or a publisher.
func TestDependent(t *testing.T) {
	a := web5("a", "one")
	a.material = []string{"k1", "k2"}
	for name, c := range map[string]struct {
		edit func(*witness)
		want string
	}{
		"others":       {func(*witness) {}, ""},
		"one DID":      {func(w *witness) { w.did = "did:web:A.example" }, "they are one DID"},
		"one domain":   {func(w *witness) { w.domain.ICANN = "a.example" }, "both are under a.example"},
		"no domain":    {func(w *witness) { w.domain.ICANN = "" }, ""},
		"one key":      {func(w *witness) { w.material = []string{"k3", "k2"} }, "they share a key"},
		"other keys":   {func(w *witness) { w.material = []string{"k3"} }, ""},
		"a publisher":  {func(w *witness) { w.publisher = a.publisher }, "they share a publisher: "},
		"no publisher": {func(w *witness) { w.publisher = nil }, ""},
	} {
		b := web5("b", "two")
		c.edit(&b)
		for _, pair := range [][2]*witness{{&a, &b}, {&b, &a}} {
			got := dependent(pair[0], pair[1])
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %q; expected %q", name, got, c.want)
			}
		}
	}
	none, bare := web5("a", "one"), web5("b", "two")
	none.domain.ICANN, bare.domain.ICANN = "", ""
	if got := dependent(&none, &bare); got != "" {
		t.Errorf("two without a domain: %q", got)
	}
}

// The name that a listing may take from a Receipt has 2 to 80 characters.
func TestNameOfReceipt(t *testing.T) {
	for name, takes := range map[string]bool{"ö": false, "öö": true, strings.Repeat("ö", 80): true,
		strings.Repeat("ö", 81): false} {
		s := &Subject{Run: &Run{Base: emptyStanding(nil)}, Listing: &registry.Listing{Name: "Nova", Slug: "nova"},
			Change: registry.Change{Head: &registry.Entry{}}}
		var out verdict.Outcome
		signedName(&out, s, &receipt.Receipt{ImplementationName: name})
		if len(out.Findings) != 1 || out.Findings[0].Severity != verdict.Error ||
			strings.HasPrefix(out.Findings[0].Fix, "set name to ") != takes {
			t.Errorf("%q: %+v", name, out.Findings)
		}
	}
}
