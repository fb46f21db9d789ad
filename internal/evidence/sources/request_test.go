package sources

import (
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
)

func FuzzRequest(f *testing.F) {
	for _, s := range []string{"https://example.com/", "https://EXAMPLE.com:443/?\xff#a", "http://[::1]/",
		"https://a@b/%zz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, target string) {
		for _, p := range []evidence.Protocol{evidence.HTTPS, evidence.RDAP} {
			once := Canonical(evidence.Request{Protocol: p, Target: target, MaxBytes: 1})
			if twice := Canonical(once); twice != once {
				t.Errorf("%q is spelled %q, and that %q", target, once.Target, twice.Target)
			}
		}
	})
}

func TestOffline(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	s := Offline(now, 0)
	o := s.Observe(t.Context(), evidence.Request{Protocol: evidence.HTTPS, Target: "https://example.com/",
		MaxBytes: 100})
	if o.State != evidence.Unsought || o.Code != evidence.CodeOffline || s.Observations() != nil ||
		!s.Now().Equal(now) {
		t.Errorf("gives %+v", o)
	}
	if fix := o.Retry(now).Fix; fix != "run without --offline" {
		t.Errorf("the fix is %q", fix)
	}
}

func TestIsHTTPS(t *testing.T) {
	for text, want := range map[string]bool{"https://a": true, "HTTPS://a": true, "https://": false, "http://a": false,
		"": false, "https:///r.json": false, "https://:443/r.json": false, "https://?a": false, "https:a": false,
		"//a": false, "https://[::1/r.json": false, "https://[::1]/r.json": true,
		"https://" + strings.Repeat("a", maxURL): false} {
		if got := IsHTTPS(text); got != want {
			t.Errorf("%.20q: %v", text, got)
		}
	}
}
