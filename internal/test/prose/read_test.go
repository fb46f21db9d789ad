package prose

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// A text is one paragraph that a person reads, on a single line, without code and quotations.
type text struct {
	file  string // slash-separated, from the root of the module
	kind  kind
	words string
	lines []int32 // the source line of each byte of words
}

type kind string

// The kinds of texts. A comment that documents a declaration has a kind of its own.
const (
	comment     kind = "comment"
	funcDoc     kind = "openings"
	exportedDoc kind = "exported"
	overview    kind = "overview"
	message     kind = "message" // a string in Go: a title, a message, a fix
	help        kind = "help"    // a string of several lines
	document    kind = "document"
)

// place returns the package or the document of a text, by which the table counts.
func (t *text) place() string {
	if strings.HasSuffix(t.file, ".go") {
		return path.Dir(t.file)
	}
	return t.file
}

// add appends a piece that begins on the given line of the source, and continues on the next lines.
func (t *text) add(piece string, line int) {
	t.words += piece
	for i := range len(piece) {
		t.lines = append(t.lines, int32(line))
		if piece[i] == '\n' {
			line++
		}
	}
}

// addOn appends a piece that is on one line of the source, whatever it contains.
func (t *text) addOn(piece string, line int) {
	t.words += piece
	t.lines = append(t.lines, slices.Repeat([]int32{int32(line)}, len(piece))...)
}

// replace replaces each match in the text, and keeps the line of what follows.
func (t *text) replace(find *regexp.Regexp, with string) {
	all := find.FindAllStringIndex(t.words, -1)
	if all == nil {
		return
	}
	var words strings.Builder
	var lines []int32
	end := 0
	for _, at := range all {
		words.WriteString(t.words[end:at[0]])
		words.WriteString(with)
		lines = append(lines, t.lines[end:at[0]]...)
		for range len(with) {
			lines = append(lines, t.lines[at[0]])
		}
		end = at[1]
	}
	words.WriteString(t.words[end:])
	t.words, t.lines = words.String(), append(lines, t.lines[end:]...)
}

// sub returns a part of the text.
func (t *text) sub(from, to int) text {
	return text{t.file, t.kind, t.words[from:to], t.lines[from:to]}
}

var (
	paragraph = regexp.MustCompile(`\n[ \t]*(\n|([-*+]|\d+\.|#+)[ \t])`)
	directive = regexp.MustCompile(`^[a-z]+:[a-z]`)
	space     = regexp.MustCompile(`\s+`)
	codeSpan  = regexp.MustCompile("``[^`]+``|`[^`]+`")
	quotation = regexp.MustCompile(`"[^"]{1,600}"|“[^”]{1,600}”`)
	link      = regexp.MustCompile(`\]\([^)\s]*\)`)
	markup    = regexp.MustCompile(`<!--(?s:.*?)-->|<[a-z/][^>\n]*>|\*\*|[\[\]|]`)
	ruler     = regexp.MustCompile(`^[-: |]*$`)
)

// paragraphs splits a text at blank lines and at the items of lists, and drops code and quotations.
func (t *text) paragraphs() (all []text) {
	from := 0
	for _, end := range append(paragraph.FindAllStringIndex(t.words, -1), []int{len(t.words)}) {
		p := t.sub(from, end[0])
		from = end[0]
		p.replace(codeSpan, "%s")
		p.replace(quotation, "%q")
		p.replace(space, " ")
		if words := strings.TrimLeft(p.words, " -*+#|"); words != "" && !ruler.MatchString(words) {
			before := len(p.words) - len(words)
			all = append(all, p.sub(before, before+len(strings.TrimRight(words, " "))))
		}
	}
	return all
}

// readGo returns the texts of a Go file: its comments, and the strings that have a space.
func readGo(name string, source []byte, strs bool) ([]text, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(file) {
		return nil, err
	}
	line := func(p token.Pos) int { return fset.Position(p).Line }
	docs := map[*ast.CommentGroup]kind{file.Doc: overview}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			docs[f.Doc] = funcDoc
			if f.Name.IsExported() && (f.Recv == nil || ast.IsExported(receiver(f.Recv.List[0].Type))) {
				docs[f.Doc] = exportedDoc
			}
		}
	}
	var all []text
	for _, group := range file.Comments {
		k, t := docs[group], text{file: name, kind: comment}
		for _, c := range group.List {
			body, block := strings.CutPrefix(c.Text, "/*")
			if block {
				body = strings.TrimSuffix(body, "*/")
			} else {
				body = body[2:]
				if strings.HasPrefix(body, "\t") || strings.HasPrefix(body, "   ") || // code
					directive.MatchString(body) {
					body = ""
				}
			}
			t.add(strings.TrimPrefix(body, " ")+"\n", line(c.Pos()))
		}
		of := t.paragraphs()
		if k != "" && len(of) > 0 {
			of[0].kind = k
		}
		all = append(all, of...)
	}
	if !strs {
		return all, nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		t := text{file: name, kind: message}
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				if tag, err := strconv.Unquote(n.Tag.Value); err == nil {
					t.add(reflect.StructTag(tag).Get("jsonschema_description"), line(n.Tag.Pos()))
					all = append(all, t.paragraphs()...)
				}
				n.Tag = nil // which has been read
			}
			return true
		case *ast.BinaryExpr, *ast.BasicLit:
			if !concatenation(n.(ast.Expr), &t, line) {
				return true
			}
			words := strings.TrimSpace(t.words)
			if strings.Contains(words, "\n") {
				t.kind = help
			}
			if strings.ContainsFunc(words, unicode.IsSpace) { // not a name
				all = append(all, t.paragraphs()...)
			}
			return false
		}
		return true
	})
	return all, nil
}

// concatenation adds a string, or a sum of strings, to the text. It reports whether a literal is among them.
func concatenation(x ast.Expr, t *text, line func(token.Pos) int) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(x.Value)
		if x.Kind != token.STRING || err != nil {
			return false
		}
		if x.Value[0] == '`' {
			t.add(s, line(x.Pos()))
		} else {
			t.addOn(s, line(x.Pos()))
		}
		return true
	case *ast.BinaryExpr:
		if x.Op != token.ADD {
			return false
		}
		left := concatenation(x.X, t, line)
		if !left {
			t.add("%s", line(x.X.Pos()))
		}
		right := concatenation(x.Y, t, line)
		if !right {
			t.add("%s", line(x.Y.Pos()))
		}
		return left || right
	}
	return false
}

// receiver returns the name of the type of a method.
func receiver(x ast.Expr) string {
	for {
		switch r := x.(type) {
		case *ast.StarExpr:
			x = r.X
		case *ast.IndexExpr:
			x = r.X
		case *ast.IndexListExpr:
			x = r.X
		case *ast.Ident:
			return r.Name
		default:
			return ""
		}
	}
}

// readMarkdown returns the texts of a Markdown file, each cell of a table and each item of a list by itself. It skips
// code, block quotations and what the tests generate.
func readMarkdown(name string, source []byte) []text {
	t := text{file: name, kind: document}
	fenced, generated, before := false, false, ""
	for i, line := range strings.Split(string(source), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced = !fenced
			line = ""
		case strings.HasPrefix(trimmed, "<!--") && strings.Contains(trimmed, "-update"):
			generated, line = true, ""
		case strings.HasPrefix(trimmed, "<!-- end"):
			generated, line = false, ""
		case fenced || generated || strings.HasPrefix(trimmed, ">"):
			line = ""
		case strings.HasPrefix(line, "    ") && strings.TrimSpace(before) == "": // also after other code
			line = ""
		case strings.HasPrefix(trimmed, "|"):
			line = strings.ReplaceAll(strings.ReplaceAll(trimmed, `\|`, " "), "|", "\n\n")
		case strings.HasPrefix(trimmed, "#"):
			line = "\n" + strings.TrimLeft(trimmed, "# ") + "\n"
		}
		t.addOn(line+"\n", i+1)
		before = line
	}
	t.replace(codeSpan, "%s")
	t.replace(link, "]")
	t.replace(markup, "")
	return t.paragraphs()
}

// readYAML returns the comments of a YAML file, and the descriptions of an Action.
func readYAML(name string, source []byte) ([]text, error) {
	t := text{file: name, kind: comment}
	for i, line := range strings.Split(string(source), "\n") {
		before, words, _ := strings.Cut(" "+line, " # ")
		if strings.TrimSpace(before) != "" { // a comment behind a value is one of its own
			t.add("\n", i+1)
		}
		t.add(words+"\n", i+1)
	}
	all := t.paragraphs()
	var root yaml.Node
	if err := yaml.Unmarshal(source, &root); err != nil {
		return nil, err
	}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && c.Kind == yaml.ScalarNode &&
				n.Content[i-1].Value == "description" {
				t := text{file: name, kind: message}
				t.add(c.Value, c.Line)
				all = append(all, t.paragraphs()...)
			}
			walk(c)
		}
	}
	walk(&root)
	return all, nil
}

// readTree returns the texts of the tree: Go files without tests, documents, workflows and the Action.
func readTree(t *testing.T, root string) (all []text) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := path.Base(name); base == "testdata" || base == "node_modules" ||
				strings.HasPrefix(base, ".") && name != "." && base != ".github" {
				return fs.SkipDir
			}
			return nil
		}
		var read func(name string, source []byte) ([]text, error)
		switch ext := path.Ext(name); {
		case ext == ".go" && !strings.HasSuffix(name, "_test.go"):
			read = func(name string, source []byte) ([]text, error) { return readGo(name, source, true) }
		case ext == ".md" && name != "docs/rules.md": // which follows from the catalogues
			read = func(name string, source []byte) ([]text, error) { return readMarkdown(name, source), nil }
		case ext == ".yml" && !strings.HasPrefix(name, "test/"):
			read = readYAML
		default:
			return nil
		}
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		texts, err := read(name, bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n")))
		all = append(all, texts...)
		return err
	})
	must.OK(t, err)
	return all
}
