// Package signature holds what a signature of the registry's documents is made of: RFC 8785 canonical JSON,
// Ed25519 keys and the text of a signature.
package signature

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gowebpki/jcs"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Canonical returns the RFC 8785 form of root, which is the root of a strict.Document or a part of it. It fails if root
// has a number outside the range of an IEEE 754 double, or a Go value that no such root has.
func Canonical(root any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	canonical, err := jcs.Transform(text.Bytes())
	if err != nil {
		return nil, fmt.Errorf("canonicalizing JSON: %w", err)
	}
	return canonical, nil
}

// CanonicalWithout returns Canonical of an object without some of its members. It is an error if root is not an
// object.
func CanonicalWithout(root any, members ...string) ([]byte, error) {
	object, ok := root.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("canonicalizing JSON: root is %T, an object was expected", root)
	}
	rest := make(map[string]any, len(object))
	maps.Copy(rest, object)
	for _, name := range members {
		delete(rest, name)
	}
	return Canonical(rest)
}

// Rounded returns the JSON Pointer of a number of root whose decimal value changes when it is read as an IEEE 754
// double and written as RFC 8785 does: 9007199254740993, 0.1000000000000000055, 1e-400. It returns the first in the
// order of pointers, or "" if no number changes. A signature over the text of such a number and one over its canonical
// form cover two values.
func Rounded(root any) string {
	steps, _ := firstRounded(root)
	var pointer strings.Builder
	for _, s := range slices.Backward(steps) {
		pointer.WriteString("/" + s)
	}
	return pointer.String()
}

// firstRounded returns the way to the first rounded number under v, from its end to v. The pointer of each number would
// be as long as the names above it, and a stranger chooses how many names there are and how long they are.
func firstRounded(v any) (steps []string, found bool) {
	first := ""
	consider := func(step string, way []string) {
		order := step
		if len(way) > 0 {
			order += "/"
		}
		if !found || order < first {
			steps, found, first = append(way, step), true, order
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if way, is := firstRounded(member); is {
				consider(strict.Escape(name), way)
			}
		}
	case []any:
		for i, element := range v {
			if way, is := firstRounded(element); is {
				consider(strconv.Itoa(i), way)
			}
		}
	case json.Number:
		return nil, rounded(string(v))
	}
	return steps, found
}

func rounded(token string) bool {
	// A double holds every decimal of up to 15 digits.
	if len(token) <= 15 && !strings.ContainsAny(token, "eE") {
		return false
	}
	f, err := strconv.ParseFloat(token, 64)
	if err != nil {
		return true
	}
	written := strconv.FormatFloat(f, 'e', -1, 64)
	return decimalOf(token) != decimalOf(written)
}

// decimal is 0.digits × 10^exponent, without zeros at either end of digits; zero has no digits and no sign.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

func decimalOf(token string) decimal {
	unsigned, negative := strings.CutPrefix(token, "-")
	mantissa, power := unsigned, 0
	if i := strings.IndexAny(unsigned, "eE"); i >= 0 {
		mantissa = unsigned[:i]
		// An exponent that is not an int belongs to zero or to a number that becomes zero.
		power, _ = strconv.Atoi(unsigned[i+1:])
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent := power + len(digits) - len(fraction)
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return decimal{}
	}
	return decimal{negative, digits, exponent}
}
