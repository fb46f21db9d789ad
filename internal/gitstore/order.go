package gitstore

import (
	"cmp"
	"slices"
)

// Order gives the subscripts of ids in the order in which they are read fastest: as they stand in the packs, where a
// delta is near its base, and the base still in the cache. It reads nothing; ids that no pack has come last.
func (s *Store) Order(ids []ID) []int {
	type spot struct {
		i, pack int
		offset  int64
	}
	packs := *s.packs.Load()
	spots := make([]spot, len(ids))
	for i, id := range ids {
		spots[i] = spot{i: i, pack: len(packs)}
		for n, p := range packs {
			if at, ok := p.index.find(id); ok {
				spots[i].pack, spots[i].offset = n, at
				break
			}
		}
	}
	slices.SortFunc(spots, func(a, b spot) int {
		return cmp.Or(a.pack-b.pack, cmp.Compare(a.offset, b.offset), a.i-b.i)
	})
	order := make([]int, len(ids))
	for i, s := range spots {
		order[i] = s.i
	}
	return order
}
