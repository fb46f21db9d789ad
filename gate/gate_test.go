package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapgate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var recorded = filepath.Join("testdata", "bundle.json")

// build builds a world and opens its registry.
func build(t testing.TB, spec []byte) (*fixture.World, *registry.Repository) {
	t.Helper()
	w := must.Get(fixture.Build(t.TempDir(), spec))(t)
	t.Cleanup(func() { _ = w.Close() })
	repo := must.Get(registry.Open(w.Repo.Dir))(t)
	t.Cleanup(func() { _ = repo.Close() })
	return w, repo
}

// command runs the command and returns its JSON report.
func command(t *testing.T, args ...string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	quiet := frame.IO{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	cli.Run(&oapgate.Program, append(args, "--report", "json="+file), quiet)
	text := must.Read(t, file)
	return text
}

// compare compares a report with the command's, except for the tool.
func compare(t *testing.T, got any, want []byte) {
	t.Helper()
	text := must.Get(json.Marshal(got))(t)
	if diff := cmp.Diff(untooled(t, want), untooled(t, text)); diff != "" {
		t.Errorf("(-command +package):\n%s", diff)
	}
}

// untooled returns a JSON document in one spelling, its members in their order, without the tool.
func untooled(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, json.Compact(&b, text))
	before, rest, _ := strings.Cut(b.String(), `"tool":{`)
	_, after, _ := strings.Cut(rest, "}")
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(before + after)
}

// TestGood checks that a good pull request passes by its bundle, as it does by the command, which records the bundle
// again with -update.
func TestGood(t *testing.T) {
	spec := must.Read(t, filepath.Join("testdata", "world.yaml"))
	w, repo := build(t, spec)
	if update := flag.Lookup("update"); update.Value.String() == "true" {
		command(t, slices.Concat([]string{"check", "--record", recorded}, w.Args(), w.RangeArgs())...)
	}
	text := must.Read(t, recorded)
	web := must.Get(gate.Recorded(text))(t)
	rep, err := gate.Check(t.Context(), repo, w.Base, w.Head, web, gate.Options{})
	if err != nil || rep.Verdict != gate.Passed {
		t.Fatalf("%+v, %v", rep, err)
	}
}

// TestSameReport compares the reports of this package with those of the command in the worlds of the recordings.
func TestSameReport(t *testing.T) {
	recordings := must.Get(filepath.Glob(filepath.Join("..", "testdata", "bundles", "*.txtar")))(t)
	modes := map[string]int{}
	for _, path := range recordings {
		a := must.Get(txtar.ParseFile(path))(t)
		if a.Files[0].Name != "world.yaml" {
			continue // not of a registry
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			w, repo := build(t, a.Files[0].Data)
			bundle := filepath.Join(t.TempDir(), "bundle.json")
			must.OK(t, os.WriteFile(bundle, a.Files[1].Data, 0o600))
			web, err := gate.Recorded(a.Files[1].Data)
			must.OK(t, err)
			var of struct {
				Mode  string
				Flags struct{ Verify struct{ Targets []string } }
			}
			must.OK(t, json.Unmarshal(a.Files[1].Data, &of))
			modes[of.Mode]++
			var got any
			args := []string{"replay", bundle, "--repo", w.Repo.Dir}
			switch of.Mode {
			case "check":
				got, err = gate.Check(t.Context(), repo, "", "", web, gate.Options{})
			case "audit":
				got, err = gate.Audit(t.Context(), repo, "", web, gate.Options{})
			case "verify":
				args = []string{"verify", "--replay", bundle, "--registry", w.Repo.Dir}
				got, err = gate.Verify(t.Context(), of.Flags.Verify.Targets[0], web, gate.VerifyOptions{Registry: repo})
			}
			must.OK(t, err)
			compare(t, got, command(t, args...))
		})
	}
	if modes["check"] == 0 || modes["audit"] == 0 || modes["verify"] == 0 {
		t.Errorf("compared %v; expected all three modes", modes)
	}
}

// TestSameAsRun compares the reports with those of runs of the command, by flags and options that mean the same.
func TestSameAsRun(t *testing.T) {
	w, repo := build(t, []byte("base:\n  - {listing: ada}\npr:\n  - {listing: nova, pin: \""+strings.Repeat("0", 64)+
		"\"}\n"))
	at := must.Get(time.Parse(time.RFC3339, "2026-06-01T12:00:00Z"))(t)
	clock := []string{"--at", "2026-06-01T12:00:00Z", "--offline"}
	web := gate.Offline(at)
	check := must.Get(gate.Check(t.Context(), repo, w.Base, w.Head, web, gate.Options{Skip: []string{"schema"}}))(t)
	compare(t, check, command(t, slices.Concat([]string{"check", "--repo", w.Repo.Dir, "--skip", "schema"},
		w.RangeArgs(), clock)...))
	audit := must.Get(gate.Audit(t.Context(), repo, "main", web, gate.Options{Strict: true}))(t)
	compare(t, audit, command(t, slices.Concat([]string{"audit", "--repo", w.Repo.Dir, "--rev", "main", "--strict"},
		clock)...))
	v := must.Get(gate.Verify(t.Context(), "ada", web, gate.VerifyOptions{Registry: repo, Rev: "main"}))(t)
	compare(t, v, command(t, slices.Concat([]string{"verify", "ada", "--registry", w.Repo.Dir, "--rev", "main"},
		clock)...))
}

// TestBadInput checks that nothing that no call can follow is a pass or a panic: it is an error with its fix.
func TestBadInput(t *testing.T) {
	spec := must.Read(t, filepath.Join("testdata", "world.yaml"))
	w, repo := build(t, spec)
	text := must.Read(t, recorded)
	web := must.Get(gate.Recorded(text))(t)
	alone, err := gate.Recorded([]byte(`{"version": 2, "tool": {"version": "", "commit": ""}, "mode": "verify", "base": "",
		"head": "", "merge_base": "", "now": "2026-06-01T12:00:00Z", "flags": {"assumed": ["--without-registry"],
		"verify": {"targets": ["https://a.example"], "without": true}}, "observations": []}`))
	must.OK(t, err)
	if v, err := gate.Verify(t.Context(), "https://a.example", alone, gate.VerifyOptions{}); err != nil {
		t.Errorf("a replay without a clone: %v, %v", v, err)
	}
	offline := gate.Offline(fixture.Clock)
	other, otherRepo := build(t, []byte("base:\n  - {listing: eve}\npr:\n  - {listing: mallory}\n"))
	shallow := t.TempDir()
	w.Repo.Git("clone", "--quiet", "--depth", "1", "--no-single-branch", "file://"+w.Repo.Dir, shallow)
	shallowRepo := must.Get(registry.Open(shallow))(t)
	defer shallowRepo.Close()
	before := runtime.NumGoroutine()
	for name, call := range map[string]func(context.Context) (any, error){
		"zero Web": func(ctx context.Context) (any, error) {
			return gate.Check(ctx, repo, w.Base, w.Head, gate.Web{}, gate.Options{})
		},
		"zero Web, audit": func(ctx context.Context) (any, error) {
			return gate.Audit(ctx, repo, "", gate.Web{}, gate.Options{})
		},
		"zero Web, verify": func(ctx context.Context) (any, error) {
			return gate.Verify(ctx, "https://a.example", gate.Web{}, gate.VerifyOptions{})
		},
		"no repository": func(ctx context.Context) (any, error) {
			return gate.Check(ctx, nil, "main", "", offline, gate.Options{})
		},
		"a base that is not a commit": func(ctx context.Context) (any, error) {
			return gate.Check(ctx, repo, "nowhere", w.Head, offline, gate.Options{})
		},
		"a shallow clone": func(ctx context.Context) (any, error) {
			return gate.Audit(ctx, shallowRepo, "", offline, gate.Options{})
		},
		"a bundle of another commit": func(ctx context.Context) (any, error) {
			return gate.Check(ctx, repo, w.Base, w.Base, web, gate.Options{})
		},
		"a bundle of another registry": func(ctx context.Context) (any, error) {
			return gate.Check(ctx, otherRepo, other.Base, other.Head, web, gate.Options{})
		},
		"a bundle of another registry, no commits named": func(ctx context.Context) (any, error) {
			return gate.Check(ctx, otherRepo, "", "", web, gate.Options{})
		},
		"a bundle of another mode": func(ctx context.Context) (any, error) {
			return gate.Audit(ctx, repo, "", web, gate.Options{})
		},
		"other options than the bundle's": func(ctx context.Context) (any, error) {
			return gate.Check(ctx, repo, "", "", web, gate.Options{Skip: []string{"schema"}})
		},
		"an unknown id": func(ctx context.Context) (any, error) {
			return gate.Check(ctx, repo, w.Base, w.Head, offline, gate.Options{Only: []string{"shema"}})
		},
		"a check of audit": func(ctx context.Context) (any, error) {
			return gate.Check(ctx, repo, w.Base, w.Head, offline, gate.Options{Only: []string{"consistency"}})
		},
		"the check of a log": func(ctx context.Context) (any, error) {
			return gate.Audit(ctx, repo, "", offline, gate.Options{Only: []string{"log"}})
		},
		"no check left": func(ctx context.Context) (any, error) {
			return gate.Check(ctx, repo, w.Base, w.Head, offline,
				gate.Options{Only: []string{"schema"}, Skip: []string{"schema"}})
		},
		"an online check offline": func(ctx context.Context) (any, error) {
			return gate.Check(ctx, repo, w.Base, w.Head, offline, gate.Options{Only: []string{"receipt-fetch"}})
		},
		"Strict in Check": func(ctx context.Context) (any, error) {
			return gate.Check(ctx, repo, w.Base, w.Head, offline, gate.Options{Strict: true})
		},
		"DenyGovernance in Audit": func(ctx context.Context) (any, error) {
			return gate.Audit(ctx, repo, "", offline, gate.Options{DenyGovernance: true})
		},
		"not a target": func(ctx context.Context) (any, error) {
			return gate.Verify(ctx, "http://a.example", offline, gate.VerifyOptions{})
		},
		"a level that does not exist": func(ctx context.Context) (any, error) {
			return gate.Verify(ctx, "https://a.example", offline, gate.VerifyOptions{Level: "L9"})
		},
		"a slug that is not listed": func(ctx context.Context) (any, error) {
			return gate.Verify(ctx, "nobody", offline, gate.VerifyOptions{Registry: repo, Rev: "main"})
		},
		"a Registry, and a bundle without one": func(ctx context.Context) (any, error) {
			return gate.Verify(ctx, "https://a.example", alone, gate.VerifyOptions{Registry: repo})
		},
		"Rev without Registry": func(ctx context.Context) (any, error) {
			return gate.Verify(ctx, "https://a.example", offline, gate.VerifyOptions{Rev: "main"})
		},
	} {
		rep, err := call(t.Context())
		if err == nil {
			t.Errorf("%s: %v; expected an error", name, rep)
		} else if gate.Fix(err) == "" {
			t.Errorf("%s: no fix for %v", name, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if rep, err := gate.Check(ended, repo, w.Base, w.Head, offline, gate.Options{}); err == nil {
		t.Errorf("a canceled context: %v; expected an error", rep)
	}
	if _, err := gate.Live(gate.LiveOptions{CACert: []byte("no PEM")}); err == nil {
		t.Error("a certificate that is not PEM: expected an error")
	}
	if _, err := gate.Recorded([]byte("{")); err == nil {
		t.Error("a bundle that is not JSON: expected an error")
	}
	// A goroutine whose work is done may still have to be scheduled once more before it is gone.
	for range 3000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines are left of %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

// exampleClone builds the clone of the examples in a directory that remove removes.
func exampleClone() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "gate")
	if err != nil {
		panic(err)
	}
	spec, err := os.ReadFile(filepath.Join("testdata", "world.yaml"))
	if err != nil {
		panic(err)
	}
	w, err := fixture.BuildUnserved(dir, spec)
	if err != nil {
		panic(err)
	}
	return w.Repo.Dir, func() { _ = os.RemoveAll(dir) }
}

func Example() {
	clone, remove := exampleClone()
	defer remove()
	text, err := os.ReadFile("testdata/bundle.json")
	if err != nil {
		panic(err)
	}

	repo, err := registry.Open(clone)
	if err != nil {
		panic(err)
	}
	defer repo.Close()
	web, err := gate.Recorded(text) // gate.Live(gate.LiveOptions{}) asks the web
	if err != nil {
		panic(err)
	}
	rep, err := gate.Check(context.Background(), repo, "main", "pr", web, gate.Options{})
	if err != nil {
		panic(fmt.Sprintf("%v; fix: %s", err, gate.Fix(err)))
	}
	fmt.Println(rep.Verdict)
	for result := range rep.Results.All() {
		for _, finding := range result.Findings {
			fmt.Println(result.Subject, finding.Code, finding.Message)
		}
	}
	// Output: pass
}
