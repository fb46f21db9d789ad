package gitfsck

import "bytes"

// ReadConfig reads the text of a configuration file up to its end or the first part that git cannot read, and calls
// take for each variable: section and key in lower case, the subsection as it is, dots between them; a variable without
// "=" is not set. It ends early if take returns false. It returns what it did not read, and whether that is nothing.
func ReadConfig(text []byte, take func(variable string, value []byte, set bool) bool) (rest []byte, whole bool) {
	r := configReader{text: text}
	var section []byte
	for {
		c, ok := r.next()
		switch {
		case !ok:
			return nil, true
		case isSpace(c):
		case c == '#' || c == ';':
			r.skipLine()
		case c == '[':
			if section, ok = r.section(); !ok {
				return r.text, false
			}
		case isLetter(c):
			name, value, set, ok := r.variable(append(section[:len(section):len(section)], lower(c)))
			if !ok || !take(name, value, set) {
				return r.text, false
			}
		default:
			return r.text, false
		}
	}
}

// configReader gives the bytes of a configuration file, CR LF as LF. The end counts as the end of a line.
type configReader struct {
	text []byte
}

func (r *configReader) next() (c byte, ok bool) {
	if len(r.text) == 0 {
		return '\n', false
	}
	c = r.text[0]
	r.text = r.text[1:]
	if c == '\r' && len(r.text) > 0 && r.text[0] == '\n' {
		c = '\n'
		r.text = r.text[1:]
	}
	return c, true
}

func (r *configReader) skipLine() {
	for {
		if c, ok := r.next(); !ok || c == '\n' {
			return
		}
	}
}

// section reads what follows "[": a name, and maybe a subsection in quotes. It returns them with a dot at the end.
func (r *configReader) section() (name []byte, ok bool) {
	for {
		c, ok := r.next()
		switch {
		case !ok:
			return nil, false
		case c == ']':
			return append(name, '.'), len(name) > 0
		case isSpace(c):
			return r.subsection(name, c)
		case !isKey(c) && c != '.':
			return nil, false
		}
		name = append(name, lower(c))
	}
}

func (r *configReader) subsection(name []byte, c byte) ([]byte, bool) {
	for isSpace(c) {
		if c == '\n' {
			return nil, false
		}
		c, _ = r.next()
	}
	if c != '"' {
		return nil, false
	}
	name = append(name, '.')
	for {
		c, _ := r.next()
		if c == '\\' {
			if c, _ = r.next(); c != '\n' {
				name = append(name, c)
				continue
			}
		}
		switch c {
		case '\n':
			return nil, false
		case '"':
			c, ok := r.next()
			return append(name, '.'), ok && c == ']'
		}
		name = append(name, c)
	}
}

// variable reads the rest of a variable's name, which git takes for text that ends at a NUL byte, and its value.
func (r *configReader) variable(name []byte) (variable string, value []byte, set, ok bool) {
	c, more := r.next()
	for more && isKey(c) {
		name = append(name, lower(c))
		c, more = r.next()
	}
	for c == ' ' || c == '\t' {
		c, _ = r.next()
	}
	if c != '\n' {
		if c != '=' {
			return "", nil, false, false
		}
		set = true
		if value, ok = r.value(); !ok {
			return "", nil, false, false
		}
	}
	name, _, _ = bytes.Cut(name, []byte{0})
	return string(name), value, set, true
}

// value reads up to the end of the line: without blanks around it, comments, and the quotes in it.
func (r *configReader) value() (value []byte, ok bool) {
	quoted := false
	kept := 0 // of value, without the blanks at its end
	for {
		c, _ := r.next()
		switch {
		case c == '\n':
			return value[:kept], !quoted
		case isSpace(c) && !quoted:
			if len(value) > 0 {
				value = append(value, c)
			}
			continue
		case (c == '#' || c == ';') && !quoted:
			r.skipLine()
			return value[:kept], true
		case c == '"':
			quoted = !quoted
			kept = len(value)
			continue
		case c == '\\':
			c, _ = r.next()
			switch c {
			case '\n':
				kept = len(value)
				continue
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case 'n':
				c = '\n'
			case '\\', '"':
			default:
				return nil, false
			}
		}
		value = append(value, c)
		kept = len(value)
	}
}

// isSpace is git's: neither vertical tab nor form feed.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isLetter(c byte) bool { return lower(c) >= 'a' && lower(c) <= 'z' }

func isKey(c byte) bool { return isLetter(c) || isDigit(c) || c == '-' }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
