package typed

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// ParseSpan reads 10s, 5m, 36h, 30d or 1d12h: what [time.ParseDuration] takes, with whole days before it. It refuses
// what is less than 0.
func ParseSpan(text string) (time.Duration, error) {
	days, rest, has := strings.Cut(text, "d")
	if !has {
		days, rest = "0", text
	} else if rest == "" {
		rest = "0"
	} else if strings.ContainsAny(rest[:1], "+-") {
		return 0, fmt.Errorf("%q has a sign after its days", text)
	}
	n, err := strconv.ParseInt(days, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	d, err := time.ParseDuration(rest)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	if n < 0 || d < 0 {
		return 0, fmt.Errorf("%q is negative", text)
	}
	if n > int64((math.MaxInt64-d)/plain.Day) {
		return 0, fmt.Errorf("%q is more than %s", text, plain.Span(math.MaxInt64))
	}
	return time.Duration(n)*plain.Day + d, nil
}
