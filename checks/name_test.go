package checks

import (
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

func TestRecordSlug(t *testing.T) {
	sum, long := strings.Repeat("0a", 32), strings.Repeat("a", 64)
	for _, c := range []struct {
		kind       registry.Kind
		path, want string
	}{
		{registry.KindListing, "implementations/ab.json", "ab"},
		{registry.KindListing, "implementations/0-.json", "0-"},
		{registry.KindListing, "implementations/" + long + ".json", long},
		{registry.KindListing, "implementations/a" + long + ".json", ""},
		{registry.KindListing, "implementations/a.json", ""},
		{registry.KindListing, "implementations/-a.json", ""},
		{registry.KindListing, "implementations/aB.json", ""},
		{registry.KindListing, "implementations/az-09.json", "az-09"},
		{registry.KindListing, "implementations/a`.json", ""}, // next to each range
		{registry.KindListing, "implementations/a{.json", ""},
		{registry.KindListing, "implementations/a/.json", ""},
		{registry.KindListing, "implementations/a:.json", ""},
		{registry.KindListing, "implementations/ab.JSON", ""},
		{registry.KindListing, "implementations/ab", ""},
		{registry.KindListing, "implementations/a/b.json", ""},
		{registry.KindListing, "revocations/ab.json", ""},
		{registry.KindListing, "implementations", ""},
		{registry.KindListing, "ab.json", ""},
		{registry.KindRevocation, "ab-" + sum + ".json", ""},
		{registry.KindRevocation, "revocations/abcx" + sum + ".json", ""},
		{registry.KindWorkflowAnchor, "workflow-anchors/ab.json", "ab"},
		{registry.KindRevocation, "revocations/ab-" + sum + ".json", "ab"},
		{registry.KindRevocation, "revocations/a-b--" + sum + ".json", "a-b-"},
		{registry.KindRevocation, "revocations/" + long + "-" + sum + ".json", long},
		{registry.KindRevocation, "revocations/a-" + sum + ".json", ""},
		{registry.KindRevocation, "revocations/ab" + sum + ".json", ""},
		{registry.KindRevocation, "revocations/ab-" + sum[1:] + ".json", ""},
		{registry.KindRevocation, "revocations/ab-" + strings.ToUpper(sum) + ".json", ""},
		{registry.KindRevocation, "revocations/ab-" + sum, ""},
		{registry.KindRevocation, "revocations/ab.json", ""},
		{registry.KindRevocation, "revocations/.json", ""},
	} {
		if got := RecordSlug(c.kind, c.path); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.kind, c.path, got, c.want)
		}
	}
	if got, want := revocationName("revocations/ab-"+sum+".json"), (pin{Slug: "ab", SHA256: sum}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A path that is plain keeps its spelling when it is folded. The characters next to A and Z fold to themselves.
func TestIsPlain(t *testing.T) {
	for path, want := range map[string]bool{"a/b.json": true, "@[`{": true, "a.b c": true, "A": false, "Z": false,
		"a/Z": false, "\x7f": true, "\u0080": false, "\x80": false, "a.": false, "a./b": false, "a /b": false,
		"a ": false} {
		if got := isPlain(path); got != want || got && foldPath(path) != path {
			t.Errorf("%q: got %v, want %v; it folds to %q", path, got, want, foldPath(path))
		}
	}
}

// Bytes that are not UTF-8 remain distinct; the letters next to them do not.
func TestFoldPath(t *testing.T) {
	for path, want := range map[string]string{"A\xff": "a\xff", "\xff/B.": "\xff/b", "\xfe": "\xfe", "Ａ\xff": "a\xff",
		"a\u200b": "a", "a\u200b\xff": "a\u200b\xff"} {
		if got := foldPath(path); got != want {
			t.Errorf("%q folds to %q; expected %q", path, got, want)
		}
	}
}

func TestIsHexDigit(t *testing.T) {
	for _, c := range "/:@G`g" {
		if isHexDigit(c) {
			t.Errorf("%q is taken for a hexadecimal digit", c)
		}
	}
	for _, c := range "09AFaf" {
		if !isHexDigit(c) {
			t.Errorf("%q is not taken for a hexadecimal digit", c)
		}
	}
}
