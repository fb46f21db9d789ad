package docs_test

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
)

// scrape is what one reading of a file of metrics gives, by series.
type scrape map[string]float64

func readScrape(t *testing.T, file string) scrape {
	t.Helper()
	text := must.Read(t, file)
	s := scrape{}
	for row := range strings.Lines(string(text)) {
		if strings.HasPrefix(row, "#") {
			continue
		}
		at := strings.LastIndexByte(row, ' ')
		value := must.Get(strconv.ParseFloat(strings.TrimSpace(row[at+1:]), 64))(t)
		s[row[:at]] = value
	}
	return s
}

// query evaluates the part of PromQL that the page's rules use: selectors, numbers, time(), absent, absent_over_time,
// increase, - * == < > and or. A scalar is the series "".
type query struct {
	t      *testing.T
	tokens []string
	now    float64
	// earlier and latest are what was read at the begin of each range, and now.
	earlier, latest scrape
	names           map[string]bool // metrics that were asked for
}

var promToken = regexp.MustCompile(`\s+|[a-z_]+\{[^}]*\}|[a-z_]+|[0-9]+|==|[-*<>()]|\[[0-9]+d\]`)

func (q *query) fires(expr string) bool {
	q.t.Helper()
	q.tokens = nil
	for len(expr) > 0 {
		token := promToken.FindString(expr)
		if token == "" || !strings.HasPrefix(expr, token) {
			q.t.Fatalf("the test does not know %q", expr)
		}
		expr = expr[len(token):]
		if strings.TrimSpace(token) != "" {
			q.tokens = append(q.tokens, token)
		}
	}
	result := q.or()
	if len(q.tokens) > 0 {
		q.t.Fatalf("%q is left of an expression", q.tokens)
	}
	return len(result) > 0
}

func (q *query) next(wanted ...string) string {
	if len(q.tokens) == 0 || len(wanted) > 0 && !slices.Contains(wanted, q.tokens[0]) {
		return ""
	}
	token := q.tokens[0]
	q.tokens = q.tokens[1:]
	return token
}

func (q *query) or() scrape {
	all := q.comparison()
	for q.next("or") != "" {
		for series, value := range q.comparison() {
			all[series] = value
		}
	}
	return all
}

func (q *query) comparison() scrape {
	left := q.sum()
	op := q.next("==", "<", ">")
	if op == "" {
		return left
	}
	return combined(left, q.sum(), func(a, b float64) (float64, bool) {
		return a, op == "==" && a == b || op == "<" && a < b || op == ">" && a > b
	})
}

func (q *query) sum() scrape {
	left := q.product()
	for q.next("-") != "" {
		left = combined(left, q.product(), func(a, b float64) (float64, bool) { return a - b, true })
	}
	return left
}

func (q *query) product() scrape {
	left := q.term()
	for q.next("*") != "" {
		left = combined(left, q.term(), func(a, b float64) (float64, bool) { return a * b, true })
	}
	return left
}

// combined matches series by their labels; a scalar matches each.
func combined(a, b scrape, op func(a, b float64) (float64, bool)) scrape {
	out := scrape{}
	for s, x := range a {
		for r, y := range b {
			if s != "" && r != "" && labelsOf(s) != labelsOf(r) {
				continue
			}
			if value, ok := op(x, y); ok {
				out[max(labelsOf(s), labelsOf(r))] = value
			}
		}
	}
	return out
}

func labelsOf(series string) string {
	if at := strings.IndexByte(series, '{'); at >= 0 {
		return series[at:]
	}
	return series
}

func (q *query) term() scrape {
	token := q.next()
	if number, err := strconv.ParseFloat(token, 64); err == nil {
		return scrape{"": number}
	}
	if q.next("(") == "" {
		return q.selected(token, q.latest)
	}
	if token == "time" {
		q.next(")")
		return scrape{"": q.now}
	}
	selector := q.next()
	ranged := strings.HasPrefix(q.next(), "[")
	if ranged {
		q.next(")")
	}
	latest, earlier := q.selected(selector, q.latest), q.selected(selector, q.earlier)
	switch {
	case token == "absent" && !ranged && len(latest) == 0,
		token == "absent_over_time" && ranged && len(latest) == 0 && len(earlier) == 0:
		return scrape{"": 1}
	case token == "absent" && !ranged, token == "absent_over_time" && ranged:
		return scrape{}
	case token == "increase" && ranged:
		return combined(latest, earlier, func(a, b float64) (float64, bool) { return a - b, true })
	}
	q.t.Fatalf("the test does not know the function %q", token)
	return nil
}

var matcher = regexp.MustCompile(`([a-z]+)(=~?)"([^"]*)"`)

func (q *query) selected(selector string, from scrape) scrape {
	name, labels, _ := strings.Cut(strings.TrimSuffix(selector, "}"), "{")
	q.names[name] = true
	out := scrape{}
	for series, value := range from {
		if bare, _, _ := strings.Cut(series, "{"); bare != name {
			continue
		}
		all := true
		for _, m := range matcher.FindAllStringSubmatch(labels, -1) {
			want := regexp.QuoteMeta(m[3])
			if m[2] == "=~" {
				want = m[3]
			}
			all = all && regexp.MustCompile(`[{,]`+m[1]+`="(?:`+want+`)"[,}]`).MatchString(series)
		}
		if all {
			out[series] = value
		}
	}
	return out
}

// TestAlertRows checks that each alert rule of the page names its row of the table, which has a first command, and that
// each row is of an alert.
func TestAlertRows(t *testing.T) {
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert       string
				Annotations struct {
					URL string `yaml:"runbook_url"`
				}
			}
		}
	}
	decode(t, blocks(t)["rules.yml"], &rules)
	_, table, _ := strings.Cut(page(t, "mirror.md"), "\n### What to do, by alert\n")
	row := regexp.MustCompile("(?m)^\\| <a id=\"([a-z]+)\"></a>(\\w+) \\| `[a-z][^`]+` \\| .{20,} \\|$")
	rows := row.FindAllStringSubmatch(table, -1)
	if len(rows) != len(rules.Groups[0].Rules) || len(rows) < 10 {
		t.Fatalf("%d rows for %d alerts", len(rows), len(rules.Groups[0].Rules))
	}
	for i, r := range rules.Groups[0].Rules {
		want := "https://github.com/openagentprotocol-OAP/oap-gate/blob/main/docs/mirror.md#" + strings.ToLower(r.Alert)
		if row := rows[i]; r.Annotations.URL != want || row[2] != r.Alert || !strings.HasSuffix(want, "#"+row[1]) {
			t.Errorf("%s names %s; expected %s, the row %s", r.Alert, r.Annotations.URL, want, row[2])
		}
	}
}

// TestAlertRules checks which alert rules of the page fire after each run of a mirror, and that none fires while all is
// well.
func TestAlertRules(t *testing.T) {
	o := operatorOf(t, []byte("base: [{listing: eve}, {commit: eve}, {listing: fay}]\n"))
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	decode(t, o.files["rules.yml"], &rules)
	const day = 24 * time.Hour
	slug := "eve"
	args := "mirror " + o.url + " /data --peer " + strings.Replace(o.url, "origin", "peer", 1) + " --watch " + slug
	peer := filepath.Join(filepath.Dir(o.origin), "peer.git")
	o.git(".", "clone", "-q", "--bare", o.origin, peer)
	file := filepath.Join(o.root, "data", "metrics.prom")
	never := map[string]bool{}
	asked := map[string]bool{}
	var before scrape
	fire := func(after time.Duration, want ...string) {
		t.Helper()
		now := readScrape(t, file)
		if before == nil {
			before = now
		}
		q := &query{t: t, earlier: before, latest: now, names: asked,
			now: float64(o.world.Now.Add(after).Unix())}
		var got []string
		for _, rule := range rules.Groups[0].Rules {
			if _, known := never[rule.Alert]; !known {
				never[rule.Alert] = true
			}
			if q.fires(strings.ReplaceAll(rule.Expr, "my-slug", slug)) {
				got = append(got, rule.Alert)
				never[rule.Alert] = false
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s after the run the alerts %q fire, want %q", after, got, want)
		}
	}
	edit := func(series, value string) {
		t.Helper()
		text := must.Read(t, file)
		row := regexp.MustCompile(`(?m)^(` + series + `(?:\{.*\})?) .*\n`)
		if !row.Match(text) {
			t.Fatalf("there is no series %s", series)
		}
		with := "${1} " + value + "\n"
		if value == "" {
			with = ""
		}
		must.OK(t, os.WriteFile(file, row.ReplaceAll(text, []byte(with)), 0o644))
	}

	o.ends(0, ".", "oap-gate "+args)
	fire(time.Hour)
	ends := readScrape(t, file)[fmt.Sprintf(`oap_gate_listing_expiry_timestamp_seconds{registry=%q,slug=%q}`,
		strings.TrimSuffix(strings.TrimPrefix(o.url, "http://"), ".git"), slug)]
	left := time.Duration(ends-float64(o.world.Now.Unix())) * time.Second
	if left < 15*day {
		t.Fatalf("the listing ends in %s; the test needs more", left)
	}
	// The mirror is not run again.
	fire(7*time.Hour, "OAPMirrorStopped")
	fire(3*day, "OAPDidNotRun", "OAPMirrorStopped", "OAPMirrorFrozen")
	fire(left-13*day, "OAPDidNotRun", "OAPNoSuccess", "OAPOwnListingExpires", "OAPMirrorStopped", "OAPMirrorFrozen")
	// The peer dies; then all of them must agree, and the branch stands still.
	must.OK(t, os.Rename(peer, peer+".away"))
	o.ends(0, ".", "oap-gate "+args+" --peer http://127.0.0.1:1/r --peers-needed 1 --peer "+o.here("/reports")+
		" || test $? = 3")
	fire(time.Hour, "OAPPeerUnavailable")
	must.OK(t, os.Rename(peer+".away", peer))
	// The history is rewritten.
	good := o.git(o.work, "rev-parse", "HEAD")
	o.git(o.work, "-c", "commit.gpgsign=false", "commit", "-q", "--amend", "--allow-empty", "-m", "Another eleventh")
	o.push()
	o.ends(1, ".", "oap-gate "+args)
	fire(time.Hour, "OAPHistory", "OAPMirrorRewrite")
	o.git(o.work, "reset", "-q", "--hard", good)
	o.push()
	o.ends(0, ".", "oap-gate "+args)
	fire(time.Hour, "OAPMirrorRewrite") // it was undone, and is not forgotten
	before = nil
	fire(time.Hour)
	// A commit lands that fails: the origin is ahead of what is verified.
	o.git(o.work, "rm", "-q", "implementations/"+slug+".json")
	o.git(o.work, "-c", "commit.gpgsign=false", "commit", "-q", "-m", "Remove")
	o.push()
	o.ends(1, ".", "oap-gate "+args)
	fire(time.Hour, "OAPHistory", "OAPOwnListingExpires", "OAPMirrorFrozen")
	o.git(o.work, "reset", "-q", "--hard", good)
	o.push()
	o.ends(0, ".", "oap-gate "+args)
	fire(time.Hour, "OAPMirrorRewrite")
	before = nil
	fire(time.Hour)
	// It cannot run, or comes to no verdict: what was found before is not forgotten.
	o.ends(2, ".", "echo x >/data/checkpoint; oap-gate "+args)
	fire(time.Hour, "OAPDidNotRun", "OAPMirrorCouldNotRun")
	edit("oap_gate_mirror_repaired_total", "1")
	fire(time.Hour, "OAPDidNotRun", "OAPMirrorCouldNotRun", "OAPMirrorRepaired")
	for alert, silent := range never {
		if silent {
			t.Errorf("no run makes the alert %s fire", alert)
		}
	}

	// Each metric that the page or a rule names is in the file.
	text := must.Read(t, file)
	for _, name := range regexp.MustCompile(`oap_gate_[a-z_]+[a-z]`).FindAllString(o.page, -1) {
		asked[name] = true
	}
	for name := range asked {
		if !regexp.MustCompile(`(?m)^# TYPE ` + name + ` (?:gauge|counter)$`).Match(text) {
			t.Errorf("no metric %s is written", name)
		}
	}
	if len(asked) < 27 {
		t.Errorf("the page names %d metrics", len(asked))
	}
}
