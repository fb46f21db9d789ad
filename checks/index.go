package checks

import (
	"slices"
	"strings"
)

// index finds listings by a text in any letter case. Hardly two share one, so that only the second gets a list.
type index struct {
	first map[string]*Listed
	more  map[string][]*Listed
}

// newIndex is an index with room for n texts.
func newIndex(n int) index {
	return index{make(map[string]*Listed, n), map[string][]*Listed{}}
}

// all are the listings of a text, in the order in which they were added.
func (x index) all(text string) []*Listed {
	key := strings.ToLower(text)
	l := x.first[key]
	if l == nil {
		return nil
	}
	return append([]*Listed{l}, x.more[key]...)
}

func (x index) add(text string, l *Listed) {
	key := strings.ToLower(text)
	if x.first[key] == nil {
		x.first[key] = l
	} else {
		x.more[key] = append(x.more[key], l)
	}
}

func (x index) drop(text string, l *Listed) {
	key := strings.ToLower(text)
	left := slices.DeleteFunc(x.all(key), func(o *Listed) bool { return o == l })
	delete(x.first, key)
	delete(x.more, key)
	if len(left) > 0 {
		x.first[key] = left[0]
	}
	if len(left) > 1 {
		x.more[key] = left[1:]
	}
}
