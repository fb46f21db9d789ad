package mirrorcmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// cachedAudit is an audit with a cache and what it asked of the web.
type cachedAudit struct {
	t     *testing.T
	w     *fixture.World
	cache string
}

// run audits, holds the exit status, and gives by URL whether the evidence came from the cache, with its age.
func (c cachedAudit) run(status int, more ...string) map[string]bool {
	c.t.Helper()
	c.w.Web.Forget()
	report := filepath.Join(c.t.TempDir(), "report.json")
	args := slices.Concat([]string{"audit", "--rev", "main", "--cache", c.cache, "--report", "json=" + report},
		c.w.Args(), more)
	if code, out := clitest.Program(c.t, args...); code != status {
		c.t.Fatalf("exit status %d, want %d: %s", code, status, out)
	}
	var r verdict.Report
	must.OK(c.t, json.Unmarshal(must.Read(c.t, report), &r))
	cached := map[string]bool{}
	for _, e := range r.Evidence {
		cached[e.URL] = e.CachedAt != nil
		if e.State == "obtained" && e.SHA256 == "" {
			c.t.Errorf("%s has no hash", e.URL)
		}
	}
	return cached
}

func (c cachedAudit) asked(request string, n int) {
	c.t.Helper()
	if got := c.w.Web.Hits(request); got != n {
		c.t.Errorf("%s was asked for %d times, want %d", request, got, n)
	}
}

// TestAuditCache checks that a second audit asks with entity tags alone, and not at all for what domains' registries
// said in the last days, and that what it takes from the cache is recorded as such.
func TestAuditCache(t *testing.T) {
	t.Parallel()
	w := clitest.Build(t, twoSteps)
	tag(w, "eve", "fay")
	a := cachedAudit{t, w, t.TempDir()}
	for url, cached := range a.run(0) {
		if cached {
			t.Errorf("%s comes from an empty cache", url)
		}
	}
	a.asked("rdap eve.example", 1)

	// Nothing changed: each document is confirmed, which needs a reply without a body, and no registry is asked.
	all := a.run(0)
	if len(all) != 8 {
		t.Errorf("%d pieces of evidence, want 8: %v", len(all), all)
	}
	for url, cached := range all {
		if !cached {
			t.Errorf("%s was fetched anew", url)
		}
		if strings.HasPrefix(url, "https:") {
			a.asked(url, 1)
		}
	}
	a.asked("rdap eve.example", 0)
	a.asked("rdap fay.example", 0)

	// One Manifest changed: it alone is fetched.
	const manifest = "https://eve.example/.well-known/oap-tool.json"
	w.Web.Set(manifest, webtest.Behaviour{Body: append([]byte("\n"), w.Web.Body(manifest)...), ETag: `"2"`})
	for url, cached := range a.run(0) {
		if cached == (url == manifest) {
			t.Errorf("%s: from the cache: %t", url, cached)
		}
	}
	// A Receipt that is served no more is gone, whatever the cache holds.
	w.Web.Set("https://eve.example/oap-conformance-receipt.json", webtest.Behaviour{Status: 404})
	a.run(1)
}

// TestAuditCachePoisoned checks that bytes under another's hash are never believed.
func TestAuditCachePoisoned(t *testing.T) {
	t.Parallel()
	w := clitest.Build(t, twoSteps)
	tag(w, "eve", "fay")
	a := cachedAudit{t, w, t.TempDir()}
	a.run(0)
	documents, err := filepath.Glob(filepath.Join(a.cache, "documents", "*"))
	if err != nil || len(documents) != 8 {
		t.Fatalf("the cache holds %q, %v", documents, err)
	}
	for i, file := range documents {
		other := must.Read(t, documents[(i+1)%len(documents)])
		if i%2 == 0 {
			other = nil
		}
		must.OK(t, os.WriteFile(file, other, 0o600))
	}
	fetched := 0
	for _, cached := range a.run(0) {
		if !cached {
			fetched++
		}
	}
	if fetched < 7 {
		t.Errorf("%d pieces of evidence were fetched anew, want all but those that were mended on the way", fetched)
	}
	wholeDocuments(t, a.cache)
	requests, err := filepath.Glob(filepath.Join(a.cache, "requests", "*"))
	if err != nil || len(requests) != 8 {
		t.Fatalf("the cache holds %q, %v", requests, err)
	}
	for _, file := range requests {
		must.OK(t, os.WriteFile(file, []byte(`{"sha256":"../../../../etc/passwd"}`), 0o600))
	}
	for url, cached := range a.run(0) {
		if cached {
			t.Errorf("%s comes from a cache that was overwritten", url)
		}
	}
}

// TestAuditCacheShared checks that two registries may share a cache: of one web, and of two webs with other documents
// under the same URLs and entity tags.
func TestAuditCacheShared(t *testing.T) {
	t.Parallel()
	one := clitest.Build(t, twoSteps)
	tag(one, "eve", "fay")
	other := clitest.Build(t, `
base:
  - {listing: eve, key: other, registered: "-20d"}
  - {commit: eve}
  - {listing: gus}
`)
	tag(other, "eve", "gus")
	a := cachedAudit{t, one, t.TempDir()}
	b := cachedAudit{t, other, a.cache}
	a.run(0)
	for range 2 {
		b.run(1) // its domain is young, whatever the other web says
		a.run(0)
	}
	// The other registry in the same web finds what it needs.
	for url, cached := range a.run(0, "--rev", "main^", "--skip",
		"receipt-fetch,receipt-claims,receipt-signature,receipt-validity,peer-witnesses") {
		if !cached {
			t.Errorf("%s was fetched anew", url)
		}
	}
}

// TestAuditReportSize checks that the JSON report of an online audit of 10,000 listings stays below 64 MiB, by what one
// listing takes of it.
func TestAuditReportSize(t *testing.T) {
	t.Parallel()
	const listings = 40
	text := "base:\n  - {listing: ada, level: L4, witness: [bob]}\n  - {listing: bob, level: L4, witness: " +
		"[ada]}\n  - {commit: Begin}\n"
	for i := range listings - 2 {
		text += fmt.Sprintf("  - {listing: implementation-%04d, level: L4, witness: [ada]}\n", i)
	}
	w := clitest.Build(t, text)
	report := filepath.Join(t.TempDir(), "report.json")
	if code, out := clitest.Program(t, slices.Concat([]string{"audit", "--rev", "main", "--report", "json=" + report},
		w.Args())...); code != 0 {
		t.Fatalf("exit status %d: %s", code, out)
	}
	if size := len(must.Read(t, report)); size/listings > 64<<20/10_000 {
		t.Errorf("%d bytes for %d listings are more than 64 MiB for 10,000", size, listings)
	}
}
