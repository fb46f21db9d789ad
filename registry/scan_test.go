package registry

import "testing"

func TestInParallelCrash(t *testing.T) {
	defer func() {
		if r := recover(); r != "a bug" {
			t.Errorf("recovered %v", r)
		}
	}()
	_ = inParallel(t.Context(), 100, 10, func(int, int) error { panic("a bug") })
}
