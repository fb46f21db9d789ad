package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// folder makes the files of a Spool.
func folder(t *testing.T) func() (File, error) {
	dir := t.TempDir()
	return func() (File, error) { return os.Create(filepath.Join(dir, "results")) }
}

var two = []Rule{{ID: "second"}, {ID: "first"}} // in an order that the ids do not have

// fill gives each member of v a value that no other has.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Int:
		v.SetInt(-int64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		if at, ok := v.Addr().Interface().(*time.Time); ok {
			*at = time.Date(2026, 5, 4, 12, 0, *n, *n, time.UTC)
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic(v.Kind())
	}
}

// TestSpooledResults holds that results are the same from a file as from memory, each member of theirs included,
// however many memory holds and in whatever order they come.
func TestSpooledResults(t *testing.T) {
	var all []Result
	n := 0
	for i := range 60 {
		subject := fmt.Sprintf("subject-%02d", i*7%20)
		full := Result{}
		fill(reflect.ValueOf(&full).Elem(), &n)
		full.Subject = subject
		all = append(all, full, Result{Check: "first", Subject: subject, Verdict: Passed},
			Result{Check: "second", Subject: subject, Verdict: Skipped, Reason: "offline"},
			Result{Check: "second", Subject: subject, Verdict: Skipped, Reason: fmt.Sprint(i)})
	}
	all = append(all, Result{Check: "first", Verdict: Passed})
	for i := range all { // as Outcome.Result returns them
		if all[i].Findings == nil {
			all[i].Findings = []Finding{}
		}
	}
	want := Report{Results: NewResults(slices.Clone(all)...)}
	want.Settle(two)
	for _, memory := range []int{0, 1, 7, 100, 1000} {
		for name, order := range map[string][]Result{"as it comes": all,
			"sorted": slices.Collect(want.Results.All())} {
			got := Report{}
			got.Results.Spool(Spool{Memory: memory, File: folder(t)}, two)
			for _, r := range order {
				got.Results.Add(r)
			}
			got.Settle(two)
			if !slices.EqualFunc(slices.Collect(got.Results.All()), slices.Collect(want.Results.All()),
				func(a, b Result) bool { return reflect.DeepEqual(a, b) }) || got.Results.Err() != nil ||
				got.Counts != want.Counts || got.Results.Len() != want.Results.Len() {
				t.Errorf("%d in memory, %s: they differ, %v", memory, name, got.Results.Err())
			}
			if runs := len(got.Results.spool.runs); name == "sorted" && runs > 1 {
				t.Errorf("%d in memory: sorted results take %d runs", memory, runs)
			}
			if err := got.Results.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestSpoolIsOptional holds that no file is made where the results fit.
func TestSpoolIsOptional(t *testing.T) {
	var rs Results
	rs.Spool(Spool{Memory: 2, File: func() (File, error) { panic("asked for") }}, two)
	rs.Add(Result{Check: "first"}, Result{Check: "second"})
	if rs.Len() != 2 || rs.Err() != nil || rs.Close() != nil {
		t.Errorf("%d results, %v", rs.Len(), rs.Err())
	}
}

type broken struct {
	File
	read, write error
}

func (b broken) Write(p []byte) (int, error) {
	if b.write != nil {
		return 0, b.write
	}
	return b.File.Write(p)
}

func (b broken) ReadAt(p []byte, off int64) (int, error) {
	if b.read != nil {
		return 0, b.read
	}
	return b.File.ReadAt(p, off)
}

// TestSpooledResultsTogether holds that several read the same results at once.
func TestSpooledResultsTogether(t *testing.T) {
	var rs Results
	rs.Spool(Spool{Memory: 3, File: folder(t)}, two)
	for i := range 10 {
		rs.Add(Result{Check: "first", Subject: fmt.Sprint(9 - i), Verdict: Passed})
	}
	var reading sync.WaitGroup
	for range 3 {
		reading.Go(func() {
			n := 0
			for r := range rs.All() {
				if r.Subject != fmt.Sprint(n) {
					t.Errorf("%s comes at place %d", r.Subject, n)
				}
				n++
			}
			if n != 10 || rs.Err() != nil {
				t.Errorf("%d results, %v", n, rs.Err())
			}
		})
	}
	reading.Wait()
	if err := rs.Close(); err != nil {
		t.Error(err)
	}
}

// TestSpoolFails holds that a file that fails, or does not give back what was written, is no pass.
func TestSpoolFails(t *testing.T) {
	no := errors.New("no")
	for name, file := range map[string]func() (File, error){
		"no file":    func() (File, error) { return nil, no },
		"no writing": func() (File, error) { f, err := folder(t)(); return broken{File: f, write: no}, err },
		"no reading": func() (File, error) { f, err := folder(t)(); return broken{File: f, read: no}, err },
		"cut short":  func() (File, error) { f, err := folder(t)(); return broken{File: f, read: io.EOF}, err },
	} {
		r := Report{}
		r.Results.Spool(Spool{File: file}, two)
		for i := range 10000 {
			r.Results.Add(Result{Check: "first", Subject: fmt.Sprintf("%05d", i), Verdict: Passed,
				Reason: strings.Repeat("x", i%100)})
		}
		r.Settle(two)
		if err := r.Results.Err(); err == nil || r.Verdict != Errored || name != "cut short" && !errors.Is(err, no) {
			t.Errorf("%s: verdict %q, %v", name, r.Verdict, err)
		}
	}
}

func TestResultsAreAnArray(t *testing.T) {
	for want, rs := range map[string]Results{`{"results":[]}`: {},
		`{"results":[{"check":"a","subject":"<b>","verdict":"pass","findings":null}]}`: NewResults(Result{Check: "a",
			Subject: "<b>", Verdict: Passed})} {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		type holder struct {
			Results Results `json:"results"`
		}
		if err := e.Encode(holder{rs}); err != nil || strings.TrimSpace(b.String()) != want {
			t.Errorf("%s, %v; want %s", b.String(), err, want)
		}
		var back holder
		if err := json.Unmarshal([]byte(want), &back); err != nil || back.Results.Len() != rs.Len() {
			t.Errorf("%s is read as %d results, %v", want, back.Results.Len(), err)
		}
	}
}

// TestBySubject holds that results of a subject are together, wherever they stand, and that nothing is written over.
func TestBySubject(t *testing.T) {
	all := []Result{{Check: "1", Subject: "b"}, {Check: "2", Subject: "b"}, {Check: "3", Subject: "a"},
		{Check: "4", Subject: "b"}, {Check: "5", Subject: "a"}, {Check: "6", Subject: "c"}}
	rs := NewResults(slices.Clone(all)...)
	got := ""
	for group := range rs.BySubject() {
		got += group[0].Subject
		for _, r := range group {
			got += r.Check
		}
	}
	if got != "b124a35c6" || !slices.EqualFunc(slices.Collect(rs.All()), all,
		func(a, b Result) bool { return reflect.DeepEqual(a, b) }) {
		t.Errorf("got %s and left %v", got, slices.Collect(rs.All()))
	}
}
