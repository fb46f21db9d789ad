package conformancecmd

import (
	"context"
	"crypto"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/jws"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/server"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// aaepSubscriber has the flags of aaep subscriber.
type aaepSubscriber struct {
	aaepPeer
	listen          string
	seed            uint64
	timeout, budget time.Duration
}

func newAAEPSubscriber(sys frame.IO, p *Protocol) *cobra.Command {
	var o aaepSubscriber
	c := &cobra.Command{
		Use:   "subscriber --listen ADDR [-- COMMAND ARG…]",
		Short: "play a producer for a subscriber, and judge what it does",
		Long: `subscriber serves events on a loopback or private address: server-sent events and replies
below /aaep/v1, a WebSocket at /aaep/v1/ws. Its questions say what the tester does. A
command after -- is started without a shell, with AAEP_ENDPOINT in its environment, and
ended with its children. Without a command a person connects the subscriber and answers.
A scenario file is a YAML list of {name, play}; without one each play of the level is
played once, in random order.`,
		Example: "  oap-conform aaep subscriber --listen 127.0.0.1:8080 --level 2\n" +
			"  oap-conform aaep subscriber --listen 127.0.0.1:0 --level 3 \\\n    -- ./reader --test",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && c.ArgsLenAtDash() != 0 {
				return remedy.Errorf("write the command after --, as in -- "+plain.Cut(args[0], 40),
					"subscriber takes no argument before --")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(func() (*conformance, error) {
				if !cmd.Flags().Changed("seed") {
					o.seed = uint64(rand.Uint32())
				}
				return o.judge(cmd.Context(), sys, args)
			})
		},
	}
	o.bind(c, sys, p, false)
	f := c.Flags()
	f.StringVar(&o.listen, "listen", "", "serve on `HOST:PORT`; the address is loopback or private, port 0 a free one")
	o.bindPeer(f, "plays, in this order",
		"private, PEM, for level 3 (default: a new key, in its header)", "extensions_supported of the manifest")
	f.Uint64Var(&o.seed, "seed", 0,
		"seed `N` of the run: the order of plays (default: a random one, which the report names)")
	frame.DurationVar(f, &o.timeout, "timeout", "15s",
		"time limit for one exchange: a question, in whole seconds, or a connection")
	frame.DurationVar(f, &o.budget, "budget", "10m", "time limit for the run; 0 for none")
	return c
}

// check refuses what no run could use, and returns where to listen.
func (o *aaepSubscriber) check() (at netip.AddrPort, err error) {
	return at, typed.First(
		func() (err error) { at, err = listenAddress(o.listen); return err },
		func() error {
			if o.timeout < 5*time.Second || o.timeout > 24*time.Hour || o.timeout%time.Second != 0 {
				return remedy.Errorf("give at least 5s, in whole seconds, such as 15s",
					"--timeout is %s; expected whole seconds from 5s to 24h", plain.Span(o.timeout))
			}
			return nil
		},
		o.checkPeer)
}

// listenAddress returns the loopback or private address of HOST:PORT.
func listenAddress(text string) (netip.AddrPort, error) {
	const form = "write it like 127.0.0.1:8080, or 127.0.0.1:0 for a free port"
	if text == "" {
		return netip.AddrPort{}, remedy.Errorf(form, "subscriber requires --listen")
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return netip.AddrPort{}, remedy.Errorf(form, "--listen %q is not HOST:PORT", plain.Cut(text, 80))
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return netip.AddrPort{}, remedy.Errorf(form, "--listen %q has no port number", plain.Cut(text, 80))
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	at, err := netip.ParseAddr(host)
	if at = at.Unmap(); err != nil || !at.IsLoopback() && !at.IsPrivate() {
		return netip.AddrPort{}, remedy.Errorf(form, "--listen %q is not a loopback or private address",
			plain.Cut(text, 80))
	}
	return netip.AddrPortFrom(at, uint16(number)), nil
}

func (o *aaepSubscriber) judge(ctx context.Context, sys frame.IO, command []string) (*conformance, error) {
	at, err := o.check()
	if err != nil {
		return nil, err
	}
	host := &server.Host{Level: o.level, Seed: o.seed, Timeout: o.timeout, Path: o.capture,
		Extensions: o.extensions, Say: func(text string) { fmt.Fprintln(sys.Stderr, foreign.Line(text)) }}
	if host.Path == "" {
		host.Path = "subscriber"
	}
	host.Plays, err = readFlag("--scenario", o.scenario, aaep.MaxScenarioFile,
		func(path string, data []byte) ([]server.Play, error) { return server.ReadPlays(path, data, o.level) },
		"give a YAML list of {name, play}: see docs/conformance.md")
	if err != nil {
		return nil, err
	}
	host.Key, err = readFlag("--manifest-key", o.manifestKey, jws.MaxKey, func(_ string, data []byte) (crypto.Signer,
		error) {
		return jws.ParsePrivateKey(data)
	}, "give a PEM file of a P-256, RSA or Ed25519 private key")
	if err != nil {
		return nil, err
	}
	if len(command) > 0 {
		host.Tester = &tester{args: command, stderr: sys.Stderr}
	}
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
	if err != nil {
		return nil, remedy.With(fmt.Errorf("listening: %w", err), "name an address of this machine and a free port")
	}
	defer l.Close()
	results, err := o.hold(ctx, o.budget, func(ctx context.Context, to io.Writer) ([]verdict.Result, error) {
		host.Capture = to
		return host.Run(ctx, l)
	})
	return o.found("subscriber", host.Chosen(), aaep.SubscriberRows(o.level), results), err
}
