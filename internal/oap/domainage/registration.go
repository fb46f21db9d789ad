package domainage

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
	// At is the latest time that the date may mean, Earliest the earliest, both in UTC. At is from 1985, when the first
	// domain was registered, to 9998; zero: the source has no date.
	At, Earliest time.Time
	Source       string
	// Lapsing says by which status the holder is about to lose the domain, and Expires when the registration ends; RDAP
	// has them, with or without a date of registration.
	Lapsing string
	Expires time.Time
}

// Latest returns the registration with the latest date, because a later one means that the domain changed hands or that
// an earlier one is wrong.
func Latest(of ...Registration) (latest Registration) {
	for _, r := range of {
		if r.At.After(latest.At) {
			latest = r
		}
	}
	return latest
}

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
// What decides is read strictly: objectClassName, ldhName, unicodeName, status, events, and eventAction and eventDate
// of an event occur once and are UTF-8. A fault of another member spoils only that member.
//
// domain is a name as Host spells it. The error wraps ErrUnreadable (no such JSON within MaxRDAP), ErrOtherDomain (no
// domain object, or that of another name), ErrNoDate (no such event) or ErrDate: one date that cannot be read may be
// the latest, so it spoils the others. With the last two, Lapsing and Expires are set all the same.
func FromRDAP(domain string, body []byte) (Registration, error) {
	r, err := fromRDAP(domain, body)
	if err != nil {
		err = fmt.Errorf("reading RDAP reply: %w", err)
	}
	return r, err
}

func fromRDAP(domain string, body []byte) (r Registration, err error) {
	if len(body) > MaxRDAP {
		return r, fmt.Errorf("%d bytes, expected at most %d: %w", len(body), MaxRDAP, ErrUnreadable)
	}
	root, err := decisive(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")),
		"objectClassName", "ldhName", "unicodeName", "status", "events")
	if err != nil {
		return r, err
	}
	if class, err := text(root["objectClassName"]); err != nil || class != "domain" {
		return r, cmp.Or(err, fmt.Errorf("objectClassName is %q, expected %q: %w", class, "domain", ErrOtherDomain))
	}
	of := "ldhName"
	if root[of] == nil {
		of = "unicodeName"
	}
	name, err := text(root[of])
	if err != nil {
		return r, err
	}
	if host, err := Host(name); err != nil || host != domain {
		return r, fmt.Errorf("%s is %q, expected %q: %w", of, name, domain, ErrOtherDomain)
	}
	for _, one := range elements(root["status"]) {
		status, err := text(one)
		if err != nil {
			return r, err
		}
		if words := strings.Join(strings.Fields(strings.ToLower(status)), " "); slices.Contains(lapsing, words) {
			r.Lapsing = words
		}
	}
	var registered []string
	for _, event := range elements(root["events"]) {
		if event.Kind() != '{' {
			continue
		}
		members, err := decisive(event, "eventAction", "eventDate")
		if err != nil {
			return Registration{}, err
		}
		action, err := text(members["eventAction"])
		date, unreadable := text(members["eventDate"])
		if err = cmp.Or(err, unreadable); err != nil {
			return Registration{}, err
		}
		// RFC 9083 writes actions in lower case; one that is written otherwise may be the latest all the same.
		switch action = strings.ToLower(strings.TrimSpace(action)); {
		case slices.Contains(registrations, action):
			registered = append(registered, date)
		case action == "expiration":
			if s := read(date, false); s.latest.After(r.Expires) {
				r.Expires = s.latest
			}
		}
	}
	at, err := last(registered, false)
	if err == nil {
		r.At, r.Earliest, r.Source = at.latest, at.earliest, SourceRDAP
	}
	return r, err
}

// registrations are the actions (RFC 9083 section 10.2.3) by which somebody got the domain. The last one is that of a
// domain that was gone in between.
var registrations = []string{"registration", "reregistration", "reinstantiation"}

// lapsing are the statuses (RFC 8056) of a domain whose holder did not renew it.
var lapsing = []string{"redemption period", "pending delete"}

// decisive returns the members of a JSON object that have one of these names. Each occurs at most once.
func decisive(object []byte, names ...string) (map[string]jsontext.Value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	members := map[string]jsontext.Value{}
	t, err := d.ReadToken()
	if err == nil && t.Kind() != '{' {
		err = errors.New("it is not an object")
	}
	for err == nil && d.StackDepth() > 0 && d.PeekKind() != '}' {
		if t, err = d.ReadToken(); err != nil {
			break
		}
		name := t.String()
		if !slices.Contains(names, name) {
			err = d.SkipValue()
			continue
		}
		if members[name] != nil {
			return nil, fmt.Errorf("member %q occurs twice: %w", name, ErrUnreadable)
		}
		var value jsontext.Value
		value, err = d.ReadValue()
		members[name] = value.Clone()
	}
	if err == nil && d.StackDepth() > 0 {
		_, err = d.ReadToken()
	}
	if err == nil {
		if _, behind := d.ReadToken(); behind != io.EOF {
			err = errors.New("something follows the value")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrUnreadable, err)
	}
	return members, nil
}

// elements returns the elements of a JSON array, and none of anything else.
func elements(array jsontext.Value) (all []jsontext.Value) {
	if array.Kind() == '[' {
		_ = json.Unmarshal(array, &all, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	}
	return all
}

// text returns a JSON string, or "" for anything else. It refuses what is not UTF-8.
func text(value jsontext.Value) (s string, err error) {
	if value.Kind() != '"' {
		return "", nil
	}
	if err := json.Unmarshal(value, &s); err != nil {
		return "", fmt.Errorf("%.60q is not UTF-8: %w", value, ErrUnreadable)
	}
	return s, nil
}
