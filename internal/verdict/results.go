package verdict

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json" // takes no member in other letter case
)

// Results are the results of a report. The zero value is empty and keeps any number of them in memory; after Spool, a
// Spool has those that are too many for memory. A loop over them differs in one point: the Spool may fail, and Err
// reports that afterwards.
type Results struct {
	kept   []Result // in memory, as they came
	spool  Spool    // nil: all are in memory
	memory int      // how many may be kept next to a spool
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

// Spool has results that are too many for memory, in the order of Settle.
type Spool interface {
	Write([]Result) // it may sort the slice, and does not keep it
	Len() int
	All(added []Result) iter.Seq[Result] // all of them, and those that were added last
	Err() error                          // why results are missing from what All yields or yielded
	Close() error
}

// Spool lets results go to a spool whenever there are more than memory in memory. From then on they are in the order of
// Settle whenever they are read. They may be added in any order; added in this one they take the least time.
func (rs *Results) Spool(to Spool, memory int) { rs.spool, rs.memory = to, memory }

// Add adds results. They are the callee's from then on.
func (rs *Results) Add(more ...Result) {
	rs.kept = append(rs.kept, more...)
	if rs.spool != nil && len(rs.kept) > rs.memory {
		rs.spool.Write(rs.kept)
		clear(rs.kept)
		rs.kept = rs.kept[:0]
	}
}

// Len returns the number of results.
func (rs *Results) Len() int {
	if rs.spool != nil {
		return rs.spool.Len() + len(rs.kept)
	}
	return len(rs.kept)
}

// spooled reports whether some of the results are not in memory.
func (rs *Results) spooled() bool { return rs.spool != nil && rs.spool.Len() > 0 }

// All returns the results, in the order in which they were added until they are sorted. The caller must not change what
// All yields. Several loops may run at once. If the spool fails, All ends early, and Err reports it.
func (rs *Results) All() iter.Seq[Result] {
	if !rs.spooled() {
		return slices.Values(rs.kept)
	}
	return rs.spool.All(rs.kept)
}

// Err returns why results are missing from what All yields or yielded, or nil.
func (rs *Results) Err() error {
	if rs.spool == nil {
		return nil
	}
	return rs.spool.Err()
}

// Close closes the spool, if there is one. If it had results, there are no results then.
func (rs *Results) Close() error {
	if !rs.spooled() {
		return nil
	}
	err := rs.spool.Close()
	rs.kept, rs.spool = nil, nil
	return err
}

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

// Order returns how Settle orders results: by subject, then by the place of the check in the catalogue. A check that
// is not in the catalogue comes first.
func Order(catalogue []Rule) func(a, b Result) int {
	places := make(map[string]int, len(catalogue))
	for i, rule := range catalogue {
		places[rule.ID] = i + 1
	}
	return func(a, b Result) int {
		if by := strings.Compare(a.Subject, b.Subject); by != 0 {
			return by
		}
		return cmp.Compare(places[a.Check], places[b.Check])
	}
}
