package oasis

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

var contractRule = verdict.Rule{
	ID:    "oasis-contract",
	Title: "the profile's contract can be read, and a provider can meet it",
	Cite:  "OASIS Provider Conformance sections 3.8.3 (4) and 5",
	Why:   "against a contract that contradicts itself every provider fails, whatever it does",
	Fix:   "use a version of the profile whose files agree, or tell its authors",
	Codes: []strict.Code{
		{"contract-unreadable", "a file of the contract cannot be read, or requires nothing",
			"check the profile out again, or tell its authors"},
		{"contract-unknown-type", "a requirement has a type, an operator or an expected value that means nothing",
			"tell the profile's authors: no provider can meet it"},
		{"contract-contradicts", "the schema refuses what the requirements need, so that no provider can pass",
			"use a version of the profile whose schema admits it, or tell its authors"},
		{"contract-version", "the two files of the contract name two versions of the profile",
			"tell the profile's authors; the YAML's is judged by"},
		{"contract-key", "the schema requires a key that the requirements do not have", "tell the profile's authors"},
	},
}

func judgeContract(in *Input) verdict.Outcome {
	c := in.contract
	out := c.out
	if c.readable {
		out.Verified = quoted(c.Profile) + " " + plain.Cut(c.Version, 100) + ", " + strconv.Itoa(len(c.requirements)) +
			" requirements"
	}
	return out
}

// hold holds the schema against the requirements.
func (c *Contract) hold() {
	if c.schema == nil || !c.readable {
		return
	}
	keys := map[string]bool{}
	for _, r := range c.requirements {
		keys[r.key] = true
		if r.unreadable || !r.required {
			continue
		}
		if why := c.contradiction(r); why != "" {
			c.unmeetable[r.key] = true
			c.out.Errorf(c.place, "/requirements/"+strict.Escape(r.key), "contract-contradicts",
				"requirement %s cannot be met by anybody: %s", quoted(r.key), why)
		}
	}
	for _, key := range c.required {
		if !keys[key] {
			c.out.Warnf(verdict.At{Path: c.path}, "/requirements", "contract-key",
				"the schema requires the key %s, and the requirements do not have it", quoted(key))
		}
	}
}

// open are the keywords that say nothing against an example: another value that satisfies the requirement satisfies
// them.
var open = []string{"required", "minItems", "contains", "minContains", "minProperties", "uniqueItems"}

// contradiction says why the schema admits no value that satisfies a requirement, or returns "" if it may admit one. It
// tries the value that the requirement expects, or a value that satisfies it; of such a value only the type and the key
// count.
func (c *Contract) contradiction(r requirement) string {
	example, exact := c.example(r)
	if values, closed := c.enums[r.key]; closed && r.kind == "integer" && !r.ofTier {
		if !slices.ContainsFunc(values, func(v any) bool { return r.satisfied(v, 0) }) {
			return "the enum of the schema holds no value that " + r.wants(0) + " admits"
		}
	}
	pointer := "/" + strict.Escape(r.key)
	for _, v := range c.schema.Validate(map[string]any{r.key: example}) {
		under := v.Pointer == pointer || strings.HasPrefix(v.Pointer, pointer+"/")
		if !under || slices.Contains(open, v.Keyword) {
			continue
		}
		if exact || slices.Contains([]string{"type", "additionalProperties", "propertyNames", "false"}, v.Keyword) {
			at, _ := plain.Value(map[string]any{r.key: example}, v.Pointer)
			return "the schema reports for " + show(at) + " at " + v.Pointer + ": " + v.Message
		}
	}
	return ""
}

// example returns a value that satisfies a requirement; exact says that no other value does, except for entries of a
// list.
func (c *Contract) example(r requirement) (v any, exact bool) {
	switch r.kind {
	case "string", "boolean", "array":
		return r.expected, true
	case "integer":
		n := r.value
		switch r.operator {
		case "gt":
			n++
		case "lt":
			n--
		}
		return json.Number(strconv.FormatInt(n, 10)), r.operator == "eq" && !r.ofTier
	}
	return []any{r.bound.bounds[0].version}, false
}
