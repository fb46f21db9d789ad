package checks

import (
	"slices"
)

// index finds listings by what fold makes of a text. Hardly two share that, so that only the second gets a list.
type index struct {
	fold  func(string) string
	first map[string]*Listed
	more  map[string][]*Listed
}

// newIndex is an empty index. What fold gives it gives for itself too.
func newIndex(fold func(string) string, n int) index {
	return index{fold, make(map[string]*Listed, n), map[string][]*Listed{}}
}

// all are the listings of a text, in the order in which they were added.
func (x index) all(text string) []*Listed {
	key := x.fold(text)
	l := x.first[key]
	if l == nil {
		return nil
	}
	return append([]*Listed{l}, x.more[key]...)
}

// others are how many listings of a text there are beside that of a path, which is one of them, and the path of the
// first.
func (x index) others(text, path string) (first string, count int) {
	key := x.fold(text)
	l, more := x.first[key], x.more[key]
	switch {
	case l == nil || len(more) == 0:
		return "", 0
	case l.Path == path:
		l = more[0]
	}
	return l.Path, len(more)
}

func (x index) add(text string, l *Listed) {
	key := x.fold(text)
	if x.first[key] == nil {
		x.first[key] = l
	} else {
		x.more[key] = append(x.more[key], l)
	}
}

func (x index) remove(text string, l *Listed) {
	key := x.fold(text)
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
