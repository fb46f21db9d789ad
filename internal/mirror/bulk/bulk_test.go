package bulk

import (
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

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// directory makes the files of a Spool.
func directory(t *testing.T) func() (File, error) {
	dir := t.TempDir()
	return func() (File, error) { return os.Create(filepath.Join(dir, "results")) }
}

var two = []verdict.Rule{{ID: "second"}, {ID: "first"}} // in an order that the ids do not have

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

// TestSpooledResults checks that results are the same from a file as from memory, each member of theirs included,
// however many memory holds and in whatever order they come.
func TestSpooledResults(t *testing.T) {
	var all []verdict.Result
	n := 0
	for i := range 60 {
		subject := fmt.Sprintf("subject-%02d", i*7%20)
		full := verdict.Result{}
		fill(reflect.ValueOf(&full).Elem(), &n)
		full.Subject = subject
		all = append(all, full, verdict.Result{Check: "first", Subject: subject, Verdict: verdict.Passed},
			verdict.Result{Check: "second", Subject: subject, Verdict: verdict.Skipped, Reason: "offline"},
			verdict.Result{Check: "second", Subject: subject, Verdict: verdict.Skipped, Reason: fmt.Sprint(i)})
	}
	all = append(all, verdict.Result{Check: "first", Verdict: verdict.Passed})
	for i := range all { // as Outcome.Result returns them
		if all[i].Findings == nil {
			all[i].Findings = []verdict.Finding{}
		}
	}
	want := verdict.Report{Results: verdict.NewResults(slices.Clone(all)...)}
	want.Settle(two)
	for _, memory := range []int{0, 1, 7, 100, 1000} {
		for name, order := range map[string][]verdict.Result{"as it comes": all,
			"sorted": slices.Collect(want.Results.All())} {
			got := verdict.Report{}
			to := newSpool(directory(t), two)
			got.Results.Spool(to, memory)
			for _, r := range order {
				got.Results.Add(r)
			}
			got.Settle(two)
			if !slices.EqualFunc(slices.Collect(got.Results.All()), slices.Collect(want.Results.All()),
				func(a, b verdict.Result) bool { return reflect.DeepEqual(a, b) }) || got.Results.Err() != nil ||
				got.Counts != want.Counts || got.Results.Len() != want.Results.Len() {
				t.Errorf("%d in memory, %s: they differ, %v", memory, name, got.Results.Err())
			}
			if runs := len(to.runs); name == "sorted" && runs > 1 {
				t.Errorf("%d in memory: sorted results take %d runs", memory, runs)
			}
			if err := got.Results.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestSpoolIsOptional checks that no file is made where the results fit.
func TestSpoolIsOptional(t *testing.T) {
	var rs verdict.Results
	Spool{Memory: 2, File: func() (File, error) { panic("asked for") }}.For(&rs, two)
	rs.Add(verdict.Result{Check: "first"}, verdict.Result{Check: "second"})
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

// TestSpooledResultsTogether checks that several read the same results at once.
func TestSpooledResultsTogether(t *testing.T) {
	var rs verdict.Results
	Spool{Memory: 3, File: directory(t)}.For(&rs, two)
	for i := range 10 {
		rs.Add(verdict.Result{Check: "first", Subject: fmt.Sprint(9 - i), Verdict: verdict.Passed})
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

// TestSpoolFails checks that a file that fails, or does not give back what was written, is no pass.
func TestSpoolFails(t *testing.T) {
	no := errors.New("no")
	for name, file := range map[string]func() (File, error){
		"no file":    func() (File, error) { return nil, no },
		"no writing": func() (File, error) { f, err := directory(t)(); return broken{File: f, write: no}, err },
		"no reading": func() (File, error) { f, err := directory(t)(); return broken{File: f, read: no}, err },
		"cut short":  func() (File, error) { f, err := directory(t)(); return broken{File: f, read: io.EOF}, err },
	} {
		r := verdict.Report{}
		Spool{File: file}.For(&r.Results, two)
		for i := range 10000 {
			r.Results.Add(verdict.Result{Check: "first", Subject: fmt.Sprintf("%05d", i), Verdict: verdict.Passed,
				Reason: strings.Repeat("x", i%100)})
		}
		r.Settle(two)
		err := r.Results.Err()
		if err == nil || r.Verdict != verdict.Errored || name != "cut short" && !errors.Is(err, no) {
			t.Errorf("%s: verdict %q, %v", name, r.Verdict, err)
		}
	}
}
