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
