package gitstore

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// config is a Git configuration file: the last value of each key. A key is section.name or
// section.subsection.name, section and name in lower case. Include directives are not followed: they can name
// any file of the machine, and none of the keys read here belongs into one.
type config map[string]string

const maxConfig = 4 << 20

// parseConfig reads the syntax of git-config(1). It is strict: what git refuses it refuses.
func parseConfig(text string) (config, error) {
	c := config{}
	return c, EachSetting(text, func(key, value string) error {
		c[key] = value
		return nil
	})
}

// EachSetting calls f for each key of a configuration file and its value, in the order of the file. See config.
func EachSetting(text string, f func(key, value string) error) error {
	p := configParser{text: strings.TrimPrefix(text, "\ufeff"), line: 1, set: f}
	if len(text) > maxConfig {
		return fmt.Errorf("%w: %d bytes, at most %d are read", ErrTooLarge, len(text), maxConfig)
	}
	if err := p.file(); err != nil {
		return fmt.Errorf("line %d: %w", p.line, err)
	}
	return nil
}

type configParser struct {
	text    string
	at      int
	line    int
	section string
	set     func(key, value string) error
}

// next returns the next byte, with CR LF as LF. After the last byte it returns line ends.
func (p *configParser) next() byte {
	c := p.peek()
	if c == '\r' && p.at+1 < len(p.text) && p.text[p.at+1] == '\n' {
		p.at++
		c = '\n'
	}
	if c == '\n' {
		p.line++
	}
	p.at++
	return c
}

func (p *configParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return '\n'
}

func (p *configParser) file() error {
	for p.at < len(p.text) {
		switch c := p.next(); {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case c == '#' || c == ';':
			p.skipLine()
		case c == '[':
			if err := p.header(); err != nil {
				return err
			}
		case isAlpha(c):
			p.at--
			if err := p.variable(); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%q is where a section or a key must be", c)
		}
	}
	return nil
}

func (p *configParser) skipLine() {
	for p.peek() != '\n' {
		p.at++
	}
}

func (p *configParser) header() error {
	start := p.at
	for isAlnum(p.peek()) || p.peek() == '-' || p.peek() == '.' {
		p.at++
	}
	p.section = strings.ToLower(p.text[start:min(p.at, len(p.text))])
	if p.section == "" {
		return errors.New("a section without a name")
	}
	if p.peek() == ' ' || p.peek() == '\t' {
		for p.peek() == ' ' || p.peek() == '\t' {
			p.at++
		}
		if err := p.subsection(); err != nil {
			return err
		}
	}
	if p.next() != ']' {
		return errors.New("a section header without ]")
	}
	return nil
}

func (p *configParser) subsection() error {
	if p.next() != '"' {
		return errors.New("a subsection that is not quoted")
	}
	var name strings.Builder
	for {
		c := p.next()
		switch c {
		case '\n':
			return errors.New("a subsection without closing quote")
		case '"':
			p.section += "." + name.String()
			return nil
		case '\\':
			if c = p.next(); c == '\n' {
				return errors.New("a subsection without closing quote")
			}
		}
		name.WriteByte(c)
	}
}

func (p *configParser) variable() error {
	if p.section == "" {
		return errors.New("a key before any section")
	}
	start := p.at
	for isAlnum(p.peek()) || p.peek() == '-' {
		p.at++
	}
	key := p.section + "." + strings.ToLower(p.text[start:min(p.at, len(p.text))])
	for p.peek() == ' ' || p.peek() == '\t' {
		p.at++
	}
	value := "true" // a key without a value
	switch c := p.next(); c {
	case '\n':
	case '=':
		var err error
		if value, err = p.value(); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%q after the key %q", c, key)
	}
	return p.set(key, value)
}

// value reads to the end of the line: quotes, escapes, comments and continuation lines.
func (p *configParser) value() (string, error) {
	var out strings.Builder
	quoted := false
	keep := 0 // length of out without white space at its end
	for {
		c := p.next()
		switch {
		case c == '\n':
			if quoted {
				return "", errors.New("a value without closing quote")
			}
			return out.String()[:keep], nil
		case !quoted && (c == ' ' || c == '\t' || c == '\r'):
			if out.Len() > 0 {
				out.WriteByte(c)
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			p.skipLine()
			continue
		case c == '"':
			quoted = !quoted
		case c == '\\':
			c = p.next()
			if c == '\n' {
				continue
			}
			i := strings.IndexByte(`tbn\"`, c)
			if i < 0 {
				return "", fmt.Errorf("unknown escape %q", "\\"+string(c))
			}
			out.WriteByte("\t\b\n\\\""[i])
		default:
			out.WriteByte(c)
		}
		keep = out.Len()
	}
}

// bool returns the value of key as git reads it: absent is false.
func (c config) bool(key string) (bool, error) {
	v, ok := c[key]
	if !ok {
		return false, nil
	}
	switch strings.ToLower(v) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0", "":
		return false, nil
	}
	if n, err := strconv.Atoi(v); err == nil { // as git reads any number
		return n != 0, nil
	}
	return false, fmt.Errorf("%s is %q; expected true or false", key, v)
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }
