package typed

import (
	"net"
	"net/url"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
)

// HTTPURL parses the URL of a flag. It returns nil for an empty text.
func HTTPURL(flag, text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, remedy.Errorf("give an http or https URL", "%s %q is not a URL", flag, Redacted(text))
	}
	return u, nil
}

// Redacted returns a URL without its password, for a report, which is public.
func Redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(no URL)"
	}
	if _, secret := u.User.Password(); !secret {
		return text
	}
	return u.Redacted()
}

// IsLoopback reports whether a host is this machine by its name or its literal address.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
