package gate_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// sites returns what the hosts of the example's bundle serve, by host.
func sites(t testing.TB, w *fixture.World, slugs ...string) map[string]fs.FS {
	t.Helper()
	hosts := map[string]fs.FS{}
	for _, slug := range slugs {
		dir := t.TempDir()
		must.OK(t, w.WriteSite(slug, dir))
		hosts[slug+".example"] = os.DirFS(dir)
	}
	return hosts
}

// TestLocal checks that files play hosts, that no other host is asked, and that the bundle of the call gives the same
// report again.
func TestLocal(t *testing.T) {
	w, repo := build(t, []byte("base:\n  - {listing: ada}\npr:\n  - {listing: nova}\n"))
	local := must.Get(gate.Local(w.Now, sites(t, w, "nova")))(t)
	web, recording := gate.Record(local)
	if _, err := recording.Bundle(); err == nil || gate.Fix(err) == "" {
		t.Errorf("a bundle before the call: %v", err)
	}
	rep, err := gate.Check(t.Context(), repo, w.Base, w.Head, web, gate.Options{})
	if err != nil || rep.Verdict != gate.Passed || strings.Join(rep.Assumed, ",") !=
		"--at 2026-06-01T12:00:00Z,--local nova.example,--offline" {
		t.Fatalf("%+v, %v", rep, err)
	}
	bundle := must.Get(recording.Bundle())(t)
	replayed := must.Get(gate.Recorded(bundle))(t)
	again, err := gate.Check(t.Context(), repo, "", "", replayed, gate.Options{})
	if err != nil || again.Verdict != rep.Verdict || again.EvidenceSHA256 != rep.EvidenceSHA256 {
		t.Errorf("again: %+v, %v", again, err)
	}
	if _, err := gate.Verify(t.Context(), "https://nova.example", web, gate.VerifyOptions{Registry: repo}); err != nil {
		t.Error(err)
	}
	if _, err := recording.Bundle(); err == nil {
		t.Error("a bundle after two calls; expected an error")
	}
	empty := must.Get(gate.Local(w.Now, map[string]fs.FS{"nova.example": fstest.MapFS{}}))(t)
	if rep, err := gate.Check(t.Context(), repo, w.Base, w.Head, empty, gate.Options{}); err != nil ||
		rep.Verdict != gate.Failed {
		t.Errorf("without a file: %v, %v; expected a report that fails", rep, err)
	}
	other := must.Get(gate.Local(w.Now, map[string]fs.FS{"ada.example": fstest.MapFS{}}))(t)
	if rep, err := gate.Check(t.Context(), repo, w.Base, w.Head, other, gate.Options{}); err != nil ||
		rep.Verdict == gate.Passed {
		t.Errorf("another host: %v, %v; expected no pass", rep, err)
	}
	for name, hosts := range map[string]map[string]fs.FS{"a port": {"nova.example:8443": fstest.MapFS{}},
		"no files": {"nova.example": nil}} {
		if _, err := gate.Local(w.Now, hosts); err == nil || gate.Fix(err) == "" {
			t.Errorf("%s: %v; expected an error with its fix", name, err)
		}
	}
	if _, err := gate.Local(time.Time{}, nil); err == nil {
		t.Error("the zero time: expected an error")
	}
}

// TestRecordings checks that the bundles of an audit and of a verification give the same reports again, as those of a
// live web do.
func TestRecordings(t *testing.T) {
	w, repo := build(t, []byte("base:\n  - {listing: ada}\n"))
	local := must.Get(gate.Local(w.Now, sites(t, w, "ada")))(t)
	web, recording := gate.Record(local)
	audit := must.Get(gate.Audit(t.Context(), repo, "main", web, gate.Options{Strict: true}))(t)
	again := func() gate.Web {
		bundle := must.Get(recording.Bundle())(t)
		web := must.Get(gate.Recorded(bundle))(t)
		return web
	}
	if rep, err := gate.Audit(t.Context(), repo, "", again(), gate.Options{Strict: true}); err != nil ||
		rep.Verdict != audit.Verdict || rep.Counts != audit.Counts {
		t.Errorf("the audit is %v, then %v, %v", audit, rep, err)
	}
	web, recording = gate.Record(local)
	found, err := gate.Verify(t.Context(), "https://ada.example", web, gate.VerifyOptions{WithoutRegistry: true})
	if err != nil || found.Verdict != gate.Passed {
		t.Fatalf("%+v, %v", found, err)
	}
	if v, err := gate.Verify(t.Context(), "https://ada.example", again(), gate.VerifyOptions{}); err != nil ||
		v.Verdict != found.Verdict {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestMisuse checks the errors of what a program may do wrong: their sentences have the names of this package.
func TestMisuse(t *testing.T) {
	w, repo := build(t, []byte("base:\n  - {listing: ada}\n"))
	offline := gate.Offline(w.Now)
	late, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	closed, err := registry.Open(w.Repo.Dir)
	must.OK(t, err)
	for range 2 {
		if err := closed.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	}
	for fix, call := range map[string]func() error{
		"raise the context's deadline": func() error {
			_, err := gate.Audit(late, repo, "", offline, gate.Options{})
			return err
		},
		"open the repository again": func() error {
			_, err := gate.Audit(t.Context(), closed, "", offline, gate.Options{})
			return err
		},
		"open it with registry.Open": func() error {
			_, err := gate.Verify(t.Context(), "ada", offline, gate.VerifyOptions{Registry: &registry.Repository{}})
			return err
		},
		"give time.Now(), or the time by which dates are judged": func() error {
			_, err := gate.Check(t.Context(), repo, "", "", gate.Offline(time.Time{}), gate.Options{})
			return err
		},
		"give an ip:port by the name of its host": func() error {
			_, err := gate.Live(gate.LiveOptions{ConnectTo: map[string]string{"nova.example": "localhost"}})
			return err
		},
	} {
		if err := call(); gate.Fix(err) != fix {
			t.Errorf("%v; fix: %s; expected %s", err, gate.Fix(err), fix)
		}
	}
	// Done to the letter, two of the fixes lead to a report: the repository is the same, or open again.
	again := must.Get(registry.Open(w.Repo.Dir))(t)
	defer again.Close()
	served := must.Get(gate.Local(w.Now, sites(t, w, "ada")))(t)
	for _, r := range []*registry.Repository{repo, again} {
		rep, err := gate.Audit(t.Context(), r, "main", served, gate.Options{})
		if err != nil || rep.Verdict != gate.Passed {
			t.Errorf("after the fix: %+v, %v", rep, err)
		}
	}
	none := gate.Options{Only: []string{"schema"}, Skip: []string{"schema"}}
	_, err = gate.Check(t.Context(), repo, "", "", offline, none)
	if err == nil || err.Error() != "Options.Only and Options.Skip leave no check to run" {
		t.Errorf("%v", err)
	}
	if fix := gate.Fix(errors.New("another program's")); fix != "" {
		t.Errorf("the fix of a foreign error is %q", fix)
	}
	if err := (&registry.Repository{}).Close(); err != nil {
		t.Error(err)
	}
}

// TestLiveRoutes checks that ConnectTo, RDAPURL and WHOISServer lead to the servers that the command's flags lead to.
func TestLiveRoutes(t *testing.T) {
	w, repo := build(t, []byte("base:\n  - {listing: ada}\npr:\n  - {listing: nova}\n"))
	ca := must.Read(t, filepath.Join(w.Dir, "ca.pem"))
	options := gate.LiveOptions{Now: w.Now, CACert: ca, ConnectTo: map[string]string{}}
	for i, arg := range w.Args() {
		switch arg {
		case "--connect-to":
			host, addr, _ := strings.Cut(w.Args()[i+1], "=")
			options.ConnectTo[host] = addr
		case "--rdap-url":
			options.RDAPURL = w.Args()[i+1]
		case "--whois-server":
			options.WHOISServer = w.Args()[i+1]
		}
	}
	web := must.Get(gate.Live(options))(t)
	rep, err := gate.Check(t.Context(), repo, w.Base, w.Head, web, gate.Options{})
	if err != nil || rep.Verdict != gate.Passed {
		t.Fatalf("%+v, %v", rep, err)
	}
	if got := fmt.Sprint(rep.Assumed); !strings.Contains(got, "--connect-to *=") ||
		!strings.Contains(got, "--rdap-url ") {
		t.Errorf("the report assumes %s", got)
	}
}

func ExampleLocal() {
	clone, remove := exampleClone()
	defer remove()
	repo, err := registry.Open(clone)
	if err != nil {
		panic(err)
	}
	defer repo.Close()
	site := fstest.MapFS{".well-known/oap-tool.json": {Data: []byte("no Manifest")}}
	web, err := gate.Local(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), map[string]fs.FS{"nova.example": site})
	if err != nil {
		panic(err)
	}
	rep, err := gate.Verify(context.Background(), "https://nova.example", web, gate.VerifyOptions{Registry: repo})
	if err != nil {
		panic(err)
	}
	fmt.Println(rep.Verdict, rep.Steps[0].Findings[0].Code)
	// Output: fail json-syntax
}

func ExampleRecord() {
	site := fstest.MapFS{".well-known/oap-tool.json": {Data: []byte("{}")}}
	local, err := gate.Local(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), map[string]fs.FS{"nova.example": site})
	if err != nil {
		panic(err)
	}
	web, recording := gate.Record(local)
	options := gate.VerifyOptions{WithoutRegistry: true}
	if _, err := gate.Verify(context.Background(), "https://nova.example", web, options); err != nil {
		panic(err)
	}
	bundle, err := recording.Bundle()
	if err != nil {
		panic(err)
	}
	again, err := gate.Recorded(bundle)
	if err != nil {
		panic(err)
	}
	rep, err := gate.Verify(context.Background(), "https://nova.example", again, options)
	if err != nil {
		panic(err)
	}
	fmt.Println(rep.Verdict)
	// Output: fail
}
