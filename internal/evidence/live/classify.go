package live

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
)

// classify judges an error of the network: what it says about the evidence, and whether another try may
// help at once. What another try may change is Unavailable. A peer that speaks neither TLS nor HTTP, that
// ends the handshake with an alert, or whose headers are broken or too large, is not one that anything may
// be obtained from: Invalid. Messages leave addresses out, since local ports differ from run to run.
func classify(ctx context.Context, err error) (*sources.Refusal, bool) {
	if ctx.Err() != nil {
		return interrupted(ctx), false
	}
	if errors.Is(err, ErrForbidden) {
		return sources.Refuse(evidence.Invalid, evidence.CodeForbidden, "%v", err), false
	}
	if errors.Is(err, errProxy) {
		return sources.Refuse(evidence.Unavailable, evidence.CodeConnect, "%v", err), true
	}
	if only, ok := errors.AsType[*onlyIPv6](err); ok {
		return sources.Refuse(evidence.Unavailable, evidence.CodeIPv6,
			"%s has only IPv6 addresses, and this machine reaches none", only.host), false
	}
	if to, ok := errors.AsType[*notAtAddress](err); ok {
		return sources.Refuse(evidence.Unavailable, evidence.CodeConnect, "nothing answers at %s (--connect-to)",
			to.addr).
			WithFix("start the server at %s, or correct --connect-to", to.addr), true
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return sources.Refuse(evidence.Absent, evidence.CodeNoHost, "no such host: %q",
				strings.TrimSuffix(dns.Name, ".")), false
		}
		why := dns.Err[strings.LastIndex(": "+dns.Err, ": "):] // without addresses: read udp FROM->TO: i/o timeout
		return sources.Refuse(evidence.Unavailable, evidence.CodeResolver, "the resolver has no answer for %q: %s",
			strings.TrimSuffix(dns.Name, "."), why), true
	}
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		return sources.Refuse(evidence.Absent, evidence.CodeNoHost, "the host has no usable address"), false
	}
	if refused := tlsRefusal(err); refused != nil {
		return refused, false
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return sources.Refuse(evidence.Unavailable, evidence.CodeTimeout, "no answer in time"), false
	}
	if message := broken(err); message != "" {
		return sources.Refuse(evidence.Unavailable, evidence.CodeConnect, "%s", message), true
	}
	return sources.Refuse(evidence.Invalid, evidence.CodeProtocol, "no HTTP answer: %v", err), false
}

// interrupted says whose time was over.
func interrupted(ctx context.Context) *sources.Refusal {
	cause := context.Cause(ctx)
	if errors.Is(cause, errTimeout) {
		return sources.Refuse(evidence.Unavailable, evidence.CodeTimeout, "no full answer in time")
	}
	return sources.Refuse(evidence.Unavailable, evidence.CodeBudget, "%v", cause)
}

func tlsRefusal(err error) *sources.Refusal {
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return certificateRefusal(e)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return sources.Refuse(evidence.Invalid, evidence.CodeProtocol, "the server does not speak TLS")
	}
	// crypto/tls reports alerts, its own and the peer's, so.
	if e, ok := errors.AsType[*net.OpError](err); ok && (e.Op == "remote error" || e.Op == "local error") {
		return sources.Refuse(evidence.Invalid, evidence.CodeTLS, "the TLS handshake ended with an alert: %v", e.Err)
	}
	return nil
}

// broken says how a connection broke or was not made, empty where err is something else.
func broken(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return "the connection ended without an answer"
	}
	if errors.Is(err, errDials) {
		return errDials.Error()
	}
	if e, ok := errors.AsType[streamError](err); ok && e.Code != http2ProtocolError {
		return "the HTTP/2 stream was reset"
	}
	if strings.Contains(err.Error(), "GOAWAY") {
		return "the HTTP/2 connection was shut down" // net/http has no type for it
	}
	return ""
}

// streamError takes over net/http's error of the same fields: its As method converts to any such type.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (streamError) Error() string { return "HTTP/2 stream error" }

const http2ProtocolError = 1

// certificateRefusal says what is wrong with a certificate, and what the owner can do about it.
func certificateRefusal(e *tls.CertificateVerificationError) *sources.Refusal {
	refuse := func(format string, args ...any) *sources.Refusal {
		return sources.Refuse(evidence.Invalid, evidence.CodeTLS, "the certificate does not verify: "+format, args...)
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](e.Err); ok && invalid.Reason == x509.Expired {
		c, now := invalid.Cert, time.Now().UTC().Truncate(time.Second)
		if now.Before(c.NotBefore) {
			return refuse("%q is not valid before %s", c.Subject, day(c.NotBefore)).WithFix(
				"correct this machine's clock (it reads %s), or wait until %s", now.Format(time.RFC3339),
				day(c.NotBefore))
		}
		return refuse("%q has expired: it ended on %s", c.Subject, day(c.NotAfter)).WithFix(
			"renew the certificate; it ended on %s", day(c.NotAfter))
	}
	if other, ok := errors.AsType[x509.HostnameError](e.Err); ok {
		has := "no DNS name"
		if names := other.Certificate.DNSNames; len(names) > 0 {
			has = strings.Join(names[:min(len(names), 3)], ", ")
		}
		return refuse("it has %s; expected %s", has, other.Host).WithFix("get a certificate for %s; it has %s",
			other.Host, has)
	}
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](e.Err); unknown && len(e.UnverifiedCertificates) > 0 {
		sent := e.UnverifiedCertificates
		leaf, last := sent[0], sent[len(sent)-1]
		selfSigned := func(c *x509.Certificate) bool { return bytes.Equal(c.RawIssuer, c.RawSubject) }
		switch {
		case len(sent) == 1 && !selfSigned(leaf) && len(leaf.IssuingCertificateURL) > 0:
			return refuse("the intermediate certificate is missing; %q issued it", leaf.Issuer).WithFix(
				"serve the full chain (fullchain.pem) instead of the certificate alone")
		case len(sent) == 1 && selfSigned(leaf):
			return refuse("the certificate is self-signed")
		}
		return refuse("%q, which issued it, is not a public authority", last.Issuer)
	}
	return refuse("%v", e.Err)
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
