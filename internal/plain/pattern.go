package plain

import (
	"regexp"
	"sync"
)

// Pattern compiles an expression when it is first asked for: most runs of a program need few of those that it holds.
func Pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
