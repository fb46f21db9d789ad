package governance

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/page"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/schemadiff"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/metaschema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// backwardCompatibility checks that a published schema keeps its meaning: RFC 0019 section 4.
func (p *Proposal) backwardCompatibility(j *Judgement) (verdict.Outcome, error) {
	g := compatibility{Proposal: p, judged: map[string]bool{}, undeclared: map[string]bool{}}
	g.said = p.Words.says(additiveOnly)
	for _, v := range p.Views {
		if err := g.view(v); err != nil {
			return g.out, err
		}
	}
	if !g.out.Has(verdict.Error) {
		g.out.Findings = append(g.out.Findings, g.kept.Findings...)
	}
	g.out.Findings = append(g.out.Findings, g.beside.Findings...)
	for _, v := range p.Views {
		if len(g.judged) > 0 {
			g.identifiedTwice(v.schemas)
		}
	}
	if len(g.judged) > 0 {
		differ := plain.Count(len(g.descriptions), "description")
		j.attest(backwardCompatibility, g.descriptions, "no description that differs has another meaning, and no "+
			"lifecycle is altered; RFC 0019 section 4 forbids both, and a program cannot see them; %s %s", differ,
			plain.Plural(len(g.descriptions), "differs", "differ"))
	}
	switch {
	case len(g.judged) == 0:
		g.out.Verified = "no published schema is touched"
	case g.out.Has(verdict.Error):
	case g.said.Said && len(g.kept.Findings) > 0:
		g.out.Verified = fmt.Sprintf("no published schema changes its meaning, and %s declares the change: %q",
			p.Words.Source, shorten(g.said.Line))
	default:
		g.out.Verified = plain.Count(len(g.judged), "schema") + " judged"
	}
	return g.out.OrPass(), nil
}

// compatibility is one run of the gate.
type compatibility struct {
	*Proposal
	out          verdict.Outcome
	kept         verdict.Outcome // findings about schemas that keep their meaning, for a change in which all do
	beside       verdict.Outcome // findings about files that the base has not published
	judged       map[string]bool // by path
	said         page.Statement  // whether the words declare the change
	undeclared   map[string]bool // paths that another view reported
	descriptions []string        // lines about those that differ
}

// maxClaims is how many $ids are reported that one file claims of others, or that the base has twice.
const maxClaims = 10

// maxDifferences is how many places of one breaking schema are reported.
const maxDifferences = 1000

func (g *compatibility) view(v *View) error {
	s, err := v.comparesSchemas()
	if err != nil {
		return err
	}
	unread := false
	for _, c := range v.Changes {
		if isSchema(c.Path) {
			g.judged[c.Path] = true
			read, err := g.change(v, s, c)
			if err != nil {
				return err
			}
			unread = unread || !read
		}
	}
	// A published path that only the head has a link at is reported as a change.
	fresh := slices.DeleteFunc(slices.Clone(s.head.links), isSchema)
	for _, p := range append(fresh, s.base.links...) {
		g.judged[p] = true
		g.out.Errorf(file(p), "", "changed", "the path has a link or a submodule, on the way to a "+
			"published schema or to what one refers to; what it leads to cannot be compared").
			WithFix("replace the link with the file; in the base the Maintainers do that by hand")
	}
	g.identifiers(v, s)
	if unread || g.beside.Has(verdict.Error) {
		return nil // what refers to it differs, too
	}
	for _, p := range v.led(s) {
		g.judged[p] = true
		document, _ := s.head.tree.Document(p)
		g.report(document, verdict.At{Path: p}, s.differences(p), false)
	}
	return nil
}

// change judges a schema that a view changes or adds. It reports whether the head has it as JSON.
func (g *compatibility) change(v *View, s *schemaView, c registry.Change) (read bool, err error) {
	at, out := file(c.Path), &g.out
	var existing *registry.Entry
	if c.Base == nil {
		if existing, err = g.Base.Leaf(c.Path); err != nil {
			return false, err
		}
		out = &g.beside
	}
	switch {
	case existing != nil:
		if !registry.SameEntry(existing, c.Head) {
			g.out.Errorf(at, "", "changed", "the base branch has published another schema at this path meanwhile").
				WithFix("merge the base branch, and leave the schema as it is there")
		}
		document, _ := s.head.tree.Document(c.Path)
		return document != nil, nil
	case c.Head == nil:
		g.out.Errorf(at, "", "schema-removed", "a published schema is deleted or moved; it must remain at its "+
			"path permanently")
	case c.Base == nil && !isFile(c.Head):
		g.beside.Errorf(at, "", "schema-unreadable", "the path has a %s; expected a schema", c.Head.Mode).
			WithFix("make it a plain file")
	case c.Base != nil && c.Base.Mode != c.Head.Mode:
		g.out.Errorf(at, "", "mode-changed", "a published schema was a %s (mode %s) and becomes a %s (mode %s)",
			c.Base.Mode, c.Base.Mode.Octal(), c.Head.Mode, c.Head.Mode.Octal()).
			WithFix("make it the file that it was, of mode %s", c.Base.Mode.Octal())
	}
	document := readable(out, s, c)
	switch {
	case document == nil:
		return false, nil
	case c.Base == nil:
		g.added(s, document)
	case isFile(c.Base) && c.Base.ID != c.Head.ID: // a link of the base is reported
		place, err := v.firstChange(c)
		if err != nil {
			return true, err
		}
		g.report(document, place, s.differences(c.Path), true)
	}
	return true, nil
}

// readable returns the new text of a schema. If it is not strict JSON, it adds a finding and returns nil.
func readable(out *verdict.Outcome, s *schemaView, c registry.Change) *strict.Document {
	document, err := s.head.tree.Document(c.Path)
	if syntax, ok := errors.AsType[*strict.Error](err); ok {
		f := out.Errorf(file(c.Path), syntax.Pointer, "schema-unreadable", "the schema is not strict JSON: %s",
			syntax.Message)
		f.Pos = syntax.Pos
	}
	if document == nil {
		return nil // it is not a file, or has passed a limit
	}
	if fault, ok := errors.AsType[*schema.Error](metaschema.Check(document.Root)); ok {
		out.Errorf(document, fault.Pointer, "schema-unreadable", "the schema does not compile: %s", fault.Message)
	}
	return document
}

// report reports the differences of one published schema. at is the place of its first change.
func (g *compatibility) report(document *strict.Document, at verdict.At, all []schemadiff.Difference, itself bool) {
	added, breaks := 0, schemadiff.Breaking(all)
	if more := len(all) - maxDifferences; more > 0 && breaks {
		g.out.Errorf(file(document.Path), "", "changed",
			"%d more places differ than are reported of one schema", more)
		all = all[:maxDifferences]
	}
	var notes []schemadiff.Difference
	for _, d := range all {
		said := cmp.Or(d.Pointer, "the schema") + ": " + d.Message
		switch {
		case d.Class == schemadiff.Note:
			notes = append(notes, d)
		case d.Class == schemadiff.Additive:
			added++
			g.out.Noticef(document, d.Pointer, "additive", "%s", said)
		default:
			g.out.Errorf(document, d.Pointer, code(d.Class), "%s", said)
		}
	}
	if !breaks && (itself || len(all) > 0) {
		g.declaration(document, at, added, notes)
	}
}

// declaration reports a schema that changes and keeps its meaning: whether the words declare the change. added is the
// number of new optional fields; the notes judge no document otherwise.
func (g *compatibility) declaration(document *strict.Document, at verdict.At, added int,
	notes []schemadiff.Difference) {
	what := "another order of members, white space or spelling of values"
	switch {
	case added > 0:
		what = plain.Count(added, "new optional field")
	case len(notes) > 0:
		what = plain.Count(len(notes), "change") + " of annotations or definitions"
	}
	if !g.said.Said && g.undeclared[document.Path] {
		return
	}
	g.undeclared[document.Path] = true
	switch {
	case g.Words == nil:
		g.kept.Doubtf(at, "", "declaration-unknown", "the published schema has %s, and whether the pull request's "+
			"body declares the change additive only is not known", what)
		return
	case !g.said.Said:
		g.kept.Errorf(at, "", "additive-undeclared", "the published schema has %s, and %s has no line that begins "+
			"with Additive only%s", what, g.Words.Source, instead(g.said))
		return
	case added == 0:
		g.kept.Noticef(at, "", "annotations", "only annotations or formatting differ: %s", what)
	}
	for _, d := range notes {
		keyword := d.Pointer[strings.LastIndex(d.Pointer, "/")+1:]
		was, old := d.Old.(string)
		is, new := d.New.(string)
		if !old || !new || keyword != "description" && keyword != "title" {
			continue // another keyword, or a field of that name
		}
		g.kept.Warnf(document, d.Pointer, "description-differs", "the %s is %q, was %q; RFC 0019 section 4 "+
			"forbids another meaning, which a program cannot see", keyword, shorten(is), shorten(was))
		g.descriptions = append(g.descriptions, fmt.Sprintf("%s %s: %q, was %q", document.Path, d.Pointer, is, was))
	}
}

// code returns the code of a finding of a class that breaks. An unknown class is undecided.
func code(c schemadiff.Class) string {
	for _, one := range []struct {
		class schemadiff.Class
		code  string
	}{{schemadiff.Loosened, "loosened"}, {schemadiff.Tightened, "tightened"}, {schemadiff.Enum, "enum"},
		{schemadiff.Removed, "removed"}, {schemadiff.Identity, "identity"}, {schemadiff.Meaning, "meaning"}} {
		if one.class == c {
			return one.code
		}
	}
	return "changed"
}

// added judges a schema that was not there: it has an identifier of its own.
func (g *compatibility) added(s *schemaView, document *strict.Document) {
	if strict.String(document.Root, "$id") == "" {
		g.beside.Errorf(document, "", "schema-id", "an added schema has no $id, by which it could be cited").
			WithFix("give it an $id of its own, such as https://HOST/%s", document.Path)
	}
	if older := earlier(s.base, document.Path); older != "" {
		var classes []string
		differences, _ := schemadiff.Successor(s.diff.Schemas(older, document.Path))
		for _, d := range differences {
			classes = append(classes, string(d.Class))
		}
		slices.Sort(classes)
		g.beside.Noticef(file(document.Path), "", "new-version", "a new version of %q: %s", older,
			cmp.Or(strings.Join(slices.Compact(classes), ", "), "no difference"))
	}
}

// identifiers checks that an added or changed file claims no $id of another file. A file with the $id of a
// published schema may be read instead of that schema.
func (g *compatibility) identifiers(v *View, s *schemaView) {
	for _, c := range v.Changes {
		if !isFile(c.Head) || !isBeside(c.Path) && !(isJSON(c.Path) && s.head.tree.Reaches(c.Path)) {
			continue
		}
		document, _ := s.head.tree.Document(c.Path)
		if document == nil {
			continue // a published one is reported
		}
		g.judged[c.Path] = true
		fix := "give it an $id of its own, such as https://HOST/" + c.Path
		if isBeside(c.Path) && !isSchema(c.Path) {
			fix += "; or move a copy of another's schema out of schemas/"
		}
		had := map[string]bool{}
		s.base.tree.Identifiers(c.Path, func(id string, _ func() string) { had[id] = true })
		root, claimed := true, 0 // the root comes first
		s.head.tree.Identifiers(c.Path, func(id string, pointer func() string) {
			isRoot := root
			if root = false; had[id] {
				return
			}
			had[id] = true
			if u, err := url.Parse(id); isRoot && isBeside(c.Path) && strings.LastIndex(pointer(), "/") == 0 &&
				(err != nil || !strings.HasSuffix("/"+u.Path, "/"+c.Path)) {
				g.beside.Errorf(document, pointer(), "schema-id", "the path of $id %q does not end in the file's own, "+
					"%q", shorten(id), c.Path).WithFix("%s", fix)
			}
			for _, other := range slices.Concat(s.head.claims()[id], s.base.claims()[id]) {
				if other.path != c.Path {
					if claimed++; claimed > maxClaims {
						return
					}
					g.beside.Errorf(document, pointer(), "schema-id", "$id %q is also the $id of %q", shorten(id),
						other.path+"#"+plain.Cut(strings.TrimSuffix(other.pointer(), "/$id"), maxQuote)).
						WithFix("%s", fix)
					return
				}
			}
		})
		if more := claimed - maxClaims; more > 0 {
			g.beside.Errorf(document, "", "schema-id", "%d more $ids of the file are also those of other files", more).
				WithFix("%s", fix)
		}
	}
}

// identifiedTwice reports published schemas of the base that have one $id.
func (g *compatibility) identifiedTwice(s *schemaView) {
	claims, twice := s.base.claims(), 0
	for _, id := range slices.Sorted(maps.Keys(claims)) {
		published := slices.DeleteFunc(slices.Clone(claims[id]), func(i identity) bool { return !isSchema(i.path) })
		if len(published) < 2 || published[0].path == published[len(published)-1].path {
			continue
		}
		if twice++; twice > maxClaims {
			continue
		}
		last := published[len(published)-1]
		g.out.Errorf(file(last.path), last.pointer(), "schema-id-twice", "the base has the $id %q in %q and in %q; "+
			"what refers to it cannot be compared", shorten(id), published[0].path, last.path)
	}
	if more := twice - maxClaims; more > 0 {
		g.out.Errorf(file("schemas"), "", "schema-id-twice", "the base has %d more $ids twice", more)
	}
}

// earlier returns the newest schema of that base name under an earlier version, or "".
func earlier(s *schemaSet, of string) (found string) {
	for _, p := range slices.Sorted(maps.Keys(s.texts)) {
		if isSchema(p) && path.Base(p) == path.Base(of) && older(p, of) && (found == "" || older(found, p)) {
			found = p
		}
	}
	return found
}

// older reports whether the version of the one path comes before that of the other.
func older(a, b string) bool { return slices.Compare(versionOf(a), versionOf(b)) < 0 }

// versionOf returns the numbers of schemas/v<N>.<M>/.
func versionOf(p string) (out []int) {
	version := strings.Split(p, "/")[1]
	for _, n := range strings.Split(version[1:], ".") {
		n, _ := strconv.Atoi(n)
		out = append(out, n)
	}
	return out
}
