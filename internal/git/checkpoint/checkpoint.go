// Package checkpoint reads and writes the state that an audit leaves behind: the tip that it verified last.
//
// A checkpoint has the lines of a C2SP tlog-checkpoint, but no Merkle root: no witness can vouch for it. For the log
// checkpoint, see package proof. The size is the number of first-parent commits of the tip, the root commit and the
// tip included:
//
//	registry.example.org/oap
//	50000
//	y3V4B+6GVfXhR8VLmdS1R3TUU0HlD9Hl6nC2B3oBIuQ=
//	policy 1
//	signers 37f2a8d2e1966de1ab8c9e0eb5cbc8a4ea13f2f8bc9481413ae64ced14bf8767
//	tip 6f0c1a44f4c3f0d8a7f6d0a4b2f1f0e1f5a3a1b7
//
// with a line end after each line. The third line is Root. The line tip is an extension line like the other two: it
// names the commit in which the root is found again, and adds nothing to what the root says. Nothing in the file
// depends on the machine or the time, so that two mirrors that verified the same commits have the same bytes.
//
// A signed checkpoint is a note (https://c2sp.org/signed-note): the text above, an empty line, and signature lines.
package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// Checkpoint says which commit of which registry was verified last, and under which rules.
type Checkpoint struct {
	Origin  string // name of the registry, one line without spaces
	Size    int    // first-parent commits up to the tip, 1 or more
	Root    [sha256.Size]byte
	Policy  int    // number of the rules by which history was judged, 0 or more
	Signers string // 64 hexadecimal digits: the keys by which commits were judged
	Tip     string // id of the commit, 40 or 64 hexadecimal digits
	// SHA-256 in hexadecimal digits of the file of accepted findings, and the commit from which on signatures were
	// demanded;
	// empty: none. Each is one more line, accepted or since, where it is not empty.
	Accepted string
	Since    string
}

// Errors of Parse and Read; a file that is not there is fs.ErrNotExist.
var (
	// ErrMalformed: the bytes are not what an audit writes.
	ErrMalformed = errors.New("malformed checkpoint")
	// ErrUnverified: no signature of the demanded key is on it, or one that does not verify.
	ErrUnverified = errors.New("checkpoint without a valid signature of the required key")
)

// Absent replaces the id of a data directory that does not exist.
const Absent = "-"

// Root returns the SHA-256 of six lines, each with its line end: "oap-gate checkpoint v1", the id of the tip, and the
// ids of its trees implementations, peer-witnesses, revocations and workflow-anchors, with Absent for one that does not
// exist.
func Root(tip string, trees [4]string) [sha256.Size]byte {
	return sha256.Sum256([]byte("oap-gate checkpoint v1\n" + tip + "\n" + strings.Join(trees[:], "\n") + "\n"))
}

// New makes the checkpoint of a tip. Errors wrap ErrMalformed.
func New(origin string, size int, tip string, trees [4]string, policy int, signers string) (*Checkpoint, error) {
	for _, id := range trees {
		if id != Absent && (!plain.IsHex(id) || len(id) != len(tip)) {
			return nil, fmt.Errorf("%w: the tree %q; expected an id of %d hexadecimal digits or %q", ErrMalformed, id,
				len(tip),
				Absent)
		}
	}
	c := &Checkpoint{Origin: origin, Size: size, Root: Root(tip, trees), Policy: policy, Signers: signers, Tip: tip}
	return c, c.check()
}

// Is reports whether the checkpoint is of this tip with these trees. They must come from the commit at position Size of
// the first-parent chain under audit.
func (c *Checkpoint) Is(tip string, trees [4]string) bool {
	return c.Tip == tip && c.Root == Root(tip, trees)
}

func (c *Checkpoint) check() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
	}
	switch {
	case !isOrigin(c.Origin):
		return wrong("the origin %q; expected 1 to %d bytes without spaces and control characters", c.Origin, maxOrigin)
	case c.Size < 1:
		return wrong("the size %d; expected 1 or more", c.Size)
	case c.Policy < 0:
		return wrong("the policy %d; expected 0 or more", c.Policy)
	case !plain.IsSHA256(c.Signers):
		return wrong("the signers %q; expected %d hexadecimal digits in lower case", c.Signers, 2*sha256.Size)
	case len(c.Tip) != 40 && len(c.Tip) != 64 || !plain.IsHex(c.Tip):
		return wrong("the tip %q; expected 40 or 64 hexadecimal digits in lower case", c.Tip)
	case c.Accepted != "" && !plain.IsSHA256(c.Accepted):
		return wrong("accepted %q; expected %d hexadecimal digits in lower case", c.Accepted, 2*sha256.Size)
	case c.Since != "" && (len(c.Since) != len(c.Tip) || !plain.IsHex(c.Since)):
		return wrong("since %q; expected an id of %d hexadecimal digits", c.Since, len(c.Tip))
	}
	return nil
}

const maxOrigin = 1024

func isOrigin(s string) bool {
	return s != "" && len(s) <= maxOrigin && utf8.ValidString(s) &&
		!strings.ContainsFunc(s,
			func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == utf8.RuneError })
}

// Body returns the checkpoint's text, without signatures.
func (c *Checkpoint) Body() []byte {
	body := fmt.Appendf(nil, "%s\n%d\n%s\npolicy %d\nsigners %s\ntip %s\n", c.Origin, c.Size,
		base64.StdEncoding.EncodeToString(c.Root[:]), c.Policy, c.Signers, c.Tip)
	if c.Accepted != "" {
		body = fmt.Appendf(body, "accepted %s\n", c.Accepted)
	}
	if c.Since != "" {
		body = fmt.Appendf(body, "since %s\n", c.Since)
	}
	return body
}

// Encode returns the file's content: only the body, or a note if there is a signer. Ed25519 is deterministic, so the
// same key gives the same bytes.
func (c *Checkpoint) Encode(signer note.Signer) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if signer == nil {
		return c.Body(), nil
	}
	data, err := note.Sign(&note.Note{Text: string(c.Body())}, signer)
	if err != nil {
		return nil, fmt.Errorf("signing checkpoint: %w", err)
	}
	return data, nil
}

// maxBytes is room for a body and the hundred signatures that a note may have.
const maxBytes = 64 << 10

// Parse reads a checkpoint, signed or not. With a verifier it must be a note with a valid signature of that key; other
// signatures are allowed. Without a verifier, Parse ignores signatures. It accepts only the spelling that Encode
// writes. Errors wrap ErrMalformed or ErrUnverified.
func Parse(data []byte, verifier note.Verifier) (*Checkpoint, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are read", ErrMalformed, len(data), maxBytes)
	}
	body := data
	if bytes.Contains(data, []byte("\n\n")) {
		text, err := open(data, verifier)
		if err != nil {
			return nil, err
		}
		body = []byte(text)
	} else if verifier != nil {
		return nil, fmt.Errorf("%w: it has no signatures", ErrUnverified)
	}
	c, err := parseBody(string(body))
	if err == nil {
		err = c.check()
	}
	if err == nil && !bytes.Equal(c.Body(), body) {
		err = fmt.Errorf("%w: written otherwise than %q", ErrMalformed, c.Body())
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// open gives the text of a note.
func open(data []byte, verifier note.Verifier) (string, error) {
	known := note.VerifierList()
	if verifier != nil {
		known = note.VerifierList(verifier)
	}
	n, err := note.Open(data, known)
	var unverified *note.UnverifiedNoteError
	var invalid *note.InvalidSignatureError
	switch {
	case err == nil:
		return n.Text, nil
	case errors.As(err, &unverified) && verifier == nil:
		return unverified.Note.Text, nil
	case errors.As(err, &unverified):
		return "", fmt.Errorf("%w: none is by %s", ErrUnverified, verifier.Name())
	case errors.As(err, &invalid):
		return "", fmt.Errorf("%w: %w", ErrUnverified, err)
	}
	return "", fmt.Errorf("%w: %w", ErrMalformed, err)
}

func parseBody(text string) (*Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 7 || len(lines) > 9 || lines[len(lines)-1] != "" {
		return nil, fmt.Errorf("%w: %d lines; expected 6 to 8", ErrMalformed, strings.Count(text, "\n"))
	}
	c := &Checkpoint{Origin: lines[0]}
	for _, more := range lines[6 : len(lines)-1] {
		if value, ok := strings.CutPrefix(more, "accepted "); ok {
			c.Accepted = value
		} else if c.Since, ok = strings.CutPrefix(more, "since "); !ok {
			return nil, fmt.Errorf("%w: the line %.80q; expected one that begins with \"accepted \" or \"since \"",
				ErrMalformed, more)
		}
	}
	size, err := strconv.Atoi(lines[1])
	if err != nil {
		return nil, fmt.Errorf("%w: the size %.80q; expected a number", ErrMalformed, lines[1])
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != sha256.Size {
		return nil, fmt.Errorf("%w: the root %.80q; expected %d bytes in base64", ErrMalformed, lines[2], sha256.Size)
	}
	c.Size = size
	copy(c.Root[:], root)
	var policy string
	for i, at := range []struct {
		key   string
		value *string
	}{{"policy ", &policy}, {"signers ", &c.Signers}, {"tip ", &c.Tip}} {
		value, ok := strings.CutPrefix(lines[3+i], at.key)
		if !ok {
			return nil, fmt.Errorf("%w: the line %.80q; expected one that begins with %q", ErrMalformed, lines[3+i],
				at.key)
		}
		*at.value = value
	}
	if c.Policy, err = strconv.Atoi(policy); err != nil {
		return nil, fmt.Errorf("%w: the policy %.80q; expected a number", ErrMalformed, policy)
	}
	return c, nil
}

// Origin returns the name of a registry from the URL that it was cloned from: the URL without scheme, user, .git and
// trailing slashes, with the host in lower case, so that mirrors that clone by https and by SSH agree. It returns "" if
// the URL has no name.
func Origin(remote string) string {
	rest := remote
	if _, after, ok := strings.Cut(remote, "://"); ok {
		u, err := url.Parse(remote)
		if err != nil {
			return ""
		}
		rest = after
		if u.Host != "" {
			rest = strings.ToLower(u.Host) + u.EscapedPath()
		}
	} else if host, path, ok := strings.Cut(remote, ":"); ok && !strings.Contains(host, "/") {
		// host:path, as ssh has it
		host = host[strings.LastIndexByte(host, '@')+1:]
		rest = strings.ToLower(host) + "/" + strings.TrimLeft(path, "/")
	}
	rest = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(rest, "/"), ".git"), "/")
	if !isOrigin(rest) {
		return ""
	}
	return rest
}

// PublicOrigin returns Origin of a remote at a host, and "" for a directory: a report may be published, and must not
// say where its author keeps a clone.
func PublicOrigin(remote string) string {
	name := Origin(remote)
	if host, _, _ := strings.Cut(name, "/"); strings.Trim(host, ".") == "" || strings.Contains(remote, `\`) {
		return ""
	}
	return name
}

// Read reads the checkpoint in a file. See Parse for the verifier and the errors. The error is fs.ErrNotExist if the
// file does not exist or is empty, or if it is a device or a pipe, which holds nothing.
func Read(path string, verifier note.Verifier) (*Checkpoint, error) {
	if info, err := os.Stat(path); err == nil && (info.Mode().IsRegular() && info.Size() == 0 ||
		info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0) {
		return nil, fmt.Errorf("the checkpoint %q is empty: %w", path, fs.ErrNotExist)
	}
	data, err := readFile(path, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("reading checkpoint: %w", err)
	}
	c, err := Parse(data, verifier)
	if err != nil {
		return nil, fmt.Errorf("reading checkpoint %q: %w", path, err)
	}
	return c, nil
}

// readFile reads a regular file of at most limit bytes. If the file is larger, it returns limit+1 bytes.
func readFile(path string, limit int64) ([]byte, error) {
	// Opening a FIFO would wait for a writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file", path)
	}
	data, err := capped.ReadFile(path, limit)
	if errors.Is(err, capped.ErrTooLarge) {
		err = nil
	}
	return data, err
}

// IsFile reports whether a file that begins with head is a checkpoint, perhaps a damaged one.
func IsFile(head []byte) bool {
	lines := bytes.SplitAfterN(head, []byte("\n"), 7)
	return slices.ContainsFunc(lines, func(line []byte) bool {
		return bytes.HasPrefix(line, []byte("policy ")) || bytes.HasPrefix(line, []byte("signers ")) ||
			bytes.HasPrefix(line, []byte("tip "))
	})
}

const maxKey = 4096

// Signer reads a file with a private key as note.GenerateKey gives it. Errors never hold its text.
func Signer(path string) (note.Signer, error) {
	data, err := readFile(path, maxKey)
	if err != nil {
		return nil, fmt.Errorf("reading signing key: %w", err)
	}
	if bytes.HasPrefix(data, []byte("oap-gate log key ")) {
		return nil, fmt.Errorf("reading signing key %q: it is the key of a log, which must not sign a checkpoint; "+
			"want another key", path)
	}
	s, err := note.NewSigner(strings.TrimSpace(string(data)))
	if err != nil {
		return nil, fmt.Errorf("reading signing key %q: want one line PRIVATE+KEY+name+hash+key: %w", path, err)
	}
	return s, nil
}

// Verifier reads a public key as note.GenerateKey gives it: name+hash+key.
func Verifier(text string) (note.Verifier, error) {
	v, err := note.NewVerifier(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("reading verification key %.200q: want name+hash+key: %w", text, err)
	}
	return v, nil
}
