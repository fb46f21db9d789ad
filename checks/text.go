package checks

import (
	"fmt"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/did"
)

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// stamp writes a time as the registry's files do: RFC 3339, UTC, milliseconds where there are any.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z07:00") }

func cutRunes(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}

// sameDID tells whether two texts name one DID, in whatever spelling.
func sameDID(a, b string) bool { return same(spelt(a), spelt(b)) }

// spelt is a DID in its one spelling, other text as it is.
func spelt(text string) string {
	d, err := did.Parse(text)
	if err != nil {
		return text
	}
	want, _ := d.Spelling()
	return want
}

// same tells whether two texts are equal but for letter case.
func same(a, b string) bool { return strings.EqualFold(a, b) }
