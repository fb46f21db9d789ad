package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// validity is the longest life of a listing, in days: the line that its days left are drawn on.
const validity = 90

type listingsView struct {
	Count  int
	Groups []statusGroup
	Weeks  []week
	InDate int
}

type statusGroup struct {
	Status, About string
	Count, More   int
	Chunks        []chunk[listingRow]
}

// listingRow has no embedded struct: a template would search for its fields again in each row.
type listingRow struct {
	Slug, Name, ToolDID, Level, Status, RevokedBy string

	Witnesses []string
	Archived  bool

	Days  int    // whole days left, 0 to validity; -1: no bar
	Left  string // in words
	Until string
}

type ofStatus struct{ word, about string }

// statuses in the order of the page: what wants somebody's attention first.
var statuses = []ofStatus{
	{verdict.StatusInvalid, "claims to be current, and its evidence is broken"},
	{verdict.StatusRefused, "is not a listing by the registry's own rules"},
	{verdict.StatusUnreachable, "claims to be current, and some of its evidence is not available"},
	{verdict.StatusExpiring, "ends within 14 days"},
	{verdict.StatusExpired, "has ended and was not renewed"},
	{verdict.StatusRevoked, "was revoked by its owner or by three witnesses"},
	{verdict.StatusProvisional, "its domain is young, or its age is not known"},
	{verdict.StatusValid, "in date, with all its evidence"},
	{"", "a status that this page does not know"},
}

func newListings(r *verdict.Report) *listingsView {
	byStatus := map[string][]*verdict.Listing{}
	v := &listingsView{Count: len(r.Listings), Weeks: weeks()}
	for i := range r.Listings {
		l := &r.Listings[i]
		status := l.Status
		if !slices.ContainsFunc(statuses, func(s ofStatus) bool { return s.word == status }) {
			status = ""
		}
		byStatus[status] = append(byStatus[status], l)
		if days, _ := daysLeft(l, r.EvaluatedAt); days >= 0 {
			v.InDate++
			v.Weeks[min(days/7, len(v.Weeks)-1)].Count++
		}
	}
	left, shown := listingsRoom, 0
	for _, s := range statuses {
		all := byStatus[s.word]
		if s.word == verdict.StatusExpiring {
			slices.SortStableFunc(all, byEnd)
		} else {
			slices.SortStableFunc(all, func(a, b *verdict.Listing) int { return cmp.Compare(a.Slug, b.Slug) })
		}
		var kept []listingRow
		for _, l := range all[:min(len(all), maxShown)] {
			row := rowOf(l, r.EvaluatedAt)
			markup := 130 + 2*len(row.Witnesses)
			texts := append([]string{row.Slug, row.Name, row.ToolDID, row.Level, row.Status, row.RevokedBy},
				row.Witnesses...)
			if !left.take(markup, texts...) {
				break
			}
			kept = append(kept, row)
		}
		if len(all) > 0 || s.word != "" {
			v.Groups = append(v.Groups, statusGroup{Status: s.word, About: s.about, Count: len(all),
				More: len(all) - len(kept), Chunks: chunks(kept, &shown)})
		}
	}
	return v
}

// byEnd compares the minutes in which two listings expire, as the page shows them; a listing without one comes first.
func byEnd(a, b *verdict.Listing) int {
	minute := func(l *verdict.Listing) (t time.Time) {
		if l.ExpiresAt != nil {
			t = l.ExpiresAt.Truncate(time.Minute)
		}
		return t
	}
	return minute(a).Compare(minute(b))
}

// until returns the minute in which a listing expires, or "".
func until(l *verdict.Listing) string {
	if l.ExpiresAt == nil {
		return ""
	}
	return l.ExpiresAt.UTC().Format("2006-01-02 15:04")
}

func rowOf(l *verdict.Listing, now time.Time) listingRow {
	days, left := daysLeft(l, now)
	return listingRow{Slug: l.Slug, Name: l.Name, ToolDID: l.ToolDID, Level: l.Level, Status: l.Status,
		RevokedBy: l.RevokedBy, Witnesses: l.Witnesses, Archived: l.Archived, Days: days, Left: left, Until: until(l)}
}

// daysLeft returns the whole days that a listing has left, at most validity, and in words; -1 if it has none.
func daysLeft(l *verdict.Listing, now time.Time) (int, string) {
	if l.ExpiresAt == nil {
		return -1, "not known"
	}
	left := l.ExpiresAt.Sub(now)
	switch {
	case l.Status == verdict.StatusRevoked, l.Status == verdict.StatusRefused:
		return -1, l.Status
	case left <= 0:
		return -1, "ended " + duration(-left) + " ago"
	}
	return min(int(left/plain.Day), validity), duration(left)
}

// duration is d in whole days, or finer where it is less than two of them.
func duration(d time.Duration) string {
	if d.Abs() >= 2*plain.Day {
		d = d.Truncate(plain.Day)
	}
	return plain.Span(d.Truncate(time.Second))
}

// week is a row of the table of what ends when.
type week struct{ From, To, Count int }

func weeks() (all []week) {
	for from := 0; from <= validity; from += 7 {
		all = append(all, week{From: from, To: min(from+6, validity)})
	}
	return all
}
