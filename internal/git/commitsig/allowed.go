package commitsig

import (
	"bytes"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"
)

// signer is one line of an allowed signers file.
type signer struct {
	principals string // patterns, separated by commas
	ca         bool   // the key signs certificates, not commits
	namespaces string // patterns; empty: all
	after      time.Time
	before     time.Time // both inclusive; zero: no bound
}

const (
	maxLines = 10_000
	maxLine  = 32 << 10
)

// parseAllowedSigners reads an allowed signers file. A line that ssh-keygen would skip, since it cannot read
// it, is an error here.
//
// A time without Z is taken as UTC, not as local time: the same commit must not be good on one machine and expired
// on the next.
func parseAllowedSigners(data []byte) (map[string][]*signer, error) {
	if len(data) > MaxAllowedSigners {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are read", ErrTooLarge, len(data), MaxAllowedSigners)
	}
	signers := map[string][]*signer{}
	count, number := 0, 0
	for raw := range bytes.Lines(data) {
		number++
		line := strings.Trim(string(raw), " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if count++; count > maxLines || len(line) > maxLine {
			return nil, fmt.Errorf("line %d: %w: at most %d lines of %d bytes are read", number, ErrTooLarge, maxLines,
				maxLine)
		}
		s, key, err := parseSigner(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		signers[key] = append(signers[key], s)
	}
	if count == 0 {
		return nil, errors.New("no key in it")
	}
	return signers, nil
}

// parseSigner reads a line: principals, options if any, key type, key, comment.
func parseSigner(line string) (*signer, string, error) {
	if !utf8.ValidString(line) ||
		strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return nil, "", errors.New("text that is not UTF-8, or control characters")
	}
	s := &signer{}
	var err error
	rest := line
	if s.principals, rest, err = cutPrincipals(rest); err != nil {
		return nil, "", err
	}
	first, after := cutWord(rest)
	if after == "" {
		return nil, "", fmt.Errorf("%.80q; expected principals, a key type and its key in base64", line)
	}
	if !isKeyType(first) {
		if rest, err = s.options(rest); err != nil {
			return nil, "", err
		}
		first, after = cutWord(rest)
	}
	text, _ := cutWord(after)
	blob, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || text == "" {
		return nil, "", fmt.Errorf("%.80q; expected a key type and its key in base64", first+" "+text)
	}
	key, err := ssh.ParsePublicKey(blob)
	if err != nil {
		return nil, "", fmt.Errorf("reading the key: %w", err)
	}
	if key.Type() != first {
		return nil, "", fmt.Errorf("a key of type %q behind the word %q", key.Type(), first)
	}
	if _, ok := key.(*ssh.Certificate); ok {
		return nil, "", errors.New("a certificate; expected a key: name its authority with cert-authority")
	}
	return s, string(key.Marshal()), nil
}

// cutPrincipals takes the first field; it may stand in quotes.
func cutPrincipals(line string) (principals, rest string, err error) {
	if line[0] == '"' {
		principals, rest, ok := strings.Cut(line[1:], `"`)
		if !ok || principals == "" || !strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "\t") {
			return "", "", fmt.Errorf("%.80q; expected principals in quotes and then a key", line)
		}
		return principals, strings.TrimLeft(rest, " \t"), nil
	}
	principals, rest = cutWord(line)
	if strings.Contains(principals, `"`) {
		return "", "", fmt.Errorf("a quote within the principals %.80q", principals)
	}
	return principals, rest, nil
}

func cutWord(s string) (word, rest string) {
	end := strings.IndexAny(s, " \t")
	if end < 0 {
		return s, ""
	}
	return s[:end], strings.TrimLeft(s[end:], " \t")
}

func isKeyType(word string) bool {
	return slices.ContainsFunc([]string{"ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"},
		func(prefix string) bool { return strings.HasPrefix(word, prefix) })
}

// options parses the options at the beginning of text and returns the rest. Their names may have any letter case; their
// values are quoted.
func (s *signer) options(text string) (rest string, err error) {
	seen := map[string]bool{}
	for {
		end := strings.IndexAny(text, "=, \t")
		if end < 0 {
			end = len(text)
		}
		name := strings.ToLower(text[:end])
		if seen[name] {
			return "", fmt.Errorf("the option %q twice", name)
		}
		seen[name] = true
		text = text[end:]
		value, hasValue := "", strings.HasPrefix(text, "=")
		if hasValue {
			if value, text, err = cutQuoted(text[1:]); err != nil {
				return "", fmt.Errorf("option %q: %w", name, err)
			}
		}
		if err := s.option(name, value, hasValue); err != nil {
			return "", err
		}
		if next, ok := strings.CutPrefix(text, ","); ok {
			text = next
			continue
		}
		if text != "" && text[0] != ' ' && text[0] != '\t' {
			return "", fmt.Errorf("%.80q after the option %q; expected a comma or a space", text, name)
		}
		break
	}
	if !s.after.IsZero() && !s.before.IsZero() && !s.after.Before(s.before) {
		return "", errors.New("valid-before is not later than valid-after")
	}
	return strings.TrimLeft(text, " \t"), nil
}

func (s *signer) option(name, value string, hasValue bool) (err error) {
	switch {
	case name == "cert-authority" && !hasValue:
		s.ca = true
	case name == "namespaces" && value != "":
		s.namespaces = value
	case name == "valid-after" && hasValue:
		s.after, err = parseTime(value)
	case name == "valid-before" && hasValue:
		s.before, err = parseTime(value)
	default:
		return fmt.Errorf(`the option %.80q; expected cert-authority, namespaces="…", valid-after="…" or valid-before="…"`,
			name)
	}
	return err
}

// cutQuoted takes a value in quotes, in which \" is a quote.
func cutQuoted(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", fmt.Errorf("the value %.80q; expected it in quotes", text)
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return b.String(), text[i+1:], nil
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == '"':
			i++
		}
		b.WriteByte(text[i])
	}
	return "", "", fmt.Errorf("the value %.80q has no closing quote", text)
}

// parseTime reads YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS, with or without Z.
func parseTime(text string) (time.Time, error) {
	digits := strings.TrimSuffix(strings.TrimSuffix(text, "Z"), "z")
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if len(digits) == len(layout) && len(text)-len(digits) <= 1 {
			if t, err := time.Parse(layout, digits); err == nil && t.Unix() > 0 {
				return t, nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("the time %.80q; expected YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS, with Z", text)
}

// inForce reports whether the key may be used at a time, in whole seconds as ssh-keygen has it.
func (s *signer) inForce(at time.Time) bool {
	return (s.after.IsZero() || !at.Before(s.after)) && (s.before.IsZero() || !at.After(s.before))
}

// matchList is ssh's match_pattern_list: text matches a pattern of the list, and none that begins with "!".
func matchList(text, list string) bool {
	found := false
	for pattern := range strings.SplitSeq(list, ",") {
		pattern, negated := strings.CutPrefix(pattern, "!")
		if matchPattern(text, pattern) {
			if negated {
				return false
			}
			found = true
		}
	}
	return found
}

// matchPattern does what ssh's match_pattern does: "*" matches any bytes, "?" matches one.
func matchPattern(text, pattern string) bool {
	star, mark := -1, 0
	t, p := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			t, p = t+1, p+1
		case star >= 0:
			mark++
			t, p = mark, star+1
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// weakSSH says why no signature by a key counts.
func weakSSH(key ssh.PublicKey) string {
	if key.Type() == "ssh-dss" {
		return "a DSA key; expected RSA, ECDSA or Ed25519"
	}
	if k, ok := key.(ssh.CryptoPublicKey); ok {
		if r, ok := k.CryptoPublicKey().(*rsa.PublicKey); ok && r.N.BitLen() < minRSABits {
			return fmt.Sprintf("an RSA key of %d bits; expected %d or more", r.N.BitLen(), minRSABits)
		}
	}
	return ""
}
