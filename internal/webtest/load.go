package webtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
)

// Entry is one line of a description: a page, a domain or a host, by which of the three names it has.
type Entry struct {
	URL  string `json:"url"`  // a page, or "https://host/*"
	File string `json:"file"` // its body, from the folder of the description
	Behaviour

	DomainName string `json:"domain"` // RDAP and WHOIS
	Domain

	Host string  `json:"host"` // its TLS handshake
	TLS  TLSMode `json:"tls"`
}

// Load sets what dir/web.json describes: a JSON array of entries, with no unknown and no duplicate members.
func Load(dir string, w *Web) error {
	data, err := os.ReadFile(filepath.Join(dir, "web.json"))
	if err != nil {
		return fmt.Errorf("read description of the web: %w", err)
	}
	var entries []Entry
	if err := json.Unmarshal(data, &entries, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("read description of the web: %w", err)
	}
	for i, e := range entries {
		if e.File != "" {
			if e.Body, err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(e.File))); err != nil {
				return fmt.Errorf("web.json, entry %d: %w", i, err)
			}
		}
		if err := w.Apply(e); err != nil {
			return fmt.Errorf("web.json, entry %d: %w", i, err)
		}
	}
	return nil
}

// Apply sets one entry; its File is not read.
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
	case !e.TLS.known():
		return fmt.Errorf("tls is %q, want wrong-name, expired, untrusted, reset or silent", e.TLS)
	case e.URL != "":
		w.Set(e.URL, e.Behaviour)
	case e.DomainName != "":
		w.SetDomain(e.DomainName, e.Domain)
	default:
		w.SetTLS(e.Host, e.TLS)
	}
	return nil
}
