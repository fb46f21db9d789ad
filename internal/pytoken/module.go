package pytoken

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Module is what a text says of itself where it is a module.
type Module struct {
	Functions []Function
	Imports   []Import // `from` imports of the module's own scope
	Uses      []Use
}

// Member is what a module calls by a name.
type Member struct{ Module, Name string }

// Function is a statement def or async def of the module itself, neither in another definition nor under a condition,
// that has the decorator looked for.
type Function struct {
	Name      string
	At        int32 // of its name
	Doc       string
	HasDoc    bool
	Arguments []Argument // of the decorator, where it is called
	open      int        // the token after the decorator's name
}

// Import is one name of a statement `from … import …`.
type Import struct {
	Level    int // dots before the module
	Module   string
	Name, As string // Name is * for all of them
}

// Use is a call or a subscription of a name with dots, wherever it stands.
type Use struct {
	Name      string // imported names are spelled out: os.getenv after `from os import getenv as g`
	Subscript bool
	At        int32 // of the name
	Arguments []Argument
}

// Argument is one argument of a call or subscription.
type Argument struct {
	Keyword string // ** for those of a mapping
	// Value is the text where Text is set, which is the whole argument. Of formatted strings it is what they say
	// themselves.
	Value string
	Text  bool
	None  bool // it is the word None
}

// Module looks for functions under one decorator, and for the uses of those names that uses tells. A name is the
// decorator where the last statement of the module itself that binds it is an import of it, or of the module that it
// is a member of, in any of its spellings; an import under a condition or in a try counts as well. The error is an
// *Error: a decorator stands before what is no definition.
func (s *Source) Module(decorator Member, uses func(name string) bool) (*Module, error) {
	m := &module{Source: s, decorator: decorator, bound: map[string]binding{}, spelled: map[string]string{}}
	if err := m.lines(); err != nil {
		return nil, err
	}
	decorators := map[int]int{} // the functions by the brackets of their decorators
	for i, f := range m.Functions {
		decorators[f.open] = i
	}
	s.calls(func(open int, u Use) bool {
		_, is := decorators[open]
		return is || uses(m.full(u.Name))
	}, func(open int, u Use) {
		if i, is := decorators[open]; is {
			m.Functions[i].Arguments = u.Arguments
		}
		if u.Name = m.full(u.Name); uses(u.Name) {
			m.Uses = append(m.Uses, u)
		}
	})
	slices.SortFunc(m.Uses, func(a, b Use) int { return cmp.Compare(a.At, b.At) })
	return &m.Module, nil
}

// full spells a name with what imports call by the first part of it.
func (m *module) full(name string) string {
	first, rest, dotted := strings.Cut(name, ".")
	full, imported := m.spelled[first]
	switch {
	case !imported:
		return name
	case dotted:
		return full + "." + rest
	}
	return full
}

// module is one look at the statements of a module.
type module struct {
	*Source
	Module
	decorator Member
	bound     map[string]binding // by the module's own statements so far
	spelled   map[string]string  // what imports anywhere call by a name
}

// binding says what a name may stand for.
type binding struct{ module, member bool }

// scope is where a statement stands.
type scope uint8

const (
	direct      scope = iota // a statement of the module itself
	conditional              // in a block that is no definition's
	inner                    // in a function or class
)

// lines goes through the logical lines.
func (m *module) lines() error {
	blocks := []scope{direct} // those that are open
	next := direct            // of the block that the line before begins
	var decorators []int      // those that wait for their definition, by the token @
	for i := 0; ; i++ {
		switch t := m.Tokens[i]; t.Kind {
		case Indent:
			blocks = append(blocks, next)
			continue
		case Dedent:
			blocks = blocks[:len(blocks)-1]
			continue
		case End:
			return m.undecorated(decorators)
		}
		end := i
		for m.Tokens[end].Kind != Newline {
			end++
		}
		here := blocks[len(blocks)-1]
		def := i
		if m.is(i, "async") {
			def++
		}
		next = max(here, conditional)
		switch {
		case m.is(i, "@"):
			decorators = append(decorators, i)
		case m.is(def, "def"), m.is(i, "class"):
			next = inner
			if m.is(def, "def") && here == direct {
				m.function(def+1, end, decorators)
			}
			if here == direct && m.Tokens[def+1].Kind == Name {
				delete(m.bound, m.name(def+1))
			}
			decorators = nil
			m.suite(def, end, inner)
		default:
			if err := m.undecorated(decorators); err != nil {
				return err
			}
			if m.is(def, "for") || m.is(def, "with") || blockWords[m.text(i)] {
				m.suite(def, end, next)
			} else {
				m.statements(i, end, here)
			}
		}
		i = end
	}
}

// undecorated says that what is due after decorators is not there.
func (m *module) undecorated(decorators []int) error {
	if len(decorators) == 0 {
		return nil
	}
	line, column := m.Position(m.Tokens[decorators[len(decorators)-1]].Start)
	return &Error{line, column, "a decorator stands before what is no definition"}
}

// blockWords begin statements that have a block; match and case, which may be names, are left out.
var blockWords = map[string]bool{"if": true, "elif": true, "else": true, "while": true, "try": true, "except": true,
	"finally": true}

// suite reads the statements that follow the colon of a line, if they do.
func (m *module) suite(i, end int, as scope) {
	if colon := m.colon(i, end); colon < end {
		m.statements(colon+1, end, as)
	}
}

// colon is where the head of a block ends, end where it has no colon.
func (m *module) colon(i, end int) int {
	lambdas := 0
	return m.top(i, end, func(i int) bool {
		switch {
		case m.is(i, "lambda"):
			lambdas++
		case m.is(i, ":") && lambdas > 0:
			lambdas--
		case m.is(i, ":"):
			return true
		}
		return false
	})
}

// top is the first token from i on that stands in no bracket and no formatted string and that is wanted; end where
// there is none.
func (m *module) top(i, end int, want func(i int) bool) int {
	depth := 0
	for ; i < end; i++ {
		d := m.opens(i)
		if depth == 0 && d == 0 && want(i) {
			return i
		}
		depth += d
	}
	return end
}

// opens is 1 where a token opens a bracket or a formatted string, and -1 where it closes one.
func (s *Source) opens(i int) int {
	switch t := s.Tokens[i]; t.Kind {
	case FStart:
		return 1
	case FEnd:
		return -1
	case Op:
		switch s.Text[t.Start] {
		case '(', '[', '{':
			return 1
		case ')', ']', '}':
			return -1
		}
	}
	return 0
}

// name is the name at i, as it is compared.
func (s *Source) name(i int) string {
	name := s.text(i)
	if isASCII(name) {
		return name
	}
	return norm.NFKC.String(name)
}

// dotted reads names with dots between them, and gives the token after them.
func (s *Source) dotted(i int) (name string, after int) {
	if s.Tokens[i].Kind != Name {
		return "", i
	}
	first, last, plain := i, i, true
	for s.is(last+1, ".") && s.Tokens[last+2].Kind == Name {
		plain = plain && s.Tokens[last].End == s.Tokens[last+1].Start && s.Tokens[last+1].End == s.Tokens[last+2].Start
		last += 2
	}
	if plain && isASCII(s.Text[s.Tokens[first].Start:s.Tokens[last].End]) {
		return s.Text[s.Tokens[first].Start:s.Tokens[last].End], last + 1
	}
	var b strings.Builder
	for i := first; i <= last; i += 2 {
		if i > first {
			b.WriteByte('.')
		}
		b.WriteString(s.name(i))
	}
	return b.String(), last + 1
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// statements reads simple statements, up to the end of the line.
func (m *module) statements(i, end int, here scope) {
	for i < end {
		stop := m.top(i, end, func(i int) bool { return m.is(i, ";") })
		switch {
		case m.is(i, "import"):
			m.importModules(i+1, stop, here)
		case m.is(i, "from"):
			m.importNames(i+1, stop, here)
		case here != direct:
		case m.is(i, "del"):
			m.unbind(i+1, stop)
		default:
			m.assign(i, stop)
		}
		i = stop + 1
	}
}

func (m *module) importModules(i, end int, here scope) {
	for i < end {
		full, after := m.dotted(i)
		as := full
		if m.is(after, "as") && after+1 < end {
			as, after = m.name(after+1), after+2
		} else { // what is bound is the package, which has the module then
			full, _, _ = strings.Cut(full, ".")
			as = full
		}
		m.bind(here, as, full, binding{module: full == m.decorator.Module})
		if !m.is(after, ",") {
			return
		}
		i = after + 1
	}
}

func (m *module) importNames(i, end int, here scope) {
	var from Import
	for ; m.is(i, ".") || m.is(i, "..."); i++ {
		from.Level += int(m.Tokens[i].End - m.Tokens[i].Start)
	}
	if !m.is(i, "import") {
		from.Module, i = m.dotted(i)
	}
	if !m.is(i, "import") {
		return
	}
	if i++; m.is(i, "(") {
		i++
	}
	for i < end && (m.Tokens[i].Kind == Name || m.is(i, "*")) {
		one := from
		one.Name = m.name(i)
		one.As = one.Name
		if i++; m.is(i, "as") && i+1 < end {
			one.As = m.name(i + 1)
			i += 2
		}
		if here != inner {
			m.Imports = append(m.Imports, one)
		}
		if one.Name != "*" {
			m.bind(here, one.As, strings.Repeat(".", one.Level)+one.Module+"."+one.Name,
				binding{member: one.Level == 0 && Member{one.Module, one.Name} == m.decorator})
		}
		if !m.is(i, ",") {
			return
		}
		i++
	}
}

// bind notes what an import calls by a name.
func (m *module) bind(here scope, name, full string, to binding) {
	m.spelled[name] = full
	switch here {
	case direct:
		m.bound[name] = to
	case conditional:
		was := m.bound[name]
		m.bound[name] = binding{was.module || to.module, was.member || to.member}
	}
}

// assign unbinds what a statement assigns to, if it is an assignment.
func (m *module) assign(i, end int) {
	last := -1
	note := -1 // where an annotation begins
	m.top(i, end, func(i int) bool {
		switch text := m.text(i); {
		case text == "lambda": // what follows may be a default
			return true
		case m.Tokens[i].Kind != Op:
		case text == ":" && note < 0 && last < 0:
			note = i
		case text[len(text)-1] == '=' && !comparisons[text]:
			last = i
		}
		return false
	})
	if last < 0 {
		return
	}
	if note >= 0 {
		last = note
	}
	m.unbind(i, last)
}

var comparisons = map[string]bool{"==": true, "!=": true, "<=": true, ">=": true, ":=": true}

// unbind forgets the names that are targets; those in calls, subscriptions and before a dot are none.
func (m *module) unbind(i, end int) {
	skip := 0
	for ; i < end; i++ {
		d := m.opens(i)
		switch before := m.Tokens[max(i-1, 0)].Kind; {
		case skip > 0:
			skip += d
		case d > 0 && i > 0 && (before == Name && !m.is(i-1, "del") || m.is(i-1, ")") || m.is(i-1, "]")):
			skip = 1
		case d == 0 && m.Tokens[i].Kind == Name && !m.is(i+1, ".") && !m.is(i+1, "(") && !m.is(i+1, "[") &&
			!(i > 0 && m.is(i-1, ".")):
			delete(m.bound, m.name(i))
		}
	}
}

// function notes a function of the module itself, whose name is the token at i, where one of the decorators is wanted.
func (m *module) function(i, end int, decorators []int) {
	if m.Tokens[i].Kind != Name {
		return
	}
	for _, at := range decorators {
		wanted, after := m.decorated(at + 1)
		if !wanted {
			continue
		}
		f := Function{Name: m.name(i), At: m.Tokens[i].Start, open: after}
		f.Doc, f.HasDoc = m.docstring(i, end)
		m.Functions = append(m.Functions, f)
		return
	}
}

// decorated reports whether what follows an @ is the decorator that is wanted, called or not, and gives the token
// after it.
func (m *module) decorated(i int) (is bool, after int) {
	if m.Tokens[i].Kind != Name {
		return false, 0
	}
	name, after := m.dotted(i)
	first, rest, dotted := strings.Cut(name, ".")
	to := m.bound[first]
	if !(to.member && !dotted || to.module && rest == m.decorator.Name) {
		return false, 0
	}
	end := after
	if m.is(after, "(") {
		for depth := 0; ; end++ {
			if depth += m.opens(end); depth == 0 {
				end++
				break
			}
		}
	}
	return m.Tokens[end].Kind == Newline, after
}

// docstring is the text that the body of a definition begins with, whose head begins at i and whose line ends at end.
func (m *module) docstring(i, end int) (doc string, ok bool) {
	at := m.colon(i, end) + 1
	switch {
	case at == end: // the body begins after Newline and Indent
		at += 2
	case at > end: // there is no colon
		return "", false
	}
	brackets := 0
	for ; at < len(m.Tokens) && m.is(at, "("); at++ {
		brackets++
	}
	var text []byte
	first := at
	for ; at < len(m.Tokens) && m.Tokens[at].Kind == String; at++ {
		if text, ok = m.literal(text, at); !ok {
			return "", false
		}
	}
	if at == first || at == len(m.Tokens) {
		return "", false
	}
	for ; brackets > 0 && m.is(at, ")"); at++ {
		brackets--
	}
	return string(text), brackets == 0 && (m.Tokens[at].Kind == Newline || m.is(at, ";"))
}
