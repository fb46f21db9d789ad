package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
)

// ConnectTo has connections for Host made to Addr. TLS still verifies Host. Such an address is exempt from
// the guard against private addresses, since the operator named it.
type ConnectTo struct {
	// Host is a DNS name, or "*" for every public DNS name: not for localhost, single labels, .local,
	// .internal or literal addresses. An exact Host wins over "*".
	Host string
	Addr netip.AddrPort
}

// ParseConnectTo reads HOST=ADDR, ADDR being ip:port.
func ParseConnectTo(s string) (ConnectTo, error) {
	host, addr, ok := strings.Cut(s, "=")
	if !ok {
		return ConnectTo{}, fmt.Errorf("reading %q: expected HOST=IP:PORT", s)
	}
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return ConnectTo{}, fmt.Errorf("reading address %q: expected IP:PORT: %w", addr, err)
	}
	if host == "*" {
		return ConnectTo{host, to}, nil
	}
	if host, err = domainage.Host(host); err != nil {
		return ConnectTo{}, err
	}
	return ConnectTo{host, to}, nil
}

// azureMetadata answers cloud machines on a public address, so that no registry of special addresses has it.
var azureMetadata = ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32"))

// The guards allow only public addresses: by the IANA registries of special-purpose addresses, IPv6 within
// 2000::/3 only. They run after resolution, on every dial.
var (
	webGuard   = ssrf.New(ssrf.WithAnyPort(), azureMetadata)
	whoisGuard = ssrf.New(ssrf.WithPorts(43), azureMetadata)
)

// IsPublic reports whether the guard allows connections to an address that a name resolves to.
func IsPublic(at netip.Addr) bool {
	network := "tcp4"
	if at.Is6() {
		network = "tcp6"
	}
	return webGuard.Safe(network, netip.AddrPortFrom(at, 443).String(), nil) == nil
}

// guard refuses addresses before anything is sent there; see [net.Dialer].
type guard func(network, address string, c syscall.RawConn) error

// onlyPrivate allows what the operator may name for a plain server: loopback and private addresses.
func onlyPrivate(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err == nil && !isPrivate(at.Addr()) {
		err = errors.New("neither loopback nor private")
	}
	return err
}

func isPrivate(at netip.Addr) bool {
	at = at.Unmap()
	return at.IsLoopback() || at.IsPrivate()
}

// IsPrivate reports whether a host, as an operator wrote it in a URL, is plainly of this machine or a private network:
// a loopback or private address, or a name that the public DNS does not have, such as localhost, one label, or one
// under .local or .internal. Such a server may be asked by Options.ServerURL.
func IsPrivate(host string) bool {
	if at, err := netip.ParseAddr(host); err == nil {
		return isPrivate(at)
	}
	name, err := domainage.Host(host)
	return err == nil && !isPublicName(name)
}

// ErrForbidden means that a host has an address that is neither public nor named by the operator.
var ErrForbidden = errors.New("not an address that may be asked")

// dialer makes all connections of a live source.
type dialer struct {
	resolver *net.Resolver
	exact    map[string]netip.AddrPort
	public   netip.AddrPort // address for "*"; zero if it has none
	timeout  time.Duration
}

func newDialer(o Options) (*dialer, error) {
	d := &dialer{resolver: o.Resolver, exact: make(map[string]netip.AddrPort), timeout: o.Timeout}
	for _, to := range o.ConnectTo {
		if !to.Addr.IsValid() {
			return nil, fmt.Errorf("connecting %q: no address", to.Host)
		}
		if to.Host == "*" {
			d.public = to.Addr
			continue
		}
		host, err := domainage.Host(to.Host)
		if err != nil {
			return nil, fmt.Errorf("connecting to %v: %w", to.Addr, err)
		}
		d.exact[host] = to.Addr
	}
	return d, nil
}

// connectTo gives the address that the operator named for a host.
func (d *dialer) connectTo(host string) (netip.AddrPort, bool) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if to, ok := d.exact[host]; ok {
		return to, true
	}
	return d.public, d.public.IsValid() && isPublicName(host)
}

// isPublicName reports whether a name can be one of the public DNS.
func isPublicName(host string) bool {
	if _, err := domainage.Host(host); err != nil || !strings.Contains(host, ".") {
		return false
	}
	return !slices.ContainsFunc([]string{".localhost", ".local", ".internal"},
		func(suffix string) bool { return strings.HasSuffix(host, suffix) })
}

// dial connects to a host. A nil guard exempts it: the operator named the host. A dot behind the name keeps the
// resolver from trying the machine's search domains first; a private name may be in one of them. The error wraps
// ErrForbidden where any address of the host was refused and none answered.
func (d *dialer) dial(ctx context.Context, refuses guard, host, dot, port string) (net.Conn, error) {
	// http.Transport lets a dial outlive its request.
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if to, ok := d.connectTo(host); ok {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
		if err != nil && broken(err) != "" {
			err = &notAtAddress{to, err}
		}
		return conn, err
	}
	if refuses == nil {
		return (&net.Dialer{Resolver: d.resolver}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	}
	return d.guarded(ctx, refuses, net.JoinHostPort(host+dot, port))
}

// guarded connects to an address of the host that the guard does not refuse.
func (d *dialer) guarded(ctx context.Context, refuses guard, target string) (net.Conn, error) {
	var forbidden atomic.Pointer[string]
	var v4 atomic.Bool
	to := &net.Dialer{Resolver: d.resolver, Control: func(network, address string, c syscall.RawConn) error {
		err := refuses(network, address, c)
		if network == "tcp4" {
			v4.Store(true)
		}
		if err != nil {
			forbidden.Store(&address)
		}
		return err
	}}
	conn, err := to.DialContext(ctx, "tcp", target)
	if address := forbidden.Load(); err != nil && address != nil {
		return nil, fmt.Errorf("dialing %s: %w", *address, ErrForbidden)
	}
	if at, ok := errors.AsType[*net.OpError](err); ok && !v4.Load() &&
		slices.ContainsFunc(unreached, func(e error) bool {
			return errors.Is(err, e)
		}) {
		if to, ok := at.Addr.(*net.TCPAddr); ok && to.IP.To4() == nil {
			host, _, _ := net.SplitHostPort(target)
			return nil, &onlyIPv6{strings.TrimSuffix(host, "."), err}
		}
	}
	return conn, err
}

// unreached are the errors of a machine without a way to an address.
var unreached = []error{syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT}

// onlyIPv6 means that a host has no other addresses than of IPv6, and that this machine has no way there.
type onlyIPv6 struct {
	host string
	error
}

func (e *onlyIPv6) Unwrap() error { return e.error }

// notAtAddress means that nothing answers where the operator said that a host is.
type notAtAddress struct {
	addr netip.AddrPort
	error
}

func (e *notAtAddress) Unwrap() error { return e.error }

// transport makes http.Transport's connections; see dial.
func (d *dialer) transport(refuses guard, dot string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, addr string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		return d.dial(ctx, refuses, host, dot, port)
	}
}

// lookup is the layer that looks up the addresses of a host.
type lookup struct {
	*backoff
	dialer *dialer
}

func (l lookup) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	resolver := cmp.Or(l.dialer.resolver, net.DefaultResolver)
	return retry{l.backoff, func(ctx context.Context, r evidence.Request) (a attempt) {
		ctx, cancel := context.WithTimeoutCause(ctx, l.limit, errTimeout)
		defer cancel()
		if _, err := resolver.LookupNetIP(ctx, "ip", r.Target+"."); err != nil {
			return a.failed(classify(ctx, err))
		}
		a.observation.State = evidence.Obtained
		return a
	}}.Observe(ctx, r)
}
