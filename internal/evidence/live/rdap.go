package live

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/openrdap/rdap/bootstrap"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
)

// IANA's list of the RDAP servers of top-level domains (RFC 9224).
const (
	bootstrapHost = "data.iana.org"
	bootstrapURL  = "https://" + bootstrapHost + "/rdap/dns.json"

	// MaxBootstrap caps that list; it has about 100 KiB.
	MaxBootstrap = 4 << 20
)

// maxServers is how many of a suffix's RDAP servers are tried.
const maxServers = 3

// rdap asks the RDAP servers of a domain's suffix (RFC 9082 section 3.1.3), the next one unless a server answers: with
// a readable object of this domain, or 404. The body is the raw reply. If the domain or a server does not exist, the
// answer is Absent. If the bootstrap cannot be fetched, for any reason, nothing is known about the domain: Unavailable.
type rdap struct {
	*web
	run       layer    // observes IANA's list
	named     *url.URL // asked instead of the servers of that list; nil: none
	bootstrap bootstrapFile
}

func (p *rdap) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	domain, err := domainage.Host(r.Target)
	if err != nil {
		return sources.Refuse(evidence.Invalid, evidence.CodeURL, "%v", err).Observation(r)
	}
	servers, refused := p.servers(ctx, domain)
	if refused != nil {
		return refused.Observation(r)
	}
	var o evidence.Observation
	for _, server := range servers {
		q := query{url: server.JoinPath("domain", domain), accept: acceptRDAP, named: p.named != nil}
		o = p.get(q).Observe(ctx, r)
		if o.State == evidence.Absent && o.Status == http.StatusNotFound {
			o.Code, o.Message = evidence.CodeNoRegistration, "the RDAP server knows no such domain"
			break
		}
		if o.State == evidence.Obtained && readable(o) {
			break
		}
	}
	return o
}

// readable reports whether a reply is an object of the domain that was asked for, with or without a date.
func readable(o evidence.Observation) bool {
	defer evidence.EnterDecoding()()
	_, err := domainage.FromRDAP(o.Target, o.Body)
	return err == nil || domainage.Answered(err)
}

// servers returns the base URLs of the servers for a domain, at most maxServers.
func (p *rdap) servers(ctx context.Context, domain string) ([]*url.URL, *sources.Refusal) {
	if p.named != nil {
		return []*url.URL{p.named}, nil
	}
	list := p.run.Observe(ctx, evidence.Document(bootstrapURL, MaxBootstrap))
	if list.State != evidence.Obtained {
		return nil, p.noList(list.Code, list.Message)
	}
	registry, err := p.bootstrap.parse(list.Body)
	if err != nil {
		return nil, p.noList(evidence.CodeProtocol, err.Error())
	}
	answer, err := registry.Lookup(&bootstrap.Question{RegistryType: bootstrap.DNS, Query: domain})
	if err != nil {
		return nil, p.noList(evidence.CodeProtocol, err.Error())
	}
	var servers []*url.URL
	for _, u := range answer.URLs {
		// RFC 9224 section 5 lets a list name http next to https.
		if server, refused := sources.Usable(u); refused == nil && len(servers) < maxServers {
			servers = append(servers, server)
		}
	}
	if len(servers) == 0 && len(answer.URLs) > 0 {
		return nil, sources.Refuse(evidence.Absent, evidence.CodeNoRegistration,
			"IANA lists no RDAP server for %q with https, only %.200q", domain, answer.URLs[0])
	}
	if len(servers) == 0 {
		return nil, sources.Refuse(evidence.Absent, evidence.CodeNoRegistration, "IANA lists no RDAP server for %q",
			domain)
	}
	return servers, nil
}

// noList returns the refusal of a lookup without IANA's list. It says so if the operator's --connect-to caught the host
// of the list: a staging server does not have the list.
func (p *rdap) noList(code, why string) *sources.Refusal {
	if to, caught := p.routes.dialer.connectTo(bootstrapHost); caught {
		why = fmt.Sprintf("--connect-to leads %s to %s, so name the RDAP service with --rdap-url: %s", bootstrapHost,
			to, why)
	}
	return sources.Refuse(evidence.Unavailable, code, "no list of RDAP servers: %s", why)
}

// bootstrapFile is IANA's list, decoded once in a run.
type bootstrapFile struct {
	once     sync.Once
	registry *bootstrap.DNSRegistry
	err      error
}

func (b *bootstrapFile) parse(body []byte) (*bootstrap.DNSRegistry, error) {
	b.once.Do(func() { b.registry, b.err = bootstrap.NewDNSRegistry(body) })
	return b.registry, b.err
}
