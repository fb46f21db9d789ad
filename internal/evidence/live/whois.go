package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

const ianaWHOIS = "whois.iana.org"

// whoisServer is a WHOIS server; a nil guard exempts it.
type whoisServer struct {
	host, port string
	guard      guard
}

// operatorWHOIS reads the host:port that the operator named; it is nil where the text is empty.
func operatorWHOIS(text string) (*whoisServer, error) {
	if text == "" {
		return nil, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" {
		return nil, fmt.Errorf("%q: expected host:port", text)
	}
	return &whoisServer{host: host, port: port}, nil
}

// whois asks the WHOIS server of a domain's suffix, which IANA's server names; that referral is an
// observation of its own, of the suffix. The body is the reply without white space around it. That IANA
// names no server is Absent.
type whois struct {
	*limits
	*backoff
	run    layer // observes IANA's referral
	dialer *dialer
	named  *whoisServer // asked instead of the server of that referral; nil: none
}

func (p *whois) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	domain, err := domainage.Host(r.Target)
	if err != nil {
		return sources.Refuse(evidence.Invalid, evidence.CodeURL, "%v", err).Observation(r)
	}
	server, refused := p.server(ctx, domain)
	if refused != nil {
		return refused.Observation(r)
	}
	ask := func(ctx context.Context, r evidence.Request) attempt { return p.ask(ctx, r, domain, server) }
	return retry{p.backoff, ask}.Observe(ctx, r)
}

func (p *whois) server(ctx context.Context, domain string) (*whoisServer, *sources.Refusal) {
	if p.named != nil {
		return p.named, nil
	}
	suffix := domain[strings.LastIndexByte(domain, '.')+1:]
	if suffix == domain {
		return &whoisServer{ianaWHOIS, "43", whoisGuard.Safe}, nil
	}
	referral := p.run.Observe(ctx, evidence.Request{Protocol: evidence.WHOIS, Target: suffix,
		MaxBytes: evidence.MaxWHOIS})
	if referral.State != evidence.Obtained {
		return nil, sources.Refuse(evidence.Unavailable, referral.Code, "no WHOIS server known for %q: %s", suffix,
			referral.Message)
	}
	for line := range strings.Lines(string(referral.Body)) {
		key, value, _ := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if value == "" || key != "refer" && key != "whois" {
			continue
		}
		host, err := domainage.Host(value)
		if err != nil {
			return nil, sources.Refuse(evidence.Unavailable, evidence.CodeProtocol, "no WHOIS server known for %q: %v",
				suffix, err)
		}
		return &whoisServer{host, "43", whoisGuard.Safe}, nil
	}
	return nil, sources.Refuse(evidence.Absent, evidence.CodeNoRegistration, "IANA lists no WHOIS server for %q",
		suffix)
}

// ask sends one query.
func (p *whois) ask(ctx context.Context, r evidence.Request, domain string, server *whoisServer) attempt {
	var a attempt
	a.observation.FinalURL = "whois://" + server.host + "/" + domain
	leave, err := p.slots.enter(ctx, server.host)
	if err != nil {
		return a.failed(classify(ctx, err))
	}
	defer leave()
	start := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, p.timeout, errTimeout)
	defer cancel()
	limit := min(r.MaxBytes, evidence.MaxWHOIS)
	reply, address, err := p.exchange(ctx, domain, server, limit)
	a.observation.Milliseconds = time.Since(start).Milliseconds()
	a.observation.Address = address
	switch {
	case errors.Is(err, capped.ErrTooLarge):
		return a.failed(sources.TooLarge(limit), false)
	case err != nil:
		return a.failed(classify(ctx, err))
	case len(reply) == 0:
		// A server that turns a client away often closes the connection without a word.
		return a.failed(sources.Refuse(evidence.Unavailable, evidence.CodeConnect,
			"the WHOIS server sent an empty reply"), true)
	case !p.quota.take(int64(len(reply))):
		return a.failed(totalTooLarge(), false)
	}
	a.observation.State, a.observation.Body = evidence.Obtained, reply
	return a
}

// exchange sends a query (RFC 3912), and returns the reply without white space around it and the address that was
// asked.
func (p *whois) exchange(ctx context.Context, domain string, server *whoisServer, limit int64) (reply []byte,
	address string, err error) {
	conn, err := p.dialer.dial(ctx, server.guard, server.host, ".", server.port)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	address = conn.RemoteAddr().String()
	if _, err := io.WriteString(conn, domain+"\r\n"); err != nil {
		return nil, address, err
	}
	reply, err = capped.ReadAll(conn, limit)
	return bytes.TrimSpace(reply), address, err
}
