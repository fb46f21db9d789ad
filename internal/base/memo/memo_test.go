package memo

import (
	"sync"
	"testing"
)

type key int

func TestGet(t *testing.T) {
	m := New(3 * entry)
	works := 0
	ask := func(k key, weight int) {
		t.Helper()
		got := Get(m, k, func(key) int { return weight }, func() key { works++; return 10 * k })
		if got != 10*k {
			t.Fatalf("%d gives %d", k, got)
		}
	}
	for _, step := range []struct{ key, weight, works int }{
		{1, 0, 1}, {1, 0, 1}, {2, 0, 2}, {1, 0, 2},
		{3, 2 * entry, 3}, // fills it: what it held is forgotten
		{3, 0, 3}, {1, 0, 4},
		{4, 3 * entry, 5}, {4, 3 * entry, 6}, // never fits, and takes nobody's place
		{1, 0, 6},
	} {
		if ask(key(step.key), step.weight); works != step.works {
			t.Fatalf("%+v: worked %d times", step, works)
		}
		if m.weight > m.most {
			t.Fatalf("%+v: holds %d of %d", step, m.weight, m.most)
		}
	}
	m = nil
	if ask(1, 0); works != 7 {
		t.Error("nil remembers")
	}
}

func TestGetConcurrently(t *testing.T) {
	m := New(10 * entry)
	var wait sync.WaitGroup
	for n := range 8 {
		wait.Go(func() {
			for i := range 1000 {
				k := key((i + n) % 16)
				if got := Get(m, k, func(key) int { return 0 }, func() key { return k }); got != k {
					t.Errorf("%d gives %d", k, got)
				}
			}
		})
	}
	wait.Wait()
}
