package checks

import (
	"fmt"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var domainAge = &Check{
	ID:      "domain-age",
	Title:   "the domain of tool_did is at least 30 days old, or the listing is provisional",
	Cite:    "RFC 0026 section 6",
	Row:     "Sybil filter",
	Why:     "a minimum age of domains makes a farm of fake implementations expensive",
	Fix:     provisionalWay,
	Domains: true,
	Kinds:   []registry.Kind{registry.KindListing},
	Owns:    evidence.DomainAge,
	reads:   []string{"/tool_did"},
	After:   wellFormed,
	Run:     runDomainAge,
	Codes: slices.Concat([]Code{
		policyUnreadable, evidence.SuffixListCode, evidence.DeniesAll,
		{"domain-changed-hands", "the domain was registered after its DID was first listed",
			"have the maintainers ask who holds it now"},
		{"provisional-not-needed", "the listing is provisional, and its domain is old enough", "drop provisional"},
		{"provisional", "the domain's age is not shown, and the listing is provisional",
			"drop provisional in a re-issue, once the domain is 30 days old"},
		{"domain-too-young", "the domain is registered for less than 30 days", provisionalWay},
		{"domain-age-unknown", "neither RDAP nor WHOIS has a date of registration", listedWay},
		{"domain-age-unsure", "the domain's age could not be determined; nothing was decided", unsureWay},
		{"domain-lapsing", "the registration of the domain has ended, or is about to", lapsingWay},
		{"age-of-parent", "the age is that of a parent of the host", "make sure that the parent's owner is yours"},
		{"suffix-list-old", "the embedded Public Suffix List is 180 days old or more: it may lack new platforms",
			listOldWay},
		{"age-of-host", "the age is that of a host which the DID may share with others",
			"use a did:web without a path, on a domain of your own"},
	}, evidence.DomainCodes),
}

// Values of findings of domain-age: what a listing passes with.
const (
	SetProvisional  = "provisional: true"
	DropProvisional = "provisional: false"
)

// provisionalWay is how a listing on a young domain is listed all the same.
const provisionalWay = "set provisional: true now, and drop it in a re-issue once the domain is 30 days old"

const (
	listedWay  = "set provisional: true; this DID passes without it once it has been listed here for 30 days"
	unsureWay  = "try again or from another network, or set provisional: true"
	listOldWay = "use a newer release of oap-gate; it has a newer list"
	lapsingWay = "renew the domain: a new holder can sign and revoke in its name"
)

// maxListAge is the age of the Public Suffix List from which on a run says that it is old.
const maxListAge = 180 * 24 * time.Hour

// minimumAge is how old a domain must be.
const minimumAge = 30 * 24 * time.Hour

// ages are the answers to whether a domain is old enough.
type ages uint8

const (
	ageOld     ages = iota
	ageYoung        // a source has a date, and it is too late
	ageUnknown      // the sources answered and have no date
	ageUnsure       // no source has a date, and one could not be read
)

// age is what judgeAge found out.
type age struct {
	domainage.Registration           // its At is zero where no source has a date
	stood                  time.Time // since when the base branch has held this tool_did; zero for a new listing
	byHistory              bool      // old only because it has been listed for so long
	why                    string    // for unknown and unsure
	denied                 bool      // unsure because this machine's resolver denies all names
}

// judgeAge reports whether the domain is old enough, by its registration or else by the registry's own history.
func judgeAge(s *Subject) (ages, age, error) {
	a := age{stood: s.Stood}
	if s.Run.Base.Policy.Broken != nil { // only reissue asks then
		return ageUnsure, a, nil
	}
	found := s.Facts.DomainAge
	lapse := s.Listing.Expires
	if s.baseListing != nil {
		since, err := s.Run.past().tenure(s.Run.Context, s.Path, s.Listing.ToolDID, asOf{})
		if err != nil {
			return ageUnsure, a, err
		}
		a.stood = since.landed
		lapse = s.baseListing.Expires
	}
	reg := found.Value
	latest := domainage.Latest(reg.RDAP.Value, reg.WHOIS.Value)
	if found.State == evidence.Obtained && !latest.At.IsZero() {
		a.Registration = latest
		if s.Run.Now.Sub(a.At) >= minimumAge {
			return ageOld, a, nil
		}
		return ageYoung, a, nil
	}
	if !a.stood.IsZero() && s.Run.Now.Sub(a.stood) >= minimumAge && s.Run.Now.Before(lapse) {
		a.byHistory = true
		return ageOld, a, nil
	}
	if found.State != evidence.Obtained {
		a.why = found.Message
		if found.State == evidence.Absent || found.State == evidence.Invalid {
			return ageUnknown, a, nil
		}
		return ageUnsure, a, nil
	}
	if reg.Domain.PrivateSuffix {
		a.why = fmt.Sprintf("%s is under the platform suffix %s, whose age proves nothing", reg.Domain.Host,
			reg.Domain.Suffix)
		return ageUnknown, a, nil
	}
	a.why = "RDAP: " + reg.RDAP.Message + "; WHOIS: " + reg.WHOIS.Message
	a.denied = reg.RDAP.Code == evidence.CodeDeniesAll || reg.WHOIS.Code == evidence.CodeDeniesAll
	if reg.RDAP.State == evidence.Unavailable || reg.WHOIS.State == evidence.Unavailable {
		return ageUnsure, a, nil
	}
	return ageUnknown, a, nil
}

// changedHands reports whether the domain was registered after this tool_did was first listed here, whatever the date
// leaves open.
func (a age) changedHands() bool { return !a.stood.IsZero() && a.Earliest.After(a.stood) }

func runDomainAge(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	const at = "/tool_did"
	d, err := did.Parse(s.Listing.ToolDID)
	if err != nil {
		return deferTo(s, didResolution.ID, at, evidence.CodeDIDSyntax, err.Error()), nil
	}
	if age := s.Facts.DomainAge; age.State == evidence.Unsought && age.Code == evidence.CodeLocal {
		return verdict.Skip("%s", age.Message), nil
	}
	how, a, err := judgeAge(s)
	if err != nil {
		return out, err
	}
	provisional := s.Listing.Provisional
	domain := s.Facts.DomainAge.Value.Domain.Registrable

	if d.Method == "web" && a.changedHands() {
		message := fmt.Sprintf("domain %s was registered on %s, after %s was first listed here on %s: it changed hands",
			domain, stamp(a.At), s.Listing.ToolDID, stamp(a.stood))
		if how == ageYoung {
			out.Errorf(s, at, "domain-changed-hands", "%s", message).
				WithFix("wait until %s", stamp(a.At.Add(minimumAge))).
				Until(a.At.Add(minimumAge))
			return out, nil
		}
		out.Warnf(s, at, "domain-changed-hands", "%s", message).WithFix("have a maintainer ask who holds it now")
	}
	switch {
	case how == ageOld && provisional:
		out.Warnf(s, "/provisional", "provisional-not-needed", "the listing is provisional, and its domain is old "+
			"enough").
			WithFix("drop provisional").WithValue(DropProvisional)
	case how == ageOld && a.byHistory:
		out.Verified = "no registration date; this DID has been listed here since " + stamp(a.stood)
	case how == ageOld:
		out.Verified = fmt.Sprintf("%s was registered on %s (%s)", domain, stamp(a.At), a.Source)
	case provisional:
		out.Noticef(s, "/provisional", "provisional", "the domain's age is not shown; the listing is provisional and "+
			"stays out of default results")
	case how == ageYoung:
		out.Errorf(s, at, "domain-too-young", "domain %s was registered on %s, %s ago; expected at least %s ago",
			domain, stamp(a.At), plain.Span(max(s.Run.Now.Sub(a.At), 0)), plain.Span(minimumAge)).
			WithFix("it will pass at %s; until then set provisional: true", stamp(a.At.Add(minimumAge))).
			Until(a.At.Add(minimumAge)).WithValue(SetProvisional)
	case how == ageUnknown:
		f := out.Errorf(s, at, "domain-age-unknown", "the age of the domain is not known: %s", a.why).
			WithFix(listedWay).WithValue(SetProvisional)
		if passes := a.stood.Add(minimumAge); !a.stood.IsZero() && passes.After(s.Run.Now) {
			f.WithFix("keep provisional: true until %s (listed here since %s)", stamp(passes), stamp(a.stood)).
				Until(passes)
		}
	case a.denied:
		out.Doubtf(s, at, evidence.CodeDeniesAll, "the age of domain %s could not be determined: %s", domain, a.why)
	default:
		out.Doubtf(s, at, "domain-age-unsure", "the age of domain %s could not be determined: %s", domain, a.why).
			WithFix(unsureWay)
	}
	shared := d.Method == "key" || d.HasPath()
	if host := s.Facts.DomainAge.Value.Domain.Host; how == ageOld && !a.byHistory && !shared && host != domain {
		out.Noticef(s, at, "age-of-parent", "the age of %s is that of %s", host, domain).
			WithFix("none needed, if one owner has both")
	}
	if made, err := time.Parse(time.DateOnly, domainage.ListDate); err == nil && s.Run.Now.Sub(made) >= maxListAge {
		out.Noticef(s, at, "suffix-list-old", "the embedded Public Suffix List is of %s; expected one of the last "+
			"%d days",
			domainage.ListDate, maxListAge/(24*time.Hour)).WithFix(listOldWay)
	}
	if r := s.Facts.DomainAge.Value.RDAP.Value; r.Lapsing != "" {
		out.Warnf(s, at, "domain-lapsing", "domain %s has the status %q at its registry", domain, r.Lapsing).
			WithFix(lapsingWay)
	} else if !r.Expires.IsZero() && r.Expires.Before(s.Run.Now) {
		out.Warnf(s, at, "domain-lapsing", "the registration of domain %s ended on %s", domain, stamp(r.Expires)).
			WithFix(lapsingWay)
	}
	if how == ageOld && shared {
		out.Warnf(s, at, "age-of-host", "the age is that of the host, which %s may share with others",
			s.Listing.ToolDID).
			WithFix("use a did:web without a path, on a domain of your own")
	}
	return out.OrPass(), nil
}
