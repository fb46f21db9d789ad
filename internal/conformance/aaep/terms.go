package aaep

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
)

// Terms are the capabilities of a subscription. What could not be read is not judged; unread names it.
type Terms struct {
	Rate                int64    // events a second; 0: no limit
	Languages           []string // in lower case; nil: not judged
	Boundaries          []string // the same
	include, exclude    []string // patterns of event types
	Named               bool     // the filters are those of a message, not the default
	Confirms, Clarifies bool     // supports_*_reply
	Unread              map[string]bool
}

// Defaults returns the terms of section 5.3.1. A request that omits a reply capability does not refuse it.
func Defaults() Terms {
	return Terms{Languages: []string{"en-us"}, Boundaries: []string{"sentence", "completion"},
		include: []string{ShortNamespace + "agent.*"}, Confirms: true, Clarifies: true, Unread: map[string]bool{}}
}

// Unknown returns the terms of a subscription whose request and answer are not in the input.
func Unknown() Terms {
	t := Terms{Unread: map[string]bool{}}
	for _, name := range Shapes()[CapabilitiesName].Names() {
		t.Unread[name] = true
	}
	return t
}

// With returns the terms with those members replaced that are there.
func (t Terms) With(members Object) Terms {
	t.Unread = maps.Clone(t.Unread)
	of := Shapes()[CapabilitiesName]
	for _, name := range of.Names() {
		v, there := members[name]
		if !there {
			continue
		}
		if t.Unread[name] = !of.Member(name).Holds(v); t.Unread[name] {
			v = nil
		}
		switch name {
		case "max_events_per_second":
			t.Rate, _ = form.Integer(v)
		case "languages":
			t.Languages = mapped(v, strings.ToLower)
		case "coalesce_boundaries":
			t.Boundaries = mapped(v, strings.ToLower)
		case "supports_confirmation_reply":
			t.Confirms = v == true
		case "supports_clarification_reply":
			t.Clarifies = v == true
		case "event_filters":
			filters, _ := v.(Object)
			t.Named = filters != nil
			t.include, t.exclude = Defaults().include, mapped(filters["exclude"], inShort)
			if include, there := filters["include"]; there {
				t.include = mapped(include, inShort)
			}
		}
	}
	return t
}

// mapped returns what a function makes of each text of a list.
func mapped(v any, of func(string) string) (all []string) {
	list, _ := v.([]any)
	for _, v := range list {
		s, _ := v.(string)
		all = append(all, of(s))
	}
	return all
}

// inShort returns a copy of a pattern, by the short name of the protocol's namespace.
func inShort(pattern string) string {
	if rest, long := strings.CutPrefix(pattern, longNamespace); long {
		return ShortNamespace + rest
	}
	return strings.Clone(pattern)
}

// under reports whether what a pattern, or a type, names is all named by one of the patterns. A final * is the one
// wildcard.
func under(name string, all []string) bool {
	return slices.ContainsFunc(all, func(pattern string) bool {
		prefix, wild := strings.CutSuffix(pattern, "*")
		return name == pattern || wild && strings.HasPrefix(strings.TrimSuffix(name, "*"), prefix)
	})
}

// Hides reports whether the filters remove events of a type. Types of extensions are only filtered by patterns that a
// message names: the default of section 5.3.1.7 names none of them, and no section says that they must not come.
func (t *Terms) Hides(kind string, foreign bool) bool {
	return under(kind, t.exclude) || (t.Named || !foreign) && !under(kind, t.include)
}

// Exceeds lists the members of honored terms that grant more than was requested, each with what it grants.
func (t *Terms) Exceeds(requested *Terms) (all [][2]string) {
	add := func(wrong bool, name, format string, args ...any) {
		if wrong && !t.Unread[name] && !requested.Unread[name] {
			all = append(all, [2]string{name, fmt.Sprintf(format, args...)})
		}
	}
	rate := fmt.Sprint(t.Rate)
	if t.Rate == 0 {
		rate = "unlimited"
	}
	outside := func(of, in []string) string {
		i := slices.IndexFunc(of, func(s string) bool { return !slices.Contains(in, s) })
		if i < 0 {
			return ""
		}
		return of[i]
	}
	add(requested.Rate != 0 && (t.Rate == 0 || t.Rate > requested.Rate), "max_events_per_second",
		"the honored rate is %s; expected at most %d", rate, requested.Rate)
	language, boundary := outside(t.Languages, requested.Languages), outside(t.Boundaries, requested.Boundaries)
	add(language != "", "languages", "the honored language %s was not requested", form.Show(language))
	add(boundary != "", "coalesce_boundaries", "the honored boundary %s was not requested", form.Show(boundary))
	add(t.Confirms && !requested.Confirms, "supports_confirmation_reply",
		"supports_confirmation_reply is true; the request says false")
	add(t.Clarifies && !requested.Clarifies, "supports_clarification_reply",
		"supports_clarification_reply is true; the request says false")
	for _, pattern := range t.include {
		add(!under(pattern, requested.include), "event_filters",
			"the honored include pattern %s lies under no requested one", form.Show(pattern))
	}
	for _, pattern := range requested.exclude {
		add(!under(pattern, t.exclude), "event_filters", "the requested exclude pattern %s lies under no honored one",
			form.Show(pattern))
	}
	return all
}

// Capacity returns the capacity of a rate's bucket: the burst of section 5.6.2 and a quarter for jitter.
func Capacity(rate int64) float64 { return 1.25 * float64(rate) }

// Bucket is a token bucket. With a rate of 0 it has no limit.
type Bucket struct {
	rate       int64 // events a second
	most, left float64
	at         time.Time // when that was left
}

func NewBucket(rate int64, most float64, at time.Time) Bucket { return Bucket{rate, most, most, at} }

// Take takes a token, or returns how long it takes until there is one.
func (b *Bucket) Take(now time.Time) time.Duration {
	if b.rate == 0 {
		return 0
	}
	if !b.at.IsZero() {
		b.left = min(b.most, b.left+float64(b.rate)*max(now.Sub(b.at), 0).Seconds())
	}
	if now.After(b.at) {
		b.at = now
	}
	const rounding = 1e-6
	if short := 1 - b.left; short > rounding {
		return time.Duration(short/float64(b.rate)*float64(time.Second)) + time.Millisecond
	}
	b.left--
	return 0
}

// Allowances of section 2.1.
const (
	DelayAllowed = 2 * time.Second // for a critical event, beyond the smallest of the input
	CloseAllowed = time.Second     // for events on their way when the subscription was closed
)
