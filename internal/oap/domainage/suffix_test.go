package domainage

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weppos/publicsuffix-go/publicsuffix"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// What is said about the embedded list is so, and no two of its rules have one value: the module keeps one of a value.
func TestSuffixList(t *testing.T) {
	var lines []string
	values := map[string]bool{}
	for _, r := range publicsuffix.DefaultRules() {
		section := "icann "
		mark := map[int]string{publicsuffix.WildcardType: "*.", publicsuffix.ExceptionType: "!"}[r.Type]
		if r.Private {
			section = "private "
		}
		lines = append(lines, section+mark+r.Value+"\n")
		if values[r.Value] {
			t.Errorf("two rules have the value %q", r.Value)
		}
		values[r.Value] = true
	}
	for name, since := range supplement() {
		lines = append(lines, "private "+name+"\n")
		if host, err := Host(name); err != nil || host != name || values[name] {
			t.Errorf("line %q of the supplement is not a name, or is a rule of the list", name)
		}
		if since.Before(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("line %q of the supplement has the date %v", name, since)
		}
	}
	if n := strings.Count(supplementText, "\n"); n != len(supplement()) || n > 100 {
		t.Errorf("the supplement has %d lines of %d names; expected at most 100, each of its own", n, len(supplement()))
	}
	slices.Sort(lines)
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, ""))))
	_, date, _ := strings.Cut(strings.TrimSuffix(publicsuffix.ListVersion, ")"), "(")
	made := must.Get(time.Parse(time.ANSIC, date))(t)
	if day := made.Format(time.DateOnly); sum != ListSHA256 || day != ListDate {
		t.Errorf("ListDate is %q and ListSHA256 %q; expected %q and %q", ListDate, ListSHA256, day, sum)
	}
}

// TestSupplement checks that a tenant of a platform has a domain of its own, and that the date of a line counts only
// where it is asked for.
func TestSupplement(t *testing.T) {
	added := supplement()["modal.run"]
	for _, c := range []struct {
		host    string
		s       *Suffixes
		private bool
	}{
		{"tenant.modal.run", nil, true},
		{"a.tenant.modal.run", (*Suffixes)(nil).Until(added), true},
		{"tenant.modal.run", (*Suffixes)(nil).Until(added.Add(-time.Second)), false},
		{"modal.run", nil, false},
		{"notmodal.run", nil, false},
	} {
		d, err := c.s.Registrable(c.host)
		if want := map[bool]string{true: "tenant.modal.run", false: d.ICANN}[c.private]; err != nil ||
			d.PrivateSuffix != c.private || d.Registrable != want {
			t.Errorf("%s: %+v, %v", c.host, d, err)
		}
	}
}

func TestSuffixes(t *testing.T) {
	s := must.Get(NewSuffixes([]string{"tenants.example", "eu.vercel.app", "app", "www.ck", "a.b.c.example"}))(t)
	for _, c := range []struct {
		host string
		want Domain
	}{
		{"x.ann.tenants.example", Domain{Registrable: "ann.tenants.example", ICANN: "tenants.example",
			Suffix: "tenants.example", PrivateSuffix: true}},
		{"tenants.example", Domain{Registrable: "tenants.example", ICANN: "tenants.example",
			Suffix: "tenants.example"}},
		{"my-tenants.example", Domain{Registrable: "my-tenants.example", ICANN: "my-tenants.example",
			Suffix: "example"}},
		{"x.eu.vercel.app", Domain{Registrable: "x.eu.vercel.app", ICANN: "vercel.app", Suffix: "eu.vercel.app",
			PrivateSuffix: true}},
		{"eu.vercel.app", Domain{Registrable: "eu.vercel.app", ICANN: "vercel.app", Suffix: "eu.vercel.app",
			PrivateSuffix: true}},
		// the list's own suffixes stay, the longer one counts, and a name that is one already changes nothing
		{"nova.vercel.app", Domain{Registrable: "nova.vercel.app", ICANN: "vercel.app", Suffix: "vercel.app",
			PrivateSuffix: true}},
		{"nova.app", Domain{Registrable: "nova.app", ICANN: "nova.app", Suffix: "app"}},
		{"b.c.example", Domain{Registrable: "c.example", ICANN: "c.example", Suffix: "example"}},
		{"x.www.ck", Domain{Registrable: "x.www.ck", ICANN: "www.ck", Suffix: "www.ck", PrivateSuffix: true}},
	} {
		c.want.Host = c.host
		if got, err := s.Registrable(c.host); err != nil || got != c.want {
			t.Errorf("Registrable(%q) gives %+v, %v, want %+v", c.host, got, err, c.want)
		}
	}
}
