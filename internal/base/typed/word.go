// Package typed reads what a user typed, and returns errors that name what would be accepted.
package typed

import (
	"errors"
	"slices"
	"strings"
	"syscall"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
)

// OneOf returns an error if value is not one of the known values; name is the flag's name.
func OneOf(name, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return remedy.Errorf("use one of "+strings.TrimPrefix(strings.Join(known, ", "), ", "), "%s %q is not known", name,
		value)
}

// Likely returns at most three known words that the user may have meant by word, the nearest first.
func Likely(word string, known []string) []string {
	const most = 2
	word = strings.ToLower(word)
	var near [most + 1][]string
	for _, k := range known {
		away := plain.Distance([]rune(word), []rune(strings.ToLower(k)), most)
		if away > most && len(word) > most && strings.HasPrefix(strings.ToLower(k), word) {
			away = most
		}
		if away <= most && away < len(k)-1 && !slices.Contains(near[away], k) {
			near[away] = append(near[away], k)
		}
	}
	all := slices.Concat(near[:]...)
	return all[:min(len(all), 3)]
}

// DidYouMean puts in front of a fix what was likely meant.
func DidYouMean(word string, known []string, fix string) string {
	like := Likely(word, known)
	if len(like) == 0 {
		return fix
	}
	return "did you mean " + strings.Join(like, " or ") + "? " + fix
}

// First gives the first error, and asks no further.
func First(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// Writable is the fix for a file that could not be written.
const Writable = "name a file in a directory that can be written"

// Unwritten adds to the error of writing a file what helps, unless err has a fix. It returns nil for nil.
func Unwritten(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return remedy.With(err, "free space, or choose another file")
	}
	return remedy.With(err, Writable)
}
