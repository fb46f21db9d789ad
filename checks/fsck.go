package checks

import (
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitfsck"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Codes of append-only for what git refuses to receive.
const (
	fsckCommit = "fsck-commit"
	fsckFile   = "fsck-file"
)

// acceptedByGit requires that git with transfer.fsckObjects accepts the commits of the range: merged history cannot be
// corrected, and careful readers could not clone it.
func acceptedByGit(o *verdict.Outcome, r *Run) error {
	reportRefused(o, r.Range.Refused, "remove the object from every commit of the branch: git rebase -i "+
		r.onto())
	if r.Asks.baseJudged || r.isRoot() {
		return nil
	}
	before, err := r.Range.RefusedBefore(r.Context)
	if err != nil || len(before) == 0 {
		return err
	}
	first := before[0]
	more := ""
	if n := len(before) - 1; n > 0 {
		more = ", and " + plain.Count(n, "more object")
	}
	f := o.Warnf(verdict.At{}, "", codeOf(first), "the base already has an object that git refuses with "+
		"transfer.fsckObjects: %s%s", spellRefused(first), more)
	f.Commit = first.Commit
	f.WithFix("none needed here: the registry's maintainers name it in the file of --accepted of an audit")
	return nil
}

// reportRefused adds an error for each object that git refuses, up to maxNamed.
func reportRefused(o *verdict.Outcome, all []registry.Refused, fix string) {
	for i, one := range all {
		if i == maxNamed {
			o.Errorf(verdict.At{}, "", codeOf(one), "git refuses %s with transfer.fsckObjects",
				plain.Count(len(all)-i, "more object")).WithFix("%s", fix)
			return
		}
		expected := "expected what git accepts with transfer.fsckObjects"
		if one.ID == gitfsck.DuplicateHeader {
			expected = "expected each of these headers in its place only"
		}
		f := o.Errorf(verdict.At{Path: one.Path}, "", codeOf(one), "%s; %s", spellRefused(one), expected)
		f.Commit = one.Commit
		f.WithFix("%s", fix)
	}
}

func codeOf(one registry.Refused) string {
	if one.Path == "" {
		return fsckCommit
	}
	return fsckFile
}

// spellRefused names the object, git's id and what is there.
func spellRefused(one registry.Refused) string {
	in := "the files on disk"
	switch {
	case one.Commit != "":
		in = "commit " + short(one.Commit)
	case one.Base:
		in = "the base tree"
	}
	if one.Path == "" {
		return fmt.Sprintf("%s is %s: %s", in, one.ID, one.Detail)
	}
	return fmt.Sprintf("%q of %s is %s: %s", one.Path, in, one.ID, one.Detail)
}
