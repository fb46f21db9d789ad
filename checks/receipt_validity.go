package checks

import (
	"fmt"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var receiptValidity = &Check{
	ID:    "receipt-validity",
	Title: "the listing is in date, for at most 90 days, and its dates are the signed ones",
	Cite:  "RFC 0026 section 6, RFC 0019 section 7.2",
	Row:   "Receipt validity window",
	Why:   "implementations change, so a claim that is never renewed becomes untrue",
	Fix:   "copy issued_at and expires_at from the Receipt's validity, at most 90 days apart",
	Kinds: []registry.Kind{registry.KindListing},
	reads: []string{"/issued_at", "/expires_at"},
	Uses:  []evidence.Kind{evidence.ReceiptText, evidence.Receipt},
	After: wellFormed,
	Run:   runReceiptValidity,
	Codes: []Code{
		{"expired", "expires_at is in the past", "sign a new Receipt, pin it, and copy its dates"},
		{"window-too-long", "expires_at is more than 90 days after issued_at",
			"set expires_at to at most 90 days after issued_at"},
		{"window-empty", "expires_at is not after issued_at", "copy both dates from the Receipt's validity"},
		{"issued-in-future", "issued_at is ahead of now", "set it to the time of issue, or wait"},
		{"issued-not-signed", "issued_at is not the Receipt's validity.not_before", "copy it from the Receipt"},
		{"expires-not-signed", "expires_at is not what the Receipt signs",
			"copy the earlier of validity.not_after and issued_at + 90 days"},
		validityMissing, unreadableTime,
	},
}

// The bounds of a listing's dates.
const (
	Window  = 90 * 24 * time.Hour // from issued_at to expires_at
	Skew    = registry.Skew       // by which a clock may be ahead of ours
	rounded = time.Second         // between a listing's date and the signed one
)

func runReceiptValidity(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	l, now := s.Listing, s.Run.Now
	if l.Issued.IsZero() || l.Expires.IsZero() {
		out.Errorf(s, "/issued_at", "unreadable-time", "issued_at %q and expires_at %q must both be RFC 3339 times",
			l.IssuedAt, l.ExpiresAt).
			WithFix("write them like 2026-05-04T08:00:00Z")
		return out, nil
	}
	if !now.Before(l.Expires) {
		out.Errorf(s, "/expires_at", "expired", "expires_at is %s, %s before the evaluation time %s", stamp(l.Expires),
			plain.Span(now.Sub(l.Expires)), stamp(now)).
			WithFix("sign a new Receipt (validity.not_after after %s), publish it, then %s", stamp(now), s.again()).
			Rests(verdict.Lapsed)
	}
	tooLong := -1 // the place of that finding
	if d := l.Expires.Sub(l.Issued).Truncate(time.Millisecond); d > Window {
		tooLong = len(out.Findings)
		out.Errorf(s, "/expires_at", "window-too-long", "expires_at is %s after issued_at; expected at most %s",
			plain.Span(d), plain.Span(Window)).
			WithFix("set expires_at to %s, or to the Receipt's validity.not_after where that is earlier",
				stamp(l.Issued.Add(Window)))
	} else if d <= 0 {
		out.Errorf(s, "/expires_at", "window-empty", "expires_at %s is not later than issued_at %s", stamp(l.Expires),
			stamp(l.Issued)).
			WithFix("set expires_at after issued_at, at most 90 days")
	}
	if l.Issued.After(now.Add(Skew)) {
		out.Errorf(s, "/issued_at", "issued-in-future",
			"issued_at is %s, later than the evaluation time %s; expected at most %s ahead",
			stamp(l.Issued), stamp(now), plain.Span(Skew)).
			WithFix("%s", Wait(l.Issued, now, s.Facts.ReceiptText.From)).
			Until(l.Issued)
	}
	if s.Run.Offline {
		out.Verified = "signed dates not judged: offline"
		return out, nil
	}
	if lacks(&out, s, evidence.ReceiptText, evidence.Receipt) {
		return out, nil
	}
	signedDates(&out, s, s.Facts.Receipt.Value, tooLong)
	if !out.Has(verdict.Error) {
		out.Verified = plain.Span(l.Expires.Sub(now)) + " left"
	}
	return out.OrPass(), nil
}

// Wait returns the fix for a date that is ahead of now, which is the time of --at or of this machine's clock. It shows
// the Date header of the server that the observations name, if it sent one, so that the reader sees which one is wrong.
func Wait(until, now time.Time, from []evidence.Observation) string {
	server := ""
	if len(from) > 0 && !from[0].Date.IsZero() {
		server = "; the server's Date header " + stamp(from[0].Date)
	}
	return fmt.Sprintf("wait until %s, or set this machine's clock or --at (the time is %s%s)", stamp(until),
		stamp(now), server)
}

// again returns the command that lists a new Receipt of the listing.
func (s *Subject) again() string {
	if s.Added() {
		return fixCommand
	}
	return "oap-gate renew " + plain.ShellWord(s.Listing.Slug)
}

// signedDates compares the listing's dates with those that the Receipt signs. long is the place of the finding that
// they are too far apart, or negative.
func signedDates(o *verdict.Outcome, s *Subject, r *receipt.Receipt, long int) {
	const at = "/conformance_receipt_uri"
	l := s.Listing
	o.Move(s, at, ReceiptDates(r))
	if r.NotBefore.IsZero() || r.NotAfter.IsZero() {
		return
	}
	issued := l.Issued
	unsigned := issued.Sub(r.NotBefore.Time).Abs() > rounded
	if unsigned {
		issued = r.NotBefore.Time
	}
	want := issued.Add(Window)
	if r.NotAfter.Time.Before(want) {
		want = r.NotAfter.Time
	}
	if long >= 0 {
		if s.Run.Now.Before(want) {
			o.Findings[long].WithFix("set expires_at to %s, the date that the Receipt signs", stamp(want))
		} else {
			o.Findings[long].WithFix("sign a new Receipt (the latest expires_at of this one, %s, is in the past), "+
				"publish it, then %s", stamp(want), s.again())
		}
	}
	if unsigned {
		o.Errorf(s, "/issued_at", "issued-not-signed", "issued_at is %s, the Receipt's validity.not_before is %s",
			stamp(l.Issued), stamp(r.NotBefore.Time)).
			WithFix("set issued_at to %s", stamp(r.NotBefore.Time))
		return
	}
	if long < 0 && (l.Expires.After(r.NotAfter.Time) || l.Expires.Sub(want).Abs() > rounded) {
		o.Errorf(s, "/expires_at", "expires-not-signed",
			"expires_at is %s, the Receipt signs %s: the earlier of validity.not_after %s and issued_at + %s",
			stamp(l.Expires), stamp(want), stamp(r.NotAfter.Time), plain.Span(Window)).WithFix("set expires_at to %s",
			stamp(want))
	}
}

// ReceiptDates checks that a Receipt's validity has two readable dates. Pointers are into the Receipt.
func ReceiptDates(r *receipt.Receipt) verdict.Outcome {
	var out verdict.Outcome
	for _, t := range []struct {
		name string
		receipt.Time
	}{{"not_before", r.NotBefore}, {"not_after", r.NotAfter}} {
		if t.IsZero() {
			out.Errorf(verdict.At{}, "/validity/"+t.name, "validity-missing",
				"the Receipt's validity.%s is %q; expected an RFC 3339 time", t.name, plain.Cut(t.Text, 60)).
				WithFix("attest again with validity.not_before and validity.not_after")
		}
	}
	return out
}

var validityMissing = Code{"validity-missing", "the Receipt has no readable validity.not_before or validity.not_after",
	"attest again with both dates"}
