package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// Local has a directory play the web server of a host, for a trial before anything is published: https://Host/PATH is
// the file Dir/PATH.
type Local struct {
	Host string // a DNS name in its canonical spelling
	Dir  string
	FS   fs.FS // read instead of Dir; may be nil
}

// ParseLocal reads HOST=DIR.
func ParseLocal(s string) (Local, error) {
	host, dir, ok := strings.Cut(s, "=")
	if !ok || dir == "" {
		return Local{}, errors.New("expected HOST=DIR")
	}
	host, err := domainage.Host(host)
	if err != nil {
		return Local{}, err
	}
	return Local{Host: host, Dir: dir}, nil
}

// String returns HOST=DIR.
func (l Local) String() string { return l.Host + "=" + l.Dir }

// locals is the layer that answers for the local hosts. It is below the archive, which hashes what it reads, and
// above the cache, which must not keep it. Every rule about URLs applies as on the web.
type locals struct {
	hosts map[string]localHost
	names []string // sorted names of hosts
	quota *quota
	below layer
}

// localHost is the open directory of a local host.
type localHost struct {
	dir   string
	root  *os.Root
	files fs.FS // read instead of root; may be nil
}

// openLocals opens the directories of local hosts.
func openLocals(all []Local, quota *quota, below layer) (*locals, error) {
	l := &locals{hosts: map[string]localHost{}, quota: quota, below: below}
	for _, local := range all {
		if local.FS != nil {
			l.hosts[local.Host] = localHost{local.Dir, nil, local.FS}
			continue
		}
		root, err := os.OpenRoot(local.Dir)
		if err != nil {
			l.close()
			return nil, fmt.Errorf("opening the directory of %s: %w", local.Host, err)
		}
		l.hosts[local.Host] = localHost{local.Dir, root, nil}
	}
	l.names = slices.Sorted(maps.Keys(l.hosts))
	return l, nil
}

func (l *locals) close() {
	for _, h := range l.hosts {
		if h.root != nil {
			_ = h.root.Close() // only read
		}
	}
}

func (l *locals) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	switch r.Protocol {
	case evidence.HTTPS:
		u, refused := sources.DocumentURL(r.Target)
		if refused != nil {
			return refused.Observation(r)
		}
		if h, ok := l.hosts[u.Hostname()]; ok {
			return l.read(h, u, r)
		}
	case evidence.RDAP, evidence.WHOIS:
		for _, host := range l.names {
			// A WHOIS request for a top-level domain is a referral for whatever is below it.
			if host == r.Target || strings.Contains(r.Target, ".") && strings.HasSuffix(host, "."+r.Target) {
				return sources.Refuse(evidence.Unsought, evidence.CodeLocal, "not asked: %s is local", host).
					Observation(r)
			}
		}
	}
	return l.below.Observe(ctx, r)
}

// read reads the file of a URL.
func (l *locals) read(h localHost, u *url.URL, r evidence.Request) evidence.Observation {
	if u.Port() != "" || u.RawQuery != "" || u.ForceQuery {
		return sources.Refuse(evidence.Invalid, evidence.CodeURL,
			"%q has a port or a query; a local host has only files", u).Observation(r)
	}
	name, err := fileOf(u)
	if err != nil {
		return sources.Refuse(evidence.Invalid, evidence.CodeURL, "%q: %v", u, err).Observation(r)
	}
	notFound := func(why string) evidence.Observation {
		o := sources.Refuse(evidence.Absent, evidence.CodeHTTPStatus, "answered 404 Not Found, expected 200 (%s %s)",
			filepath.ToSlash(filepath.Join(h.dir, name)), why).Observation(r)
		o.Status, o.Attempts = http.StatusNotFound, 1
		return o
	}
	body, err := h.text(name, r.MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notFound("does not exist")
	case errors.Is(err, capped.ErrNotPlain):
		return notFound("is not a regular file")
	case errors.Is(err, capped.ErrTooLarge):
		return sources.TooLarge(r.MaxBytes).Observation(r)
	case err != nil: // such as a symbolic link that leaves the directory
		return notFound("cannot be read: " + reason(err))
	case !l.quota.take(int64(len(body))):
		return totalTooLarge().Observation(r)
	}
	return evidence.Observation{Request: r, State: evidence.Obtained, Status: http.StatusOK, Body: body, Attempts: 1}
}

// text returns the content of a plain file, as capped.ReadPlain does.
func (h localHost) text(name string, limit int64) ([]byte, error) {
	if h.files == nil {
		return capped.ReadPlain(h.root, name, limit)
	}
	f, err := h.files.Open(filepath.ToSlash(name))
	if err != nil {
		return nil, err
	}
	return capped.ReadOpened(f, limit)
}

// reason returns the cause of an error of package os, without the operation and the path.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// fileOf returns the name of the file that a URL's path names. It refuses paths that servers read in different ways.
func fileOf(u *url.URL) (string, error) {
	var names []string
	for segment := range strings.SplitSeq(strings.TrimPrefix(u.EscapedPath(), "/"), "/") {
		name, err := url.PathUnescape(segment)
		switch {
		case err != nil:
			return "", err
		case name == "." || name == "..":
			return "", fmt.Errorf("the path has the segment %q", name)
		case strings.ContainsAny(name, `/\`) || strings.ContainsFunc(name, unicode.IsControl):
			return "", errors.New("the path has an encoded slash, backslash or control character")
		case name != "" && !filepath.IsLocal(name): // a device of Windows
			return "", fmt.Errorf("the path has the segment %q", name)
		}
		names = append(names, name)
	}
	last := len(names) - 1
	if slices.Contains(names[:last], "") {
		return "", errors.New("the path has an empty segment")
	}
	if names[last] == "" { // a directory
		names[last] = "."
	}
	return filepath.FromSlash(strings.Join(names, "/")), nil
}

// onlyLocal is the lowest layer of a run without network: only local hosts answer.
type onlyLocal struct{}

func (onlyLocal) Observe(_ context.Context, r evidence.Request) evidence.Observation {
	return sources.Refuse(evidence.Unsought, evidence.CodeOffline, "nothing was asked").Observation(r)
}
