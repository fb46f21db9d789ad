// Package bulk keeps the results of an audit that are too many for memory in a file.
package bulk

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// File holds results. Closing it removes it.
type File interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// Spool says how many results stay in memory, and makes the file for more. The zero value keeps all in memory.
type Spool struct {
	Memory int
	File   func() (File, error) // called once there are more; nil: they stay in memory
}

// For lets the results of a report by this catalogue go to a file.
func (s Spool) For(rs *verdict.Results, catalogue []verdict.Rule) {
	if s.File != nil {
		rs.Spool(newSpool(s.File, catalogue), s.Memory)
	}
}

func newSpool(open func() (File, error), catalogue []verdict.Rule) *spool {
	return &spool{open: open, order: verdict.Order(catalogue), equal: map[plain]int{}, room: maxEqual}
}

// errFile means that the file failed.
var errFile = remedy.Errorf("free space there, or name another directory for temporary files with TMPDIR",
	"keeping results in a file")

// spool is a verdict.Spool in a file, as runs that are each sorted. A run continues as long as each added result comes
// after its last one.
type spool struct {
	open  func() (File, error)
	order func(a, b verdict.Result) int
	file  File
	out   *bufio.Writer
	end   int64 // end of what was written
	runs  []run
	count int
	mu    sync.Mutex // guards what concurrent readers change
	err   error      // the first; nothing is written or read after it

	// Results that differ only in their subject are stored once, as far as there is room.
	equal map[plain]int // index in once
	once  []verdict.Result
	room  int // bytes
}

type run struct {
	from, to int64
	count    int
	last     verdict.Result // its Check and Subject
}

// plain is a result without findings, of any subject.
type plain struct {
	check   string
	verdict verdict.Verdict
	reason  string
}

// maxEqual is how many bytes the results take that are stored once.
const maxEqual = 8 << 20

// The prefixes in the file. One precedes a subject, one a whole result, and the last, added to its index in once, a
// result that is stored there.
const (
	ofSubject = iota
	ofResult
	ofEqual
)

// Write adds results, which it sorts, to the file.
func (s *spool) Write(results []verdict.Result) {
	s.count += len(results)
	if s.err != nil {
		return
	}
	if s.file == nil {
		file, err := s.open()
		if err != nil {
			s.err = err
			return
		}
		s.file = file
		s.out = bufio.NewWriterSize(s.file, 1<<16)
	}
	if !slices.IsSortedFunc(results, s.order) {
		slices.SortStableFunc(results, s.order)
	}
	if n := len(s.runs); n == 0 || s.order(s.runs[n-1].last, results[0]) > 0 {
		s.runs = append(s.runs, run{from: s.end, to: s.end})
	}
	at := &s.runs[len(s.runs)-1]
	var b []byte
	for _, r := range results {
		b = b[:0]
		if r.Subject != at.last.Subject {
			b = appendText(binary.AppendUvarint(b, ofSubject), r.Subject)
		}
		if i, ok := s.stored(r); ok {
			b = binary.AppendUvarint(b, uint64(ofEqual+i))
		} else {
			b = appendResult(binary.AppendUvarint(b, ofResult), r)
		}
		at.last, at.count = verdict.Result{Check: r.Check, Subject: r.Subject}, at.count+1
		n, err := s.out.Write(b)
		s.end += int64(n)
		if err != nil {
			s.err = err
			return
		}
	}
	at.to = s.end
}

// stored returns the index in once of a result, which it adds while there is room.
func (s *spool) stored(r verdict.Result) (int, bool) {
	if len(r.Findings) > 0 {
		return 0, false
	}
	key := plain{r.Check, r.Verdict, r.Reason}
	i, ok := s.equal[key]
	if size := len(r.Check) + len(r.Reason) + 200; !ok && size <= s.room {
		i, ok = len(s.once), true
		s.equal[key] = i
		s.once = append(s.once, verdict.Result{Check: r.Check, Verdict: r.Verdict, Reason: r.Reason,
			Findings: []verdict.Finding{}})
		s.room -= size
	}
	return i, ok
}

// failed returns the first error, which may be err.
func (s *spool) failed(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = cmp.Or(s.err, err)
	return s.err
}

// Len returns the number of results that were written.
func (s *spool) Len() int { return s.count }

// Err returns the first error of the file, or nil.
func (s *spool) Err() error {
	if err := s.failed(nil); err != nil {
		return fmt.Errorf("%w: %w", errFile, err)
	}
	return nil
}

// Close removes the file.
func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// flush has all that was written in the file.
func (s *spool) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = s.out.Flush()
	}
	return s.err
}

// All returns all results in order: those of the file and kept, which were added last.
func (s *spool) All(kept []verdict.Result) iter.Seq[verdict.Result] {
	return func(yield func(verdict.Result) bool) {
		if s.flush() != nil {
			return
		}
		var heads []*head
		for _, r := range s.runs {
			heads = append(heads, &head{spool: s, in: bufio.NewReaderSize(io.NewSectionReader(s.file, r.from,
				r.to-r.from), 1<<16), left: r.count, longest: uint64(r.to - r.from)})
		}
		rest := kept
		if !slices.IsSortedFunc(rest, s.order) {
			rest = slices.SortedStableFunc(slices.Values(kept), s.order)
		}
		heads = append(heads, &head{rest: rest})
		heads = slices.DeleteFunc(heads, func(h *head) bool { return !h.advance() })
		for len(heads) > 0 && s.failed(nil) == nil {
			least := 0
			for i, h := range heads[1:] {
				if s.order(h.key(), heads[least].key()) < 0 {
					least = i + 1
				}
			}
			h := heads[least]
			subject := h.subject
			shared := slices.ContainsFunc(heads, func(o *head) bool { return o != h && o.subject == subject })
			for left := true; left && h.subject == subject; {
				r := *h.result
				r.Subject = subject
				if !yield(r) {
					return
				}
				if left = h.advance(); !left {
					heads = slices.Delete(heads, least, least+1)
				}
				if shared {
					break
				}
			}
		}
	}
}

// head is the next result of a run, or of the rest.
type head struct {
	result  *verdict.Result // of subject, whatever it says itself
	subject string
	rest    []verdict.Result // nil: the head of a run
	spool   *spool
	in      *bufio.Reader
	left    int    // results in the run
	longest uint64 // that a text can be
	err     error
}

// key returns what orders the head.
func (h *head) key() verdict.Result { return verdict.Result{Check: h.result.Check, Subject: h.subject} }

// advance reads the next result, and reports whether there is one.
func (h *head) advance() bool {
	if h.in == nil {
		if len(h.rest) == 0 {
			return false
		}
		h.result, h.subject, h.rest = &h.rest[0], h.rest[0].Subject, h.rest[1:]
		return true
	}
	if h.left == 0 {
		return false
	}
	h.left--
	what := h.uint()
	if what == ofSubject {
		h.subject = h.text()
		what = h.uint()
	}
	switch {
	case h.err != nil:
	case what == ofResult:
		h.result = h.read()
	case what-ofEqual < uint64(len(h.spool.once)):
		h.result = &h.spool.once[what-ofEqual]
	default:
		h.err = io.ErrUnexpectedEOF
	}
	if h.err == nil {
		return true
	}
	if errors.Is(h.err, io.EOF) {
		h.err = io.ErrUnexpectedEOF
	}
	h.spool.failed(h.err)
	return false
}

// texts returns the texts of a finding, in the order in which the file has them.
func texts(f *verdict.Finding) [8]*string {
	return [...]*string{&f.Code, &f.Message, &f.Fix, &f.Cite, &f.Path, &f.Pointer, &f.Commit, &f.Value}
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendResult(b []byte, r verdict.Result) []byte {
	b = appendText(appendText(appendText(b, r.Check), string(r.Verdict)), r.Reason)
	b = binary.AppendUvarint(b, uint64(len(r.Findings)))
	for _, f := range r.Findings {
		b = append(b, byte(f.Severity), byte(f.Basis))
		b = binary.AppendVarint(binary.AppendVarint(b, int64(f.Line)), int64(f.Column))
		for _, text := range texts(&f) {
			b = appendText(b, *text)
		}
		when := ""
		if !f.RetryAt.IsZero() {
			when = f.RetryAt.UTC().Format(time.RFC3339Nano)
		}
		b = appendText(b, when)
	}
	return b
}

func (h *head) read() *verdict.Result {
	r := &verdict.Result{Check: h.text(), Verdict: verdict.Verdict(h.text()), Reason: h.text(),
		Findings: []verdict.Finding{}}
	for range h.uint() {
		f := verdict.Finding{Severity: verdict.Severity(h.byte()), Basis: verdict.Basis(h.byte())}
		f.Line, f.Column = int(h.int()), int(h.int())
		for _, text := range texts(&f) {
			*text = h.text()
		}
		if when := h.text(); when != "" && h.err == nil {
			f.RetryAt, h.err = time.Parse(time.RFC3339Nano, when)
		}
		if h.err != nil {
			break
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

func (h *head) uint() (n uint64) {
	if c := h.byte(); c < 0x80 || h.err != nil {
		return uint64(c) // as most are
	}
	if h.err = h.in.UnreadByte(); h.err == nil {
		n, h.err = binary.ReadUvarint(h.in)
	}
	return n
}

func (h *head) int() (n int64) {
	if h.err == nil {
		n, h.err = binary.ReadVarint(h.in)
	}
	return n
}

func (h *head) byte() (c byte) {
	if h.err == nil {
		c, h.err = h.in.ReadByte()
	}
	return c
}

func (h *head) text() string {
	n := h.uint()
	if n > h.longest {
		h.err = cmp.Or(h.err, io.ErrUnexpectedEOF)
	}
	if h.err != nil {
		return ""
	}
	b := make([]byte, n)
	_, h.err = io.ReadFull(h.in, b)
	return string(b)
}
