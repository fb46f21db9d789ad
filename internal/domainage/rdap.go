package domainage

import (
	"fmt"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// MaxRDAP caps an RDAP reply in bytes.
const MaxRDAP = 1 << 20

// FromRDAP reads the reply to an RDAP domain query (RFC 9083 section 5.3): the latest of its own
// registration and reregistration events. Events of its entities and name servers are not the domain's.
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

func lastRegistration(events []any) (time.Time, error) {
	var last time.Time
	for _, e := range events {
		// RFC 9083 writes actions in lower case; one that is written otherwise may be the latest all the same.
		action := strings.ToLower(strings.TrimSpace(strict.String(e, "eventAction")))
		if action != "registration" && action != "reregistration" {
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
