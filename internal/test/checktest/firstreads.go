package checktest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A clone is the world's repository, opened when it was whole, and what was read from it.
type clone struct {
	*registry.Repository
	world      *fixture.World
	base, head string // commits
	facts      map[string]*evidence.Facts
	origins    map[string]checks.Origin
}

// firstReads requires that each check of each record fails if the object that it reads is missing, or finds what it
// finds in the whole repository. The rest of the run has read its objects before, so that each check is the first to
// read.
func firstReads(t *testing.T, w *fixture.World) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(w.Repo.Dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("the repository has %d packs, %v; expected one", len(packs), err)
	}
	pack := packs[0]
	facts := map[string]*evidence.Facts{}
	want := judgedApart(t, w, facts, func() {}, func() {})
	compare := func(without string, got map[string]string) (failed int) {
		for key, found := range got {
			if found == "" {
				failed++
			} else if found != want[key] {
				t.Errorf("%s, without %s:\n%s\nexpected an error, or\n%s", key, without, found, want[key])
			}
		}
		return failed
	}
	failed := 0
	lacking(t, strings.TrimSuffix(pack, "pack")+"idx", func(name []byte, damage func()) {
		failed += compare(fmt.Sprintf("object %x", name), judgedApart(t, w, facts, damage, func() {}))
	})
	whole := must.Read(t, pack)
	failed += compare("objects", judgedApart(t, w, facts, func() {}, func() {
		if err := os.Truncate(pack, 0); err != nil {
			t.Error(err)
		}
	}))
	must.OK(t, os.WriteFile(pack, whole, 0o600))
	if failed == 0 {
		t.Error("no check fails without an object")
	}
}

// judgedApart returns what each check finds, "" for an error. It calls before when the run has read what it judges, and
// after when it has opened the repository from which the checks read.
func judgedApart(t *testing.T, w *fixture.World, facts map[string]*evidence.Facts,
	before, after func()) map[string]string {
	t.Helper()
	c := opened(t, w, facts)
	defer c.Close()
	out := map[string]string{}
	runs := []*checks.Run{c.proposal(t), c.audit(t)}
	before()
	repo, err := registry.Open(w.Repo.Dir)
	if err != nil {
		return out
	}
	defer repo.Close()
	moved := true
	for _, run := range runs {
		moved = moved && move(t.Context(), run, repo) == nil
	}
	ledgers := map[string]*checks.Ledger{"root": checks.NewLedger(repo, w.Now),
		"base": checks.LedgerAt(repo, c.base, w.Now), "head": checks.LedgerAt(repo, c.head, w.Now)}
	after()
	for i, run := range runs {
		if moved {
			judgeEach(run, []string{"proposal: ", "audit: "}[i], out)
		}
	}
	for from, ledger := range ledgers {
		c.follow(t, repo, ledger, map[string]string{"base": c.base, "head": c.head}[from], "ledger from "+from, out)
	}
	return out
}

func judgeEach(run *checks.Run, name string, out map[string]string) {
	for _, c := range checks.All {
		if c.RunRegistry != nil && !run.Asks.AsIs {
			o, err := c.RunRegistry(run)
			out[name+c.ID] = ""
			if err == nil {
				out[name+c.ID] = fmt.Sprint(o)
			}
		}
		for _, s := range run.Subjects {
			if !c.Judges(s.Kind) {
				continue
			}
			key := name + c.ID + ": " + s.Path
			o, err := c.Judge(s)
			out[key] = ""
			if err == nil {
				out[key] = fmt.Sprint(o)
			}
		}
	}
	for _, s := range run.Subjects {
		if s.Anchor != nil {
			found, err := s.Declarations()
			key := name + "declarations: " + s.Path
			out[key] = ""
			if err == nil {
				out[key] = fmt.Sprint("of ", len(found))
			}
		}
		if s.Facts.Receipt.State == evidence.Obtained {
			wanted, failed := s.Wanted(0)
			var found []any
			for _, w := range s.Facts.Receipt.Value.PeerWitnesses {
				found = append(found, wanted.Listed(w.DID) != nil)
			}
			worth, err := s.Witnessing()
			key := name + "witnesses: " + s.Path
			out[key] = ""
			if err == nil && failed() == nil {
				out[key] = fmt.Sprint(append(found, worth)...)
			}
		}
		if s.Listing != nil {
			found, err := run.Withdrawn(s.Listing.ToolDID, s.Listing.ReceiptSHA256, s.Listing.Issued)
			key := name + "withdrawn: " + s.Path
			out[key] = ""
			if err == nil {
				out[key] = fmt.Sprint(found.Revoked, found.Unreadable, found.Misplaced, found.Listed,
					len(found.Removed))
			}
		}
	}
}

// Proposal returns the run of a check of the world's pull request, with the evidence about each subject.
func Proposal(t *testing.T, world string) *checks.Run {
	t.Helper()
	w, repo := Build(t, world)
	c := opened(t, w, map[string]*evidence.Facts{})
	c.Close()
	c.Repository = repo
	return c.proposal(t)
}

// opened opens the world's repository, and reads whatever is not part of a run.
func opened(t *testing.T, w *fixture.World, facts map[string]*evidence.Facts) *clone {
	t.Helper()
	repo, err := registry.Open(w.Repo.Dir)
	must.OK(t, err)
	c := &clone{Repository: repo, world: w, facts: facts, origins: map[string]checks.Origin{}}
	if c.base, err = repo.Resolve(w.Base); err == nil {
		c.head, err = repo.Resolve(w.Head)
	}
	must.OK(t, err)
	return c
}

// proposal returns the run of a check of the world's pull request.
func (c *clone) proposal(t *testing.T) *checks.Run {
	rng, err := c.Range(t.Context(), c.base, c.head)
	must.OK(t, err)
	run := &checks.Run{Range: rng}
	var changes []registry.Change
	for _, change := range rng.Changes {
		if registry.KindOf(change.Path) != registry.Governance {
			changes = append(changes, change)
		}
	}
	run.Base, err = checks.NewStanding(t.Context(), rng.Base, func(string) bool { return true })
	must.OK(t, err)
	c.fill(t, run, changes)
	return run
}

// audit returns the run of an audit of the world's head, whose ledger begins after the base and was asked nothing.
func (c *clone) audit(t *testing.T) *checks.Run {
	tree, err := c.Tree(t.Context(), c.head)
	must.OK(t, err)
	run := &checks.Run{Range: &registry.Range{Base: tree, Head: tree, Result: tree}, Asks: checks.OfHead}
	past := checks.NewLedger(c.Repository, c.world.Now)
	ledger := checks.LedgerAt(c.Repository, c.base, c.world.Now)
	for from, l := range map[string]*checks.Ledger{"": past, c.base: ledger} {
		err = c.Steps(t.Context(), from, c.head, func(s *registry.Step) error {
			_, err := l.Step(t.Context(), s)
			return err
		})
		must.OK(t, err)
	}
	if run.Base, err = ledger.Standing(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	var changes []registry.Change
	for _, k := range registry.DataKinds {
		for e, err := range tree.Entries(k) {
			must.OK(t, err)
			changes = append(changes, registry.Change{Path: e.Path, Head: &e.Entry})
		}
	}
	c.fill(t, run, changes)
	for _, s := range run.Subjects {
		if s.Listing == nil && s.Revocation == nil && s.Anchor == nil {
			continue
		}
		origin, err := past.Origin(t.Context(), s.Path)
		must.OK(t, err)
		s.Stood, s.Merged = origin.First, &checks.Moment{When: origin.When, Tree: c.EmptyTree()}
		if s.Witnessed = s.Merged; origin.Parent == "" {
			continue
		}
		if s.Merged.Tree, err = c.Tree(t.Context(), origin.Parent); err != nil {
			t.Fatal(err)
		}
		if s.Merged.Policy, err = checks.ReadPolicy(t.Context(), s.Merged.Tree); err != nil {
			t.Fatal(err)
		}
	}
	return run
}

// fill completes a run and adds the subjects of the changes, with their evidence.
func (c *clone) fill(t *testing.T, run *checks.Run, changes []registry.Change) {
	run.Catalogue, run.Context, run.Repo, run.Now = checks.All, t.Context(), c.Repository, c.world.Now
	run.Selected = func(string) bool { return true }
	var err error
	if run.Subjects, err = checks.NewSubjects(run, changes); err != nil {
		t.Fatal(err)
	}
	for _, s := range run.Subjects {
		key := fmt.Sprint(run.Asks.AsIs, s.Path)
		if c.facts[key] == nil {
			c.facts[key] = c.collect(t, s)
		}
		s.Facts = c.facts[key]
	}
}

func (c *clone) collect(t *testing.T, s *checks.Subject) *evidence.Facts {
	var record any
	switch {
	case s.Listing != nil:
		record = s.Listing
	case s.Revocation != nil:
		record = s.Revocation
	case s.Anchor != nil:
		record = s.Anchor
	default:
		return &evidence.Facts{}
	}
	var kinds evidence.Set
	for _, check := range checks.All {
		if check.Judges(s.Kind) {
			kinds |= check.Wants(s)
		}
	}
	wanted, _ := s.Wanted(kinds)
	var err error
	if s.Revocation != nil {
		wanted.Revoked, err = s.RevokedListing()
	} else if s.Anchor != nil {
		wanted.Declarations, err = s.Declarations()
	}
	must.OK(t, err)
	return evidence.Collect(t.Context(), web{t, c.world}, record, wanted)
}

// move has the checks of a run read from another repository.
func move(ctx context.Context, run *checks.Run, repo *registry.Repository) (err error) {
	run.Repo = repo
	trees := []**registry.Tree{&run.Range.Base, &run.Range.Head, &run.Range.Result, &run.Base.Tree}
	for _, s := range run.Subjects {
		if s.Merged != nil {
			trees = append(trees, &s.Merged.Tree)
		}
	}
	for _, t := range trees {
		if *t, err = moved(ctx, *t, repo); err != nil {
			return err
		}
	}
	return nil
}

func moved(ctx context.Context, t *registry.Tree, repo *registry.Repository) (*registry.Tree, error) {
	if t.Commit() == "" {
		return t, nil
	}
	return repo.Tree(ctx, t.Commit())
}

// follow adds what a ledger on another repository finds in each commit of the history after one, and what it knows in
// the end.
func (c *clone) follow(t *testing.T, repo *registry.Repository, ledger *checks.Ledger, from, name string,
	out map[string]string) {
	ctx, n := t.Context(), 0
	err := c.Steps(ctx, from, c.head, func(s *registry.Step) (err error) {
		n++
		key := fmt.Sprintf("%s, commit %d", name, n)
		out[key] = ""
		here := *s
		if here.Base, err = moved(ctx, s.Base, repo); err != nil {
			return err
		}
		if here.Result, err = moved(ctx, s.Result, repo); err != nil {
			return err
		}
		faults, err := ledger.Step(ctx, &here)
		if err == nil {
			out[key] = "faults:"
		}
		for _, f := range faults {
			out[key] += fmt.Sprintln("", f.Pos, f.Severity, f.Check, f.Code)
		}
		return err
	})
	out[name] = ""
	if err != nil {
		return
	}
	tree, err := c.Tree(ctx, c.head)
	if err == nil && from != c.head { // else the ledger reads all of it itself
		tree, err = repo.Tree(ctx, c.head)
	}
	if err != nil {
		return
	}
	st, err := ledger.Standing(ctx, tree)
	if err != nil {
		return
	}
	var text strings.Builder
	fmt.Fprintln(&text, st.Schemas != nil, st.Policy.ReferenceServer, st.Policy.Maintainers)
	for l := range st.Listings() {
		origin, err := ledger.Origin(ctx, l.Path)
		if err != nil {
			return
		}
		fmt.Fprintln(&text, *l, origin)
	}
	out[name] = text.String()
}
