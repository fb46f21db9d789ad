package verdict

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json" // takes no member in other letter case

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
)

// Results are the results of a report. The zero value is empty and keeps any number of them in memory; after Spool, it
// keeps those that are too many for memory in a file. A loop over them differs in one point: a file may fail, and Err
// reports that afterwards.
type Results struct {
	kept  []Result // in memory, as they came
	spool *spool   // nil: all are in memory
}

// NewResults returns results in memory.
func NewResults(all ...Result) Results { return Results{kept: all} }

// Records takes what a report has of each record and each document, in the order of the report. An error ends the
// reading. What has no function is left out.
type Records struct {
	Listing  func(Listing) error
	Result   func(Result) error
	Evidence func(Evidence) error
}

// File holds results. Closing it removes it.
type File interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// Spool says how many results stay in memory, and makes the file for more.
type Spool struct {
	Memory int
	File   func() (File, error) // called once there are more
}

// Spool lets results go to a file. From then on they are in the order of Settle for this catalogue, whenever they are
// read. They may be added in any order; added in this one they take the least time.
func (rs *Results) Spool(to Spool, catalogue []Rule) {
	rs.spool = &spool{Spool: to, order: newOrder(catalogue), equal: map[plain]int{}, room: maxEqual}
}

// Add adds results. They are the callee's from then on.
func (rs *Results) Add(more ...Result) {
	rs.kept = append(rs.kept, more...)
	if rs.spool != nil && len(rs.kept) > rs.spool.Memory {
		rs.spool.write(rs.kept)
		clear(rs.kept)
		rs.kept = rs.kept[:0]
	}
}

// Len returns the number of results.
func (rs *Results) Len() int {
	if rs.spool != nil {
		return rs.spool.count + len(rs.kept)
	}
	return len(rs.kept)
}

// All returns the results, in the order in which they were added until they are sorted. The caller must not change what
// All yields. Several loops may run at once. If the file fails, All ends early, and Err reports it.
func (rs *Results) All() iter.Seq[Result] {
	if rs.spool == nil || len(rs.spool.runs) == 0 {
		return slices.Values(rs.kept)
	}
	return rs.spool.merged(rs.kept)
}

// BySubject returns the results of each subject, the subjects in the order of their first results. A yielded slice is
// valid until the next one is yielded.
func (rs *Results) BySubject() iter.Seq[[]Result] {
	if rs.spool == nil || len(rs.spool.runs) == 0 {
		return rs.keptBySubject()
	}
	return func(yield func([]Result) bool) {
		var group []Result
		for r := range rs.All() {
			if len(group) > 0 && group[0].Subject != r.Subject {
				if !yield(group) {
					return
				}
				group = group[:0]
			}
			group = append(group, r)
		}
		if len(group) > 0 {
			yield(group)
		}
	}
}

// keptBySubject groups what is in memory, which need not be in order.
func (rs *Results) keptBySubject() iter.Seq[[]Result] {
	at := map[string]int{}
	var groups [][]Result
	for from, to := 0, 0; from < len(rs.kept); from = to {
		for to < len(rs.kept) && rs.kept[to].Subject == rs.kept[from].Subject {
			to++
		}
		side := rs.kept[from:to:to]
		if i, ok := at[side[0].Subject]; ok {
			groups[i] = append(groups[i], side...)
			continue
		}
		at[side[0].Subject] = len(groups)
		groups = append(groups, side)
	}
	return slices.Values(groups)
}

// ErrFile means that the file of a Spool failed.
var ErrFile = remedy.Errorf("free space there, or name another folder for temporary files with TMPDIR",
	"keeping results in a file")

// Err returns why results are missing from what All yields or yielded, or nil. It wraps ErrFile.
func (rs *Results) Err() error {
	if rs.spool == nil || rs.spool.failed(nil) == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrFile, rs.spool.failed(nil))
}

// Close takes the file away, where there is one. There are no results then.
func (rs *Results) Close() error {
	if rs.spool == nil || rs.spool.file == nil {
		return nil
	}
	err := rs.spool.file.Close()
	rs.kept, rs.spool = nil, nil
	return err
}

// sort brings what is in memory into order; what is in the file is.
func (rs *Results) sort(o order) { slices.SortStableFunc(rs.kept, o.compare) }

// MarshalJSON gives an array of Result.
func (rs Results) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // as the encoder that asks wants it
	err := e.Encode(slices.AppendSeq([]Result{}, rs.All()))
	return b.Bytes(), cmp.Or(err, rs.Err())
}

// UnmarshalJSON takes an array of Result into memory.
func (rs *Results) UnmarshalJSON(data []byte) error {
	*rs = Results{}
	return jsonv2.Unmarshal(data, &rs.kept)
}

// JSONSchemaAlias has the JSON Schema of an array of Result.
func (Results) JSONSchemaAlias() any { return []Result(nil) }

// order is the place of each check in a catalogue; one that it does not have comes first.
type order map[string]int

func newOrder(catalogue []Rule) order {
	o := make(order, len(catalogue))
	for i, rule := range catalogue {
		o[rule.ID] = i + 1
	}
	return o
}

func (o order) compare(a, b Result) int { return o.places(a.Subject, a.Check, b.Subject, b.Check) }

func (o order) places(subject, check, otherSubject, otherCheck string) int {
	if by := strings.Compare(subject, otherSubject); by != 0 {
		return by
	}
	return cmp.Compare(o[check], o[otherCheck])
}

// spool keeps results in a file, as runs that are each sorted. A run continues as long as each added result comes after
// its last one.
type spool struct {
	Spool
	order order
	file  File
	out   *bufio.Writer
	end   int64 // end of what was written
	runs  []run
	count int
	mu    sync.Mutex // guards what concurrent readers change
	err   error      // the first; nothing is written or read after it

	// Results that differ in their subject alone are stored once, as far as there is room.
	equal map[plain]int // index in once
	once  []Result
	room  int // bytes
}

type run struct {
	from, to int64
	count    int
	last     Result // its Check and Subject
}

// plain is a result without findings, of any subject.
type plain struct {
	check   string
	verdict Verdict
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

// write adds results, which it sorts, to the file.
func (s *spool) write(results []Result) {
	s.count += len(results)
	if s.err != nil {
		return
	}
	if s.file == nil {
		file, err := s.File()
		if err != nil {
			s.err = err
			return
		}
		s.file = file
		s.out = bufio.NewWriterSize(s.file, 1<<16)
	}
	if !slices.IsSortedFunc(results, s.order.compare) {
		slices.SortStableFunc(results, s.order.compare)
	}
	if n := len(s.runs); n == 0 || s.order.compare(s.runs[n-1].last, results[0]) > 0 {
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
		at.last, at.count = Result{Check: r.Check, Subject: r.Subject}, at.count+1
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
func (s *spool) stored(r Result) (int, bool) {
	if len(r.Findings) > 0 {
		return 0, false
	}
	key := plain{r.Check, r.Verdict, r.Reason}
	i, ok := s.equal[key]
	if size := len(r.Check) + len(r.Reason) + 200; !ok && size <= s.room {
		i, ok = len(s.once), true
		s.equal[key] = i
		s.once = append(s.once, Result{Check: r.Check, Verdict: r.Verdict, Reason: r.Reason, Findings: []Finding{}})
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

// flush has all that was written in the file.
func (s *spool) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = s.out.Flush()
	}
	return s.err
}

// merged returns all results in order: those of the file and kept, which were added last.
func (s *spool) merged(kept []Result) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		if s.flush() != nil {
			return
		}
		var heads []*head
		for _, r := range s.runs {
			heads = append(heads, &head{spool: s, in: bufio.NewReaderSize(io.NewSectionReader(s.file, r.from,
				r.to-r.from), 1<<16), left: r.count, longest: uint64(r.to - r.from)})
		}
		rest := kept
		if !slices.IsSortedFunc(rest, s.order.compare) {
			rest = slices.SortedStableFunc(slices.Values(kept), s.order.compare)
		}
		heads = append(heads, &head{rest: rest})
		heads = slices.DeleteFunc(heads, func(h *head) bool { return !h.advance() })
		for len(heads) > 0 && s.failed(nil) == nil {
			least := 0
			for i, h := range heads[1:] {
				first := heads[least]
				if s.order.places(h.subject, h.result.Check, first.subject, first.result.Check) < 0 {
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
	result  *Result // of subject, whatever it says itself
	subject string
	rest    []Result // nil: the head of a run
	spool   *spool
	in      *bufio.Reader
	left    int    // results in the run
	longest uint64 // that a text can be
	err     error
}

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
func (f *Finding) texts() [8]*string {
	return [...]*string{&f.Code, &f.Message, &f.Fix, &f.Cite, &f.Path, &f.Pointer, &f.Commit, &f.Value}
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendResult(b []byte, r Result) []byte {
	b = appendText(appendText(appendText(b, r.Check), string(r.Verdict)), r.Reason)
	b = binary.AppendUvarint(b, uint64(len(r.Findings)))
	for _, f := range r.Findings {
		b = append(b, byte(f.Severity), byte(f.Basis))
		b = binary.AppendVarint(binary.AppendVarint(b, int64(f.Line)), int64(f.Column))
		for _, text := range f.texts() {
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

func (h *head) read() *Result {
	r := &Result{Check: h.text(), Verdict: Verdict(h.text()), Reason: h.text(), Findings: []Finding{}}
	for range h.uint() {
		f := Finding{Severity: Severity(h.byte()), Basis: Basis(h.byte())}
		f.Line, f.Column = int(h.int()), int(h.int())
		for _, text := range f.texts() {
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
