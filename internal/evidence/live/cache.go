package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// maxAge is for how long the reply that gave a domain's registration date, and IANA's list of RDAP servers, are
// not asked for again.
const maxAge = 7 * 24 * time.Hour

// cache keeps answers on disk between runs: bodies by their SHA-256 in documents/, and the requests that they answer in
// requests/. A document is requested again with its entity tag; a registration date and IANA's list of RDAP servers are
// requested again once they are not fresh any more. The methods of a nil cache find and keep nothing.
//
// An answer only counts for runs that ask the same world: the answers of a web that an operator named say nothing about
// the public web.
//
// A process that can write to the directory decides these answers: the directory must not be shared with the jobs of
// pull requests. The cache requests an answer again if its file cannot be read or has another hash. It ignores that an
// answer cannot be written, since the run has it.
type cache struct {
	dir, overrides string
	room           *Room
	files          atomicfile.Unsynced
}

// cached is an answer of an earlier run.
type cached struct {
	Request   evidence.Request `json:"request"`
	Overrides string           `json:"world"`
	URL       string           `json:"url"`       // that served it
	ETag      string           `json:"etag"`      // strong, or empty
	SHA256    string           `json:"sha256"`    // sum of the body
	Status    int              `json:"status"`    // 0 for WHOIS
	Confirmed time.Time        `json:"confirmed"` // when the origin last said so
	body      []byte
}

func openCache(o Options) (*cache, error) {
	dir := o.CacheDir
	if dir == "" {
		return nil, nil
	}
	for _, directory := range []string{"documents", "requests"} {
		if err := os.MkdirAll(filepath.Join(dir, directory), 0o700); err != nil {
			return nil, fmt.Errorf("making cache: %w", err)
		}
	}
	return &cache{dir: dir, overrides: overrideDigest(o), room: o.Room}, nil
}

// overrideDigest returns the SHA-256 of the options that replace the public web, or "" if none does.
func overrideDigest(o Options) string {
	if len(o.ConnectTo) == 0 && len(o.CACert) == 0 && o.Proxy == "" && o.RDAPURL == "" && o.WHOISServer == "" {
		return ""
	}
	return plain.SHA256(fmt.Appendf(nil, "%q %q %q %q %q", o.ConnectTo, o.CACert, o.Proxy, o.RDAPURL, o.WHOISServer))
}

func (c *cache) documentPath(sum string) string { return filepath.Join(c.dir, "documents", sum) }

func (c *cache) requestPath(r evidence.Request) string {
	key := fmt.Appendf(nil, "%s %s %d %s", c.overrides, r.Protocol, r.MaxBytes, r.Target)
	return filepath.Join(c.dir, "requests", plain.SHA256(key)+".json")
}

// document returns the cached answer to a request, or nil.
func (c *cache) document(r evidence.Request) *cached {
	if c == nil {
		return nil
	}
	text, err := capped.ReadFile(c.requestPath(r), 64<<10)
	if err != nil {
		return nil
	}
	var found cached
	if err := json.Unmarshal(text, &found); err != nil || found.Request != r || found.Overrides != c.overrides ||
		!plain.IsSHA256(found.SHA256) {
		return nil
	}
	found.body, err = capped.ReadFile(c.documentPath(found.SHA256), r.MaxBytes)
	if err != nil || plain.SHA256(found.body) != found.SHA256 {
		return nil
	}
	return &found
}

// keep stores a document that can be asked for again by its entity tag, and IANA's list.
func (c *cache) keep(r evidence.Request, from *url.URL, tag string, o *evidence.Observation) {
	if !isStrongTag(tag) {
		tag = ""
	}
	if c == nil || r.Protocol != evidence.HTTPS || tag == "" && r.Target != bootstrapURL {
		return
	}
	o.SHA256 = plain.SHA256(o.Body)
	c.write(cached{Request: r, URL: from.String(), ETag: tag, Status: http.StatusOK, SHA256: o.SHA256, body: o.Body})
}

// isStrongTag reports whether an entity tag of RFC 9110 section 8.8.3 identifies exact bytes.
func isStrongTag(tag string) bool {
	inner, opened := strings.CutPrefix(tag, `"`)
	inner, closed := strings.CutSuffix(inner, `"`)
	return opened && closed && len(tag) <= 1024 &&
		strings.IndexFunc(inner, func(r rune) bool { return r <= ' ' || r == '"' || r >= 0x7f }) < 0
}

// store keeps the reply that gave a registration date.
func (c *cache) store(r evidence.Request, o *evidence.Observation) {
	if c != nil && o.State == evidence.Obtained {
		o.SHA256 = plain.SHA256(o.Body)
		c.write(cached{Request: r, URL: o.FinalURL, Status: o.Status, SHA256: o.SHA256, body: o.Body})
	}
}

func (c *cache) write(answer cached) {
	answer.Overrides = c.overrides
	answer.Confirmed = time.Now().UTC().Truncate(time.Second)
	text, err := json.Marshal(answer)
	if err != nil || !c.room.take(len(text)+len(answer.body)) {
		return
	}
	if before := c.document(answer.Request); c.room != nil && before != nil && before.SHA256 != answer.SHA256 {
		_ = os.Remove(c.documentPath(before.SHA256)) // another request that had the same bytes asks for them again
	}
	if c.files.Write(c.documentPath(answer.SHA256), answer.body, 0o600) != nil {
		return
	}
	_ = c.files.Write(c.requestPath(answer.Request), text, 0o600)
}

func (a *cached) fresh() bool {
	if a == nil {
		return false
	}
	age := time.Since(a.Confirmed)
	return age >= 0 && age < maxAge
}

// recall makes an observation of a cached answer.
func (a *cached) recall(r evidence.Request, q *quota) evidence.Observation {
	if !q.take(int64(len(a.body))) {
		return totalTooLarge().Observation(r)
	}
	o := evidence.Observation{Request: r, State: evidence.Obtained, Status: a.Status, FinalURL: a.URL, SHA256: a.SHA256,
		Body: a.body, CachedAt: a.Confirmed}
	if o.FinalURL == r.Target {
		o.FinalURL = ""
	}
	return o
}

// cacheFirst is the layer that answers from the cache what need not be asked for again yet, and stores the replies that
// gave a registration date; documents are stored with their entity tags where they are got.
type cacheFirst struct {
	*cache
	quota *quota
	below layer
}

func (f *cacheFirst) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	if r.Protocol == evidence.RDAP || r.Protocol == evidence.WHOIS || r.Target == bootstrapURL {
		if cached := f.document(r); cached.fresh() {
			return cached.recall(r, f.quota)
		}
	}
	o := f.below.Observe(ctx, r)
	if o.State == evidence.Obtained && givesDate(o) {
		f.store(r, &o)
	}
	return o
}

func givesDate(o evidence.Observation) bool {
	var err error
	switch o.Protocol {
	case evidence.RDAP:
		defer evidence.EnterDecoding()()
		_, err = domainage.FromRDAP(o.Target, o.Body)
	case evidence.WHOIS:
		_, err = domainage.FromWHOIS(o.Target, o.Body)
	default:
		return false
	}
	return err == nil
}

// confirmed returns an attempt that found the cached answer still valid: by RFC 9111 section 4.3.3 the answer is then
// the stored one, with its status.
func (w *web) confirmed(a attempt, r evidence.Request, q query) attempt {
	o := q.cached.recall(r, &w.quota)
	o.Address, o.Milliseconds, o.Date = a.observation.Address, a.observation.Milliseconds, a.observation.Date
	if o.State == evidence.Obtained {
		o.CachedAt = time.Now().UTC().Truncate(time.Second)
		w.cache.write(*q.cached)
	}
	a.observation = o
	return a
}
