package remedy

import (
	"net/url"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// HTTPURL is the URL of a flag, nil where that is empty.
func HTTPURL(flag, text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, Errorf("give an http or https URL", "%s %q is no URL", flag, plain.Redacted(text))
	}
	return u, nil
}
