package authorcmd

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/prove"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

// listOptions are the flags of list.
type listOptions struct {
	frame.Network // only its flag for the clock is defined
	repo, rev     string
	level, did    string
	statuses      []string
	within        time.Duration
	format        string
	since         int64 // -1: list the implementations
}

func NewList(sys frame.IO) *cobra.Command {
	var o listOptions
	c := &cobra.Command{
		Use:   "list",
		Short: "list implementations with level, status and expiry",
		Long: `list reads only a clone: a status is what Git shows, and no document was fetched. For each listing it
prints the first-parent commit that gave the file its present content. Provisional listings are left
out unless --status names them. See verify and audit for what the documents say.

With --since it prints one JSON object a line for each record, and each revoked/SLUG-HASH, that was added,
modified or removed after the first SIZE commits, and last the size and the root of the log.`,
		Example: `  oap-gate list
  oap-gate list --level L2+ --format csv > listed.csv
  oap-gate list --within 14d --status valid,provisional,expiring
  oap-gate list --did did:web:tool.example --format json
  oap-gate list --since 120 --repo oap-registry`,
		Args: frame.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd.Flags()); err != nil {
				return err
			}
			return o.list(cmd.Context(), sys)
		},
	}
	f := c.Flags()
	frame.BindRepo(c, &o.repo)
	f.StringVar(&o.rev, "rev", "",
		"commit `REV` to read (default: HEAD or main of the remote upstream, else of origin, else main)")
	o.BindAt(c.Flags())
	f.StringVar(&o.level, "level", "",
		"conformance `LEVEL`; only this one, or with + after it also higher ones, with any suffix")
	f.StringSliceVar(&o.statuses, "status", nil, "only listings with this `STATUS`, or several joined by commas: "+
		strings.Join(listing.Statuses, ", ")+" (default: all except provisional)")
	frame.DurationVar(f, &o.within, "within", "0", "time until expiry; only listings with less; 0 for any")
	f.StringVar(&o.did, "did", "", "`DID` of the implementation; only this one, and exit status 1 if it is not listed")
	f.StringVar(&o.format, "format", "text", "`FORMAT` of stdout: text, json or csv")
	f.Int64Var(&o.since, "since", 0, "print what changed after the first `SIZE` commits, 0 for all that ever did")
	return c
}

func (o *listOptions) check(f *pflag.FlagSet) error {
	if !f.Changed("since") {
		o.since = -1
	} else {
		for _, other := range []string{"at", "level", "status", "within", "did", "format"} {
			if f.Changed(other) {
				return remedy.Errorf("leave --"+other+" out", "--since and --%s exclude one another", other)
			}
		}
		if o.since < 0 {
			return remedy.Errorf("give --since 0 for the whole history", "--since %d is not a SIZE", o.since)
		}
	}
	if err := o.Network.Check(); err != nil {
		return err
	}
	if err := typed.OneOf("--format", o.format, "text", "json", "csv"); err != nil {
		return err
	}
	for i, s := range o.statuses {
		o.statuses[i] = strings.TrimSpace(s)
		if err := typed.OneOf("--status", o.statuses[i], listing.Statuses...); err != nil {
			return err
		}
	}
	if l := level.Level(strings.TrimSuffix(o.level, "+")); o.level != "" && l.Base() < 0 {
		return remedy.Errorf("write it like L2, L1-NC or L2+", "--level %q is not a level", o.level)
	}
	return checkDID(o.did)
}

func (o *listOptions) list(ctx context.Context, sys frame.IO) error {
	repo, err := frame.OpenClone(sys, o.repo)
	if err != nil {
		return err
	}
	defer repo.Close()
	mirror, commit, how, err := verify.Choose(ctx, repo, o.repo, o.rev)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(sys.Stdout)
	if o.since >= 0 {
		if err := prove.Changes(ctx, repo, commit, o.since, escaped{out}); err != nil {
			return err
		}
		return out.Flush()
	}
	if err := verify.HasRecords(ctx, repo, commit); err != nil {
		return remedy.Errorf("name the clone of a registry with --repo", "%v", err)
	}
	var refused []string
	if mirror != nil {
		refused = mirror.Refused
		if mirror.Frozen != "" {
			frame.Warn(sys, "the mirror is frozen since %s: %s [mirror-frozen]", stampSeconds(mirror.FreshAt),
				mirror.Frozen)
		}
		if commit != mirror.Tip {
			frame.Warn(sys, "the mirror judged commit %.12s; of commit %.12s it refuses only the records that both "+
				"have", mirror.Tip, commit)
		}
	}
	rows, err := listing.Read(ctx, repo, commit, o.Now(), refused)
	if err != nil {
		return err
	}
	if n := len(rows.Unread); n > 0 {
		frame.Warn(sys, "%s cannot be read, such as %s, and may revoke what is listed: verify decides nothing about "+
			"it [clone-unreadable]", plain.Count(n, "file"), plain.Cut(rows.Unread[0], 300))
	}
	all := len(rows.Listings)
	shown := []listing.Row{} // in JSON a list, also where nothing is listed
	hidden := 0
	for _, r := range rows.Listings {
		switch {
		case !o.matches(&r, rows.At):
		case o.statuses == nil && r.Status == verdict.StatusProvisional:
			hidden++
		case o.statuses == nil || slices.Contains(o.statuses, r.Status):
			shown = append(shown, r)
		}
	}
	rows.Listings = shown
	switch o.format {
	case "json":
		// Which streams: a hundred thousand rows are not held a second time as text.
		if err := json.MarshalWrite(escaped{out}, rows, jsontext.AllowInvalidUTF8(true), // a file's name is any bytes
			jsontext.WithIndent("  ")); err != nil {
			return err
		}
		_ = out.WriteByte('\n')
	case "csv":
		writeRowsCSV(out, shown)
	default:
		fmt.Fprintf(out, "commit %s (%s), as of %s\n\n", plain.Short(commit), foreign.Line(how), stampSeconds(rows.At))
		writeRows(out, shown, o.did != "", sys.OutWidth)
		fmt.Fprintf(out, "%d of %d listings", len(shown), all)
		if hidden > 0 {
			fmt.Fprintf(out, ", %d provisional left out (--status provisional)", hidden)
		}
		fmt.Fprintln(out, "\nno document was fetched: oap-gate verify and oap-gate audit check them")
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if o.did != "" && len(shown) == 0 {
		if hidden > 0 {
			frame.Warn(sys, "a provisional listing was left out; --status provisional shows it")
		}
		return frame.Judged(nil, verdict.Failed)
	}
	return nil
}

// escaped writes JSON that is as harmless in a log as the JSON report. Each write has whole lines or tokens.
type escaped struct{ to io.Writer }

func (e escaped) Write(lines []byte) (int, error) {
	_, err := e.to.Write(foreign.JSON(lines))
	return len(lines), err
}

// matches reports whether a row passes the filters but that of the status.
func (o *listOptions) matches(r *listing.Row, at time.Time) bool {
	has, asked := level.Level(r.Level), level.Level(strings.TrimSuffix(o.level, "+"))
	switch {
	case o.did != "" && !did.Same(r.ToolDID, o.did):
		return false
	case o.within > 0 && (r.Until == nil || !at.Before(*r.Until) || r.Until.Sub(at) > o.within):
		return false
	case strings.HasSuffix(o.level, "+"):
		return listing.AtLeast(has, asked)
	}
	return o.level == "" || has == asked
}

// stampSeconds formats a time for people, in UTC.
func stampSeconds(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// until returns the end of a row, or "".
func until(r *listing.Row) string {
	if r.Until == nil {
		return ""
	}
	return r.Until.UTC().Format("2006-01-02T15:04:05.999Z")
}

// writeRows writes a table whose columns are as wide as their cells. It has the columns that fit 80, and all of them if
// whole is set or a terminal of that width shows them.
func writeRows(out io.Writer, rows []listing.Row, whole bool, terminal int) {
	lines := [][]string{{"slug", "level", "status", "until", "DID", "Receipt", "commit", "of"}}
	for i := range rows {
		r := &rows[i]
		line := []string{r.Slug, r.Level, r.Status, until(r), r.ToolDID,
			r.ReceiptSHA256[:min(12, len(r.ReceiptSHA256))], plain.Short(r.Commit), stampSeconds(r.CommittedAt)}
		for i := range line {
			line[i] = cmp.Or(foreign.Line(line[i]), "-")
		}
		lines = append(lines, line)
	}
	aligned := func(columns int) []byte {
		var b bytes.Buffer
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, line := range lines {
			fmt.Fprintln(w, strings.Join(line[:columns], "\t"))
		}
		w.Flush()
		return b.Bytes()
	}
	text := aligned(len(lines[0]))
	tooWide := func(line []byte) bool { return utf8.RuneCount(line) > terminal }
	if !whole && slices.ContainsFunc(bytes.Split(text, []byte("\n")), tooWide) {
		text = aligned(4)
	}
	_, _ = out.Write(text)
}

// writeRowsCSV writes comma-separated values (RFC 4180), in which no cell is one that a spreadsheet would run.
func writeRowsCSV(out io.Writer, rows []listing.Row) {
	w := csv.NewWriter(out)
	_ = w.Write([]string{"slug", "tool_did", "level", "status", "until", "receipt_sha256", "commit", "committed_at"})
	for i := range rows {
		r := &rows[i]
		line := []string{r.Slug, r.ToolDID, r.Level, r.Status, until(r), r.ReceiptSHA256, r.Commit,
			stampSeconds(r.CommittedAt)}
		for i := range line {
			cell := foreign.Line(line[i])
			line[i] = cell
			if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
				line[i] = "'" + cell
			}
		}
		_ = w.Write(line)
	}
	w.Flush()
}
