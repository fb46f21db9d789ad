package markdown

import "slices"

// Removed counts the blocks with a requirement, and those that such a block governs, that a text has no longer. It is
// false if the text has any that the old one lacks, or has them in another order.
func Removed(old, new string) (count int, only bool) {
	rest := governedBlocks(old)
	for _, n := range governedBlocks(new) {
		i := slices.IndexFunc(rest, func(o governed) bool {
			return o.kind == n.kind && o.hidden == n.hidden && slices.Equal(once(o.words), once(n.words))
		})
		if i < 0 {
			return 0, false
		}
		count += i
		rest = rest[i+1:]
	}
	return count + len(rest), true
}
