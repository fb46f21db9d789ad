package mirror

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// MaxAccepted is the size of the largest file of accepted findings that is read.
const MaxAccepted = 1 << 20

const leastWords = 3

// ParseAccepted reads findings of the past that cannot be fixed: lines COMMIT CHECK/CODE reason…, with full ids, a
// check of the history and a reason of three words or more. It ignores empty lines and those that begin with #.
func ParseAccepted(text []byte) (*verdict.Accepted, error) {
	a := &verdict.Accepted{SHA256: fmt.Sprintf("%x", sha256.Sum256(text)), Lines: []verdict.AcceptedLine{}}
	n := 0
	for row := range strings.Lines(string(text)) {
		n++
		words := strings.Fields(row)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		line, err := acceptedLine(words)
		if err != nil {
			return nil, remedy.Errorf("write COMMIT CHECK/CODE and a reason of three words, as "+
				"`6f0c… consistency/history-rewritten a pull made the tip a second parent`",
				"line %d of --accepted: %w", n, err)
		}
		a.Lines = append(a.Lines, line)
	}
	return a, nil
}

func acceptedLine(words []string) (l verdict.AcceptedLine, err error) {
	if _, err := gitobject.ParseID(words[0]); err != nil {
		return l, fmt.Errorf("the commit %.80q is not a full id", words[0])
	}
	if len(words) < 2+leastWords {
		return l, fmt.Errorf("%d words; expected a commit, CHECK/CODE and a reason of at least %d", len(words),
			leastWords)
	}
	check, code, _ := strings.Cut(words[1], "/")
	if !isAcceptable(check, code) {
		return l, fmt.Errorf("%.80q is not a check of the history with one of its codes", words[1])
	}
	return verdict.AcceptedLine{Commit: words[0], Check: check, Code: code, Reason: strings.Join(words[2:], " ")}, nil
}

// isAcceptable reports whether a check of the history has a code that a line may accept.
func isAcceptable(id, code string) bool {
	has := func(codes []checks.Code) bool {
		return slices.ContainsFunc(codes, func(c checks.Code) bool { return c.ID == code })
	}
	if code == codeServedOlder { // a mirror never moves back
		return false
	}
	// The history is judged by the rules of a pull request, whose codes its findings have.
	return slices.ContainsFunc(own, func(e verdict.Entry[*audit]) bool { return e.ID == id && has(e.Codes) }) ||
		id == history.ID && slices.ContainsFunc(checks.All, func(c *checks.Check) bool { return has(c.Codes) })
}

// acceptFix returns the fix of a finding at a merged commit, which nobody can change any more. Only a warning is taken
// without asking.
func acceptFix(check string, f verdict.Finding) string {
	if f.Commit == "" || f.Severity != verdict.Error && f.Severity != verdict.Warning {
		return f.Fix
	}
	fix := fmt.Sprintf("accept it: add the line %s %s/%s REASON to the file of --accepted", f.Commit, check, f.Code)
	if f.Severity == verdict.Error {
		return "ask the maintainers who made the commit and why; if it does no harm, " + fix
	}
	return fix
}

// TakesRewrite reports whether a line accepts that the history lost a commit.
func TakesRewrite(l verdict.AcceptedLine) bool {
	return l.Check == consistency.ID && l.Code == checks.CodeHistoryRewritten
}

// accept makes warnings of the findings of consistency that were accepted, and a warning of each such line that is of
// none.
func (v *Verified) accept(ctx context.Context, repo *registry.Repository, head string,
	findings []verdict.Finding) ([]verdict.Finding, error) {
	a := v.named.Accepted
	if a == nil {
		return findings, nil
	}
	for _, l := range a.Lines {
		if l.Check != consistency.ID {
			continue
		}
		used := false
		for i := range findings {
			f := &findings[i]
			if f.Code != l.Code || f.Commit == "" {
				continue
			}
			is := f.Commit == l.Commit
			if TakesRewrite(l) {
				var err error
				if is, err = v.takes(ctx, repo, head, l.Commit, a.SHA256); err != nil {
					return nil, err
				}
			}
			if is {
				used = true
				lessen(l, f)
			}
		}
		past, err := reached(ctx, repo, l.Commit, v.lastTip())
		if err != nil {
			return nil, err
		}
		if !used && !past {
			findings = append(findings, unusedLine(l))
		}
	}
	return findings, nil
}

func (v *Verified) lastTip() string {
	if v.named.Known == "" && v.Last != nil {
		return v.Last.Tip
	}
	return v.named.Known
}

// takes reports whether a line takes this rewrite: its commit is one that came with it, and the file one that no
// verification has known. So a line takes one rewrite, and none that comes after, nor the way back to its commit.
func (v *Verified) takes(ctx context.Context, repo *registry.Repository, head, commit, file string) (bool, error) {
	if v.Last != nil && v.Last.Accepted == file {
		return false, nil
	}
	came, err := reached(ctx, repo, commit, head)
	if err != nil || !came {
		return false, err
	}
	if _, err := repo.Commit(ctx, v.lastTip()); errors.Is(err, gitstore.ErrNotFound) { // git threw it away
		return commit == head, nil
	}
	was, err := reached(ctx, repo, commit, v.lastTip())
	return !was, err
}

// reached reports whether a commit is on the first-parent chain of a tip. It reports false if there is no tip, or if
// the id is not that of a commit.
func reached(ctx context.Context, repo *registry.Repository, commit, tip string) (bool, error) {
	if tip == "" {
		return false, nil
	}
	if _, err := repo.Commit(ctx, commit); errors.Is(err, gitstore.ErrMalformed) {
		return false, nil
	}
	_, err := repo.FirstParents(ctx, commit, tip)
	if errors.Is(err, registry.ErrNotAncestor) || errors.Is(err, gitstore.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// lessen makes an error a warning and a warning a notice, and quotes the reason.
func lessen(l verdict.AcceptedLine, f *verdict.Finding) {
	switch f.Severity {
	case verdict.Error:
		f.Severity = verdict.Warning
	case verdict.Warning:
		f.Severity = verdict.Notice
	default:
		return
	}
	f.Fix = ""
	f.Message += fmt.Sprintf("; accepted: %q", l.Reason)
}

// unusedLine returns the warning that a line matches no finding.
func unusedLine(l verdict.AcceptedLine) verdict.Finding {
	return verdict.Finding{Severity: verdict.Warning, Code: "accepted-unused", Commit: l.Commit,
		Message: fmt.Sprintf("--accepted lists %s/%s of %s, and there is no such finding", l.Check, l.Code, l.Commit),
		Fix:     "look whether the id is right, or take the line out"}
}
