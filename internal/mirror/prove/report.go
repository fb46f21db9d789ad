package prove

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Report is what the check of a proof found. A member is absent as long as nothing verified it.
type Report struct {
	Version int          `json:"version" jsonschema:"enum=1,description=version of this format"`
	Tool    verdict.Tool `json:"tool" jsonschema:"description=the program that checked the proof"`
	Verdict string       `json:"verdict" jsonschema:"enum=pass,enum=fail,enum=inconclusive,description=outcome of the check"`
	Code    string       `json:"code,omitempty" jsonschema:"description=of the first step that fails"`
	Message string       `json:"message,omitempty" jsonschema:"description=what is wrong\\, if the verdict is not pass"`
	Fix     string       `json:"fix,omitempty" jsonschema:"description=what would pass"`
	Assumed []string     `json:"assumed" jsonschema:"description=flags that replace the clock"`
	At      time.Time    `json:"at" jsonschema:"description=time by which was judged"`
	Slug    string       `json:"slug" jsonschema:"description=slug of the listing"`

	ToolDID       string     `json:"tool_did,omitempty" jsonschema:"description=DID of the implementation"`
	Level         string     `json:"level,omitempty" jsonschema:"description=conformance level"`
	Status        string     `json:"status,omitempty" jsonschema:"enum=valid,enum=provisional,enum=expiring,enum=expired,enum=revoked,enum=refused,description=status of the listing"`
	Until         *time.Time `json:"until,omitempty" jsonschema:"description=end of the listing"`
	ReceiptSHA256 string     `json:"receipt_sha256,omitempty" jsonschema:"description=SHA-256 that the listing pins"`
	Commit        string     `json:"commit,omitempty" jsonschema:"description=newest commit of the log"`
	AsOf          *time.Time `json:"as_of,omitempty" jsonschema:"description=at which the quorum vouched for the log"`
	Cosigned      int        `json:"cosigned" jsonschema:"description=witnesses of the policy that cosigned"`
	Witnesses     int        `json:"witnesses" jsonschema:"description=of the policy"`
	Log           string     `json:"log,omitempty" jsonschema:"description=verifier key that signed"`
}

// NewReport returns the report of a check that ended with a refusal, nil for none.
func NewReport(tool verdict.Tool, slug string, r *proof.Result, refusal *proof.Refusal, at time.Time,
	assumed []string) *Report {
	rep := &Report{Version: 1, Tool: tool, Verdict: string(verdict.Passed), Assumed: append([]string{}, assumed...),
		At: at.UTC(), Slug: slug, Cosigned: r.Cosigned, Witnesses: r.Witnesses, Commit: r.Entry.Commit}
	if refusal != nil {
		rep.Verdict, rep.Code = string(verdict.Failed), refusal.Code
		rep.Message, rep.Fix = refusal.Message, refusal.Fix()
		if refusal.Undated {
			rep.Verdict = string(verdict.Inconclusive)
		}
	}
	if r.Log != nil {
		rep.Log = r.Log.String()
	}
	if !r.AsOf.IsZero() {
		rep.AsOf = &r.AsOf
	}
	l := &r.Listing
	if l.Slug == "" {
		return rep
	}
	rep.ToolDID, rep.Level, rep.Until, rep.ReceiptSHA256 = l.DID, l.Level, &l.Expires, l.ReceiptSHA256
	switch {
	case r.Refused:
		rep.Status = verdict.StatusRefused
	case r.Revoked:
		rep.Status = verdict.StatusRevoked
	case !at.Before(l.Expires):
		rep.Status = verdict.StatusExpired
	case l.Provisional:
		rep.Status = verdict.StatusProvisional
	case l.Expires.Sub(at) < verdict.Soon:
		rep.Status = verdict.StatusExpiring
	default:
		rep.Status = verdict.StatusValid
	}
	return rep
}

// WriteText writes the report for people. The last line begins with the verdict.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s%s\n", name, foreign.Line(fmt.Sprintf(format, args...)))
	}
	if r.Status != "" {
		line("slug", "%s", r.Slug)
		line("DID", "%s", r.ToolDID)
		line("level", "%s", r.Level)
		line("status", "%s", r.Status)
		line("until", "%s", r.Until.Format(time.RFC3339Nano))
		line("Receipt", "%s", r.ReceiptSHA256)
	}
	if r.Commit != "" {
		line("commit", "%s", r.Commit)
	}
	if r.AsOf != nil {
		line("as of", "%s, cosigned by %d of %d witnesses", r.AsOf.Format(time.RFC3339), r.Cosigned, r.Witnesses)
	} else if r.Log != "" {
		line("as of", "an unknown time, cosigned by %d of %d witnesses", r.Cosigned, r.Witnesses)
	}
	if r.Log != "" {
		line("log", "%s", r.Log)
	}
	end := fmt.Sprintf("the log lists %s at this commit, without a revocation", r.Slug)
	if r.Code != "" {
		fmt.Fprintf(&b, "error: %s [%s]\n  fix: %s\n", foreign.Line(r.Message), r.Code, foreign.Line(r.Fix))
		end = fmt.Sprintf("the proof does not show a valid listing of %s", r.Slug)
	}
	if len(r.Assumed) > 0 {
		end += "; assumed: " + strings.Join(r.Assumed, ", ")
	}
	fmt.Fprintf(&b, "%s: %s\n", r.Verdict, foreign.Line(end))
	_, err := io.WriteString(w, b.String())
	return err
}
