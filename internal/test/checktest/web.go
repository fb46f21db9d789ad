package checktest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

// web answers from what a world's web would serve, without a network. It knows bodies, and the statuses 200, 404 and
// 5xx. A world in which the network itself matters (other statuses, redirects, connections, URLs that are not usable,
// bodies over their cap) fails the test: it belongs into a script.
type web struct {
	t     testing.TB
	world *fixture.World
}

// Web returns the source that answers from what the world's web would serve.
func Web(t testing.TB, w *fixture.World) evidence.Source { return web{t, w} }

func (w web) Now() time.Time                     { return w.world.Now }
func (web) Observations() []evidence.Observation { return nil }
func (web) Reaches(string, string) bool          { return true }
func (web) NotReached() map[string][]string      { return nil }

func (w web) Observe(_ context.Context, r evidence.Request) evidence.Observation {
	o := evidence.Observation{Request: r, Status: http.StatusOK, Attempts: 1}
	b, err := w.answer(r)
	body := bytes.Repeat(b.Body, max(b.Repeat, 1))
	switch {
	case r.Protocol == evidence.WHOIS:
		body = bytes.TrimSpace(body)
	case b.Status != 0:
		o.Status = b.Status
	}
	if after, read := strconv.ParseInt(b.Header["retry-after"], 10, 64); read == nil && len(b.Header) == 1 {
		o.RetryAfter, b.Header = after, nil
	}
	b.Status, b.Body, b.Repeat = 0, nil, 0
	answered := fmt.Sprintf("answered %d %s, expected 200", o.Status, http.StatusText(o.Status))
	switch {
	case err != nil:
	case !reflect.ValueOf(b).IsZero(), int64(len(body)) > r.MaxBytes, len(body) == 0 && r.Protocol == evidence.WHOIS:
		err = errors.New("the network decides about its answer")
	case o.Status == http.StatusOK:
		sum := sha256.Sum256(body)
		o.State, o.Body, o.SHA256 = evidence.Obtained, body, hex.EncodeToString(sum[:])
	case o.Status == http.StatusNotFound && r.Protocol == evidence.RDAP:
		o.State, o.Code = evidence.Absent, evidence.CodeNoRegistration
		o.Message = "the RDAP server knows no such domain"
	case o.Status == http.StatusNotFound:
		o.State, o.Code, o.Message = evidence.Absent, evidence.CodeHTTPStatus, answered
	case o.Status >= 500 && o.Status < 600:
		o.State, o.Code, o.Message = evidence.Unavailable, evidence.CodeHTTPStatus, answered
	default:
		err = errors.New("it " + answered)
	}
	if err != nil {
		w.t.Errorf("%s cannot be asked in memory: %v; put this world into a script", r, err)
	}
	return o
}

// answer returns the web's answer to a request, whose target is spelled as sources spell it.
func (w web) answer(r evidence.Request) (b webtest.Behaviour, err error) {
	if r.Protocol == evidence.HTTPS {
		u, err := url.Parse(r.Target)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Opaque != "" {
			return b, errors.New("it is not a plain https URL")
		}
		host, err := domainage.Host(u.Hostname())
		if u.Port() != "" {
			host += ":" + u.Port()
		}
		u.Host = host
		return w.world.Web.Answer(u), err
	}
	name, err := domainage.Host(r.Target)
	if err != nil || r.Protocol == evidence.RDAP {
		return w.world.Web.RDAP(name), err
	}
	return w.world.Web.WHOIS(name), nil
}
