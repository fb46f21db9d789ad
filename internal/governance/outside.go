package governance

import (
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// outsidePaths gives notice of texts with key words that differ where no gate looks: a requirement there looks as if it
// were of the specification, and binds nobody.
func (v *View) outsidePaths(out *verdict.Outcome) error {
	var names []string
	budget := textBudget()
	for _, c := range v.Changes {
		directory, _, below := strings.Cut(strings.ToLower(c.Path), "/")
		if isNormative(c.Path) || !below || !slices.Contains([]string{"rfcs", "schemas", "spec"}, directory) {
			continue
		}
		f, err := v.versions(c, budget)
		if err != nil {
			return err
		}
		if !slices.Equal(f.old.keyWords(), f.new.keyWords()) {
			names = append(names, c.Path)
		}
	}
	if len(names) > 0 {
		out.Noticef(file(names[0]), "", "outside-the-paths", "the key words of %s differ; no gate looks there, so it "+
			"binds nobody", quoted(names)).WithFix("move a requirement to rfcs/RFC-… or spec/v1.0/")
	}
	return nil
}

// notFiles reports links and submodules that are added or changed at a normative path: their text could change where
// no gate looks.
func (v *View) notFiles(out *verdict.Outcome) {
	for _, c := range v.normative() {
		modeChanged := isSchema(c.Path) && c.Base != nil && c.Head != nil && c.Base.Mode != c.Head.Mode
		if c.Head == nil || isFile(c.Head) || modeChanged {
			continue
		}
		out.Errorf(file(c.Path), "", "not-a-file", "%q is a %s; expected a plain file, since no gate looks at what "+
			"another path contains", c.Path, c.Head.Mode)
	}
}
