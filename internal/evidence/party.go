package evidence

import (
	"cmp"
	"context"
	"strings"
)

// A Party is who is at fault if a request gives nothing.
type Party uint8

// The parties. Only the owner of a document can fail.
const (
	Owner      Party = iota
	ThirdParty       // a registry of domains, or IANA
	Machine          // the one that the program runs on
)

// State returns the state of an observation: what a party other than the owner does, except to answer, leaves the
// question open. If a registry knows no such domain, or there is no registry to ask, that is an answer.
func (p Party) State(o Observation) State {
	answered := o.State == Obtained || o.State == Unsought || p == ThirdParty && o.Code == CodeNoRegistration
	if p == Owner || answered {
		return o.State
	}
	return Unavailable
}

// Control is the host that decides whose fault it is that the resolver denies a name: it exists.
const Control = "data.iana.org"

// DeniedToo is what is said if the resolver denies Control.
const DeniedToo = "this machine's resolver denies " + Control + ", too"

// Ask observes a request. If the resolver denies a host, and that is not a name such as localhost, Ask looks up
// Control: a resolver that denies Control too, or gives no answer, says nothing about the host.
func Ask(ctx context.Context, s Source, r Request) Observation {
	o := s.Observe(ctx, r)
	if o.Code != CodeNoHost || !strings.Contains(cmp.Or(hostOf(r.Target), r.Target), ".") {
		return o
	}
	control := s.Observe(ctx, Request{Protocol: DNS, Target: Control})
	switch control.Code {
	case CodeNoHost:
		o.State, o.Code, o.Message = Machine.State(control), CodeDeniesAll, DeniedToo
	case CodeResolver, CodeTimeout, CodeBudget:
		o.State, o.Code = Machine.State(control), control.Code
		o.Message = "this machine's resolver denies the host, and is not known to know others: " +
			strings.TrimSuffix(control.Message, ".")
	}
	return o // a bundle of earlier builds has no answer about Control
}
