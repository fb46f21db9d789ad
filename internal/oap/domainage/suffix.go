package domainage

import (
	"fmt"
	"strings"

	"github.com/weppos/publicsuffix-go/publicsuffix"
)

// The embedded Public Suffix List: the date of its version, and the SHA-256 over its rules. Each rule is a line
// "icann RULE" or "private RULE", with "*." before a wildcard and "!" before an exception; the lines are sorted
// bytewise and end in LF. To work the sum out takes milliseconds, so a test compares it.
const (
	ListDate   = "2026-03-02"
	ListSHA256 = "73d75b2bb6a983f91335b2d60e8d50c777770a026137559cec56d274d1344dc1"
)

// MaxSuffixes is the number of names that Suffixes may have.
const MaxSuffixes = 1000

// Suffixes are names that count as public suffixes of the private section, in addition to those of the embedded list.
// They never remove a suffix from the list. The nil pointer adds none.
type Suffixes struct{ names map[string]bool }

// NewSuffixes returns the suffixes of these names. The error says which name is not in lower-case A-labels, or that
// there are more than MaxSuffixes.
func NewSuffixes(names []string) (*Suffixes, error) {
	if len(names) > MaxSuffixes {
		return nil, fmt.Errorf("%d names; expected at most %d", len(names), MaxSuffixes)
	}
	s := &Suffixes{names: make(map[string]bool, len(names))}
	for _, name := range names {
		if spelled, err := Host(name); err != nil || spelled != name {
			return nil, fmt.Errorf("%.300q is not a DNS name in lower-case A-labels without a wildcard", name)
		}
		s.names[name] = true
	}
	return s, nil
}

// Suffix returns the public suffix of a DNS name as Host spells it, the private section included. A name that is
// itself one is its own.
func (s *Suffixes) Suffix(name string) string {
	suffix, _ := s.suffix(name)
	return suffix
}

// suffix returns the longest public suffix of a name, and whether it is of the private section.
func (s *Suffixes) suffix(name string) (suffix string, private bool) {
	suffix, private = find(name, publicsuffix.DefaultFindOptions)
	if s == nil || len(s.names) == 0 {
		return suffix, private
	}
	for rest := name; len(rest) > len(suffix); {
		if s.names[rest] {
			return rest, true
		}
		_, rest, _ = strings.Cut(rest, ".")
	}
	return suffix, private
}

var icannOnly = &publicsuffix.FindOptions{IgnorePrivate: true, DefaultRule: publicsuffix.DefaultRule}

func icannSuffix(name string) string {
	suffix, _ := find(name, icannOnly)
	return suffix
}

func find(name string, options *publicsuffix.FindOptions) (suffix string, private bool) {
	rule := publicsuffix.DefaultList.Find(name, options)
	if suffix = rule.Decompose(name)[1]; suffix == "" {
		suffix = name
	}
	return suffix, rule.Private
}
