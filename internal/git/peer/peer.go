// Package peer fetches the branch of another copy of a registry by Git's HTTP protocol. What it holds is judged by
// package
// registry; here it is only transported.
//
// The other copy is hostile: what it names and sends is capped, a pack goes to a file and is indexed by package
// gitstore,
// and nothing of it is run. No program, credential or configuration of the machine is used.
package peer

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/indexpack"
)

// Errors of Fetch and URL.
var (
	// ErrURL: a peer that is neither a directory nor a URL that may be fetched.
	ErrURL = errors.New("not a copy of a registry")
	// ErrTooLarge means that what the peer named or sent exceeds a cap.
	ErrTooLarge = errors.New("too large")
	// ErrFetch: it could not be reached, or did not speak the protocol to its end.
	ErrFetch = errors.New("could not be fetched")
	// ErrPack is an ErrFetch: the pack was damaged on its way, since its bytes do not hash to its trailer.
	ErrPack = fmt.Errorf("%w: the bytes of the pack do not hash to its trailer", ErrFetch)
	// ErrEmpty is an ErrFetch: it was reached, and has no branch yet.
	ErrEmpty = fmt.Errorf("%w: it is empty", ErrFetch)
	// ErrHidden: it answers that there is no such repository, or not for everybody.
	ErrHidden = errors.New("not shown")
	// ErrSHA256: its ids are SHA-256, which the protocol here does not speak.
	ErrSHA256 = errors.New("a SHA-256 repository")
	// ErrBranch: it has no branch of that name.
	ErrBranch = errors.New("no such branch")
)

// The caps on a fetch.
const (
	MaxPack          = 4 << 30
	MaxTime          = 30 * time.Minute
	maxAdvertisement = 16 << 20
	maxAnswer        = 1 << 20 // before the pack, and of an error
	maxStall         = time.Minute
)

// Source says what to fetch.
type Source struct {
	URL       string
	Branch    string            // empty: the one that HEAD names
	Transport http.RoundTripper // see evidence.NewTransport
	// Has reports whether the commit of an id is at hand with its history; nil: none is.
	Has func(id string) bool
	// Haves gives commits at hand with their history, of which at most 256 are named; it is asked where something is
	// fetched. nil: none.
	Haves   func(context.Context) ([]string, error)
	MaxPack int64         // bytes of the pack; 0: MaxPack
	Stall   time.Duration // without a byte; 0: a minute
}

// Fetched is what a fetch brought.
type Fetched struct {
	Tip  string // id of the commit
	URL  string // that answered: it is another than that of the Source if that redirects there
	Pack string // path without its end of the pack and its index, named by their checksum; empty: Tip was at hand
}

// Dir returns the directory that a peer names by a path or a file: URL without host; false for other URLs.
func Dir(peer string) (string, bool) {
	if !strings.Contains(peer, "://") {
		return peer, true
	}
	u, err := url.Parse(peer)
	if err != nil || u.Scheme != "file" || u.Host != "" {
		return "", false
	}
	return filepath.FromSlash(u.Path), true
}

// URL reads one that may be fetched: https, or http on loopback, without user, query and fragment.
func URL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil { // the part before an @ may be a password
		return nil, fmt.Errorf("%w: %.200q is not a URL", ErrURL, text[strings.LastIndexByte(text, '@')+1:])
	}
	switch {
	case u.User != nil:
		return nil, fmt.Errorf("%w: a URL of %q with a user or password; expected one without", ErrURL, u.Host)
	case u.Hostname() == "" || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%w: %.200q; expected https://host/path", ErrURL, text)
	case u.Scheme == "https", u.Scheme == "http" && typed.IsLoopback(u.Hostname()):
		return u, nil
	}
	return nil, fmt.Errorf("%w: %.200q; expected a directory or https://host/path (http:// on loopback only)", ErrURL,
		text)
}

// Fetch brings a branch into files of a directory, which is empty. It ends with the context, at the latest after
// MaxTime. Nothing of the directory counts after an error.
func Fetch(ctx context.Context, s Source, dir string) (*Fetched, error) {
	u, err := URL(s.URL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, MaxTime, fmt.Errorf("%w: it took more than %s", ErrFetch, MaxTime))
	defer cancel()
	s.MaxPack, s.Stall = cmp.Or(s.MaxPack, MaxPack), cmp.Or(s.Stall, maxStall)
	f, err := s.fetch(ctx, u, dir)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		err = fmt.Errorf("fetching %q: %w", s.URL, err)
	}
	return f, err
}

func (s *Source) fetch(ctx context.Context, u *url.URL, dir string) (_ *Fetched, refused error) {
	endpoint, err := transport.NewEndpoint(u.String())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	wire := &wire{inner: s.Transport, stall: s.Stall}
	session, err := githttp.NewClient(&http.Client{Transport: wire}).NewUploadPackSession(endpoint, nil)
	if err != nil {
		return nil, failed(err)
	}
	defer func() {
		if refused != nil && wire.refused != nil {
			refused = wire.refused // what the library makes of it says less
		}
	}()
	wire.left.Store(maxAdvertisement)
	refs, err := session.AdvertisedReferencesContext(ctx)
	if isSHA256(wire.begun) {
		return nil, remedy.Errorf("name a directory that git fetched", "it is %w", ErrSHA256)
	}
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return nil, ErrEmpty
	}
	if err != nil {
		return nil, failed(err)
	}
	tip, err := s.tip(refs)
	if err != nil {
		return nil, err
	}
	at := *wire.at
	at.User, at.RawQuery, at.Path, at.RawPath = nil, "", strings.TrimSuffix(at.Path, "/info/refs"), ""
	f := &Fetched{Tip: tip.String(), URL: at.String()}
	if s.Has != nil && s.Has(f.Tip) {
		return f, nil
	}
	request, err := s.request(ctx, refs, tip)
	if err != nil {
		return nil, err
	}
	wire.left.Store(maxAnswer)
	answer, err := session.UploadPack(ctx, request)
	if wire.left.Load() <= 0 {
		err = fmt.Errorf("%w: more than %d bytes came before the pack", ErrTooLarge, maxAnswer)
	}
	if err != nil {
		return nil, failed(err)
	}
	defer answer.Close()
	wire.left.Store(s.MaxPack + s.MaxPack/64 + maxAnswer) // with what frames it
	var pack io.Reader = answer
	switch {
	case refs.Capabilities.Supports(capability.Sideband64k):
		pack = sideband.NewDemuxer(sideband.Sideband64k, answer)
	case refs.Capabilities.Supports(capability.Sideband):
		pack = sideband.NewDemuxer(sideband.Sideband, answer)
	}
	f.Pack, err = s.keep(ctx, pack, dir)
	return f, err
}

// tip returns the id that the branch has at the peer.
func (s *Source) tip(refs *packp.AdvRefs) (plumbing.Hash, error) {
	if s.Branch == "" {
		if refs.Head == nil {
			return plumbing.ZeroHash, fmt.Errorf("%w: HEAD names none", ErrBranch)
		}
		return *refs.Head, nil
	}
	if id, ok := refs.References["refs/heads/"+s.Branch]; ok && !id.IsZero() {
		return id, nil
	}
	var names []string
	for name := range refs.References {
		if name, ok := strings.CutPrefix(name, "refs/heads/"); ok {
			names = append(names, fmt.Sprintf("%.80q", name))
		}
	}
	slices.Sort(names)
	return plumbing.ZeroHash, remedy.Errorf("name one with --branch; there are "+
		strings.Join(names[:min(len(names), 10)], ", "), "%w: %q", ErrBranch, s.Branch)
}

func (s *Source) request(ctx context.Context, refs *packp.AdvRefs, tip plumbing.Hash) (*packp.UploadPackRequest,
	error) {
	r := packp.NewUploadPackRequestFromCapabilities(refs.Capabilities)
	if refs.Capabilities.Supports(capability.NoProgress) {
		_ = r.Capabilities.Set(capability.NoProgress) // without this capability the peer only sends more bytes
	}
	r.Wants = append(r.Wants, tip)
	if s.Haves == nil {
		return r, nil
	}
	ids, err := s.Haves(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids[:min(len(ids), 256)] {
		if h := plumbing.NewHash(id); h != tip {
			r.Haves = append(r.Haves, h)
		}
	}
	return r, nil
}

// isSHA256 reports whether the first ref of an advertisement, which go-git then cannot read, has the capability of
// SHA-256; see gitprotocol-capabilities(5).
func isSHA256(advertised []byte) bool {
	_, after, _ := bytes.Cut(advertised, []byte{0})
	line, _, _ := bytes.Cut(after, []byte{'\n'})
	return slices.Contains(strings.Fields(string(line)), "object-format=sha256")
}

// keep writes a pack into a file and indexes it.
func (s *Source) keep(ctx context.Context, pack io.Reader, dir string) (string, error) {
	path := filepath.Join(dir, "incoming")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return "", err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{f}, io.LimitReader(pack, s.MaxPack+1), make([]byte, 128<<10))
	if err != nil && !errors.Is(err, fs.ErrClosed) {
		var disk *fs.PathError
		if !errors.As(err, &disk) {
			err = failed(err)
		}
	}
	if err == nil && n > s.MaxPack {
		err = fmt.Errorf("%w: a pack of more than %d bytes", ErrTooLarge, s.MaxPack)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	sum, err := indexpack.Index(ctx, path, path+".idx")
	if errors.Is(err, gitobject.ErrCorrupt) {
		if _, wrong := indexpack.Sum(ctx, path, sha1.Size); wrong != nil {
			return "", ErrPack
		}
	}
	if err != nil {
		return "", err
	}
	named := filepath.Join(dir, "pack-"+sum)
	return named, errors.Join(os.Rename(path, named+".pack"), os.Rename(path+".idx", named+".idx"))
}

// failed returns what the protocol says as an error of this package, in a line of bounded length.
func failed(err error) error {
	for _, known := range []error{ErrTooLarge, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return err
		}
	}
	return &failure{err}
}

// failure is an error of the protocol. It shows one line of bounded length.
type failure struct{ error }

func (f *failure) Error() string { return fmt.Sprintf("%v: %.500q", ErrFetch, f.error.Error()) }

// Unwrap returns the kind of error, and what it was made of.
func (f *failure) Unwrap() []error {
	kinds := []error{ErrFetch, f.error}
	for _, hidden := range []error{transport.ErrAuthenticationRequired, transport.ErrAuthorizationFailed,
		transport.ErrRepositoryNotFound} {
		if errors.Is(f.error, hidden) {
			kinds = append(kinds, ErrHidden)
		}
	}
	return kinds
}

// wire caps what comes back, and ends what stalls.
type wire struct {
	inner http.RoundTripper
	stall time.Duration
	left  atomic.Int64 // bytes that may still come
	begun []byte       // start of the first reply
	at    *url.URL     // URL of the last request

	refused error // why no answer was read; nil: one was, or the connection failed
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.at = r.URL
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(w.stall, func() {
		cancel(fmt.Errorf("%w: nothing came for %s", ErrFetch, w.stall))
	})
	resp, err := w.inner.RoundTrip(r.WithContext(ctx))
	if err != nil {
		timer.Stop()
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		} else if r.Response != nil { // the answer that led here
			err = fmt.Errorf("%w: it redirects to %.500q: %.500s", ErrFetch, r.URL.Redacted(), err.Error())
			w.refused = err
		}
		cancel(nil)
		return nil, err
	}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500 {
		timer.Stop()
		resp.Body.Close()
		cancel(nil)
		w.refused = fmt.Errorf("%w: it answered %d", ErrFetch, resp.StatusCode)
		if wait, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && wait > 0 {
			w.refused = fmt.Errorf("%w, and asks to be tried again in %d s", w.refused, wait)
		}
		return nil, w.refused
	}
	resp.Body = &body{ReadCloser: resp.Body, wire: w, ctx: ctx, cancel: cancel, timer: timer}
	return resp, nil
}

type body struct {
	io.ReadCloser
	wire   *wire
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func (b *body) Read(p []byte) (int, error) {
	left := b.wire.left.Load()
	if left <= 0 {
		return 0, fmt.Errorf("%w: more came than is read", ErrTooLarge)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), left)])
	b.wire.left.Add(-int64(n))
	if n > 0 {
		b.timer.Reset(b.wire.stall)
		if room := 4096 - len(b.wire.begun); room > 0 {
			b.wire.begun = append(b.wire.begun, p[:min(n, room)]...)
		}
	}
	if cause := context.Cause(b.ctx); err != nil && err != io.EOF && cause != nil {
		err = cause
	}
	return n, err
}

func (b *body) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
