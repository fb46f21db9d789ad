package pytoken

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

var kindNames = map[Kind]string{End: "END", Newline: "NL", Indent: "IN", Dedent: "DE", FStart: "<", FEnd: ">"}

// shown spells tokens: names, numbers and operators as they are, strings in their quotes, the text of formatted ones
// in ~.
func shown(s *Source) string {
	var words []string
	for i, t := range s.Tokens {
		switch name := kindNames[t.Kind]; {
		case name != "":
			words = append(words, name)
		case t.Kind == FText:
			words = append(words, "~"+s.text(i)+"~")
		default:
			words = append(words, s.text(i))
		}
	}
	return strings.Join(words, " ")
}

func TestScan(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "END"},
		{"comment alone", "# x\n\n  # y", "END"},
		{"no final line feed", "a", "a NL END"},
		{"operators", "a**=b//c->d:=e...!=f<g", "a **= b // c -> d := e ... != f < g NL END"},
		{"numbers", "1_0 0xFf 1.5e-3j .5 1. 1if x else 2", "1_0 0xFf 1.5e-3j .5 1. 1 if x else 2 NL END"},
		{"strings", `'a' "b" r'\' ' rb"c" U'd' BR'''e'''`, `'a' "b" r'\' ' rb"c" U'd' BR'''e''' NL END`},
		{"triple", "'''a\n'b''c\\'''d'''", "'''a\n'b''c\\'''d''' NL END"},
		{"comment in a string, string in a comment", "'#a' # 'b\nc", "'#a' NL c NL END"},
		{"joined in brackets", "f(\n  a, # x\n\n b)\n", "f ( a , b ) NL END"},
		{"joined by a backslash", "a = \\\n  1\n", "a = 1 NL END"},
		{"string over two lines", "'a\\\nb'", "'a\\\nb' NL END"},
		{"blocks", "if a:\n  b\n\n  c\nd", "if a : NL IN b NL c NL DE d NL END"},
		{"blocks close at the end", "if a:\n  if b:\n    c", "if a : NL IN if b : NL IN c NL DE DE END"},
		{"comment in a block", "if a:\n# x\n  b\n # y\n  c", "if a : NL IN b NL c NL DE END"},
		{"semicolons", "a; b;", "a ; b ; NL END"},
		{"line ends", "if a:\r\n  b\rc", "if a : NL IN b NL DE c NL END"},
		{"byte order mark", "\ufeffa", "a NL END"},
		{"names beyond ASCII", "é_1 = ß", "é_1 = ß NL END"},
		{"formatted", `f'a{b}c'`, "< ~a~ { b } ~c~ > NL END"},
		{"formatted without fields", `rf"{{a}}"`, "< ~{{a}}~ > NL END"},
		{"quotes nested", `f"a{b["c"]}d{f"{e}"}"`, `< ~a~ { b [ "c" ] } ~d~ { < { e } > } > NL END`},
		{"specification", `f"{a:>{b}.2f}{c!r:x}"`, "< { a : ~>~ { b } ~.2f~ } { c ! r : ~x~ } > NL END"},
		{"colons in brackets of a field", `f"{a[1:2]}{(lambda x: 1)}"`,
			"< { a [ 1 : 2 ] } { ( lambda x : 1 ) } > NL END"},
		{"unequal in a field", `f"{a!=b}"`, "< { a != b } > NL END"},
		{"backslash before a brace", `f"\{a}"`, `< ~\~ { a } > NL END`},
		{"named character", `f"\N{DIGIT ONE}{a}"`, `< ~\N{DIGIT ONE}~ { a } > NL END`},
		{"field over lines", "f'{a\n}'", "< { a } > NL END"},
		{"comment in a field", "f'''{a # }\n}'''", "< { a } > NL END"},
		{"template", `t"{a}"`, "< { a } > NL END"},
		{"Latin-1", "# coding: latin-1\n'\xe9'", "'é' NL END"},
		{"Latin-1 in the second line", "#!\n# -*- coding: latin-1 -*-\n'\xe9'", "'é' NL END"},

		{"unended string", "a = 'b\n", "1:5: the string is not ended on its line"},
		{"unended at the end", "'a", "1:1: the string is never ended"},
		{"unended triple", "a\n'''b\n'", "2:1: the string is never ended"},
		{"unended by a backslash", `'a\`, "1:1: the string is never ended"},
		{"unended formatted", "f'a{b}", "1:1: the string is never ended"},
		{"unended field", "f'{b'", "1:4: the string is never ended"},
		{"unended specification", "f'{b:x'", "1:5: a field of the string is never closed"},
		{"lone brace", "f'}'", "1:3: a single } stands in a formatted string"},
		{"open bracket", "a(\n[b]", "1:2: '(' is never closed"},
		{"wrong bracket", "a(b]", "1:4: ']' closes '('"},
		{"nothing to close", "a)", "1:2: ')' closes nothing"},
		{"unexpected indentation", "a\n  b", "2:3: the line is indented, and no block is due"},
		{"first line indented", "  a", "1:3: the line is indented, and no block is due"},
		{"missing block", "if a:\nb", "2:1: a block is due, and the line is not indented"},
		{"missing block at the end", "if a:\n", "2:1: the text ends where a block is due"},
		{"between blocks", "if a:\n    b\n  c", "3:3: the line is indented as none of the blocks around it"},
		{"tabs and blanks", "if a:\n        b\n\tc",
			"3:2: tabs and blanks are mixed, so that the indentation has no one meaning"},
		{"odd character", "a = $b", "1:5: the character '$' stands in no Python"},
		{"lone exclamation mark", "!a", "1:1: '!' is no operator"},
		{"odd backslash", `a \ b`, `1:3: something follows the \ that joins lines`},
		{"last backslash", "a \\\n", `1:3: nothing follows the \ that joins lines`},
		{"null byte", "a\x00", "1:2: a null byte is no text"},
		{"no UTF-8", "\n'\xe9'", "2:2: the byte 0xe9 is no UTF-8"},
		{"other encoding", "# coding: shift_jis\n",
			`1:1: it names the encoding "shift-jis", UTF-8 and Latin-1 are read`},
		{"space that is none", "a\u00a0= 1", "1:2: the character U+00A0 is part of no name"},
		{"deep brackets", strings.Repeat("(", 300), "1:201: brackets are nested deeper than 200"},
		{"deep formatted strings", strings.Repeat("f'{", 300), "1:451: formatted strings are nested deeper than 150"},
		{"too long", strings.Repeat("a", MaxBytes+1), "1:1: the text has more than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if s, err := Scan([]byte(c.text)); err != nil {
				got = err.Error()
			} else {
				got = shown(s)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestDeepBlocks holds the limit of CPython, which counts the text itself as a level.
func TestDeepBlocks(t *testing.T) {
	text := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%sif a:\n", strings.Repeat(" ", i))
		}
		return []byte(b.String() + strings.Repeat(" ", n) + "b\n")
	}
	if _, err := Scan(text(99)); err != nil {
		t.Errorf("99 blocks: %v", err)
	}
	if _, err := Scan(text(100)); err == nil {
		t.Error("100 blocks are read")
	}
}

var everything = Member{"gitagent", "skill"}

// FuzzScan holds that no text makes the package panic, that tokens stand in order, and that the same text with the
// other
// ends of lines has the same tokens.
func FuzzScan(f *testing.F) {
	for _, text := range []string{"", "@skill\ndef f(): 'x'", "f'{a!r:{b}}'", "if a:\n\tb\n", "'''", "\\\n", "(((",
		"x = \"a\" 'b'",
		"from a import (b as c, d)\nimport e.f as g\ndel b, c[d]", "t'{x}' f'{'", "# coding: latin-1\n\xe9",
		"@a.b(c=(\"d\" f'{e}'), **g)\nasync def h(): (\n\"doc\")", "os.environ['A'] = open(file='x')", "f'\\N{a'"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Scan(text)
		var fault *Error
		if err != nil {
			if !errors.As(err, &fault) || fault.Line < 1 || fault.Column < 1 {
				t.Fatalf("error is %T: %v", err, err)
			}
			return
		}
		if !utf8.ValidString(s.Text) {
			t.Fatal("the text is no UTF-8")
		}
		at, depth := int32(0), 0
		for i, token := range s.Tokens {
			if token.Start < at || token.End < token.Start || int(token.End) > len(s.Text) {
				t.Fatalf("token %d is at %d-%d, after %d", i, token.Start, token.End, at)
			}
			at = token.End
			depth += s.opens(i)
			if last := i == len(s.Tokens)-1; depth < 0 || last != (token.Kind == End) || last && depth != 0 {
				t.Fatalf("token %d of %d is of kind %d, at depth %d", i, len(s.Tokens), token.Kind, depth)
			}
		}
		m, err := s.Module(everything, func(string) bool { return true })
		if err != nil && !errors.As(err, &fault) {
			t.Fatalf("error is %T", err)
		}
		if m != nil {
			for _, u := range m.Uses {
				if u.Name == "" || len(u.Arguments) > len(text) {
					t.Fatalf("use %+v", u)
				}
			}
		}
		if strings.Contains(s.Text, "\r") {
			return
		}
		other, err := Scan([]byte(strings.ReplaceAll(string(text), "\n", "\r\n")))
		if err != nil || len(other.Tokens) != len(s.Tokens) {
			t.Fatalf("with CR LF it is other tokens: %v", err)
		}
	})
}
