package registry

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitattr"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/ignore"
)

// Caps on attributes: theirs is work that grows with a product of two sizes, as with ignore patterns.
const (
	maxAttributeBytes = 1 << 20
	maxAttributeWork  = 1 << 33
)

// converter says what git makes of a file's bytes before it stores them.
type converter struct {
	settings *gitstore.Settings
	sparse   ignore.Patterns
	disk     *disk
	repo     *Repository
	tracked  map[string]*indexEntry // the .gitattributes files of the index

	mu    sync.Mutex
	files map[string]*gitattr.File // by directory; nil: none there
	above []*gitattr.File          // attributes of the system and the user
	own   *gitattr.File
	plans map[string]plan // files that were read for their id
	left  struct{ bytes, work int64 }
}

// plan is how the bytes of one file are converted.
type plan struct {
	lines   lineEnds
	ident   bool
	settled bool // attributes or the configuration say what to do with line ends
	changes bool // it changes the bytes
	link    bool // the file is a symbolic link, and its bytes are the target
}

// lineEnds is what happens to the line ends CR LF.
type lineEnds int

const (
	keepLines  lineEnds = iota
	textLines           // LF
	guessLines          // LF, if the file is text and the index has none of them in it
)

func newConverter(repo *Repository, d *disk, settings *gitstore.Settings, indexed []indexEntry) *converter {
	c := &converter{settings: settings, disk: d, repo: repo, tracked: map[string]*indexEntry{},
		files: map[string]*gitattr.File{}, plans: map[string]plan{}}
	c.left.bytes, c.left.work = maxAttributeBytes, maxAttributeWork
	for i := range indexed {
		if path := indexed[i].path; path == ".gitattributes" || strings.HasSuffix(path, "/.gitattributes") {
			c.tracked[path] = &indexed[i]
		}
	}
	for _, text := range settings.Attributes {
		c.above = append(c.above, gitattr.Parse("", text, true, settings.IgnoreCase))
	}
	c.own = gitattr.Parse("", settings.OwnAttributes, true, settings.IgnoreCase)
	if settings.Sparse {
		c.sparse = ignore.Parse(settings.SparsePatterns, settings.IgnoreCase)
	}
	return c
}

// inSparse reports whether the patterns of a sparse checkout take a path in, without which git adds nothing of it.
func (c *converter) inSparse(path string) bool {
	if !c.settings.Sparse || c.settings.SparsePatterns == nil {
		return true
	}
	for isDir := false; path != ""; isDir = true {
		if v := c.sparse.Match(path, isDir, c.settings.IgnoreCase); v != ignore.Undecided {
			return v == ignore.Ignored
		}
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	}
	return false
}

// of returns how a file is converted. The error, errFilter, names a filter that git would run or another encoding.
func (c *converter) of(path string) (plan, error) {
	values, err := c.attributes(path)
	if err != nil {
		return plan{}, err
	}
	if filter := values["filter"]; filter.Text != "" && c.settings.Filters[filter.Text] {
		return plan{}, errConversion(path, "filter", filter.Text)
	}
	switch encoding := values["working-tree-encoding"]; {
	case !encoding.Set, encoding.Text == gitattr.Empty, isUTF8(encoding.Text):
	default:
		return plan{}, errConversion(path, "working-tree-encoding", encoding.Text)
	}
	p := plan{ident: values["ident"].True(), settled: c.settings.LineEnds}
	text, set := lines(values["text"])
	if !set {
		text, set = lines(values["crlf"])
	}
	eol := values["eol"].Text
	if (!set || text == textLines) && (eol == "lf" || eol == "crlf") { // an eol makes a file text, or leaves the guess
		text, set = textLines, true
	}
	if !set && c.settings.AutoCRLF {
		text = guessLines
	}
	p.lines, p.settled = text, p.settled || set
	return p, nil
}

// lines reads the attribute text, or crlf as it was called before; false where it says nothing.
func lines(v gitattr.Value) (lineEnds, bool) {
	switch {
	case v.True(), v.Text == "input":
		return textLines, true
	case v.False:
		return keepLines, true
	case v.Text == "auto":
		return guessLines, true
	}
	return keepLines, false
}

func isUTF8(name string) bool {
	return strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8")
}

func errConversion(path, attribute, name string) error {
	return remedy.Errorf("commit the file, and run oap-gate without --worktree",
		"reading file %q: its attribute %s=%s has git convert it, and %w", path, attribute, name, errFilter)
}

// errFilter: what git would store of a file takes a program or a conversion that is not done here.
var errFilter = errors.New("oap-gate runs no filter")

// attributes returns the attributes of a file, by all attribute files that git would read.
func (c *converter) attributes(path string) (map[string]gitattr.Value, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	files := append([]*gitattr.File(nil), c.above...)
	for at := 0; ; {
		f, err := c.file(path[:at])
		if err != nil {
			return nil, err
		}
		if f != nil {
			files = append(files, f)
		}
		next := strings.IndexByte(path[at:], '/')
		if next < 0 {
			break
		}
		at += next + 1
	}
	files = append(files, c.own)
	for _, f := range files {
		c.left.work -= int64(f.Size) * int64(len(path))
	}
	if c.left.work < 0 {
		return nil, remedy.Errorf("take attributes away, or name the commit with --head",
			"looking for the attributes of %q: %w: too many files for so many attributes", path, ErrLimit)
	}
	return gitattr.Of(files, path, c.settings.IgnoreCase), nil
}

// file reads the .gitattributes of a directory, from the index if the disk has none. It returns nil if neither has one.
func (c *converter) file(dir string) (*gitattr.File, error) {
	if f, known := c.files[dir]; known {
		return f, nil
	}
	path := dir + ".gitattributes"
	info, err := c.disk.stat(path)
	if err != nil {
		return nil, err
	}
	var text []byte
	switch tracked := c.tracked[path]; {
	case info != nil && info.Mode().IsRegular() && info.Size() > c.left.bytes:
		return nil, remedy.Errorf("take attributes away, or name the commit with --head",
			"reading attributes %q: %w: more than %d bytes in all .gitattributes files", path, ErrLimit,
			maxAttributeBytes)
	case info != nil && info.Mode().IsRegular():
		text, err = c.disk.text(path, c.left.bytes)
	case info == nil && tracked != nil && (tracked.keep || tracked.sparse || !c.inSparse(path)) && !tracked.toAdd &&
		tracked.entry.Mode != ModeSubmodule: // else it is gone for git too
		text, err = c.repo.object(tracked.entry.ID, gitstore.Blob, c.left.bytes)
	default:
		c.files[dir] = nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c.left.bytes -= int64(len(text))
	c.files[dir] = gitattr.Parse(dir, text, dir == "", c.settings.IgnoreCase)
	return c.files[dir], nil
}

// stored returns the bytes that git stores for those of a file. tracked is its entry in the index, nil for a new one.
func (c *converter) stored(p plan, tracked *indexEntry, data []byte) ([]byte, error) {
	out, err := c.withLines(p, tracked, data)
	if err == nil && p.ident {
		out = withoutIdent(out)
	}
	return out, err
}

func (c *converter) withLines(p plan, tracked *indexEntry, data []byte) ([]byte, error) {
	if p.lines == keepLines || !bytes.Contains(data, []byte("\r\n")) {
		return data, nil
	}
	if p.lines == guessLines {
		if isBinary(data) {
			return data, nil
		}
		if tracked != nil && !tracked.toAdd && tracked.entry.Mode != ModeSubmodule {
			was, err := c.repo.object(tracked.entry.ID, gitstore.Blob, maxDiskFile)
			if err != nil {
				return nil, err
			}
			if bytes.Contains(was, []byte("\r\n")) && !isBinary(was) {
				return data, nil
			}
		}
	}
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), nil
}

// isBinary reports whether git takes a file for one that is not text: with a NUL, a CR without LF, or more than one
// byte in 128 that is not printed.
func isBinary(data []byte) bool {
	printable, other := 0, 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\r':
			if i++; i == len(data) || data[i] != '\n' {
				return true
			}
		case c == '\n':
		case c == 0:
			return true
		case c == 127, c < ' ' && !strings.ContainsRune("\b\t\x1b\f", rune(c)):
			other++
		default:
			printable++
		}
	}
	if n := len(data); n > 0 && data[n-1] == 0x1a { // the end of a file on CP/M
		other--
	}
	return printable>>7 < other
}

// withoutIdent writes $Id: …$ as $Id$.
func withoutIdent(data []byte) []byte {
	var out []byte
	rest := data
	for {
		at := bytes.Index(rest, []byte("$Id:"))
		if at < 0 {
			return append(out, rest...)
		}
		inside := rest[at+len("$Id:"):]
		end := bytes.IndexAny(inside, "$\n")
		if end < 0 || inside[end] == '\n' {
			out, rest = append(out, rest[:at+len("$Id:")]...), inside
			continue
		}
		out, rest = append(append(out, rest[:at]...), "$Id$"...), inside[end+1:]
	}
}

// plan returns how a file was converted; false where its entry was not made of its bytes.
func (c *converter) plan(path string) (plan, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.plans[path]
	return p, ok
}

func (c *converter) remember(path string, p plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plans[path] = p
}

func (c *converter) forget(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.plans, path)
}

// hash returns the id of what git would store for a regular file of the work tree.
func (d *disk) hash(c candidate) (gitstore.ID, plan, error) {
	p, err := d.conv.of(c.path)
	if err != nil {
		return gitstore.ID{}, p, err
	}
	if p.lines == keepLines && !p.ident {
		id, err := d.raw(c.path)
		if err != nil {
			return id, p, errDisk(c.path, err)
		}
		d.conv.remember(c.path, p)
		return id, p, nil
	}
	data, err := d.text(c.path, maxDiskFile)
	if err != nil {
		return gitstore.ID{}, p, err
	}
	stored, err := d.conv.stored(p, c.tracked, data)
	if err != nil {
		return gitstore.ID{}, p, fmt.Errorf("reading file %q: %w", c.path, err)
	}
	p.changes = len(stored) != len(data) // each conversion drops bytes
	if p.lines == guessLines {
		p.lines = textLines // by now it is known whether it is text
		if bytes.Contains(stored, []byte("\r\n")) {
			p.lines = keepLines
		}
	}
	d.conv.remember(c.path, p)
	return hashObject(gitstore.Blob, stored, d.like), p, nil
}
