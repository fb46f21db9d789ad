package strict

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// Pos returns the position of the value that an RFC 6901 JSON Pointer names. This is the position of the member's name
// in an object, and of the value itself in an array and at the root. For a pointer that leads nowhere Pos returns the
// position of the nearest parent that exists. The first call reads the text again, because most documents have no fault
// that needs a position. Pos is safe for concurrent use.
func (d *Document) Pos(pointer string) Pos {
	d.places.once.Do(func() { d.places.index(d.Data) })
	at := d.places.root
	for rest, more := strings.CutPrefix(pointer, "/"); more; {
		var reference string
		reference, rest, more = strings.Cut(rest, "/")
		next := at.below(reference)
		if next == nil {
			break
		}
		at = next
	}
	line, _ := slices.BinarySearch(d.places.breaks, at.offset)
	column := at.offset + 1
	if line > 0 {
		column = at.offset - d.places.breaks[line-1]
	}
	return Pos{Path: d.Path, Line: line + 1, Column: column}
}

// places has the position of each value of a text.
type places struct {
	once   sync.Once
	root   *place
	breaks []int // offsets of the line feeds
}

// place is the position of a value, or of the name of a member.
type place struct {
	offset   int
	members  map[string]*place
	elements []*place
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

// Escape spells a member's name as a reference token of a JSON Pointer (RFC 6901 section 3).
func Escape(name string) string { return escape.Replace(name) }

// A Step is a place in a document, below another one. Its pointer is long below long names, and seldom needed. A nil
// Step is the root.
type Step struct {
	Above *Step
	Token string // not escaped
}

// Pointer returns the JSON Pointer of the step.
func (s *Step) Pointer() string {
	var tokens []string
	for ; s != nil; s = s.Above {
		tokens = append(tokens, "/"+Escape(s.Token))
	}
	slices.Reverse(tokens)
	return strings.Join(tokens, "")
}

func (p *place) below(reference string) *place {
	if p.members != nil {
		return p.members[plain.Unescape(reference)]
	}
	n, err := strconv.Atoi(reference)
	if err != nil || n < 0 || n >= len(p.elements) || strconv.Itoa(n) != reference {
		return nil
	}
	return p.elements[n]
}

// index reads a text that Parse has accepted. For any other text it reads the part before the fault.
func (p *places) index(data []byte) {
	for i, c := range data {
		if c == '\n' {
			p.breaks = append(p.breaks, i)
		}
	}
	r := &reader{data: data, text: string(data)}
	r.tokens.Reset(bytes.NewBuffer(data), decoding)
	p.root = new(place)
	if t, err := r.next(); err == nil {
		r.place(p.root, t)
	}
}

// place fills in what is below the value that begins with t.
func (r *reader) place(p *place, t token) {
	p.offset = t.start
	switch t.kind {
	case '{':
		p.members = make(map[string]*place)
		for t, err := r.next(); err == nil && t.kind != '}'; t, err = r.next() {
			name, below := r.str(t), new(place)
			p.members[name] = below
			if value, err := r.next(); err == nil {
				r.place(below, value)
			}
			below.offset = t.start
		}
	case '[':
		for t, err := r.next(); err == nil && t.kind != ']'; t, err = r.next() {
			below := new(place)
			p.elements = append(p.elements, below)
			r.place(below, t)
		}
	}
}
