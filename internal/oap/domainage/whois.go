package domainage

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	whoisparser "github.com/likexian/whois-parser"
)

// MaxWHOIS caps a WHOIS reply in bytes.
const MaxWHOIS = 64 << 10

// maxLines caps a WHOIS reply in lines. The parser takes time with their square: seconds for 64 KiB of them.
const maxLines = 2000

// FromWHOIS reads the creation date from a WHOIS reply (RFC 3912 defines no form). Only the domain's own block counts,
// not when a contact or a name server was created. The latest of several creation dates counts, because the registrant
// may write lines of a reply; for the same reason the later reading of a date such as 03/04/2026 counts, but .hk
// writes the day first.
//
// domain is a name as Host spells it. The error wraps ErrUnreadable (over MaxWHOIS or 2,000 lines, or not a WHOIS
// record), ErrLimited, ErrNoRegistration, ErrOtherDomain, ErrNoDate or ErrDate. A creation date that cannot be read may
// be the latest, so FromWHOIS then returns none.
func FromWHOIS(domain string, body []byte) (Registration, error) {
	if lines := bytes.Count(body, []byte("\n")); len(body) > MaxWHOIS || lines > maxLines {
		return Registration{}, fmt.Errorf("reading WHOIS reply: %d bytes in %d lines, expected at most %d in %d: %w",
			len(body), lines, MaxWHOIS, maxLines, ErrUnreadable)
	}
	text := strings.ToValidUTF8(string(body), "\uFFFD")
	record, err := parseWHOIS(text)
	if errors.Is(err, ErrNoRegistration) {
		return Registration{}, fmt.Errorf("reading WHOIS reply: %w", err)
	}
	if err != nil {
		return Registration{}, fmt.Errorf("reading WHOIS reply: %w: it begins with %q", err, beginning(text))
	}
	lines := fields(text, record.Extension)
	if err := sameDomain(domain, record, lines); err != nil {
		return Registration{}, fmt.Errorf("reading WHOIS reply: %w", err)
	}
	at, err := lastCreation(record, lines, others(text), strings.HasSuffix(domain, ".hk"))
	if err != nil {
		return Registration{}, fmt.Errorf("reading WHOIS reply: %w", err)
	}
	return Registration{At: at.latest, Earliest: at.earliest, Source: SourceWHOIS}, nil
}

// beginning returns the first line of a reply that says something, without comment signs: at most 120 characters.
func beginning(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.Trim(line, "%#;*>- \t\r\n"); line != "" {
			if runes := []rune(line); len(runes) > 120 {
				return string(runes[:120]) + "…"
			}
			return line
		}
	}
	return ""
}

// parseWHOIS runs the parser, which has panicked on foreign text before.
func parseWHOIS(text string) (record *whoisparser.Domain, err error) {
	defer func() {
		if p := recover(); p != nil {
			record, err = nil, fmt.Errorf("%v: %w", p, ErrUnreadable)
		}
	}()
	parsed, err := whoisparser.Parse(text)
	switch {
	case err == nil && parsed.Domain != nil:
		return parsed.Domain, nil
	case errors.Is(err, whoisparser.ErrDomainLimitExceed):
		return nil, ErrLimited
	case errors.Is(err, whoisparser.ErrNotFoundDomain), errors.Is(err, whoisparser.ErrReservedDomain),
		errors.Is(err, whoisparser.ErrPremiumDomain), errors.Is(err, whoisparser.ErrBlockedDomain):
		return nil, fmt.Errorf("%w: %w", ErrNoRegistration, err)
	}
	return nil, ErrUnreadable
}

// field is one "key: value" line, its key as the parser compares them.
type field struct{ key, value string }

// fields gives the lines of a reply in the form that the parser's rules for the extension bring it to.
func fields(text, extension string) (all []field) {
	defer func() { _ = recover() }() // those rules index by position; what was read so far is not less true
	prepared, _ := whoisparser.Prepare(text, extension)
	return fieldsOf(prepared)
}

// trimmed returns a line without its blanks, or "" if it is a comment.
func trimmed(line string) string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "** ") // so .tr begins the line that names the domain
	if line == "" || strings.ContainsRune("-*%>;#", rune(line[0])) {
		return ""
	}
	return line
}

func fieldsOf(text string) (all []field) {
	name := ""
	for line := range strings.SplitSeq(text, "\n") {
		if line = trimmed(line); line == "" {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); {
		case !ok && name != "": // the value is on the next line
			key, value = name, line
		case !ok:
			continue
		default:
			key = plainKey(key)
		}
		if name = ""; value == "" {
			name = key
			continue
		}
		all = append(all, field{key, value})
	}
	return all
}

var keyPunctuation = strings.NewReplacer("-", " ", "_", " ", "/", " ", `\`, " ", "'", " ", ".", "", "[", "", "]", "")

func plainKey(key string) string {
	key, _, _ = strings.Cut(key, "(")
	return strings.Join(strings.Fields(strings.ToLower(keyPunctuation.Replace(key))), " ")
}

// others returns the lines of a reply that say when a contact, a registrar or a name server was created, and not when
// the domain was. They are in blocks, which blank lines separate, that begin with the name of such an object and do not
// name the domain. A line that the domain's own blocks have too is not among them.
func others(text string) map[field]bool {
	foreign, own := map[field]bool{}, map[field]bool{}
	var block []string
	opener := ""
	end := func() {
		lines := fieldsOf(strings.Join(block, "\n"))
		of := own
		if isOther(opener) && !slices.ContainsFunc(lines, field.namesDomain) {
			of = foreign
		}
		for _, f := range lines {
			if creationKeys[f.key] {
				of[f] = true
			}
		}
		block, opener = nil, ""
	}
	for line := range strings.SplitSeq(strings.NewReplacer("\r", "", "\t", " ").Replace(text), "\n") {
		if strings.TrimSpace(line) == "" {
			end()
			continue
		}
		block = append(block, line)
		if first := trimmed(line); opener == "" && first != "" {
			key, _, _ := strings.Cut(first, ":")
			opener = plainKey(key)
		}
	}
	end()
	maps.DeleteFunc(foreign, func(f field, _ bool) bool { return own[f] || strings.Contains(f.key, "domain") })
	return foreign
}

// otherObjects are the keys with which a block begins that is not the domain's.
var otherObjects = map[string]bool{
	"person": true, "personname": true, "role": true, "contact": true, "nic hdl": true, "nic hdl br": true,
	"norid handle": true, "handle": true, "organization": true, "organisation": true, "holder": true, "owner": true,
	"registrant": true, "registrar": true, "admin": true, "tech": true, "billing": true, "reseller": true,
	"mntner": true, "nserver": true, "nsset": true, "keyset": true, "nameserver": true, "nameservers": true,
	"name server": true, "name servers": true, "host": true, "hostname": true, "server": true, "server name": true,
}

func isOther(key string) bool {
	return otherObjects[key] || strings.HasPrefix(key, "contact ") || strings.HasSuffix(key, " contact") ||
		strings.HasSuffix(key, " contacts")
}

func (f field) namesDomain() bool { return f.key == "domain" || f.key == "domain name" }

// sameDomain demands that the reply names the domain and no other.
func sameDomain(domain string, record *whoisparser.Domain, lines []field) error {
	named := false
	for _, f := range lines {
		if !f.namesDomain() {
			continue
		}
		name, _, _ := strings.Cut(strings.Trim(f.value, `"`), " ")
		host, err := Host(name)
		if err != nil || host != domain {
			return fmt.Errorf("it names %q, expected %q: %w", name, domain, ErrOtherDomain)
		}
		named = true
	}
	if named {
		return nil
	}
	// Without such a line the parser takes the first name that follows the word "domain" anywhere: enough to
	// tell that the domain is not there, not enough to believe a date.
	name := strings.Trim(record.Name+"."+record.Extension, `."'`)
	if host, err := Host(name); err == nil && host == domain {
		return ErrNoRegistration
	}
	return fmt.Errorf("it names %q, expected %q: %w", name, domain, ErrOtherDomain)
}

var creationKeys = map[string]bool{
	"created": true, "registered": true, "created on": true, "create date": true, "created date": true,
	"creation date": true, "domain registration date": true, "registration date": true,
	"domain create date": true, "domain created": true, "domain name commencement date": true,
	"registered date": true, "registered on": true, "registration time": true,
	"first registration date": true, "domain record activated": true, "record created": true,
	"record created on": true, "domain registered": true,
}

// lastCreation returns the latest creation date of the domain among lines, ignoring those in others. dayFirst means
// that the registry writes 02-01-2006, so that such a date has no second reading.
func lastCreation(record *whoisparser.Domain, lines []field, others map[field]bool, dayFirst bool) (span, error) {
	var dates []string
	for _, f := range lines {
		// .gg prints the day on which the fee is due in the same place.
		if creationKeys[f.key] && !others[f] && !strings.HasPrefix(f.value, "Registry fee due") {
			dates = append(dates, f.value)
		}
	}
	if len(dates) == 0 && len(others) == 0 && record.CreatedDate != "" {
		dates = append(dates, record.CreatedDate)
	}
	at, err := last(dates, dayFirst)
	if err != nil && !errors.Is(err, ErrNoDate) {
		return span{}, fmt.Errorf("creation date: %w", err)
	}
	return at, err
}
