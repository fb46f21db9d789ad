package schemadiff

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// nested puts text between n pairs of what opens and closes.
func nested(n int, open, text, end string) string {
	return strings.Repeat(open, n) + text + strings.Repeat(end, n)
}

// TestHostile checks that no schema makes a comparison endless: each ends within its steps, and what was not compared
// is Changed.
func TestHostile(t *testing.T) {
	// each definition leads to the next twice, on one side by another way: 2^n ways, and n pairs
	var fan strings.Builder
	for i := range 400 {
		fmt.Fprintf(&fan, `"d%d":{"allOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]},`, i, i+1, i+1)
	}
	// every definition leads to every other one, and on the two sides in another order: n squared pairs, n from each
	cross := func(letter string) string {
		r := rand.New(rand.NewPCG(uint64(letter[0]), 0))
		var b strings.Builder
		for i := range 180 {
			fmt.Fprintf(&b, `"%s%d":{"anyOf":[`, letter, i)
			order := r.Perm(180)
			for j := range 180 {
				fmt.Fprintf(&b, `{"$ref":"#/definitions/%s%d"},`, letter, order[j])
			}
			b.WriteString("true]},")
		}
		return `{"$ref":"#/definitions/` + letter + `0","definitions":{` + b.String() + `"z":true}}`
	}
	// two rings of definitions, whose lengths have no common factor
	ring := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%d":{"items":{"$ref":"#/definitions/%d"}},`, i, (i+1)%n)
		}
		return `{"$ref":"#/definitions/0","definitions":{` + b.String() + `"z":true}}`
	}
	long := strings.Repeat("n", 400_000)
	var members, bare, patterns strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&members, `"f%d":{"title":"a"},`, i)
		fmt.Fprintf(&bare, `"f%d":true,`, i)
	}
	for i := range 2_000 {
		fmt.Fprintf(&patterns, `"(%d|a{1,200}){1,3}x":true,`, i)
	}
	tests := []struct {
		name, old, new string
		decided        bool // nothing is beyond the steps
	}{
		{"deep", nested(25, `{"not":`, `{"minimum":1}`, `}`), nested(25, `{"not":`, `{"minimum":2}`, `}`), true},
		{"deep in the union", nested(28, `{"anyOf":[`, `{"minimum":1}`, `]}`), nested(28, `{"anyOf":[`,
			`{"minimum":2}`, `]}`), true},
		{"two ways at every step", `{"$ref":"#/definitions/d0","definitions":{` + fan.String() +
			`"d400":{"minimum":1}}}`,
			`{"$ref":"#/definitions/d0","definitions":{` + fan.String() + `"d400":{"minimum":2}}}`, true},
		{"all lead to all", cross("d"), cross("e"), false},
		{"rings", ring(15_000), ring(14_999), false},
		{"a long name above many differences",
			`{"properties":{"` + long + `":{"properties":{` + bare.String() + `"z":true}}}}`,
			`{"properties":{"` + long + `":{"properties":{` + members.String() + `"z":true}}}}`, false},
		{"many fields and many patterns", `{"patternProperties":{` + patterns.String() + `"^z":true}}`,
			`{"patternProperties":{` + patterns.String() + `"^z":true},"properties":{` + bare.String() + `"z":true}}`,
			false},
		{"many values", `{"enum":[` + strings.Repeat(`[0],`, 60_000) + `1]}`,
			`{"enum":[` + strings.Repeat(`[0],`, 60_000) + `2]}`, true},
		{"equal branches", `{"allOf":[` + strings.Repeat(`{},`, 50_000) + `{"minimum":1}]}`,
			`{"allOf":[` + strings.Repeat(`{},`, 50_000) + `{"minimum":2}]}`, true},
		{"leads to itself", `{"$ref":"#"}`, `{"$ref":"#","minimum":1}`, true},
		{"two that lead to each other",
			`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
			`{"minimum":1,"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, true},
		{"numbers of many digits",
			`{"maximum":` + strings.Repeat("9", 64) + `,"minimum":1e-` + strings.Repeat("9", 60) + `}`,
			`{"maximum":1e308,"minimum":1e-` + strings.Repeat("8", 60) + `}`, true},
		{"not to be read", strings.Repeat("[", 61) + strings.Repeat("]", 61), `{}`, true},
		{"too long", `{}`, `{"title":"` + strings.Repeat("x", MaxBytes) + `"}`, true},
		{"out of range", `{"maximum":1e400}`, `{"maximum":1}`, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d := differences(test.old, test.new)
			runtime.ReadMemStats(&after)
			decided := !slices.ContainsFunc(d, func(d Difference) bool {
				return strings.Contains(d.Message, "what is beyond is not known")
			})
			if len(test.old) > 1000 && len(d) == 0 || decided != test.decided {
				t.Errorf("%d differences, decided %v", len(d), decided)
			}
			if !decided && !Breaking(d) {
				t.Error("not decided, and yet nothing breaks")
			}
			if noted := (after.TotalAlloc - before.TotalAlloc) >> 20; noted > 200 {
				t.Errorf("took %d MiB of memory in all", noted)
			}
		})
	}
}

// TestBound checks that all comparisons of two trees have one bound.
func TestBound(t *testing.T) {
	text := func(minimum int) []byte {
		var members strings.Builder
		for i := range 10_000 {
			fmt.Fprintf(&members, `"p%d":{"minimum":%d},`, i, minimum)
		}
		return []byte(`{"properties":{` + members.String() + `"z":true}}`)
	}
	old, new := map[string][]byte{"a.json": text(0)}, map[string][]byte{}
	for n := range 30 {
		new[fmt.Sprint(n)] = text(1)
	}
	trees := Trees(NewTree(old, nil, nil), NewTree(new, nil, nil), func(string) bool { return true })
	for n := range new {
		d := trees.Schemas("a.json", n)
		if strings.Contains(d[0].Message, "what is beyond is not known") {
			if len(trees.known) == 1 {
				t.Error("the first is beyond the bound")
			}
			return
		}
	}
	t.Error("thirty comparisons took less than the bound of one")
}
