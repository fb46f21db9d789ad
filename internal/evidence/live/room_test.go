package live

import (
	"fmt"
	"os"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestVersions has a URL that serves another document in each run: the newest 16 stay, and what is pinned.
func TestVersions(t *testing.T) {
	dir := t.TempDir()
	body := func(i int) []byte { return fmt.Appendf(nil, "version %d", i) }
	pinned := plain.SHA256(body(3))
	for i := range 40 {
		a := must.Get(openArchive(dir, NewRoom(1<<20, func(sum string) bool { return sum == pinned }), nil))(t)
		for range 2 { // the same again is no version
			a.store(evidence.Observation{Request: evidence.Request{Protocol: evidence.HTTPS,
				Target: "https://a.example/r.json", MaxBytes: 100}, State: evidence.Obtained,
				Body: body(i), SHA256: plain.SHA256(body(i))})
		}
	}
	for i := range 40 {
		_, err := os.Lstat((&archive{dir: dir}).path(plain.SHA256(body(i))))
		if want := i == 3 || i > 24; (err == nil) != want {
			t.Errorf("version %d is there: %t; expected %t", i, err == nil, want)
		}
	}
}

// TestRoom stores no more than there is room for.
func TestRoom(t *testing.T) {
	a := must.Get(openArchive(t.TempDir(), NewRoom(200, func(string) bool { return false }), nil))(t)
	for i, want := range []bool{true, false, true} {
		text := make([]byte, []int{60, 120, 5}[i])
		text[0] = byte(i)
		o := evidence.Observation{Request: evidence.Request{Protocol: evidence.HTTPS,
			Target: "https://a.example/" + fmt.Sprint(i), MaxBytes: 1000}, State: evidence.Obtained,
			Body: text, SHA256: plain.SHA256(text)}
		a.store(o)
		if _, err := os.Lstat(a.path(o.SHA256)); (err == nil) != want {
			t.Errorf("document %d is stored: %t; expected %t", i, err == nil, want)
		}
	}
}
