package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// missingWorlds are worlds in which a run reads objects of each kind.
var missingWorlds = []struct{ name, world, text string }{
	{"a witness, and a root that confirms", `
policy: "public_suffixes: [tenants.example]\n"
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada], provisional: true}
  - {listing: nova, level: L4, witness: [ada, bob], receipt: {set: {/claimed_levels: [L1, L4]}},
     set: {/manifest_uri: "https://nova.example/static/oap.json"}}
  - {commit: List}
  - {listing: eve}
  - {revoke: eve}` + web("edit: "+manifestURL, `to: "https://nova.example/static/oap.json"`),
		"https://nova.example/static/oap.json"},
	{"a provisional slug", `
base:
  - {at: "-11d"}
  - {listing: ada, provisional: true}
  - {commit: List}
  - {revoke: ada, number: 0}
  - {commit: Revoke}
  - {reissue: ada, issued: "-1h"}`, "ada"},
	{"a listing that is provisional no longer", `
base:
  - {at: "-40d"}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: nova, level: L4, witness: [ada], provisional: true}
  - {commit: List}
  - {at: "-1d"}
  - {listing: eve}`, "https://nova.example"},
	{"a listing at less than is claimed", `
base:
  - {listing: nova, receipt: {set: {/claimed_levels: [L2, L1]}}}
  - {commit: List}
  - {listing: eve}`, "https://nova.example"},
}

// An object of the clone that cannot be read is an error of the run: no step passes because it could not read what it
// judges by.
func TestMissingObject(t *testing.T) {
	for _, c := range missingWorlds {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := must.Get(fixture.BuildUnserved(t.TempDir(), []byte(c.world)))(t)
			whole := func(t *testing.T, w *fixture.World, repo *registry.Repository) (string, error) {
				return read(t, w, repo, c.text, checktest.Web(t, w))
			}
			objects, failed := checktest.Without(t, w, whole, chosen, looked, stood)
			if failed < objects {
				t.Errorf("%d runs without one of %d objects fail", failed, objects)
			}
			checktest.Vanishing(t, w, func(repo *registry.Repository, asked func()) (string, error) {
				return read(t, w, repo, c.text, &asking{checktest.Web(t, w), asked})
			})
		})
	}
}

// A step whose clone cannot be read fails, whatever else it found.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	bug := errors.New("bug")
	frozen := &work{cfg: &Config{Clone: &Clone{Frozen: "why"}}}
	if out, err := thawed(func(*work) (verdict.Outcome, error) { return verdict.Outcome{}, bug })(frozen); err != bug {
		t.Errorf("a step of a frozen mirror: %v, %+v", err, out)
	}
	const uri = "https://nova.example/static/oap.json"
	w := built(t, `base: [{commit: Begin}, {listing: nova, receipt: {set: {/target/uri: "https://nova.example"}}}]`+
		web("edit: "+manifestURL, `to: "`+uri+`"`))
	at := w.work(t, uri)
	clone := &Clone{Repo: w.repo, Commit: "main"}
	st, err := clone.Stand(t.Context())
	must.OK(t, err)
	if st.Tree, err = w.repo.Tree(t.Context(), "main~1"); err != nil { // which lacks the listing
		t.Fatal(err)
	}
	at.cfg.Standing, at.cfg.Clone = st, clone
	if out, err := judgeIdentity(at); err == nil {
		t.Errorf("the step identity: %+v", out)
	}
	if found, err := Verify(t.Context(), w.source(t), Target{Slug: "nova"}, at.cfg); err == nil {
		t.Errorf("of a slug whose listing is gone: %+v", found)
	}
	at.run.Base, at.run.Repo, at.run.Range = st, w.repo, &registry.Range{Base: st.Tree}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	at.run.Context = ended
	if out, err := judgeRevocation(at); !errors.Is(err, context.Canceled) {
		t.Errorf("the step revocation: %v, %+v", err, out)
	}
	missing := strings.Repeat("1", 40)
	if err := (&Run{Clone: w.repo}).standAt(t.Context(), missing, "", &bundle.VerifyFlags{}); err == nil {
		t.Error("a commit that is not there is read")
	}
	for _, c := range []string{"gone", missing} {
		if err := HasRecords(t.Context(), w.repo, c); err == nil {
			t.Errorf("the commit %s has records", c)
		}
	}
}

// read returns the report on a target.
func read(t *testing.T, w *fixture.World, repo *registry.Repository, text string, src evidence.Source) (string, error) {
	run := &Run{Source: src, Now: w.Now, Clone: repo, Jobs: 1}
	run.Config.Digests = true
	flags := &bundle.VerifyFlags{Targets: []string{text}}
	if err := run.Open(t.Context(), "", "main", flags); err != nil {
		return "", err
	}
	if err := run.Heard(flags); err != nil {
		return "", err
	}
	var out string
	err := run.Verify(t.Context(), func(r *Report) error {
		out += fmt.Sprintf("%s%v", encoded(t, r), r.Judged)
		return nil
	})
	return out, err
}

// chosen returns the listings that two commits have in common.
func chosen(t *testing.T, _ *fixture.World, repo *registry.Repository) (string, error) {
	same, err := inBoth(t.Context(), repo, "main", "main~1", []string{"implementations/ada.json"})
	return fmt.Sprint(same), err
}

// looked returns whether the clone is one of a registry.
func looked(t *testing.T, _ *fixture.World, repo *registry.Repository) (string, error) {
	err := HasRecords(t.Context(), repo, "main")
	if err != nil && strings.Contains(err.Error(), "no OAP registry here") {
		return err.Error(), nil // it is one
	}
	return "", err
}

// stood returns which listings the clone holds.
func stood(t *testing.T, _ *fixture.World, repo *registry.Repository) (string, error) {
	st, err := (&Clone{Repo: repo, Commit: "main"}).Stand(t.Context())
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for l := range st.Listings() {
		fmt.Fprintln(&out, l.Path)
	}
	return out.String(), nil
}

// asking is a source that calls asked before it answers.
type asking struct {
	evidence.Source
	asked func()
}

func (a *asking) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	a.asked()
	return a.Source.Observe(ctx, r)
}

func (a *asking) Reaches(check, subject string) bool {
	a.asked()
	return a.Source.Reaches(check, subject)
}
