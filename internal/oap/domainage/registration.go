package domainage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Reasons why a reply has no registration date. The first three are answers: the source was asked and knows no date.
// The others are not answers: the date may exist, and another attempt may find it.
var (
	ErrNoRegistration = errors.New("the domain is not registered")
	ErrNoDate         = errors.New("the reply has no registration date")
	ErrDate           = errors.New("the registration date is not readable or not plausible")

	ErrOtherDomain = errors.New("the reply is not about this domain")
	ErrUnreadable  = errors.New("the reply is not readable")
	ErrLimited     = errors.New("the server refused to answer for now")
)

// Answered reports whether err, of FromRDAP or FromWHOIS, is an answer of the source: it has no usable date.
func Answered(err error) bool {
	return errors.Is(err, ErrNoRegistration) || errors.Is(err, ErrNoDate) || errors.Is(err, ErrDate)
}

// The sources of a Registration.
const (
	SourceRDAP  = "rdap"
	SourceWHOIS = "whois"
)

// Registration is when a domain was registered last, as one source has it.
type Registration struct {
	At     time.Time // UTC; from 1985, when the first domain was registered, to 9998
	Source string
}

// Age is since when a domain is registered. Registered is zero where no source has a date.
type Age struct {
	Registered time.Time
	Source     string
}

// Latest combines what several sources say. The latest date counts, because a later one means that the domain changed
// hands or that an earlier one is wrong. Zero registrations are ignored.
func Latest(of ...Registration) Age {
	var age Age
	for _, r := range of {
		if r.At.After(age.Registered) {
			age = Age{Registered: r.At, Source: r.Source}
		}
	}
	return age
}

// earliest is the year of symbolics.com, the first registered domain: what is before is a placeholder.
var earliest = time.Date(1985, 1, 1, 0, 0, 0, 0, time.UTC)

// A date of the last years that a time can be written in is a placeholder too, and nothing can be added to it.
func plausible(t time.Time) bool { return !t.Before(earliest) && t.Year() <= 9998 }

// ahead is by how much a source's date may be ahead of the clock: it may name no more than a day, in any zone, and no
// clock is right.
const ahead = 48 * time.Hour

// Checked returns an error, which wraps ErrDate, if the date is more than 48 hours after now. No domain was registered
// in the future, so that nothing is known about this one.
func (r Registration) Checked(now time.Time) error {
	if r.At.Sub(now) > ahead {
		return fmt.Errorf("registration date is %s; expected one before %s: %w", r.At.Format(time.RFC3339),
			now.Add(ahead).UTC().Format(time.RFC3339), ErrDate)
	}
	return nil
}

// MaxRDAP caps an RDAP reply in bytes.
const MaxRDAP = 1 << 20

// FromRDAP reads the reply to an RDAP domain query (RFC 9083 section 5.3): the latest of its own registration,
// reregistration and reinstantiation events. Events of its entities and name servers are not the domain's.
//
// domain is a name as Host spells it. The error wraps ErrUnreadable (no strict JSON within MaxRDAP),
// ErrOtherDomain (no domain object, or that of another name), ErrNoDate (no such event) or ErrDate: one
// date that cannot be read may be the latest, so it spoils the others.
func FromRDAP(domain string, body []byte) (Registration, error) {
	doc, err := strict.Parse("rdap:"+domain, body, strict.Remote(MaxRDAP))
	if err != nil {
		return Registration{}, fmt.Errorf("reading RDAP reply: %w: %w", ErrUnreadable, err)
	}
	if class := strict.String(doc.Root, "objectClassName"); class != "domain" {
		return Registration{}, fmt.Errorf("reading RDAP reply: objectClassName is %q, expected %q: %w",
			class, "domain", ErrOtherDomain)
	}
	name := strict.String(doc.Root, "ldhName")
	if host, err := Host(name); err != nil || host != domain {
		return Registration{}, fmt.Errorf("reading RDAP reply: ldhName is %q, expected %q: %w",
			name, domain, ErrOtherDomain)
	}
	events, _ := strict.Member(doc.Root, "events").([]any)
	at, err := lastRegistration(events)
	if err != nil {
		return Registration{}, fmt.Errorf("reading RDAP reply: %w", err)
	}
	return Registration{At: at, Source: SourceRDAP}, nil
}

// registrations are the actions (RFC 9083 section 10.2.3) by which somebody got the domain. The last one is that of a
// domain that was gone in between.
var registrations = []string{"registration", "reregistration", "reinstantiation"}

func lastRegistration(events []any) (time.Time, error) {
	var last time.Time
	for _, e := range events {
		// RFC 9083 writes actions in lower case; one that is written otherwise may be the latest all the same.
		action := strings.ToLower(strings.TrimSpace(strict.String(e, "eventAction")))
		if !slices.Contains(registrations, action) {
			continue
		}
		date := strict.String(e, "eventDate")
		at, ok := strict.Time(date)
		if !ok || !plausible(at) {
			return time.Time{}, fmt.Errorf("eventDate of %s is %q: %w", action, date, ErrDate)
		}
		if at.After(last) {
			last = at
		}
	}
	if last.IsZero() {
		return time.Time{}, ErrNoDate
	}
	return last, nil
}
