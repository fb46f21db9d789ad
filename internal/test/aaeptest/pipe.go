package aaeptest

import (
	"context"
	"net"
	"sync"
	"time"
)

// Pipe is a listener within the process: a test whose time is not the machine's needs connections that are not either.
type Pipe struct {
	Delay func() time.Duration // how long the next write of either side takes; nil: no time

	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewPipe makes a listener that Dial connects to.
func NewPipe() *Pipe { return &Pipe{conns: make(chan net.Conn), done: make(chan struct{})} }

// Dial connects to the listener, whatever is asked for.
func (p *Pipe) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	if p.Delay != nil {
		client, server = slow{client, p}, slow{server, p}
	}
	select {
	case p.conns <- server:
		return client, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// slow is a connection of a slow machine.
type slow struct {
	net.Conn
	of *Pipe
}

func (s slow) Write(data []byte) (int, error) {
	time.Sleep(s.of.Delay())
	return s.Conn.Write(data)
}

// Accept gives the next connection.
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close ends the listener; its connections stay.
func (p *Pipe) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// Addr returns a name that can be in a URL.
func (p *Pipe) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "producer.example" }
