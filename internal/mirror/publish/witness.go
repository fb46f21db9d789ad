package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/prove"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const (
	askTime   = 10 * time.Second // for one request to a witness
	maxAnswer = 64 << 10         // bytes of its answer
	skew      = 5 * time.Minute  // by which a witness's clock may be ahead
)

// answer is what a witness gave: the line of its cosignature, or a finding.
type answer struct {
	line     string
	code     string
	severity verdict.Severity
	message  string
	fix      string
}

// askAll sends a log checkpoint to each witness that has a URL, side by side.
func (l *Log) askAll(ctx context.Context, h *prove.History, c proof.Checkpoint, signed []byte) []answer {
	answers := make([]answer, len(l.Policy.Witnesses))
	var asking sync.WaitGroup
	for i, w := range l.Policy.Witnesses {
		if w.URL != "" && w.Key.Cosigns() {
			asking.Go(func() { answers[i] = l.ask(ctx, h, c, signed, w) })
		}
	}
	asking.Wait()
	return answers
}

// ask sends a log checkpoint to a witness, and once more if the witness says that it holds another size.
func (l *Log) ask(ctx context.Context, h *prove.History, c proof.Checkpoint, signed []byte, w proof.Peer) answer {
	name := plain.Cut(w.Key.Name(), 200)
	found := func(severity verdict.Severity, code, fix, format string, args ...any) answer {
		return answer{code: code, severity: severity, fix: fix,
			message: fmt.Sprintf("witness %q: ", name) + fmt.Sprintf(format, args...)}
	}
	refused := func(status int) answer {
		return found(verdict.Error, codeRefused, keepBoth,
			"it holds another history than size %d with the root %s (status %d)", c.Size, c.Root, status)
	}
	old := int64(0)
	if l.published != nil {
		old = l.published.Size
	}
	for second := false; ; second = true {
		status, body, err := l.post(ctx, h, c, signed, w, old)
		switch {
		case err != nil:
			return found(verdict.Doubt, codeUnavailable, tryLater, "%s", plain.Cut(err.Error(), 300))
		case status == http.StatusOK:
			if line := lineOf(body, w.Key, c, l.Now()); line != "" {
				return answer{line: line}
			}
			return found(verdict.Doubt, codeUnavailable, tryLater, "the answer has no cosignature of its key")
		case status == http.StatusUnprocessableEntity:
			return refused(status)
		case status == http.StatusForbidden, status == http.StatusNotFound:
			return found(verdict.Doubt, codeUnknown, askWitness, "it does not know the log %q or its key (status %d)",
				c.Origin, status)
		case status != http.StatusConflict:
			return found(verdict.Doubt, codeUnavailable, tryLater, "status %d", status)
		}
		// A first conflict is how a witness says which size it holds.
		text := strings.TrimSuffix(string(body), "\n")
		size, err := strconv.ParseInt(text, 10, 64)
		named := err == nil && size >= 0 && strconv.FormatInt(size, 10) == text
		switch {
		case second && (!named || size == old):
			return refused(status)
		case !named:
			return found(verdict.Doubt, codeUnavailable, tryLater, "status 409 without a size")
		case size > c.Size:
			return found(verdict.Doubt, codeAhead, fetchIt, "it holds size %d, and this log has %d", size, c.Size)
		case second: // another mirror of this log may have sent a log checkpoint in between
			return found(verdict.Doubt, codeUnavailable, tryLater, "it held size %d, and then size %d", old, size)
		}
		old = size
	}
}

// post sends one request. It follows no redirect.
func (l *Log) post(ctx context.Context, h *prove.History, c proof.Checkpoint, signed []byte, w proof.Peer,
	old int64) (status int, body []byte, err error) {
	u, err := url.Parse(strings.TrimSuffix(w.URL, "/") + "/add-checkpoint")
	if err != nil {
		return 0, nil, err
	}
	request := fmt.Appendf(nil, "old %d\n", old)
	if old > 0 && old < c.Size {
		p, err := tlog.ProveTree(c.Size, old, &h.Log)
		if err != nil {
			return 0, nil, err
		}
		for _, hash := range p {
			request = fmt.Appendf(request, "%s\n", hash)
		}
	}
	request = append(append(request, '\n'), signed...)
	transport, err := l.Transport(u)
	if err != nil {
		return 0, nil, err
	}
	limit := l.limit
	if limit == nil {
		limit = func(ctx context.Context, _ proof.Peer) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, askTime)
		}
	}
	ctx, cancel := limit(ctx, w)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(request))
	if err != nil {
		return 0, nil, err
	}
	client := http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // without the URL, which may have a password
		}
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = capped.ReadAll(io.Reader(res.Body), maxAnswer)
	return res.StatusCode, body, err
}

// lineOf returns the newest line in which a witness's own key cosigns a log checkpoint, or "". Of equally new ones it
// is the first.
func lineOf(lines []byte, key *proof.Key, c proof.Checkpoint, now time.Time) (newest string) {
	var since time.Time
	for line := range strings.Lines(string(lines)) {
		s, err := proof.ParseSigned([]byte(c.Text() + "\n" + line))
		if err != nil {
			continue
		}
		at, cosigned, err := key.Cosigned(s)
		if err == nil && cosigned && at.After(since) && !at.After(now.Add(skew)) {
			newest, since = line, at
		}
	}
	return newest
}
