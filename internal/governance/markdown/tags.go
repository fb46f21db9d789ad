package markdown

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Tag is an HTML tag.
type Tag struct {
	Name       string // in small letters
	Closing    bool
	Length     int
	attributes string // as they are written
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isNameByte(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c == '-' }

// elementName returns the name in small letters of the element whose tag a text may begin with.
func elementName(text string) (name string, closing bool) {
	rest := text[1:]
	if strings.HasPrefix(rest, "/") {
		rest, closing = rest[1:], true
	}
	n := 0
	for n < len(rest) && isNameByte(rest[n]) && (n > 0 || isLetter(rest[0])) {
		n++
	}
	return strings.ToLower(rest[:n]), closing
}

// ParseTag reads the tag that a text begins with, as CommonMark has it within a paragraph. The second result is false
// if the text does not begin with one. Then only Name and Closing are set, by what looks like the begin of a tag.
func ParseTag(text string) (t Tag, ok bool) {
	t.Name, t.Closing = elementName(text)
	if t.Name == "" {
		return t, false
	}
	i := 1 + len(t.Name)
	if t.Closing {
		i++
	}
	begin := i
	for {
		blanks := skipBlanks(text, i)
		spaced := blanks > i
		i = blanks
		switch {
		case i == len(text):
			return t, false
		case text[i] == '>', strings.HasPrefix(text[i:], "/>") && !t.Closing:
			t.attributes = text[begin:i]
			t.Length = i + strings.IndexByte(text[i:], '>') + 1
			return t, true
		case t.Closing || !spaced || !isLetter(text[i]) && text[i] != '_' && text[i] != ':':
			return t, false
		}
		for i < len(text) && (isNameByte(text[i]) || strings.IndexByte("_:.", text[i]) >= 0) {
			i++
		}
		equals := skipBlanks(text, i)
		if equals == len(text) || text[equals] != '=' {
			continue
		}
		if i = attributeEnd(text, skipBlanks(text, equals+1)); i < 0 {
			return t, false
		}
	}
}

func skipBlanks(text string, i int) int {
	for i < len(text) && strings.IndexByte(" \t\n\v\f", text[i]) >= 0 {
		i++
	}
	return i
}

// attributeEnd returns the end of the value of an attribute that begins at i, -1 if none does.
func attributeEnd(text string, i int) int {
	if i == len(text) {
		return -1
	}
	if c := text[i]; c == '"' || c == '\'' {
		end := strings.IndexByte(text[i+1:], c)
		if end < 0 {
			return -1
		}
		return i + 1 + end + 1
	}
	n := strings.IndexAny(text[i:], " \t\n\v\f\"'=<>`")
	if n <= 0 {
		return -1
	}
	return i + n
}

// LooseTag reads the tag that a text begins with as a browser does, because a block of HTML reaches the browser as it
// is. The second result is false if the text does not begin with a tag; a length of 0 is a tag that does not end.
func LooseTag(text string) (t Tag, ok bool) {
	if t, ok = ParseTag(text); ok || t.Name == "" {
		return t, ok
	}
	begin := strings.IndexFunc(text, unicode.IsLetter)
	end := begin + len(t.Name)
	for end < len(text) && strings.IndexByte(" \t\n\f/>", text[end]) < 0 {
		end++ // any other sign is of the name
	}
	t.Name = strings.ToLower(text[begin:end])
	quoted, last := byte(0), byte(0)
	for i := end; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '>':
			t.attributes, t.Length = text[end:i], i+1
			return t, true
		case (c == '"' || c == '\'') && last == '=':
			quoted = c
		}
		if strings.IndexByte(" \t\n", c) < 0 {
			last = c
		}
	}
	t.attributes = text[end:]
	return t, true
}

// attribute returns the value of an attribute, and whether the tag has it, as a browser reads it: the first of a name
// counts.
func (t Tag) attribute(name string) (value string, found bool) {
	const blanks = " \t\n\f"
	for rest := strings.TrimLeft(t.attributes, blanks+"/"); rest != ""; rest = strings.TrimLeft(rest, blanks+"/") {
		n := 1 // a name may begin with =
		for n < len(rest) && strings.IndexByte(blanks+"/=", rest[n]) < 0 {
			n++
		}
		key, value := strings.ToLower(rest[:n]), ""
		rest = strings.TrimLeft(rest[n:], blanks)
		if after, ok := strings.CutPrefix(rest, "="); ok {
			rest = strings.TrimLeft(after, blanks)
			if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
				value, rest, _ = strings.Cut(rest[1:], rest[:1])
			} else {
				n := strings.IndexAny(rest, blanks)
				if n < 0 {
					n = len(rest)
				}
				value, rest = rest[:n], rest[n:]
			}
		}
		if key == name {
			return html.UnescapeString(value), true
		}
	}
	return "", false
}

// hiders are the elements whose content is not shown, or is not said. An attribute hidden or style makes one of any.
var hiders = wordSet(`
	audio bdo canvas code datalist del details dialog font head iframe math meter noembed noframes noscript
	object plaintext progress q rp s script select strike style svg template textarea title video xmp` + lists)

// lists are the elements that a paragraph before them may lead, as it does the blocks of Markdown that they are.
const lists = " blockquote dd dl dt li menu ol pre table ul"

var isList = wordSet(lists)

// implied are the elements that the next of them and the end of their list end.
var implied = wordSet("dd dt li")

// scopes are the elements in which no tag closes an element around them.
var scopes = wordSet("object table template")

// literal are the elements whose content has no tags.
var literal = wordSet("iframe noembed noframes noscript plaintext script style textarea title xmp")

// void are the elements without content.
var void = wordSet("area base br col embed hr img input link meta param source track wbr")

// parting are the elements that part words. Others may be within a word.
var parting = wordSet("br pre " + htmlBlocks)

// hiding are the elements that are open and may hide what follows, outermost first.
type hiding struct {
	names []string
	in    []*container // that they begin in
	block *container   // that holds the block
	more  int          // those beyond maxHiding
	fresh []string     // those that the block opens, though it may close them
	lists bool         // a list is open, or was in the block
	lost  bool         // a tag, a comment or an element does not end, so that it is not known what a browser shows
}

// begin begins a block in a container.
func (h *hiding) begin(in *container) {
	h.fresh, h.block, h.lists = h.fresh[:0], in, h.more > 0
	for i, name := range h.names {
		h.lists = h.lists || isList[name]
		around := in
		for around != nil && around != h.in[i] {
			around = around.in
		}
		h.lost = h.lost || around != h.in[i]
	}
}

// maxHiding is how many elements are distinguished.
const maxHiding = 32

// String returns the names of the open elements.
func (h *hiding) String() string {
	if len(h.names) == 0 && h.more == 0 {
		return ""
	}
	return strings.Join(h.names, " ") + " " + strconv.Itoa(h.more)
}

// tag enters the elements that a tag opens or closes.
func (h *hiding) tag(t Tag) {
	n := len(h.names)
	if n > 0 && literal[h.names[n-1]] && (!t.Closing || t.Name != h.names[n-1]) {
		return
	}
	if t.Closing {
		for i, name := range slices.Backward(h.names) {
			if name == t.Name {
				end := i + 1
				for end < len(h.names) && implied[h.names[end]] {
					end++
				}
				h.names, h.in = slices.Delete(h.names, i, end), slices.Delete(h.in, i, end)
			}
			if name == t.Name || scopes[name] {
				return
			}
		}
		return
	}
	if void[t.Name] {
		if t.hides() {
			h.note(t.Name)
		}
		return
	}
	if n > 0 && implied[t.Name] && implied[h.names[n-1]] {
		h.names, h.in = h.names[:n-1], h.in[:n-1]
	}
	if hiders[t.Name] || t.hides() || slices.Contains(h.names, t.Name) {
		h.open(t.Name)
	}
}

// hides reports whether an attribute may hide the element, or show its content as something else.
func (t Tag) hides() bool { return t.Has("hidden", "popover", "style", "dir") }

// Has reports whether the tag has one of the attributes.
func (t Tag) Has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, has := t.attribute(name)
		return has
	})
}

// open enters an element.
func (h *hiding) open(name string) {
	h.note(name)
	h.lists, h.lost = h.lists || isList[name], h.lost || name[0] == '<'
	if len(h.names) == maxHiding {
		h.more++
		return
	}
	h.names, h.in = append(h.names, name), append(h.in, h.block)
}

func (h *hiding) note(name string) {
	if len(h.fresh) < maxHiding {
		h.fresh = append(h.fresh, name)
	}
}
