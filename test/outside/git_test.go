package outside

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/indexpack"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const fixturesModule = "github.com/go-git/go-git-fixtures/v6"

// git runs git apart from the user's configuration.
func git(t testing.TB, dir string, input []byte, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %.300s", err, stderr.String())
	}
	return string(out), err
}

// indexed compares the index that gitstore writes of a pack with the one of git index-pack, byte for byte.
func indexed(r *run, id string, pack []byte) {
	dir := r.TempDir()
	file := filepath.Join(dir, "a.pack")
	must.OK(r, os.WriteFile(file, pack, 0o600))
	theirs := filepath.Join(dir, "theirs.idx")
	want := answer{}
	if _, err := git(r, dir, nil, "index-pack", "--strict", "--no-rev-index", "-o", theirs, file); err != nil {
		want.refuses = true
	} else {
		want.value = string(readFile(r, theirs))
	}
	ours := filepath.Join(dir, "ours", "o.idx")
	must.OK(r, os.Mkdir(filepath.Dir(ours), 0o700))
	r.compare(id, want, func() (string, error) {
		if _, err := indexpack.Index(r.Context(), file, ours); err != nil {
			return "", err
		}
		text, err := os.ReadFile(ours)
		return string(text), err
	})
	// It writes nothing but the index.
	if now := names(r, filepath.Dir(ours)); len(now) > 1 || len(now) == 1 && now[0] != "o.idx" {
		r.fault = append(r.fault, fmt.Sprintf("%q: there are the files %q", id, now))
	}
	if text := readFile(r, file); !bytes.Equal(text, pack) {
		r.fault = append(r.fault, fmt.Sprintf("%q: the pack was changed", id))
	}
}

func names(t testing.TB, dir string) (all []string) {
	entries, err := os.ReadDir(dir)
	must.OK(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

var packs = &judge{name: "go-git fixtures, packs against git index-pack", version: goVersion(fixturesModule), cases: 26,
	sound: true, needs: []string{"git"}, run: func(r *run) {
		dir, _ := module(r, fixturesModule)
		files, err := filepath.Glob(filepath.Join(dir, "data", "*.pack"))
		must.OK(r, err)
		accepted := 0
		for _, f := range files {
			indexed(r, filepath.Base(f), readFile(r, f))
			if k := r.cases[len(r.cases)-1]; k.outcome == agree && !strings.Contains(k.detail, "refused: true") {
				accepted++
			}
		}
		if accepted != 23 {
			r.Errorf("%d packs are read; expected 23", accepted)
		}
	}}

var clones = &judge{name: "go-git fixtures, clones against git cat-file", version: goVersion(fixturesModule), cases: 21,
	sound: true, needs: []string{"git"}, run: func(r *run) {
		dir, _ := module(r, fixturesModule)
		files, err := filepath.Glob(filepath.Join(dir, "data", "git-*.tgz"))
		must.OK(r, err)
		r.most = 30 * time.Second // a clone has thousands of objects
		for _, f := range files {
			clone := r.TempDir()
			if out, err := exec.Command("tar", "-xzf", f, "-C", clone).CombinedOutput(); err != nil {
				r.Fatalf("%v: %s", err, out)
			}
			if entries := names(r, clone); len(entries) == 1 && entries[0] != ".git" {
				clone = filepath.Join(clone, entries[0])
			}
			format := "%(objectname) %(objecttype) %(objectsize)"
			list, err := git(r, clone, nil, "cat-file", "--batch-all-objects", "--batch-check="+format)
			want := answer{value: list, refuses: err != nil}
			r.compare(filepath.Base(f), want, func() (string, error) { return objects(r, clone, list) })
		}
	}}

// objects reads each object of a list, and returns the list as the product has it.
func objects(r *run, clone, list string) (string, error) {
	store, err := gitstore.Open(clone)
	if err != nil {
		return "", err
	}
	defer store.Close()
	var out strings.Builder
	for lines := bufio.NewScanner(strings.NewReader(list)); lines.Scan(); {
		name, _, _ := strings.Cut(lines.Text(), " ")
		id, err := gitobject.ParseID(name)
		if err != nil {
			return "", err
		}
		kind, data, err := store.Read(id, indexpack.MaxObject)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s %s %d\n", id, kind, len(data))
	}
	return out.String(), nil
}
