package mirror

import (
	"fmt"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/commitsig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var commitSignatures = verdict.Rule{
	ID:    "commit-signatures",
	Title: "commits carry signatures by known keys",
	Cite:  "RFC 0026 section 8",
	Why:   "without signatures, anyone who can push can write a commit in another's name",
	Fix:   "ask who made the commit; complete the keyring or the allowed signers",
	Codes: []checks.Code{
		{ID: "signature-bad", Meaning: "the commit's signature does not verify",
			Fix: "ask the maintainers who made the commit"},
		{ID: "signature-unsigned", Meaning: "the commit is not signed",
			Fix: "ask the maintainers who made the commit"},
		{ID: "signature-unknown-key", Meaning: "the commit is signed by a key that is in no given key file",
			Fix: "complete the keyring or the allowed signers"},
		{ID: "signature-expired-key", Meaning: "the commit is signed by a key that had expired when it landed",
			Fix: "ask the maintainers who made the commit"},
		{ID: "signature-key-revoked", Meaning: "the commit is signed by a key that is revoked",
			Fix: "ask the maintainers who made the commit, and why the key is revoked"},
		acceptedUnused,
	},
}

// ofSignatures is what commit-signatures has found so far.
type ofSignatures struct {
	verdict.Outcome
	failed bool // a signature that RequireSigned demands is missing
}

// maxSignatureFindings is how many commits with a bad signature are named; the counts are complete.
const maxSignatureFindings = 1000

// stepSignatures judges the signature of one first-parent commit.
func stepSignatures(a *audit, s *registry.Step) error {
	c, err := a.repo.CommitObject(s.Commit.ID)
	if err != nil {
		return err
	}
	keys := a.cfg.Keys
	if keys == nil { // this distinguishes signed from unsigned
		keys = &commitsig.Verifier{}
	}
	severity := verdict.Warning
	if a.cfg.RequireSigned && a.rep.History.Walked > a.unsure {
		severity = verdict.Error
	}
	n := &a.rep.History.Signatures
	landed, err := a.repo.FirstParentTime(a.ctx, s.Commit.ID, a.now)
	if err != nil {
		return err
	}
	sig := keys.Verify(c, landed)
	switch sig.Verdict {
	case commitsig.Good:
		n.Good++
		return nil
	case commitsig.Bad:
		n.Bad++
	case commitsig.Unsigned:
		n.Unsigned++
	case commitsig.UnknownKey:
		n.UnknownKey++
	case commitsig.ExpiredKey:
		n.ExpiredKey++
	case commitsig.RevokedKey:
		n.RevokedKey++
	default:
		return fmt.Errorf("verifying commit %s: unexpected verdict %q", s.Commit.ID, sig.Verdict)
	}
	if a.cfg.Keys == nil {
		return nil
	}
	message := "the commit's signature is " + string(sig.Verdict)
	switch sig.Verdict {
	case commitsig.Unsigned:
		message = "the commit is not signed"
	case commitsig.UnknownKey, commitsig.ExpiredKey:
		message = "the commit is signed by an " + string(sig.Verdict)
	case commitsig.RevokedKey:
		message = "the commit is signed by a revoked key"
	}
	if by := strings.TrimSpace(sig.KeyID + " " + sig.Signer); by != "" {
		message += " (" + by + ")"
	}
	if sig.Detail != "" {
		message += ": " + sig.Detail
	}
	code := "signature-" + strings.ReplaceAll(string(sig.Verdict), " ", "-")
	if sig.Verdict == commitsig.RevokedKey {
		code = "signature-key-revoked"
	}
	f := verdict.Finding{Severity: severity, Code: code, Commit: s.Commit.ID, Message: message}
	f.Fix = acceptFix(commitSignatures.ID, f)
	// The first failure is always reported: warnings must not use up its place.
	fails := !a.accept(commitSignatures.ID, &f) && severity == verdict.Error
	out := &a.signatures
	if len(out.Findings) < maxSignatureFindings || fails && !out.failed {
		out.Findings = append(out.Findings, f)
	}
	out.failed = out.failed || fails
	return nil
}

func judgeSignatures(a *audit) (verdict.Outcome, error) {
	counted := a.rep.History.Signatures.String()
	if a.cfg.Keys == nil {
		return verdict.Skip("no --keyring and no --allowed-signers: %s", counted), nil
	}
	out := a.signatures.Outcome
	if a.cut {
		out.Doubtful = checks.NotReached
	}
	out.Verified = counted
	unused, err := a.unused(commitSignatures.ID)
	if err != nil {
		return out, err
	}
	out.Findings = append(out.Findings, unused...)
	return out, nil
}
