package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// errHung means that a request was not answered within the time of --timeout.
var errHung = errors.New("not answered in time")

// request returns a request with a JSON body, or one for what has a media type.
func (l *Live) request(ctx context.Context, method string, u *url.URL, body []byte, media string) (*http.Request,
	error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", l.UserAgent)
	req.Header.Set("Accept-Encoding", "identity")
	if method == http.MethodGet {
		req.Header.Set("Accept", media)
		req.Header.Set("Cache-Control", "no-cache")
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// answerTo sends a request, and reads an answer of up to most bytes. The errors are errHung, capped.ErrTooLarge with
// what was read, and those of the connection.
func (v *visit) answerTo(ctx context.Context, client *http.Client, method string, u *url.URL, body []byte, media string,
	most int64) (*http.Response, []byte, error) {
	within, cancel := context.WithTimeout(ctx, v.Timeout)
	defer cancel()
	var resp *http.Response
	var answer []byte
	req, err := v.request(within, method, u, body, media)
	if err == nil {
		resp, err = client.Do(req)
	}
	if err == nil {
		defer resp.Body.Close()
		answer, err = capped.ReadAll(resp.Body, most)
	}
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		err = errHung
	}
	return resp, answer, err
}

// post sends a JSON body, and reads up to 64 KiB of the answer. The errors are errHung and those of the connection.
func (v *visit) post(ctx context.Context, u *url.URL, body []byte) (*http.Response, []byte, error) {
	resp, answer, err := v.answerTo(ctx, &v.client, http.MethodPost, u, body, "", 64<<10)
	if errors.Is(err, capped.ErrTooLarge) {
		err = nil
	}
	return resp, answer, err
}

// failed ends the run after an error of an exchange.
func (v *visit) failed(ctx context.Context, method string, u *url.URL, err error) error {
	switch {
	case ctx.Err() != nil:
		return v.overBudget()
	case err == errHung:
		return v.hangs("%s %s was not answered in %v", method, u.Path, v.Timeout)
	}
	return v.broken(verdict.Doubt, "no-connection", "%s %s: %v", method, u.Path, cause(err))
}

// cause returns an error of an exchange without the method and URL that net/http puts before it.
func cause(err error) error {
	if detail, ok := errors.AsType[*url.Error](err); ok {
		return detail.Err
	}
	return err
}

func (v *visit) overBudget() error {
	return v.hangs("the time of --budget has passed, and the session has not ended")
}

// hangs ends the run because nothing comes any more.
func (v *visit) hangs(format string, args ...any) error {
	v.silent = true
	return v.broken(verdict.Doubt, "session-hangs", format, args...)
}

// status ends the run after an answer of another status.
func (v *visit) status(resp *http.Response, path, want string) error {
	severity := verdict.Error
	if resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests {
		severity = verdict.Doubt // another try may change it
	}
	return v.broken(severity, "http-status", "%s %s was answered with the status %d; expected %s", resp.Request.Method,
		path, resp.StatusCode, want)
}

// below returns a path below the base.
func (v *visit) below(path string) *url.URL { return v.base.JoinPath(path) }

// subscribe sends a request, and finds the base if it is not known. It returns a session without events where no
// subscription began.
func (v *visit) subscribe(ctx context.Context, mark string, request []byte) (t *talk, err error) {
	t = &talk{visit: v, mark: mark, subscription: "sub_oapgate"}
	if v.Layout == LayoutReference {
		v.base = v.URL
		t.events = v.below("events")
		return t, nil
	}
	bases := []*url.URL{v.base}
	if v.base == nil {
		bases = []*url.URL{v.URL, v.URL.JoinPath("aaep/v1")}
	}
	var resp *http.Response
	var answer []byte
	var asked, got time.Time
	// With subscription.accepted the status does not count, nor at level 3 with subscription.rejected.
	judged := false
	for _, base := range bases {
		v.base, asked = base, v.Now()
		resp, answer, err = v.post(ctx, v.below("subscriptions"), request)
		got = v.Now()
		if err != nil {
			break
		}
		if m := aaep.ReadMessage(answer); m != nil {
			t.subscription = cmp.Or(m.Text("subscription_id"), t.subscription)
			if m.IsSubscription() {
				t.answer = m
			}
		}
		judged = t.answer == nil || v.Level < 3 && t.answer.Name != aaep.SubscriptionAccepted
		if !judged || !notThere(resp) {
			break
		}
	}
	switch {
	case err == errHung && v.Level >= 3:
		v.unanswered("subscription.request was not answered in %v", v.Timeout)
	case err == nil && judged && v.Level >= 3:
		v.unanswered("POST subscriptions was answered with the status %d and neither subscription.accepted nor "+
			"subscription.rejected", resp.StatusCode)
	}
	switch {
	case err == errHung && mark != "":
		_, err := v.record(mark, aaep.Subscriber, asked, request)
		return t, err
	case err != nil:
		return t, v.failed(ctx, http.MethodPost, v.below("subscriptions"), err)
	case judged && resp.StatusCode != http.StatusCreated && mark == "":
		return t, v.status(resp, "subscriptions", "201")
	}
	if _, err = v.record(mark, aaep.Subscriber, asked, request); err == nil && t.answer != nil {
		_, err = v.record(mark, aaep.Producer, got, answer)
	}
	if err != nil || v.Level >= 3 && (t.answer != nil && t.answer.Name == aaep.SubscriptionRejected ||
		t.answer == nil && resp.StatusCode != http.StatusCreated) {
		return t, err
	}
	location := resp.Header.Get("Location")
	events, err := resp.Request.URL.Parse(location)
	if location == "" || err != nil || events.Scheme != v.URL.Scheme || events.Host != v.URL.Host {
		return t, v.broken(verdict.Error, "no-subscription", "Location is %s; expected a URL on %s",
			form.Show(location),
			v.URL.Host)
	}
	if id := events.Query().Get("subscription_id"); id != "" && t.subscription == "sub_oapgate" {
		t.subscription = id
	}
	t.events = events
	return t, nil
}

// notThere reports whether a server has nothing at a path.
func notThere(resp *http.Response) bool {
	return resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed
}

// unanswered notes a request that has no answer.
func (v *visit) unanswered(format string, args ...any) {
	v.probes[aaep.LiveHandshake].Errorf(v.here(), "", "no-answer", format, args...)
}

// isStream reports whether an answer is a stream of events.
func isStream(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return resp.StatusCode == http.StatusOK && kind == "text/event-stream"
}

// maxManifest is how many bytes a manifest may have.
const maxManifest = 1 << 20

// fetch fetches the manifest from the address that was accepted, or else from the well-known one. It asks only the
// producer's own server or a public https address; wrong says why there is no manifest.
func (v *visit) fetch(ctx context.Context, accepted *aaep.Message) (document []byte, wrong string) {
	at := v.URL.ResolveReference(&url.URL{Path: "/.well-known/aaep-manifest.json"})
	if accepted != nil && accepted.Text("manifest_uri") != "" {
		var err error
		if at, err = url.Parse(accepted.Text("manifest_uri")); err != nil || at.Host == "" || at.User != nil {
			return nil, fmt.Sprintf("manifest_uri is %s; expected an https URL",
				form.Show(accepted.Text("manifest_uri")))
		}
	}
	client := v.client
	if at.Scheme != v.URL.Scheme || at.Host != v.URL.Host {
		if at.Scheme != "https" || v.Public == nil {
			return nil, fmt.Sprintf("manifest_uri is %s; expected the producer's own server or a public https URL",
				form.Show(at.Redacted()))
		}
		client.Transport = v.Public
	}
	resp, document, err := v.answerTo(ctx, &client, http.MethodGet, at, nil, "application/json, application/jose",
		maxManifest)
	switch {
	case resp != nil && resp.StatusCode != http.StatusOK:
		return nil, fmt.Sprintf("%s was answered with the status %d; expected 200", at.Redacted(), resp.StatusCode)
	case err != nil:
		return nil, fmt.Sprintf("fetching %s: %v", at.Redacted(), cause(err))
	}
	return document, ""
}
