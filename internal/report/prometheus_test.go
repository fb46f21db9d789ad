package report

import (
	"regexp"
	"strings"
	"testing"
)

// exposition is a line of the Prometheus text format as far as it is used here.
var exposition = regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="([^"\\]|\\["\\n])*"(,[a-z_]+="([^"\\]|\\["\\n])*")*\})? -?[0-9]+)$`)

func TestPrometheusLines(t *testing.T) {
	for _, s := range hostile {
		for _, r := range poisoned(s) {
			seen := map[string]bool{}
			for _, row := range strings.Split(strings.TrimSuffix(written(t, "prometheus", r, Options{}), "\n"), "\n") {
				if !exposition.MatchString(row) {
					t.Errorf("with %q: %s", s, row)
				}
				series := row[:strings.LastIndex(row, " ")]
				if seen[series] && !strings.HasPrefix(row, "#") {
					t.Errorf("with %q a series twice: %s", s, series)
				}
				seen[series] = true
			}
		}
	}
}
