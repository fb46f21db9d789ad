package peer

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return gittest.At(t, dir).Git(args...)
}

func commit(t *testing.T, dir, path, text string) string {
	t.Helper()
	return gittest.At(t, dir).Commit(path, text)
}

// serve offers the repositories under a directory by smart HTTP.
func serve(t *testing.T, root string) *httptest.Server {
	t.Helper()
	server, err := ghtest.ServeGit(root)
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	t.Cleanup(server.Close)
	return server
}

// way is the transport to a URL that was named.
func way(t *testing.T, text string) http.RoundTripper {
	t.Helper()
	u := must.Get(url.Parse(text))(t)
	rt := must.Get(live.NewTransport(live.Options{}, u))(t)
	return rt
}

// TestFetch fetches a branch from git's own server: whole, then what is new, then nothing.
func TestFetch(t *testing.T) {
	root := t.TempDir()
	server := serve(t, root)
	theirs := filepath.Join(root, "theirs")
	git(t, root, "init", "-q", "-b", "trunk", theirs)
	commit(t, theirs, "implementations/a.json", "a")
	first := commit(t, theirs, "implementations/b.json", strings.Repeat("b\n", 100_000))
	at := server.URL + "/theirs/.git"
	whole := t.TempDir()
	got, err := Fetch(t.Context(), Source{URL: at, Transport: way(t, at)}, whole)
	if err != nil || got.Tip != first {
		t.Fatalf("%+v, %v, want %s", got, err, first)
	}
	git(t, root, "verify-pack", got.Pack+".idx")
	second := commit(t, theirs, "implementations/c.json", "c")
	more := t.TempDir()
	haves := func(context.Context) ([]string, error) { return []string{first}, nil }
	got, err = Fetch(t.Context(), Source{URL: at, Branch: "trunk", Transport: way(t, at), Haves: haves}, more)
	if err != nil || got.Tip != second {
		t.Fatalf("%+v, %v, want %s", got, err, second)
	}
	if info, err := os.Stat(got.Pack + ".pack"); err != nil || info.Size() > 5000 {
		t.Errorf("the pack: %v, %v, although all but one commit is at hand", info.Size(), err)
	}
	has := func(id string) bool { return id == second }
	if got, err = Fetch(t.Context(), Source{URL: at, Transport: way(t, at), Has: has},
		more); err != nil || got.Pack != "" {
		t.Errorf("%+v, %v, want nothing new", got, err)
	}
}

func TestFetchErrors(t *testing.T) {
	root := t.TempDir()
	server := serve(t, root)
	git(t, root, "init", "-q", "-b", "main", "r")
	commit(t, filepath.Join(root, "r"), "x", "x")
	git(t, root, "init", "-q", "-b", "main", "--object-format=sha256", "wide")
	commit(t, filepath.Join(root, "wide"), "x", "x")
	git(t, root, "init", "-q", "-b", "main", "empty")
	moved := httptest.NewServer(http.RedirectHandler(server.URL+"/r/.git/info/refs?service=git-upload-pack",
		http.StatusFound))
	t.Cleanup(moved.Close)
	for _, tt := range []struct {
		source Source
		want   error
	}{
		{Source{URL: server.URL + "/missing"}, ErrFetch},
		{Source{URL: server.URL + "/empty/.git"}, ErrFetch},
		{Source{URL: server.URL + "/empty/.git"}, ErrEmpty},
		{Source{URL: server.URL + "/r/.git", MaxPack: 10}, ErrTooLarge},
		{Source{URL: server.URL + "/r/.git", Branch: "trunk"}, ErrBranch},
		{Source{URL: server.URL + "/wide/.git"}, ErrSHA256},
		{Source{URL: moved.URL + "/r"}, ErrFetch},
		{Source{URL: "http://example.org/r"}, ErrURL},
		{Source{URL: "ssh://127.0.0.1/r"}, ErrURL},
		{Source{URL: "ext::sh -c 'touch marker'"}, ErrURL},
		{Source{URL: "--upload-pack=touch marker"}, ErrURL},
		{Source{URL: "https://user:secret@example.org/r"}, ErrURL},
		{Source{URL: "https://example.org/r?x"}, ErrURL},
		{Source{URL: "https://"}, ErrURL},
		{Source{URL: root}, ErrURL},
		{Source{URL: "https://a b/"}, ErrURL},
	} {
		if u, err := url.Parse(tt.source.URL); err == nil && u.Host != "" {
			tt.source.Transport = way(t, tt.source.URL)
		}
		_, err := Fetch(t.Context(), tt.source, t.TempDir())
		if !errors.Is(err, tt.want) || strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("fetching %q: error %v, want %v", tt.source.URL, err, tt.want)
		}
	}
}

func pkt(text string) string { return fmt.Sprintf("%04x%s", 4+len(text), text) }

var zeroes = strings.Repeat("a", 40)

// advertise is what a server says first.
func advertise(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
	fmt.Fprint(w, pkt("# service=git-upload-pack\n"), "0000", pkt(zeroes+" HEAD\x00ofs-delta\n"),
		pkt(zeroes+" refs/heads/main\n"), "0000")
}

// TestFetchHostile checks that a server that means harm ends the fetch, in little memory.
func TestFetchHostile(t *testing.T) {
	endless := func(w http.ResponseWriter, piece string) {
		for {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	}
	stalls := func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	bomb := zlibbed(t, make([]byte, 64<<20))
	for _, tt := range []struct {
		name   string
		serves func(http.ResponseWriter, *http.Request)
		want   error
	}{
		{"refs without end", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, pkt("# service=git-upload-pack\n"), "0000", pkt(zeroes+" HEAD\x00ofs-delta\n"))
			for i := 0; ; i++ {
				if _, err := io.WriteString(w, pkt(fmt.Sprintf("%s refs/heads/%09d\n", zeroes, i))); err != nil {
					return
				}
			}
		}, ErrTooLarge},
		{"an error without end", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			endless(w, strings.Repeat("x", 1<<16))
		}, ErrFetch},
		{"silence", stalls, ErrFetch},
		{"silence before the pack", func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				advertise(w)
				return
			}
			fmt.Fprint(w, pkt("NAK\n"), "PACK")
			stalls(w, r)
		}, ErrFetch},
		{"acknowledgements without end", func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				advertise(w)
				return
			}
			endless(w, pkt("ACK "+zeroes+"\n"))
		}, ErrTooLarge},
		{"a pack without end", func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				advertise(w)
				return
			}
			fmt.Fprint(w, pkt("NAK\n"))
			endless(w, "PACK"+strings.Repeat("x", 1<<16))
		}, ErrTooLarge},
		{"a pack that inflates beyond what it says", func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				advertise(w)
				return
			}
			pack := append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01\x31"), bomb...)
			sum := sha1.Sum(pack)
			fmt.Fprint(w, pkt("NAK\n"))
			w.Write(append(pack, sum[:]...))
		}, gitobject.ErrCorrupt},
		{"text for a terminal by the side band", func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				fmt.Fprint(w, pkt("# service=git-upload-pack\n"), "0000",
					pkt(zeroes+" refs/heads/main\x00side-band-64k ofs-delta\n"), "0000")
				return
			}
			fmt.Fprint(w, pkt("NAK\n"), pkt("\x02\x1b[31mred\n::error::x\n"), pkt("\x03\x1b]0;x\x07\n::error::x\n"),
				"0000")
		}, ErrFetch},
		{"an error line for a terminal", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, pkt("# service=git-upload-pack\n"), "0000", pkt("ERR \x1b[31mred\n::error::x\n"))
		}, ErrFetch},
		{"names for a terminal, and no branch", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, pkt("# service=git-upload-pack\n"), "0000",
				pkt(zeroes+" refs/heads/\x1b[31mred\r::error::x\x00ofs-delta\n"), "0000")
		}, ErrBranch},
		{"a history that it cuts off", func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				advertise(w)
				return
			}
			fmt.Fprint(w, pkt("shallow "+zeroes+"\n"), "0000", pkt("NAK\n"), "PACK")
		}, ErrFetch},
		{"a branch that says that its ids are SHA-256", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, pkt("# service=git-upload-pack\n"), "0000", pkt(zeroes+" HEAD\x00ofs-delta\n"),
				pkt(zeroes+" refs/heads/object-format=sha256\n"), "0000")
		}, ErrBranch},
		{"a web page", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>hello</html>") }, ErrFetch},
		{"nothing", func(w http.ResponseWriter, r *http.Request) {}, ErrFetch},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(tt.serves))
			defer server.Close()
			stall := time.Minute
			if strings.HasPrefix(tt.name, "silence") {
				stall = 300 * time.Millisecond
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_, err := Fetch(t.Context(), Source{URL: server.URL + "/r", Branch: "main", Transport: way(t, server.URL),
				MaxPack: 32 << 20, Stall: stall}, t.TempDir())
			runtime.ReadMemStats(&after)
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			fix := ""
			if e, ok := errors.AsType[remedy.Fixer](err); ok {
				fix = e.Fix()
			}
			if strings.ContainsFunc(fmt.Sprint(err, fix), unicode.IsControl) {
				t.Errorf("a terminal would obey %q, %q", err, fix)
			}
			if took := after.HeapSys - before.HeapSys; after.HeapSys > before.HeapSys && took > 200<<20 {
				t.Errorf("it took %d MiB", took>>20)
			}
		})
	}
}

func zlibbed(t *testing.T, data []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	must.OK(t, z.Close())
	return out.Bytes()
}

func TestDir(t *testing.T) {
	tests := []struct {
		peer, dir string
		ok        bool
	}{
		{"/srv/r", "/srv/r", true}, {"r", "r", true}, {"file:///srv/r%20s", "/srv/r s", true},
		{"file://host/srv/r", "", false}, {"https://example.org/r", "", false}, {"://", "", false},
	}
	for _, tt := range tests {
		if dir, ok := Dir(tt.peer); filepath.ToSlash(dir) != tt.dir || ok != tt.ok {
			t.Errorf("%q is the directory %q, %v", tt.peer, dir, ok)
		}
	}
}
