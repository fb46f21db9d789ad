package domainage

import (
	"fmt"
	"strings"
	"time"
)

// span is what the text of a date may mean. What the text does not say is read as early and as late as possible:
// without a time any time of the day, without a zone any zone.
type span struct{ earliest, latest time.Time }

// The zones of the world are from 12 hours behind UTC to 14 hours ahead of it.
const behind, beyond = 12 * time.Hour, 14 * time.Hour

// firstDomain is the day of symbolics.com, the first registered domain: what is before is a placeholder.
var firstDomain = time.Date(1985, 1, 1, 0, 0, 0, 0, time.UTC)

// plausible reports whether a domain may have been registered then. A date of the last years that a time can be written
// in is a placeholder too, and nothing can be added to it.
func plausible(t time.Time) bool { return !t.Before(firstDomain) && t.Year() <= 9998 }

// last returns the latest of several dates. If one is not readable or not plausible, it might be the latest, and the
// error wraps ErrDate. The error is ErrNoDate if there is no date. dayFirst means that the registry writes
// 02-01-2006, so that such a date has no second reading.
func last(dates []string, dayFirst bool) (span, error) {
	var all span
	for _, text := range dates {
		s := read(text, dayFirst)
		if !plausible(s.latest) {
			return span{}, fmt.Errorf("the date is %q: %w", text, ErrDate)
		}
		if s.latest.After(all.latest) {
			all.latest = s.latest
		}
		if s.earliest.After(all.earliest) {
			all.earliest = s.earliest
		}
	}
	if all.latest.IsZero() {
		return span{}, ErrNoDate
	}
	return all, nil
}

// timeLayouts and dateLayouts are the forms that registries write. Several may read one text: the month may be first.
var timeLayouts = []string{
	time.RFC3339Nano,
	"2006-01-02T15:04:05",
	"2006-01-02T15:04:05-0700",
	"2006-01-02T15:04Z",
	"2006-01-02 15:04:05",
	"2006-01-02 15:04:05-07",
	"2006-01-02 15:04:05-07:00",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 MST",
	"2006-01-02 15:04:05 -07:00",
	"2006-01-02 15:04",
	"2006.01.02 15:04:05",
	"2006/01/02 15:04:05",
	"2006/01/02 15:04:05 (MST)", // .jp
	"02/01/2006 15:04:05",
	"01/02/2006 15:04:05",
	"2.1.2006 15:04:05",
	"02-Jan-2006 15:04:05",
	"02-Jan-2006 15:04:05 UTC",
	"20060102 15:04:05",
	time.ANSIC,
	time.UnixDate,
	time.RubyDate,
	time.RFC822,
	time.RFC822Z,
	time.RFC850,
	time.RFC1123,
	time.RFC1123Z,
}

var dateLayouts = []string{
	"2006-01-02",
	"2006.01.02",
	"2006/01/02",
	"20060102",
	"2006-Jan-02",
	"02-Jan-2006",
	"2-Jan-2006",
	"02 Jan 2006",
	"2 January 2006",
	"January _2 2006",
	"January 2, 2006",
	"Mon Jan _2 2006",
	"2.1.2006",
	"02-01-2006",
	"01-02-2006",
	"02/01/2006",
	"01/02/2006",
}

// beforeLayouts are the forms in which .uk, .ch and .ro date their oldest names: they existed before that date.
var beforeLayouts = []string{"before Jan-2006", "before 2 January 2006", "Before 2006"}

// read returns all that the text of a date may mean, or the zero span if it has no known form.
func read(text string, dayFirst bool) (all span) {
	text, _, _ = strings.Cut(text, " #") // .br puts a ticket number behind
	text = strings.TrimSuffix(text, " (YYYY-MM-DD)")
	text = strings.NewReplacer("(GMT+0:00)", "UTC", "(UTC+8)", "+08:00").Replace(text) // .kz, .tw
	text = strings.ReplaceAll(strings.Trim(text, ". "), ". ", "-")                     // .kr: 1999. 07. 28.
	add := func(earliest, latest time.Time) {
		if all.latest.IsZero() || earliest.Before(all.earliest) {
			all.earliest = earliest
		}
		if latest.After(all.latest) {
			all.latest = latest
		}
	}
	if day, err := time.Parse("02-01-2006", text); dayFirst && err == nil {
		add(day.Add(-beyond), day.Add(24*time.Hour-time.Second+behind))
		return all
	}
	for _, layout := range timeLayouts {
		// In UTC, since time.Parse asks the machine's own zone what an abbreviation means.
		t, err := time.ParseInLocation(layout, text, time.UTC)
		if err != nil {
			continue
		}
		end := t
		if !strings.Contains(layout, "05") {
			end = t.Add(time.Minute - time.Second)
		}
		zone, offset := t.Zone()
		switch {
		case offset < -int(behind/time.Second) || offset > int(beyond/time.Second):
			continue
		// An unknown abbreviation is read as UTC with its name.
		case !zoned(layout) || offset == 0 && zone != "" && zone != "UTC" && zone != "GMT":
			add(t.Add(-beyond).UTC(), end.Add(behind).UTC())
		default:
			add(t.UTC(), end.UTC())
		}
	}
	for _, layout := range dateLayouts {
		if day, err := time.Parse(layout, text); err == nil {
			add(day.Add(-beyond), day.Add(24*time.Hour-time.Second+behind))
		}
	}
	for _, layout := range beforeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			add(firstDomain, t.Add(behind))
		}
	}
	return all
}

// zoned reports whether a layout has a zone.
func zoned(layout string) bool {
	return strings.HasSuffix(layout, "Z") || strings.Contains(layout, "07") || strings.Contains(layout, "MST") ||
		strings.Contains(layout, "UTC")
}
