// Package governance checks a proposal against the gates of RFC 0019.
//
// The gates are those of sections 3 to 5. They decide forms: which files change, which lines the body has, who
// approved. They read Git and the words that they are given, and run nothing. A question about the meaning of a
// sentence is left to people, with the facts.
package governance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/page"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Limits of one comparison.
const (
	maxChanges   = 5000     // paths
	maxText      = 4 << 20  // bytes of one text
	maxTexts     = 32 << 20 // bytes of all texts of a view
	maxSentences = 3        // that a message shows
)

var (
	// ErrNoSpecification means that the repository to judge is not that of the specification.
	ErrNoSpecification = remedy.Errorf("name a clone of the specification with --repo; a registry is judged by "+
		"oap-gate check", "no OAP specification here: neither base nor head has an RFC in rfcs/, or rfcs/ next to "+
		"schemas/ or spec/")
	// ErrLimit: a proposal changes more than is looked at.
	ErrLimit = errors.New("over the limit")
)

// Proposal is what is judged: a pull request, the files on disk, or one commit.
type Proposal struct {
	// Commit is the one that is judged by itself; empty for a range.
	Commit string
	// Head is the commit that an approval must be of; empty for files on disk, which nobody can have approved.
	Head string
	// Base is the tree that judges: its schemas, its roster; nil before a root commit, which no gate judges.
	Base  *registry.Tree
	Views []*View // all must hold

	Words  *Words   // nil: not known
	Opener string   // login; empty where it is not known
	Labels []string // labels of the pull request
	// Forge answers what only the forge knows; nil where it is not asked.
	Forge *Forge

	// people returns the e-mail addresses of the authors and committers of the range.
	people func() ([]string, error)
}

// Forge is what a forge knows of a pull request. Each is asked at most once, and only where it matters.
type Forge struct {
	Repository string // owner/name
	// Reviews are all reviews; nil where nobody knows them.
	Reviews func() ([]Review, error)
	// Authors are the logins of authors and committers of the range, as far as they are known; nil: nobody asks.
	Authors func() ([]string, error)
	// Labels are the labels of issues; nil: nobody asks.
	Labels func(issues []int) ([]string, error)
}

// View is one comparison of two trees.
type View struct {
	Base, Head *registry.Tree
	Changes    []registry.Change // in path order

	texts   *Texts
	files   []normativeFile // nil: not read yet
	schemas *schemaView
	first   verdict.At // as firstNormative returns it; the zero one is not known yet
}

// Texts keeps what was read of files for all views that see them. The zero Texts is ready.
type Texts struct {
	pages map[textKey]*page.Text // by extension: what a view made of a new text, for the view that replaces it
	trees map[string]*schemaSet  // by the id of schemas/
}

// textKey is one text, at paths that are read alike.
type textKey struct {
	extension string
	id        gitobject.ID
}

// NewRange returns the proposal of a range.
func NewRange(ctx context.Context, repo *registry.Repository, r *registry.Range, texts *Texts) (*Proposal, error) {
	p := &Proposal{Base: r.Base, Head: r.Head.Commit()}
	p.people = func() (addresses []string, err error) {
		for _, c := range r.Commits {
			if c.ID == "" {
				continue // the files on disk
			}
			object, err := repo.CommitObject(c.ID)
			if err != nil {
				return nil, err
			}
			for _, person := range [][]byte{object.Author, object.Committer} {
				_, after, _ := bytes.Cut(person, []byte("<"))
				address, _, _ := bytes.Cut(after, []byte(">"))
				addresses = append(addresses, string(address))
			}
		}
		return addresses, nil
	}
	if err := HasSpecification(r.Base, r.Head); err != nil {
		return nil, err
	}
	for _, v := range r.Views {
		from, err := repo.Tree(ctx, v.From)
		if err != nil {
			return nil, err
		}
		to := r.Head
		if v.To != r.Head.Commit() {
			if to, err = repo.Tree(ctx, v.To); err != nil {
				return nil, err
			}
		}
		if err := p.view(from, to, v.Changes, texts); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// NewStep returns the proposal of one commit, with its first parent as base. A root commit has none.
func NewStep(s *registry.Step, texts *Texts) (*Proposal, error) {
	p := &Proposal{Commit: s.Commit.ID, Head: s.Commit.ID}
	if len(s.Commit.Parents) == 0 {
		return p, nil
	}
	p.Base = s.Base
	return p, p.view(s.Base, s.Result, s.Changes, texts)
}

func (p *Proposal) view(base, head *registry.Tree, changes []registry.Change, texts *Texts) error {
	if len(changes) > maxChanges {
		return remedy.Errorf("split the change",
			"comparing the trees: %w: %d changed paths, at most %d are judged", ErrLimit, len(changes), maxChanges)
	}
	p.Views = append(p.Views, &View{Base: base, Head: head, Changes: changes, texts: texts})
	return nil
}

// HasSpecification returns ErrNoSpecification if no tree has an RFC, or rfcs/ next to schemas/ or spec/.
func HasSpecification(trees ...*registry.Tree) error {
	for _, t := range trees {
		found, err := repoconfig.Specifies(func(name string) (bool, error) {
			e, found, err := t.Entry(name)
			return found && e.Mode == registry.ModeTree, err
		})
		if !found && err == nil {
			err = t.WalkFolder("rfcs", func(p string, _ registry.Entry) error {
				found = found || isNormative(p)
				return nil
			})
		}
		if found || err != nil {
			return err
		}
	}
	return ErrNoSpecification
}

// isFile reports whether e is a regular file.
func isFile(e *registry.Entry) bool {
	return e != nil && (e.Mode == registry.ModeFile || e.Mode == registry.ModeExecutable)
}

// isNormative reports whether a path, in any letter case, is one whose change RFC 0019 section 3 asks evidence for. The
// RFC names only v1.0; section 4 sends every breaking change to a later version, which must not escape.
func isNormative(path string) bool {
	path = strings.ToLower(path) + "/" // a version may be a link to a directory
	return strings.HasPrefix(path, "rfcs/rfc-") || inVersion(path, "schemas/") || inVersion(path, "spec/")
}

// inVersion reports whether a path is in a folder of the directory whose name begins with v and a digit.
func inVersion(path, directory string) bool {
	rest, ok := strings.CutPrefix(path, directory+"v")
	return ok && rest != "" && '0' <= rest[0] && rest[0] <= '9' && strings.Contains(rest, "/")
}

func isJSON(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".json") }

// normative returns the changes of normative artifacts.
func (v *View) normative() []registry.Change {
	return slices.DeleteFunc(slices.Clone(v.Changes), func(c registry.Change) bool { return !isNormative(c.Path) })
}

// budget is how many bytes of some files are read.
type budget struct {
	what, fix string // such as "the schemas of a tree"; what to do about too much of it
	each      int    // most for one file
	left      int    // most for all that follow
}

// textBudget returns that of the texts of a view.
func textBudget() *budget {
	return &budget{"the texts of the change", "split the change", maxText, maxTexts}
}

// read returns the content of a regular file, as long as the budget lasts.
func (b *budget) read(t *registry.Tree, path string) ([]byte, error) {
	data, err := t.File(context.Background(), path, int64(b.each))
	if errors.Is(err, gitobject.ErrTooLarge) {
		return nil, remedy.Errorf("make the file smaller, or split it",
			"reading %q: %w: at most %d bytes of it are read", path, gitobject.ErrTooLarge, b.each)
	}
	if b.left -= len(data); b.left < 0 {
		return nil, remedy.Errorf(b.fix, "reading %q: %w: it is beyond what is read of %s", path, ErrLimit, b.what)
	}
	return data, err
}

// side returns the content of one side of a changed file, nil for what is not a regular file.
func (b *budget) side(t *registry.Tree, path string, e *registry.Entry) ([]byte, error) {
	if !isFile(e) {
		return nil, nil
	}
	return b.read(t, path)
}

// file is the place of a finding that is about a file as a whole.
type file string

// Pos returns the first line of the file, where a review shows a finding about the whole file.
func (f file) Pos(string) strict.Pos { return strict.Pos{Path: string(f), Line: 1, Column: 1} }

// quoted shows texts of others in a message: the first few, each cut; without a text the word none.
func quoted(texts []string) string {
	if len(texts) == 0 {
		return "none"
	}
	var out []string
	for _, t := range texts {
		out = append(out, fmt.Sprintf("%q", shorten(t)))
	}
	return listUpTo(out, maxSentences)
}

// maxQuote is how many characters of one sentence a message shows.
const maxQuote = 200

func shorten(s string) string { return plain.Cut(s, maxQuote) }

// The forms that an author or a reviewer writes.
var (
	additiveOnly  = page.NewForm("Additive only", false)
	exceptionForm = page.NewForm("Implementability Gate exception", false)
	clearedForm   = page.NewForm("Charter Review Gate cleared", true)
)

// minReason is how many words the reason of an exception has at least.
const minReason = 5

// Words are what a proposal says about itself.
type Words struct {
	Source string // such as "the pull request's body"
	text   string
	body   *page.Body
}

// NewWords reads a body in Markdown.
func NewWords(source, text string) (*Words, error) {
	body, err := page.ReadBody(text)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", source, err)
	}
	return &Words{source, text, body}, nil
}

// says returns how the words say a form. Nil words say nothing.
func (w *Words) says(form *page.Form) page.Statement {
	if w == nil {
		return page.Statement{}
	}
	return w.body.Says(form)
}

// instead returns, for a message, where the words are that do not say a form; empty if they are nowhere.
func instead(s page.Statement) string {
	if s.Said || s.Where == "" {
		return ""
	}
	return "; the words are there, but " + s.Where
}

// phrased reports whether a review says a form, and where else its words are.
func phrased(r Review, form *page.Form) (bool, string) {
	body, err := page.ReadBody(r.Body)
	if err != nil {
		return false, "; the review is " + page.ErrLimit.Error()
	}
	s := body.Says(form)
	return s.Said, instead(s)
}
