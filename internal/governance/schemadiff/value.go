package schemadiff

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// rational returns the value of a JSON number. It returns nil if the exponent has more than two digits: such a number
// is equal to what is spelled alike, and is not compared with others.
func rational(n json.Number) *big.Rat {
	_, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
	if len(strings.TrimLeft(exponent, "+-")) > 2 {
		return nil
	}
	r, _ := new(big.Rat).SetString(string(n))
	return r
}

// isMultiple reports whether a is a whole multiple of b.
func isMultiple(a, b *big.Rat) bool {
	return a.Sign() == 0 || b.Sign() != 0 && new(big.Rat).Quo(a, b).IsInt()
}

// appendCanonical spells a value so that two spell alike if and only if they are equal: numbers by value, objects
// without order.
func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		b = append(b, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b = strconv.AppendQuote(b, name)
			b = append(b, ':')
			b = appendCanonical(b, v[name])
			b = append(b, ',')
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for _, item := range v {
			b = appendCanonical(b, item)
			b = append(b, ',')
		}
		return append(b, ']')
	case string:
		return strconv.AppendQuote(b, v)
	case json.Number:
		if r := rational(v); r != nil {
			return append(b, r.RatString()...)
		}
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return append(b, "null"...)
}

// canonical returns what appendCanonical appends.
func canonical(v any) string { return string(appendCanonical(nil, v)) }

// A set is values by their canonical spelling.
type set map[string]any

func (s set) add(v any) { s[canonical(v)] = v }

func (s set) has(v any) bool {
	_, ok := s[canonical(v)]
	return ok
}

// beyond returns the values of s that o lacks, in canonical order.
func (s set) beyond(o set) (out []any) {
	for _, key := range sortedNames(s) {
		if _, ok := o[key]; !ok {
			out = append(out, s[key])
		}
	}
	return out
}

// texts returns an array of strings as a set, or nil and false for any other value.
func texts(v any) (set, bool) {
	items, ok := v.([]any)
	all := set{}
	for _, item := range items {
		_, isText := item.(string)
		ok = ok && isText
		all.add(item)
	}
	return all, ok
}

func sortedNames[V any](set map[string]V) []string { return slices.Sorted(maps.Keys(set)) }
