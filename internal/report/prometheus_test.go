package report

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

var (
	metricName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	oneLabel   = regexp.MustCompile(`^([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"`)
)

// exposition reads the Prometheus text format as strictly as promtool: HELP and TYPE once and first, the
// samples of a family together, no series twice, no label twice. It returns the value of each series.
func exposition(text string) (map[string]int, error) {
	series := map[string]int{}
	var done []string
	family, typed := "", false
	for _, row := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		switch fields := strings.SplitN(row, " ", 4); {
		case fields[0] == "#" && len(fields) == 4 && fields[1] == "HELP":
			if slices.Contains(done, fields[2]) || !metricName.MatchString(fields[2]) {
				return nil, fmt.Errorf("family %q is not new or no name", fields[2])
			}
			family, typed = fields[2], false
			done = append(done, family)
		case fields[0] == "#":
			kind := "gauge"
			if strings.HasSuffix(family, "_total") {
				kind = "counter"
			}
			if typed || row != "# TYPE "+family+" "+kind {
				return nil, fmt.Errorf("comment %q", row)
			}
			typed = true
		default:
			name, value, err := sampled(row)
			if err != nil {
				return nil, err
			}
			if bare, _, _ := strings.Cut(name, "{"); bare != family || !typed {
				return nil, fmt.Errorf("series %q in the family %q", name, family)
			}
			if _, ok := series[name]; ok {
				return nil, fmt.Errorf("series %q twice", name)
			}
			series[name] = value
		}
	}
	return series, nil
}

func sampled(row string) (string, int, error) {
	end := strings.LastIndexByte(row, ' ')
	if end < 0 {
		return "", 0, fmt.Errorf("row %q", row)
	}
	number, err := strconv.ParseFloat(row[end+1:], 64)
	if err != nil {
		return "", 0, err
	}
	value := int(number)
	name, rest, labelled := strings.Cut(row[:end], "{")
	if !metricName.MatchString(name) {
		return "", 0, fmt.Errorf("name %q", name)
	}
	names := map[string]bool{}
	for labelled && rest != "}" {
		found := oneLabel.FindStringSubmatch(rest)
		if found == nil || names[found[1]] {
			return "", 0, fmt.Errorf("labels %q", rest)
		}
		names[found[1]] = true
		rest = strings.TrimPrefix(rest[len(found[0]):], ",")
	}
	return row[:end], value, nil
}

func TestPrometheusFormat(t *testing.T) {
	for _, s := range hostile {
		for _, r := range poisoned(s) {
			r.Mode = "audit"
			if _, err := exposition(written(t, "prometheus", r, Options{})); err != nil {
				t.Errorf("with %q: %v", s, err)
			}
		}
	}
	for _, bad := range []string{"x 1", "# HELP x y\nx 1", "# HELP x y\n# TYPE x gauge\nx 1\nx 2",
		"# HELP x y\n# TYPE x gauge\nx{a=\"b\"c\"} 1", "# HELP x y\n# TYPE x gauge\ny 1"} {
		if _, err := exposition(bad + "\n"); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

func TestPrometheusOfAnAudit(t *testing.T) {
	series := map[string]int{}
	all := must.Get(exposition(written(t, "prometheus", audited(), Options{})))(t)
	own := fmt.Sprintf("registry=%q", audited().Origin)
	for name, value := range all {
		if !strings.Contains(name, "{"+own) {
			t.Errorf("%s has no label %s", name, own)
		}
		series[strings.NewReplacer("{"+own+",", "{", "{"+own+"}", "").Replace(name)] = value
	}
	for name, want := range map[string]int{
		`oap_gate_verdict{verdict="fail"}`:                        1,
		`oap_gate_verdict{verdict="pass"}`:                        0,
		`oap_gate_listings{status="valid"}`:                       4,
		`oap_gate_listings{status="revoked"}`:                     1,
		`oap_gate_listings{status="expired"}`:                     1,
		`oap_gate_listing_seconds_to_expiry{slug="acme"}`:         60 * 86400,
		`oap_gate_listing_seconds_to_expiry{slug="hasty"}`:        90 * 60,
		`oap_gate_listing_expiry_timestamp_seconds{slug="hasty"}`: int(noon.Unix()) + 90*60,
		`oap_gate_commits`:                                        12,
		`oap_gate_commits_judged`:                                 5,
		`oap_gate_head_timestamp_seconds`:                         int(noon.Unix()) - 3600,
		`oap_gate_commit_signatures{signature="unknown key"}`:     1,
		`oap_gate_peers{state="split"}`:                           1,
		`oap_gate_peers{state="ahead"}`:                           0,
		`oap_gate_evaluated_timestamp_seconds`:                    int(noon.Unix()),
	} {
		if got, ok := series[name]; !ok || got != want {
			t.Errorf("%s is %d (there: %v), want %d", name, got, ok, want)
		}
	}
	for _, name := range []string{`oap_gate_listing_seconds_to_expiry{slug="gone"}`,
		`oap_gate_listing_seconds_to_expiry{slug="late"}`, "oap_gate_last_success_timestamp_seconds"} {
		if _, ok := series[name]; ok {
			t.Errorf("%s is there", name)
		}
	}
}

func TestPrometheusIsBounded(t *testing.T) {
	r := frame()
	r.Mode = "audit"
	for i := range 3 * maxExpiries {
		end := noon.Add(time.Duration(3*maxExpiries-i) * time.Hour)
		r.Listings = append(r.Listings, verdict.Listing{Slug: fmt.Sprintf("s-%d", i), Status: verdict.StatusValid,
			ExpiresAt: &end})
	}
	series := must.Get(exposition(written(t, "prometheus", r, Options{})))(t)
	n := 0
	for name := range series {
		if strings.HasPrefix(name, "oap_gate_listing_seconds_to_expiry") {
			n++
		}
	}
	if first := series[fmt.Sprintf(`oap_gate_listing_seconds_to_expiry{slug="s-%d"}`,
		3*maxExpiries-1)]; n != maxExpiries || first != 3600 {
		t.Errorf("%d listings have a series, the first ends in %d s", n, first)
	}
	if got := series["oap_gate_last_success_timestamp_seconds"]; got != int(noon.Unix()) {
		t.Errorf("last success is %d", got)
	}
}

// A collector may read at any moment: the file is the old one or the new one, never a part.
func TestPrometheusFileIsRenamedIntoPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oap.prom")
	must.OK(t, os.WriteFile(path, []byte("old\n"), 0o644))
	before := must.Get(os.Stat(path))(t)
	must.OK(t, Count(audited()).WriteFile(path, "prometheus", Options{}))
	after := must.Get(os.Stat(path))(t)
	if os.SameFile(before, after) {
		t.Error("the old file was written over")
	}
	text := must.Read(t, path)
	if _, err := exposition(string(text)); err != nil {
		t.Error(err)
	}
}
