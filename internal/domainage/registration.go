package domainage

import (
	"errors"
	"time"
)

// Why a reply gives no registration date. The first three are answers: the source was asked and knows no
// date. The others are none: the date may exist, and another try may bring it.
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
	At     time.Time // UTC; never before 1985, when the first domain was registered
	Source string
}

// Age is since when a domain is registered. Registered is zero where no source has a date.
type Age struct {
	Registered time.Time
	Source     string
}

// Latest combines what several sources say: of several dates the latest counts, since a later one means
// that the domain changed hands or that an earlier one is not true. Zero registrations count for nothing.
func Latest(of ...Registration) Age {
	var age Age
	for _, r := range of {
		if r.At.After(age.Registered) {
			age = Age{Registered: r.At, Source: r.Source}
		}
	}
	return age
}

// earliest is the year of symbolics.com, the first registered domain: what lies before is a placeholder.
var earliest = time.Date(1985, 1, 1, 0, 0, 0, 0, time.UTC)

func plausible(t time.Time) bool { return !t.Before(earliest) && t.Year() <= 9999 }
