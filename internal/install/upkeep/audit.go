package upkeep

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// ErrReport means that a report is not that of a complete audit of the repository.
var ErrReport = errors.New("report refused")

var (
	auditMark = plain.Pattern(`^<!-- oap-gate:audit -->\r?\n`)
	checkForm = plain.Pattern(`^[a-z][a-z0-9-]{0,63}$`)
)

// maxSlugs is how many slugs the issue names of one check.
const maxSlugs = 20

// Audit plans one issue while the newest audit fails: to create it, to edit it when its numbers change, and to close it
// when an audit passes. An audit that is inconclusive changes nothing. run is the URL of the workflow run. The issue
// has no text of a listing but its slug. The error wraps ErrReport, or is a *forge.Error.
func Audit(ctx context.Context, c *forge.Client, r *verdict.Report, run string, app int64) (Plan, error) {
	if err := wholeAudit(c, r); err != nil {
		return Plan{}, fmt.Errorf("%w: %w", ErrReport, err)
	}
	writer, err := c.Writer(ctx, app)
	if err != nil {
		return Plan{}, err
	}
	open, err := ownIssues(ctx, c, writer, auditMark(), "open")
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Looked: fmt.Sprintf("audit of %s: %s", date(r.EvaluatedAt), r.Verdict)}
	switch r.Verdict {
	case verdict.Passed:
		for _, one := range open {
			why := "the audit of " + date(r.EvaluatedAt) + " passed"
			plan.Changes = append(plan.Changes, closing(one, "the audit", why))
		}
	case verdict.Failed:
		title, body := auditIssue(r)
		sent := body + lastLine(run)
		for i, one := range open {
			shown, _, _ := strings.Cut(strings.ReplaceAll(one.Body, "\r\n", "\n"), runLine)
			switch {
			case i > 0:
				plan.Changes = append(plan.Changes, closing(one, "the audit", "another issue is about it"))
			case one.Title != title || !same(shown, body):
				plan.Changes = append(plan.Changes, editing(one, title, sent))
			}
		}
		if len(open) == 0 {
			plan.Changes = append(plan.Changes, creating(writer, title, sent))
		}
	}
	return plan, nil
}

// wholeAudit refuses a report that is not that of a complete audit of the client's repository.
func wholeAudit(c *forge.Client, r *verdict.Report) error {
	switch {
	case r.Mode != "audit":
		return fmt.Errorf("its mode is %q; expected audit", r.Mode)
	case r.Verdict == verdict.Errored:
		return fmt.Errorf("it has no verdict: the audit could not run: %s", r.Error)
	case len(r.Assumed) > 0 || len(r.NotRun) > 0 || r.Shard != "":
		return fmt.Errorf("the audit is not complete: it assumed %q", slices.Concat(r.Assumed, r.NotRun))
	case !c.Is(r.Origin):
		return fmt.Errorf("it is of the registry %q; expected that of %s", r.Origin, c.Repository)
	}
	for one := range r.Results.All() {
		if !checkForm().MatchString(one.Check) {
			return fmt.Errorf("%q is not the id of a check", one.Check)
		}
	}
	return nil
}

// failures are the errors of one check.
type failures struct {
	check  string
	errors int
	slugs  []string // of records; a file whose name is not a slug has none
}

// auditIssue returns the title of the issue, and its body without the last line.
func auditIssue(r *verdict.Report) (title, body string) {
	var all []*failures
	sum := 0
	for result := range r.Results.All() {
		if result.Verdict != verdict.Failed {
			continue
		}
		i := slices.IndexFunc(all, func(f *failures) bool { return f.check == result.Check })
		if i < 0 {
			i = len(all)
			all = append(all, &failures{check: result.Check})
		}
		n := 0
		for _, f := range result.Findings {
			if f.Severity == verdict.Error {
				n++
			}
		}
		all[i].errors += max(n, 1) // a check that fails without a finding
		sum += max(n, 1)
		if slug := slugOf(result.Subject); slug != "" {
			all[i].slugs = append(all[i].slugs, slug)
		}
	}
	numbers := plain.Count(sum, "error") + " in " + plain.Count(len(all), "check")
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- oap-gate:audit -->\nThe audit of this registry fails: %s.\n\n", numbers)
	for _, f := range all {
		slices.Sort(f.slugs)
		f.slugs = slices.Compact(f.slugs)
		fmt.Fprintf(&b, "- `%s`: %s", f.check, plain.Count(f.errors, "error"))
		if len(f.slugs) > 0 {
			fmt.Fprintf(&b, ": `%s`", strings.Join(f.slugs[:min(len(f.slugs), maxSlugs)], "`, `"))
		}
		if more := len(f.slugs) - maxSlugs; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nThis issue is edited when the numbers change, and closed when an audit passes.\n")
	return "Audit failed: " + numbers, b.String()
}

// slugOf returns the slug in the path of a record, or "": no other text of a stranger gets into the issue.
func slugOf(subject string) string {
	slug, ok := strings.CutSuffix(path.Base(subject), ".json")
	if _, err := listing.Path(slug); !ok || err != nil {
		return ""
	}
	return slug
}

// runLine begins the last line, which names the run and decides nothing: each run has another one.
const runLine = "\nThe report is an artifact of "

func lastLine(run string) string {
	if !strings.HasPrefix(run, "https://") {
		return ""
	}
	return runLine + foreign.Line(run) + "\n"
}
