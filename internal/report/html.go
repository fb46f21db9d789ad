package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page's template and style
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

var (
	//go:embed html.tmpl
	pageText string
	//go:embed html.css
	pageStyle string
)

// maxPage bounds the html format, in bytes. Each part of the page has a room of its own, so that many findings
// do not push the listings out; what does not fit is counted.
const maxPage = 8 << 20

const (
	headRoom     budget = 192 << 10 // flags, governance files, reasons
	findingsRoom budget = 1536 << 10
	historyRoom  budget = 256 << 10
	listingsRoom budget = 3840 << 10
	impactRoom   budget = 512 << 10
	resultsRoom  budget = 512 << 10
	evidenceRoom budget = 256 << 10
)

// budget is what is left of the bytes of a part.
type budget int

// take reports whether markup of so many bytes and the texts still fit, and takes them if so.
func (r *budget) take(markup int, texts ...string) bool {
	for _, t := range texts {
		if budget(markup) > *r {
			break // of many rows most come when there is no room left
		}
		t = line(t)
		markup += len(t) + 4*strings.Count(t, "&") // an entity has at most five bytes
		for _, c := range `<>"'+` {
			markup += 4 * strings.Count(t, string(c))
		}
	}
	if budget(markup) > *r {
		*r = 0 // nothing later in the order may slip in
		return false
	}
	*r -= budget(markup)
	return true
}

// maxRows is how many rows of a table stand in one collapsible part: closed ones cost a browser nothing.
const maxRows = 500

// maxShown is how many listings of a status are shown at most, whatever room there is; the rest is counted.
const maxShown = 10_000

// maxOpen is up to how many rows parts of a table are open when the page is opened.
const maxOpen = 60

var htmlPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"line": line, "class": class, "symbol": symbol, "url": linked, "when": when, "count": plain.Count,
		"short": abbreviated,
	}).Parse(strings.Replace(pageText, "STYLE-HASH", styleHash(), 1)))
})

// style is the whole style element. The width of each bar is a class, since the policy forbids style attributes.
var style = sync.OnceValue(func() template.CSS {
	var b strings.Builder
	b.WriteString(pageStyle)
	for d := range validity + 1 {
		fmt.Fprintf(&b, ".d%d{--n:%[1]d}", d)
	}
	return template.CSS(b.String())
})

func styleHash() string {
	sum := sha256.Sum256([]byte(style()))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// view is what the template shows of a report.
type view struct {
	*verdict.Report
	Style       template.CSS
	Heading     string
	BaseNoted   string // date and subject of the base commit, if known
	HeadNoted   string
	Examined    string
	Outcomes    string
	Attested    string // how many requirements are for people, where there are any
	Caveat      string // what keeps a pass from saying more than was seen
	Assumed     capped
	NotRun      capped
	Governance  capped
	Applied     capped // at the forge
	Unread      capped
	Checks      []checkRow
	Findings    []severityGroup
	Each        []commitBlock
	History     *historyView
	Listings    *listingsView
	Witnesses   *witnessView
	Subjects    [][]titled
	Matrix      *matrix
	Documents   []evidenceGroup
	DocumentCut int
}

// writeHTML writes one page that loads nothing else: it has no script and makes no request.
func writeHTML(b *bufio.Writer, r *Counted, o Options) error {
	head := headRoom
	v := &view{Report: r.Report, Style: style(), Heading: heading(r.Report, line),
		BaseNoted: noted(r.Report, r.Base), HeadNoted: noted(r.Report, r.Head),
		Examined: examined(r, line), Outcomes: outcomes(r.Report), Attested: attested(r.Counts.Manual),
		Assumed: fit(&head, r.Assumed), NotRun: fit(&head, r.NotRun), Governance: fit(&head, r.Governance),
		Checks: checkRows(&head, r, o.Rules), History: newHistory(r)}
	if isEach(r.Report) {
		v.Each = commitBlocks(r, o.Rules)
	} else {
		left := findingsRoom
		v.Findings = groupFindings(r.Report, r.severities, r.findings(), &left,
			func(f placed) bool { return !slices.Contains(ofHistory, f.check) })
	}
	if r.Mode == "audit" && r.Verdict != verdict.Errored {
		v.Listings, v.Witnesses = newListings(r.Report), newWitnesses(r.Report)
	}
	if r.Declared && r.Verdict == verdict.Passed {
		v.Caveat = sentence(onlyDeclared) + "."
	}
	if r.Installation != nil {
		v.Applied, v.Unread = fit(&head, r.Installation.Applied), fit(&head, r.Installation.Unread)
	}
	v.Subjects, v.Matrix = results(r, o.Rules)
	v.Documents, v.DocumentCut = documents(r.Report)
	if err := htmlPage().Execute(b, v); err != nil {
		return fmt.Errorf("writing page: %w", err)
	}
	return nil
}

// ofSpecification is the title of a report of mode governance.
const ofSpecification = "Governance of a specification"

// heading says what a report is about; show makes foreign text safe for its format.
func heading(r *verdict.Report, show func(string) string) string {
	shown := func(text string) string { return show(cut(text, 200)) }
	registry := "a registry"
	if r.Origin != "" {
		registry = "the registry " + shown(r.Origin)
	}
	part := func(name, value string) string {
		if value == "" {
			return ""
		}
		return ", " + name + " " + value
	}
	switch r.Mode {
	case "audit":
		return "Audit of " + registry + part("part", show(r.Shard))
	case "governance":
		return ofSpecification
	case "doctor":
		return "Installation of the gate"
	case "protect":
		return "Protections of the branch"
	case "conformance":
		return "Conformance to " + shown(r.Protocol) + part("level", levelOf(r))
	case "verify":
		of := plain.Count(r.Counts.Records, "target")
		for result := range r.Results.All() {
			if r.Counts.Records == 1 {
				of = shown(result.Subject)
			}
			break
		}
		return "Verification of " + of
	}
	return "Check of a change to " + registry
}

// noted returns the date and the subject of a commit, if the report has them.
func noted(r *verdict.Report, id string) string {
	for _, c := range r.Commits {
		if c.ID == id && id != "" {
			return "of " + when(c.Time) + ", " + strconv.Quote(cut(line(c.Subject), 200))
		}
	}
	return ""
}

// capped is a list of foreign texts, and how many more there are.
type capped struct {
	Items []string
	More  int
}

func fit(left *budget, items []string) capped {
	for i, item := range items {
		if !left.take(32, item) {
			return capped{items[:i], len(items) - i}
		}
	}
	return capped{Items: items}
}

// classes are the colors of verdicts, severities and statuses; others have the color n.
var classes = map[string]string{
	"pass": "p", verdict.StatusValid: "p", "same": "p",
	"fail": "f", "error": "f", verdict.StatusInvalid: "f", verdict.StatusRevoked: "f", "bad": "f", "split": "f",
	verdict.StatusRefused: "f",
	"inconclusive":        "q", "unavailable": "q", verdict.StatusUnreachable: "q",
	"warn": "w", "warning": "w", verdict.StatusExpiring: "w", verdict.StatusExpired: "w",
}

// symbols say the same as the colors.
var symbols = map[string]string{"p": "✓", "f": "✗", "q": "?", "w": "!", "n": "·"}

func class(word string) string { return cmp.Or(classes[word], "n") }

func symbol(word string) string {
	switch word {
	case "skip", "notice", verdict.StatusProvisional:
		return "–"
	}
	return symbols[class(word)]
}

// linked returns a URL that may become a link, or "".
func linked(url string) string {
	if len(url) > 2000 || !linkable().MatchString(url) {
		return ""
	}
	return url
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// abbreviated returns the start of a hash, enough to distinguish it from others.
func abbreviated(hash string) string {
	if len(hash) > 16 && plain.IsHex(hash) {
		return hash[:16]
	}
	return line(hash)
}

// chunks cuts rows into parts of maxRows. Those within the first maxOpen rows of a table are open.
func chunks[T any](rows []T, shown *int) []chunk[T] {
	var all []chunk[T]
	for from := 0; from < len(rows); from += maxRows {
		part := rows[from:min(from+maxRows, len(rows))]
		all = append(all, chunk[T]{From: from + 1, To: from + len(part), Open: *shown+len(part) <= maxOpen, Rows: part})
		*shown += len(part)
	}
	return all
}

type chunk[T any] struct {
	From, To int
	Open     bool
	Rows     []T
}
