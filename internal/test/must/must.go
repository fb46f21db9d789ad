// Package must ends tests that cannot continue.
package must

import (
	"os"
	"testing"
)

// OK ends the test with err unless it is nil.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Read returns the content of a file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	OK(t, err)
	return data
}

// Get returns a function that returns v, or ends the test with err unless it is nil.
func Get[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}
