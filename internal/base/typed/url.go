package typed

import (
	"net/url"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
)

// HTTPURL parses the URL of a flag. It returns nil for an empty text.
func HTTPURL(flag, text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, remedy.Errorf("give an http or https URL", "%s %q is not a URL", flag, plain.Redacted(text))
	}
	return u, nil
}
