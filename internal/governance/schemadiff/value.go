package schemadiff

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// decimal is a number by its value: mantissa times ten to the exponent, where the mantissa does not end in 0. Both come
// from a token of at most 64 bytes; the exponent is never written out.
type decimal struct{ mantissa, exponent *big.Int }

var ten = big.NewInt(10)

// newDecimal reads a JSON number.
func newDecimal(n json.Number) decimal {
	text, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
	d := decimal{new(big.Int), new(big.Int)}
	if exponent != "" {
		d.exponent.SetString(strings.TrimPrefix(exponent, "+"), 10)
	}
	whole, fraction, _ := strings.Cut(text, ".")
	d.mantissa.SetString(whole+fraction, 10)
	d.exponent.Sub(d.exponent, big.NewInt(int64(len(fraction))))
	if d.mantissa.Sign() == 0 {
		d.exponent.SetInt64(0)
		return d
	}
	for {
		quotient, remainder := new(big.Int).QuoRem(d.mantissa, ten, new(big.Int))
		if remainder.Sign() != 0 {
			return d
		}
		d.mantissa = quotient
		d.exponent.Add(d.exponent, big.NewInt(1))
	}
}

func (d decimal) String() string { return d.mantissa.String() + "e" + d.exponent.String() }

// compare is -1, 0 or 1 as d is less than, equal to or more than o.
func (d decimal) compare(o decimal) int {
	if sign := d.mantissa.Sign(); sign != o.mantissa.Sign() || sign == 0 {
		return big.NewInt(int64(sign)).Cmp(big.NewInt(int64(o.mantissa.Sign())))
	}
	digits := func(d decimal) *big.Int {
		n := len(new(big.Int).Abs(d.mantissa).String())
		return new(big.Int).Add(d.exponent, big.NewInt(int64(n)))
	}
	if order := digits(d).Cmp(digits(o)); order != 0 { // the greater magnitude, however far apart
		return order * d.mantissa.Sign()
	}
	// If the magnitudes are equal, the exponents differ by less than the digits of a token.
	shift := new(big.Int).Sub(d.exponent, o.exponent).Int64()
	return scale(d.mantissa, shift).Cmp(scale(o.mantissa, -shift))
}

// scale is n times ten to the power, where that is positive.
func scale(n *big.Int, power int64) *big.Int {
	if power <= 0 {
		return n
	}
	return new(big.Int).Mul(n, new(big.Int).Exp(ten, big.NewInt(power), nil))
}

// multipleOf reports whether d is a whole multiple of o.
func (d decimal) multipleOf(o decimal) bool {
	if o.mantissa.Sign() == 0 || d.mantissa.Sign() == 0 {
		return d.mantissa.Sign() == 0
	}
	// A mantissa of 64 digits has less than 256 factors 2 and as few 5: more of them in the other change nothing.
	const most = 256
	shift := new(big.Int).Sub(d.exponent, o.exponent)
	if shift.Cmp(big.NewInt(-most)) < 0 {
		return false
	}
	power := int64(most)
	if shift.Cmp(big.NewInt(most)) < 0 {
		power = shift.Int64()
	}
	return new(big.Int).Rem(scale(d.mantissa, power), scale(o.mantissa, -power)).Sign() == 0
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
		return append(b, newDecimal(v).String()...)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return append(b, "null"...)
}

// equal reports whether two values are equal, as appendCanonical has it.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		o, ok := b.(map[string]any)
		if !ok || len(a) != len(o) {
			return false
		}
		for name, member := range a {
			other, ok := o[name]
			if !ok || !equal(member, other) {
				return false
			}
		}
		return true
	case []any:
		o, ok := b.([]any)
		return ok && slices.EqualFunc(a, o, equal)
	case json.Number:
		o, ok := b.(json.Number)
		return ok && (a == o || newDecimal(a).compare(newDecimal(o)) == 0)
	}
	return a == b
}

// texts returns an array of strings as a set, or nil and false for any other value.
func texts(v any) (map[string]bool, bool) {
	items, ok := v.([]any)
	set := map[string]bool{}
	for _, item := range items {
		s, isText := item.(string)
		ok = ok && isText
		set[s] = true
	}
	return set, ok
}

func sortedNames[V any](set map[string]V) []string { return slices.Sorted(maps.Keys(set)) }
