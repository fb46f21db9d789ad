package domainage

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRegistrable(t *testing.T) {
	tests := []struct {
		host string
		want Domain
		err  error
	}{
		{"example.com", Domain{Host: "example.com", Registrable: "example.com", ICANN: "example.com", Suffix: "com"},
			nil},
		{"a.b.example.co.uk", Domain{Host: "a.b.example.co.uk", Registrable: "example.co.uk", ICANN: "example.co.uk",
			Suffix: "co.uk"}, nil},
		{"Agent.EXAMPLE.com.", Domain{Host: "agent.example.com", Registrable: "example.com", ICANN: "example.com",
			Suffix: "com"}, nil},
		{"bücher.example.de", Domain{Host: "xn--bcher-kva.example.de", Registrable: "example.de", ICANN: "example.de",
			Suffix: "de"}, nil},
		{"a.b.vercel.app", Domain{Host: "a.b.vercel.app", Registrable: "b.vercel.app", ICANN: "vercel.app",
			Suffix: "vercel.app", PrivateSuffix: true}, nil},
		{"foo.github.io", Domain{Host: "foo.github.io", Registrable: "foo.github.io", ICANN: "github.io",
			Suffix: "github.io", PrivateSuffix: true}, nil},
		{"x.s3.dualstack.us-east-1.amazonaws.com", Domain{Host: "x.s3.dualstack.us-east-1.amazonaws.com",
			Registrable: "x.s3.dualstack.us-east-1.amazonaws.com", ICANN: "amazonaws.com",
			Suffix: "s3.dualstack.us-east-1.amazonaws.com", PrivateSuffix: true}, nil},
		{"x.dualstack.us-east-1.amazonaws.com", Domain{Host: "x.dualstack.us-east-1.amazonaws.com",
			Registrable: "dualstack.us-east-1.amazonaws.com", ICANN: "amazonaws.com",
			Suffix: "us-east-1.amazonaws.com", PrivateSuffix: true}, nil},
		{"www.ck", Domain{Host: "www.ck", Registrable: "www.ck", ICANN: "www.ck", Suffix: "ck"}, nil},
		{"a.b.c.ck", Domain{Host: "a.b.c.ck", Registrable: "b.c.ck", ICANN: "b.c.ck", Suffix: "c.ck"}, nil},
		{"a.agent.test", Domain{Host: "a.agent.test", Registrable: "agent.test", ICANN: "agent.test", Suffix: "test"},
			nil},
		{"my_agent.example.com", Domain{Host: "my_agent.example.com", Registrable: "example.com", ICANN: "example.com",
			Suffix: "com"}, nil},
		{"r3---sn.example.com", Domain{Host: "r3---sn.example.com", Registrable: "example.com", ICANN: "example.com",
			Suffix: "com"}, nil},

		// a suffix is its own; the age of a platform's name is what it registered, unless that is a name above it
		{"co.uk", Domain{Host: "co.uk", Registrable: "co.uk", ICANN: "co.uk", Suffix: "co.uk"}, nil},
		{"github.io", Domain{Host: "github.io", Registrable: "github.io", ICANN: "github.io", Suffix: "github.io"},
			nil},
		{"s3.dualstack.us-east-1.amazonaws.com", Domain{Host: "s3.dualstack.us-east-1.amazonaws.com",
			Registrable: "s3.dualstack.us-east-1.amazonaws.com", ICANN: "amazonaws.com",
			Suffix: "s3.dualstack.us-east-1.amazonaws.com", PrivateSuffix: true}, nil},
		{"com", Domain{Host: "com", Registrable: "com", ICANN: "com", Suffix: "com"}, nil},
		{"localhost", Domain{Host: "localhost", Registrable: "localhost", ICANN: "localhost", Suffix: "localhost"},
			nil},
	}
	for _, test := range tests {
		got, err := Registrable(test.host)
		if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
			t.Errorf("Registrable(%q) gives error %v, want %v", test.host, err, test.err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("Registrable(%q) (-want +got):\n%s", test.host, diff)
		}
	}
}

func TestHostRefuses(t *testing.T) {
	for _, host := range []string{
		"", ".", "..", "a..b", "-a.example", "a-.example", "a b.example", "a\r\nb.example", "a/b.example",
		"127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "a.example.0x1", "1.2.3.4.", "[::1]", "::1",
		"fe80::1%25eth0", "*.example", "a@example.com", "a.example:443", "xn--a.example", "\xff.example",
		"xn--äa-.example", "a。xn--äa-.example", "\u00adxn--äa-.example",
		strings.Repeat("a", 64) + ".example", strings.Repeat("a.", 127) + "example",
	} {
		if got, err := Host(host); !errors.Is(err, ErrNotDNSName) {
			t.Errorf("Host(%q) gives %q and error %v, want ErrNotDNSName", host, got, err)
		}
	}
}

func FuzzRegistrable(f *testing.F) {
	for _, s := range []string{"a.b.vercel.app", "Bücher.example.", "127.1", "xn--bcher-kva.de", "com", "a..b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		d, err := Registrable(host)
		if errors.Is(err, ErrNotDNSName) {
			return
		}
		if again, err := Host(d.Host); err != nil || again != d.Host {
			t.Errorf("Host(%q) of %q gives %q, %v", d.Host, host, again, err)
		}
		for _, name := range []string{d.Registrable, d.ICANN} {
			if name != "" && d.Host != name && !strings.HasSuffix(d.Host, "."+name) {
				t.Errorf("%q does not lie in %q", d.Host, name)
			}
		}
		if err == nil && (d.Registrable == "" || d.ICANN == "" || len(d.ICANN) > len(d.Registrable)) {
			t.Errorf("Registrable(%q) gives %+v", host, d)
		}
	})
}
