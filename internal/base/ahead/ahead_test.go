package ahead

import (
	"errors"
	"iter"
	"testing"
)

// counting yields 0, 1, ... with the error behind them, and says how many it made, and that it ended.
func counting(n int, behind error, made *int, ended *bool) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		defer func() { *ended = true }()
		for i := range n {
			if *made++; !yield(i, nil) {
				return
			}
		}
		if behind != nil {
			yield(0, behind)
		}
	}
}

func TestOf(t *testing.T) {
	bad := errors.New("bad")
	for _, stop := range []int{0, 3, 10} {
		made, ended, next := 0, false, 0
		var last error
		for i, err := range Of(counting(10, bad, &made, &ended)) {
			if last = err; err != nil || next == stop {
				break
			}
			if i != next {
				t.Errorf("got %d, want %d", i, next)
			}
			next++
		}
		if !ended || next != stop || made > stop+2 {
			t.Errorf("stopped at %d: ended %t, took %d, made %d", stop, ended, next, made)
		}
		if got := errors.Is(last, bad); got != (stop == 10) {
			t.Errorf("stopped at %d: error %v", stop, last)
		}
	}
}

func TestPanic(t *testing.T) {
	defer func() {
		if r := recover(); r != "a bug" {
			t.Errorf("recovered %v", r)
		}
	}()
	for range Of(func(func(int, error) bool) { panic("a bug") }) {
		t.Error("a value was made")
	}
	t.Error("no panic")
}
