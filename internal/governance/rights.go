package governance

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/page"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var rfcNumber = plain.Pattern(`(?i)^rfcs/RFC-0*([0-9]+)`)

// right is a word of a user's right: RFC 0019 section 5, RFC 0016 section 4 and the words for it in OAP-CORE.
var right = plain.Pattern(`(?i)\b(?:identit(?:y|ies)|memor(?:y|ies)|reputations?|projections?|personas?|` +
	`cooling off|cool off|escalat\w*|delet\w*|replaceab\w*|plural\w*|` +
	`explanations?|explain\w*|optimi[sz]\w*|personali[sz]\w*|human (?:path|being|contact|operator)s?|disappear\w*|` +
	`forgotten|eras(?:e|ure)\w*|charter|rfc 0*1[678])\b`)

// rightStems are in every text that right or rfcNumbers matches, in small letters.
var rightStems = strings.Fields("identit memor reputation projection persona cool escalat delet replaceab plural " +
	"expla optimi human disappear forgotten eras charter rfc")

// ofRight reports whether a text or a name has a word of a right, or names one of some RFCs by its number.
func ofRight(text string, rfcs map[int]bool) bool {
	words := parted(text)
	return right().MatchString(words) || len(rfcs) > 0 &&
		slices.ContainsFunc(rfcNumbers().FindAllStringSubmatch(words, -1), func(m []string) bool {
			n, err := strconv.Atoi(m[1])
			return err == nil && rfcs[n]
		})
}

// parted returns a text with blanks between its words: hyphens, strokes, dots, low lines, digits and the capitals
// within a name part words. It returns "" for a text that has no word of a right.
func parted(text string) string {
	text = page.Plain(text)
	lower := strings.ToLower(text)
	if !slices.ContainsFunc(rightStems, func(stem string) bool { return strings.Contains(lower, stem) }) {
		return ""
	}
	var out strings.Builder
	last := ' '
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case strings.ContainsRune("_-/.", r):
			r = ' '
		case unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsUpper(last) && i+1 < len(runes) &&
			unicode.IsLower(runes[i+1])),
			unicode.IsDigit(r) && unicode.IsLetter(last), unicode.IsLetter(r) && unicode.IsDigit(last):
			out.WriteByte(' ')
		}
		out.WriteRune(r)
		last = r
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// trigger is why a change touches a user's right.
type trigger struct {
	kind string // path, text, property, label
	text string // what has the word
	at   verdict.At
}

func (t trigger) String() string {
	if t.kind == "label" {
		return fmt.Sprintf("label %q", t.text)
	}
	place := plain.ShellWord(t.at.Path)
	if t.at.Line > 0 {
		place += ":" + strconv.Itoa(t.at.Line)
	}
	return fmt.Sprintf("%s %q (%s)", t.kind, shorten(t.text), place)
}

// triggers are those of all views, each once.
type triggers []trigger

// String says how many triggers each kind has, and shows the first ones, one of each kind before others.
func (all triggers) String() string {
	var kinds, shown, more []string
	count := map[string]int{}
	for _, one := range all {
		if count[one.kind]++; count[one.kind] == 1 {
			kinds, shown = append(kinds, one.kind), append(shown, one.String())
		} else if len(more) < maxSentences {
			more = append(more, one.String())
		}
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%s %d", kind, count[kind])
	}
	shown = append(shown, more...)
	return fmt.Sprintf("the change touches user rights (%s): %s", strings.Join(kinds, ", "),
		strings.Join(shown[:min(len(shown), maxSentences)], "; "))
}

// charterPath matches the paths whose change touches user rights.
var charterPath = plain.Pattern(`(?i)^(?:rfcs/rfc-001[678]-|test-suite/charter/)`)

// touchesRights returns why a proposal touches user rights.
func (p *Proposal) touchesRights(out *verdict.Outcome, j *Judgement) (all triggers, err error) {
	var unread []string // no gate reads them
	for _, v := range p.Views {
		for _, c := range v.Changes {
			if charterPath().MatchString(c.Path) {
				at, err := v.firstChange(c)
				if err != nil {
					return nil, err
				}
				all = append(all, trigger{"path", c.Path, at})
			}
		}
		names, err := v.rightRFCs()
		if err != nil {
			return nil, err
		}
		files, err := v.normativeFiles()
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			touching, err := v.touches(f, names)
			if err != nil {
				return nil, err
			}
			all = append(all, touching...)
			if f.new.data != nil && f.new.text == nil && f.new.json == nil {
				unread = append(unread, f.new.path)
			}
		}
	}
	if slices.Sort(unread); len(unread) > 0 {
		j.attest(charterReview, slices.Compact(unread), "these files touch no right of a user; no gate reads them")
	}
	first, err := p.firstNormative()
	if label := p.charterLabel(out, first, len(all) > 0); label != "" {
		all = append(all, trigger{"label", label, first})
	}
	seen := map[trigger]bool{}
	return slices.DeleteFunc(all, func(t trigger) bool {
		was := seen[t]
		seen[t] = true
		return was
	}), err
}

// touches returns the triggers of a file. names are the numbers of the RFCs whose file names have a word of a right.
func (v *View) touches(f normativeFile, names map[int]bool) (all triggers, err error) {
	name := ""
	for _, version := range []version{f.old, f.new} {
		if base := path.Base(version.path); version.path != "" && ofRight(base, nil) {
			name = base
		}
	}
	old, new := f.old.passages("old"), f.new.passages("new")
	come, gone := without(new, old, bySource), without(old, new, bySource)
	if f.old.text != nil && f.new.text != nil { // only blocks whose lines differ are rendered
		come, gone = without(come, gone, byText), without(gone, come, byText)
	}
	for i, side := range []struct {
		version
		blocks []*page.Block
	}{{f.new, come}, {f.old, gone}} {
		for _, b := range side.blocks {
			one := trigger{"property", "", verdict.At{Path: side.path, Line: b.Line}}
			if side.json != nil {
				one.text = touches(b, nil)
			} else {
				one.kind, one.text = "text", cmp.Or(touches(b, names), name)
			}
			if one.text == "" {
				continue
			}
			if i > 0 { // what is gone has no line
				if one.at, err = v.firstChange(f.change); err != nil {
					return nil, err
				}
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// bySource is the key of a block by its lines, and those of the nearest heading.
func bySource(b *page.Block) string {
	if b.Above == nil {
		return b.Source
	}
	return b.Source + "\n" + b.Above.Source
}

// byText is the key of a block by what a reader sees, and the nearest heading below the title of the text.
func byText(b *page.Block) string {
	key := b.Text() + "\n" + b.Hidden() + "\n"
	if b.Above != nil && b.Above.Level > 1 {
		key += b.Above.Text()
	}
	return key
}

// touches returns what of a block touches a right: its text, what is hidden in it, or a heading above; else "".
func touches(b *page.Block, names map[int]bool) string {
	for _, text := range []string{b.Text(), b.Hidden()} {
		if ofRight(text, names) {
			return text
		}
	}
	for above := b.Above; above != nil; above = above.Above {
		if ofRight(above.Text(), nil) {
			return above.Text()
		}
	}
	return ""
}

// passages returns the blocks of a text, or the names and strings of a JSON file. A file that is neither is one block
// that has the word side, by which it differs from that of the other version.
func (s version) passages(side string) []*page.Block {
	switch {
	case s.path == "":
		return nil
	case s.text != nil:
		return s.text.Blocks()
	case s.json != nil:
		return namesAndStrings(s.data)
	}
	return []*page.Block{{Line: 1, Source: side}}
}

// namesAndStrings returns the names of members and the strings of a JSON text, without the values of $id, $schema and
// $ref.
func namesAndStrings(data []byte) (out []*page.Block) {
	line, counted, name := 1, 0, ""
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	for token, err := d.ReadToken(); err == nil; token, err = d.ReadToken() {
		if token.Kind() != '"' {
			continue
		}
		text, end := token.String(), int(d.InputOffset())
		line += bytes.Count(data[counted:end], []byte("\n"))
		counted = end
		holder, n := d.StackIndex(d.StackDepth())
		if isMember := holder == '{'; isMember && n%2 == 1 {
			name = text
		} else if isMember && slices.Contains([]string{"$id", "$schema", "$ref"}, name) {
			continue
		}
		out = append(out, &page.Block{Line: line, Source: text})
	}
	return out
}

// rfcNumbers matches an RFC that a text names by its number.
var rfcNumbers = plain.Pattern(`(?i)\brfcs? 0*([0-9]{1,9})\b`)

// rightRFCs returns the numbers of the RFCs of both trees whose file name has a word of a right.
func (v *View) rightRFCs() (map[int]bool, error) {
	out := map[int]bool{}
	for _, tree := range []*registry.Tree{v.Base, v.Head} {
		err := tree.WalkFolder("rfcs", func(p string, _ registry.Entry) error {
			// Without the number: right knows RFC 0016 to 0018 by theirs.
			if m := rfcNumber().FindStringSubmatch(p); m != nil && ofRight(p[len(m[0]):], nil) {
				if n, err := strconv.Atoi(m[1]); err == nil {
					out[n] = true
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
