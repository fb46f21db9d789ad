package plain

import (
	"math/rand/v2"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b       string
		most, want int
	}{
		{"", "", 2, 0},
		{"", "ab", 2, 2},
		{"nova", "nova", 2, 0},
		{"nova", "novo", 2, 1},
		{"nova", "ova", 2, 1},
		{"nova", "novae", 2, 1},
		{"nova", "onva", 2, 1},  // neighbours swapped
		{"nova", "onav", 2, 2},  // twice
		{"nova", "avno", 2, 3},  // more than asked for
		{"ca", "abc", 3, 3},     // no edit between swapped letters: optimal string alignment
		{"meridian", "m", 1, 2}, // far is one more than asked for
	} {
		for _, way := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := min(Distance([]rune(way[0]), []rune(way[1]), c.most), c.most+1); got != c.want {
				t.Errorf("Distance(%q, %q, %d) = %d, want %d", way[0], way[1], c.most, got, c.want)
			}
		}
	}
}

// TestDistanceIsWhole checks that what Distance leaves out changes nothing: all cells of the table give the same.
func TestDistanceIsWhole(t *testing.T) {
	whole := func(a, b []rune) int {
		d := make([][]int, len(a)+1)
		for i := range d {
			d[i] = make([]int, len(b)+1)
			for j := range d[i] {
				switch {
				case i == 0 || j == 0:
					d[i][j] = i + j
					continue
				case a[i-1] == b[j-1]:
					d[i][j] = d[i-1][j-1]
				default:
					d[i][j] = 1 + d[i-1][j-1]
				}
				d[i][j] = min(d[i][j], d[i-1][j]+1, d[i][j-1]+1)
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					d[i][j] = min(d[i][j], d[i-2][j-2]+1)
				}
			}
		}
		return d[len(a)][len(b)]
	}
	text := func(r *rand.Rand) []rune {
		out := make([]rune, r.IntN(9))
		for i := range out {
			out[i] = 'a' + r.Int32N(3)
		}
		return out
	}
	for seed := range uint64(50_000) {
		r := rand.New(rand.NewPCG(seed, 0))
		a, b, most := text(r), text(r), r.IntN(5)
		if got, want := min(Distance(a, b, most), most+1), min(whole(a, b), most+1); got != want {
			t.Fatalf("Distance(%q, %q, %d) = %d, want %d", string(a), string(b), most, got, want)
		}
	}
}
