package report

import (
	"bufio"
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// TestListingsAreEncoded checks that a listing has the bytes that encode gives it, whatever each member holds.
func TestListingsAreEncoded(t *testing.T) {
	early, late := time.Date(2026, 5, 4, 8, 0, 0, 120, time.UTC), time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)
	abroad := early.In(time.FixedZone("", 5400))
	values := map[reflect.Type][]any{
		reflect.TypeFor[string]():     {"", "acme", "a \"b\" \\ [c] ##[d]", "é\u202e\x1b\n<&>", "\xff"},
		reflect.TypeFor[*time.Time](): {(*time.Time)(nil), &early, &abroad},
		reflect.TypeFor[[]string]():   {[]string(nil), []string{"ada"}, []string{"##[x]", "\u2028"}},
		reflect.TypeFor[bool]():       {false, true},
	}
	var all []verdict.Listing
	for i := range reflect.TypeFor[verdict.Listing]().NumField() {
		for _, others := range []int{0, 1} {
			var l verdict.Listing
			v := reflect.ValueOf(&l).Elem()
			for j := range v.NumField() {
				v.Field(j).Set(reflect.ValueOf(values[v.Field(j).Type()][others]))
			}
			for _, value := range values[v.Field(i).Type()] {
				v.Field(i).Set(reflect.ValueOf(value))
				all = append(all, l)
			}
		}
	}
	var got, want bytes.Buffer
	b := bufio.NewWriter(&got)
	a := arrays{b: b}
	b.WriteByte('[')
	if err := a.listings(all); err != nil {
		t.Fatal(err)
	}
	b.WriteString("\n  ]\n")
	b.Flush()
	if err := encodeIndented(&want, all, "  ", "  "); err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() {
		t.Errorf("got %s\nwant %s", got.String(), want.String())
	}
	if err := a.listings([]verdict.Listing{{ExpiresAt: &late}}); err == nil {
		t.Error("a year of five digits is written")
	}
}
