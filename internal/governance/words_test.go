package governance

import (
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// worded reads a body.
func worded(t *testing.T, text string) *Words {
	t.Helper()
	w := must.Get(NewWords("the body", text))(t)
	return w
}

func TestWordsLimit(t *testing.T) {
	if _, err := NewWords("the body", strings.Repeat("a", 2<<20)); err == nil ||
		!strings.HasPrefix(err.Error(), "reading the body: too large") {
		t.Error(err)
	}
	if said, where := phrased(Review{Body: strings.Repeat("a", 2<<20)}, clearedForm); said || where == "" {
		t.Errorf("a review over the limit: %t %q", said, where)
	}
}
