package domainage

import (
	_ "embed" // the supplement
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/weppos/publicsuffix-go/publicsuffix"
)

// The embedded Public Suffix List: the date of its version, and the SHA-256 over its rules and those of the supplement.
// Each rule is a line "icann RULE" or "private RULE", with "*." before a wildcard and "!" before an exception; the
// lines are sorted bytewise and end in LF. To work the sum out takes milliseconds, so a test compares it.
const (
	ListDate   = "2026-03-02"
	ListSHA256 = "71087130aae164390da039079f2529f5c1d2c55f31f919ee1f17ec84ddfa0f85"
)

// MaxSuffixes is the number of names that Suffixes may have.
const MaxSuffixes = 1000

// The supplement is of platforms that the list lacks: names directly below which strangers get names without a contract
// with the owner. Each line is NAME DATE REASON, with the date of the line.
//
//go:embed supplement.txt
var supplementText string

// supplement returns the dates of its lines by their names, the private section's as those of the list.
var supplement = sync.OnceValue(func() map[string]time.Time {
	names := map[string]time.Time{}
	for line := range strings.Lines(supplementText) {
		words := strings.Fields(line)
		day, err := time.Parse(time.DateOnly, words[1])
		if err != nil {
			panic(err) // a text of the program's own
		}
		names[words[0]] = day
	}
	return names
})

// Suffixes are names that count as public suffixes of the private section, in addition to those of the embedded list
// and of the supplement. They never remove a suffix from the list. The nil pointer adds none.
type Suffixes struct {
	names map[string]bool
	until time.Time // lines of the supplement with a later date do not count; zero: all count
}

// Until returns the suffixes without the lines of the supplement that are dated after a time: a new line refuses
// nothing that was merged before it.
func (s *Suffixes) Until(merged time.Time) *Suffixes {
	if s == nil {
		return &Suffixes{until: merged}
	}
	return &Suffixes{s.names, merged}
}

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
	for rest := name; len(rest) > len(suffix); {
		since, platform := supplement()[rest]
		if platform && s != nil && !s.until.IsZero() && since.After(s.until) {
			platform = false
		}
		if platform || s != nil && s.names[rest] {
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
