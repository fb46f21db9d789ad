package peer

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnswers names what a peer answers instead of its refs.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name string
		do   http.HandlerFunc
		want string
	}{
		{"overloaded", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, "could not be fetched: it answered 503, and asks to be tried again in 120 s"},
		{"too many requests", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "Tue, 01 Jan 2030 00:00:00 GMT")
			w.WriteHeader(http.StatusTooManyRequests)
		}, "could not be fetched: it answered 429"},
		{"a redirect that is refused", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://refused.example/x.git\n::error::", http.StatusFound)
		}, `could not be fetched: it redirects to "http://refused.example/x.git`},
		{"no repository", http.NotFound, `could not be fetched: "repository not found`},
	} {
		server := httptest.NewServer(c.do)
		s := Source{URL: server.URL + "/r.git", Transport: refusing{}}
		_, err := Fetch(t.Context(), s, t.TempDir())
		if !errors.Is(err, ErrFetch) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is %q, want %q", c.name, err, c.want)
		}
		server.Close()
	}
}

// refusing is a transport that refuses one host, as the one that guards the network does.
type refusing struct{}

func (refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == "refused.example" {
		return nil, errors.New("refused")
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestDamagedPack tells a pack that was damaged on its way from one that was made so.
func TestDamagedPack(t *testing.T) {
	whole := func(content string) []byte {
		sum := sha1.Sum([]byte(content))
		return append([]byte(content), sum[:]...)
	}
	empty := whole("PACK\x00\x00\x00\x02\x00\x00\x00\x00")
	flipped := bytes.Clone(empty)
	flipped[9] ^= 1
	for _, c := range []struct {
		name    string
		pack    []byte
		damaged bool
		good    bool
	}{
		{"whole", empty, false, true},
		{"one wrong byte", flipped, true, false},
		{"cut short", empty[:len(empty)-1], true, false},
		{"too short for a trailer", empty[:12], true, false},
		{"made with an object that is not there", whole("PACK\x00\x00\x00\x02\x00\x00\x00\x01"), false, false},
	} {
		dir := t.TempDir()
		s := Source{MaxPack: 1 << 20}
		_, err := s.keep(t.Context(), bytes.NewReader(c.pack), dir)
		if errors.Is(err, ErrPack) != c.damaged || (err == nil) != c.good {
			t.Errorf("%s: the error is %v", c.name, err)
		}
		if c.damaged && strings.Contains(err.Error(), string(os.PathSeparator)+filepath.Base(dir)) {
			t.Errorf("%s: the error has a path: %v", c.name, err)
		}
	}
}
