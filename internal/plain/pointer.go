package plain

import (
	"strconv"
	"strings"
)

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// Unescape is the name of the member that a reference token of a JSON Pointer spells (RFC 6901 section 4), as
// strict.Escape spells it.
func Unescape(token string) string { return unescape.Replace(token) }

// Value is what a JSON Pointer (RFC 6901) leads to in a decoded JSON text, and whether there is such a value.
func Value(root any, pointer string) (value any, found bool) {
	value = root
	for rest, more := strings.CutPrefix(pointer, "/"); more; {
		var token string
		token, rest, more = strings.Cut(rest, "/")
		switch in := value.(type) {
		case map[string]any:
			if value, found = in[Unescape(token)]; !found {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) || strconv.Itoa(i) != token {
				return nil, false
			}
			value = in[i]
		default:
			return nil, false
		}
	}
	return value, true
}
