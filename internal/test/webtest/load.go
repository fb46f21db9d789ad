package webtest

import (
	"errors"
	"fmt"
	"slices"
)

// Entry is one line of a description: a page, a domain or a host, by which of the three names it has.
type Entry struct {
	URL string `json:"url"` // a page, or "https://host/*"
	Behaviour

	DomainName string `json:"domain"` // RDAP and WHOIS
	Domain

	Host string  `json:"host"` // its TLS handshake
	TLS  TLSMode `json:"tls"`
}

// Apply sets one entry.
func (w *Web) Apply(e Entry) error {
	named := 0
	for _, s := range []string{e.URL, e.DomainName, e.Host} {
		if s != "" {
			named++
		}
	}
	switch {
	case named != 1:
		return errors.New("want exactly one of url, domain and host")
	case !slices.Contains(tlsModes, e.TLS):
		return fmt.Errorf("tls is %q; expected one of %q", e.TLS, tlsModes)
	case e.URL != "":
		w.Set(e.URL, e.Behaviour)
	case e.DomainName != "":
		w.SetDomain(e.DomainName, e.Domain)
	case !w.IsServed():
		return errors.New("a web without servers has no TLS")
	default:
		w.SetTLS(e.Host, e.TLS)
	}
	return nil
}
