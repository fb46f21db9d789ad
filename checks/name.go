package checks

import (
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// recordSlug is the slug that the path of a record of kind k names: FOLDER/SLUG.json. For a revocation it is the
// part before the hash. It is empty where the path is of another form.
func recordSlug(k registry.Kind, path string) string {
	if k == registry.KindRevocation {
		return revocationName(path).slug
	}
	name, found := strings.CutPrefix(path, k.Folder()+"/")
	slug, isJSON := strings.CutSuffix(name, ".json")
	if !found || !isJSON || !isSlug(slug) {
		return ""
	}
	return slug
}

// revocationName is what the path of a revocation says: revocations/SLUG-SHA256.json. It is zero where the path is
// of another form.
func revocationName(path string) pin {
	name, found := strings.CutPrefix(path, "revocations/")
	name, isJSON := strings.CutSuffix(name, ".json")
	at := len(name) - len("-") - 64
	if !found || !isJSON || at < 0 || name[at] != '-' || !isSlug(name[:at]) ||
		strings.Trim(name[at+1:], "0123456789abcdef") != "" {
		return pin{}
	}
	return pin{name[:at], name[at+1:]}
}

// isSlug reports whether a text is of 2 to 64 characters from a-z, 0-9 and hyphen, not beginning with a hyphen.
func isSlug(s string) bool {
	if len(s) < 2 || len(s) > 64 || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
