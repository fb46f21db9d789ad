package live

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

// aged moves what a cache holds back in time.
func aged(t *testing.T, c *cache, r evidence.Request, by time.Duration) {
	t.Helper()
	path := c.requestPath(r)
	found := c.document(r)
	if found == nil {
		t.Fatalf("%s is not in the cache", r)
	}
	text := must.Read(t, path)
	old, then := found.Confirmed.Format(time.RFC3339), found.Confirmed.Add(-by).Format(time.RFC3339)
	must.OK(t, os.WriteFile(path, []byte(strings.Replace(string(text), old, then, 1)), 0o600))
}

func TestCacheOfDocuments(t *testing.T) {
	w := startWeb(t)
	dir := t.TempDir()
	cached := func(o *Options) { o.CacheDir = dir }
	r := get("https://example.com/", 100)
	observe := func(want string, age bool) {
		t.Helper()
		o := onWeb(t, w, cached).Observe(t.Context(), r)
		if got := outcome(o); got != want || o.CachedAt.IsZero() == age || age && !o.Date.Equal(testNow) {
			t.Errorf("gives %s, cached at %v, of %v, want %s", got, o.CachedAt, o.Date, want)
		}
	}
	w.Set(r.Target, webtest.Behaviour{Body: []byte("one"), ETag: `"1"`,
		Header: map[string]string{"Date": testNow.Format(http.TimeFormat)}})
	observe(`obtained 200 "one"`, false)
	observe(`obtained 200 "one"`, true)
	w.Set(r.Target, webtest.Behaviour{Body: []byte("two"), ETag: `"2"`})
	observe(`obtained 200 "two"`, false)
	if n := w.Hits(r.Target); n != 3 {
		t.Errorf("a document is asked for %d times, want each time", n)
	}
	w.Set(r.Target, webtest.Behaviour{Status: 404})
	observe("absent http-status 404", false)

	// A redirect to elsewhere does not get the entity tag of what it led to before.
	w.Page("https://b.example/", []byte("b"))
	w.Set(r.Target, webtest.Behaviour{Redirect: "https://b.example/"})
	observe(`obtained 200 "b"`, false)

	// A weak tag does not stand for exact bytes.
	w.Set(r.Target, webtest.Behaviour{Body: []byte("weak"), ETag: `W/"2"`})
	observe(`obtained 200 "weak"`, false)
	observe(`obtained 200 "weak"`, false)

	w.Set(r.Target, webtest.Behaviour{Body: []byte("three"), ETag: `"3"`})
	observe(`obtained 200 "three"`, false)
	documents, err := filepath.Glob(filepath.Join(dir, "documents", "*"))
	if err != nil || len(documents) != 3 {
		t.Fatalf("the cache holds %v, %v, want three documents", documents, err)
	}
	for _, file := range documents {
		must.OK(t, os.WriteFile(file, []byte("other"), 0o600))
	}
	observe(`obtained 200 "three"`, false)
}

func TestCacheOfDomains(t *testing.T) {
	w := startWeb(t)
	w.SetDomain("example.com", webtest.Domain{Registered: registered})
	w.SetDomain("nodate.example", webtest.Domain{})
	dir := t.TempDir()
	cached := func(o *Options) { o.CacheDir = dir }
	c := onWeb(t, w, cached).web.cache
	for _, protocol := range []evidence.Protocol{evidence.RDAP, evidence.WHOIS} {
		r := evidence.Request{Protocol: protocol, Target: "example.com", MaxBytes: evidence.MaxWHOIS}
		for i, age := range []time.Duration{0, time.Hour, 6 * 24 * time.Hour, 2 * 24 * time.Hour} {
			if age > 0 {
				aged(t, c, r, age)
			}
			l := onWeb(t, w, cached)
			o := l.Observe(t.Context(), r)
			if fromCache := i == 1 || i == 2; o.State != evidence.Obtained || o.CachedAt.IsZero() == fromCache ||
				o.SHA256 == "" {
				t.Errorf("%s, run %d gives %s, cached at %v", r, i+1, outcome(o), o.CachedAt)
			}
			l.Observe(t.Context(), evidence.Request{Protocol: protocol, Target: "nodate.example",
				MaxBytes: evidence.MaxWHOIS})
		}
		if n := w.Hits(string(protocol) + " example.com"); n != 2 {
			t.Errorf("%s is asked for %d times, want 2", r, n)
		}
		if n := w.Hits(string(protocol) + " nodate.example"); n != 4 {
			t.Errorf("a domain without a date is asked for %d times, want 4", n)
		}
	}
}

func TestCacheOfBootstrap(t *testing.T) {
	w := startWeb(t)
	w.Page(bootstrapURL, []byte(`{"services":[]}`))
	dir := t.TempDir()
	r := evidence.Request{Protocol: evidence.HTTPS, Target: bootstrapURL, MaxBytes: MaxBootstrap}
	for i, age := range []time.Duration{0, time.Hour, 6 * 24 * time.Hour, 2 * 24 * time.Hour} {
		l := onWeb(t, w, func(o *Options) { o.CacheDir, o.RDAPURL = dir, "" })
		if age > 0 {
			aged(t, l.web.cache, r, age)
		}
		o := l.Observe(t.Context(), r)
		if fromCache := i == 1 || i == 2; o.State != evidence.Obtained || o.CachedAt.IsZero() == fromCache {
			t.Errorf("run %d gives %s, cached at %v", i+1, outcome(o), o.CachedAt)
		}
	}
}

func TestCacheOfFuture(t *testing.T) {
	dir := t.TempDir()
	c := must.Get(openCache(Options{CacheDir: dir}))(t)
	r := evidence.Request{Protocol: evidence.RDAP, Target: "example.com", MaxBytes: evidence.MaxRDAP}
	c.store(r, &evidence.Observation{State: evidence.Obtained, Body: []byte("{}")})
	aged(t, c, r, -time.Hour)
	if c.document(r).fresh() {
		t.Error("an answer of the future is fresh")
	}
	for _, text := range []string{"", "{", `{"sha256":"../../x"}`, `[]`} {
		must.OK(t, os.WriteFile(c.requestPath(r), []byte(text), 0o600))
		if c.document(r) != nil {
			t.Errorf("%q is an answer", text)
		}
	}
}

// TestCacheOfOtherWorlds checks that no run believes what was answered in another web than its own.
func TestCacheOfOtherWorlds(t *testing.T) {
	dir := t.TempDir()
	cached := func(o *Options) { o.CacheDir = dir }
	one, other := startWeb(t), startWeb(t)
	domain, page := evidence.Request{Protocol: evidence.RDAP, Target: "example.com", MaxBytes: evidence.MaxRDAP},
		get("https://example.com/", 100)
	for i, w := range []*webtest.Web{one, other} {
		body := strings.Repeat("x", i+1)
		w.SetDomain("example.com",
			webtest.Domain{Registered: []string{"2001-01-01T00:00:00Z", "2026-01-01T00:00:00Z"}[i]})
		w.Set(page.Target, webtest.Behaviour{Body: []byte(body), ETag: `"same"`})
		for range 2 {
			l := onWeb(t, w, cached)
			if o := l.Observe(t.Context(), page); outcome(o) != `obtained 200 "`+body+`"` {
				t.Errorf("web %d gives %s", i, outcome(o))
			}
			if o := l.Observe(t.Context(), domain); !strings.Contains(string(o.Body),
				[]string{"2001-01-01", "2026-01-01"}[i]) {
				t.Errorf("web %d gives %s", i, o.Body)
			}
		}
		if n := w.Hits("rdap example.com"); n != 1 {
			t.Errorf("web %d is asked for the domain %d times, want once", i, n)
		}
	}
}
