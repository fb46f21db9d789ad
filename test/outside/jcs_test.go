package outside

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strconv"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

const jcsModule = "github.com/gowebpki/jcs"

var jcsFiles = &judge{name: "RFC 8785 reference files", version: goVersion(jcsModule), cases: 10, sound: true,
	run: func(r *run) {
		dir, _ := module(r, jcsModule)
		files, err := os.ReadDir(filepath.Join(dir, "testdata", "input"))
		if err != nil {
			r.Fatal(err)
		}
		for _, f := range files {
			in := readFile(r, dir, "testdata", "input", f.Name())
			out := bytes.TrimSuffix(readFile(r, dir, "testdata", "output", f.Name()), []byte("\n"))
			r.compare(f.Name(), answer{value: string(out)}, func() (string, error) {
				doc, err := strict.Parse(f.Name(), in, strict.Remote(1<<20))
				if err != nil {
					return "", err
				}
				text, err := signature.Canonical(doc.Root)
				return string(text), err
			})
		}
	}}

// The reference implementation of RFC 8785 publishes the SHA-256 of the first lines "BITS,NUMBER" of a sequence of
// doubles: 168 of its choice, 2,000 that follow one another from the smallest normal one, and then what repeated
// hashing of zeros gives.
var jcsNumbers = &judge{name: "RFC 8785 numbers", version: "sums of the reference", cases: 1_000_000, sound: true,
	run: func(r *run) {
		sums := map[int]string{
			1_000:     "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687",
			10_000:    "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892",
			100_000:   "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7",
			1_000_000: "49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16",
		}
		hash := sha256.New()
		n := 0
		var batch []float64
		flush := func() {
			doc := make([]any, len(batch))
			for i, f := range batch {
				doc[i] = json.Number(strconv.FormatFloat(f, 'e', -1, 64))
			}
			text, err := signature.Canonical(doc)
			if err != nil {
				r.Fatal(err)
			}
			for i, token := range bytes.Split(text[1:len(text)-1], []byte(",")) {
				fmt.Fprintf(hash, "%x,%s\n", math.Float64bits(batch[i]), token)
				r.cases = append(r.cases, kase{id: strconv.Itoa(n)})
				n++
			}
			batch = batch[:0]
			if want, ok := sums[n]; ok {
				if got := hex.EncodeToString(hash.Sum(nil)); got != want {
					r.Errorf("the first %d lines have the SHA-256 %s; expected %s", n, got, want)
				}
			}
		}
		for f := range doubles {
			if batch = append(batch, f); len(batch) == 1000 {
				if flush(); n == 1_000_000 {
					return
				}
			}
		}
	}}

// doubles yields the reference's sequence.
func doubles(yield func(float64) bool) {
	for _, f := range chosenDoubles() {
		if !yield(f) {
			return
		}
	}
	for i := range uint64(2000) {
		if !yield(math.Float64frombits(0x0010000000000000 + i)) {
			return
		}
	}
	var block [sha256.Size]byte
	for {
		block = sha256.Sum256(block[:])
		for at := 0; at < len(block); at += 8 {
			f := math.Float64frombits(binary.LittleEndian.Uint64(block[at:]))
			if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
				continue
			}
			if !yield(f) {
				return
			}
		}
	}
}

// chosenDoubles returns the first 168 numbers, by the rules that they follow.
func chosenDoubles() []float64 {
	bits := func(values ...uint64) (all []float64) {
		for _, v := range values {
			all = append(all, math.Float64frombits(v))
		}
		return all
	}
	const negative = 1 << 63
	all := bits(0, negative, 1, negative|1)
	// A third of a power of ten, from 10^22 down; the reference has some that are a few units in the last place off.
	off := map[int]int{2: 1, 3: 1, 4: 1, 5: 2, 6: 1, 7: 1, 8: 3, 9: 1, 10: 2, 11: 2, 12: 1, 13: 1, 14: 1, 18: -1, 49: 1}
	var thirds []uint64
	for i := range 50 {
		q := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(22), nil))
		q.Quo(q, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(i)), nil)))
		f, _ := q.Quo(q, big.NewRat(3, 1)).Float64()
		thirds = append(thirds, math.Float64bits(f)+uint64(off[i]))
	}
	for _, t := range thirds {
		all = append(all, bits(negative|t)...)
	}
	all = append(append(all, bits(thirds...)...), 10)
	parsed := func(text string) float64 {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(err)
		}
		return f
	}
	for i := range 10 {
		all = append(all, parsed(fmt.Sprintf("5e-%d", i)))
	}
	for i, zeros := 0, "0"; i < 14; i, zeros = i+1, zeros+"0" {
		all = append(all, parsed("5."+zeros+"6e-6"))
	}
	one, third := math.Float64bits(1), math.Float64bits(0.3)
	return append(append(all, 5e-6, 1, -1), bits(
		negative|(one-6), negative|(one-5), one-6, one-5, one-4, one-2, negative|(one-1),
		negative|(one-1), one-1, one-1,
		third-1, third, third+1,
		1<<52, 1<<52-3, 1<<52-1, // the smallest normal double
		math.Float64bits(math.MaxFloat64), negative|math.Float64bits(math.MaxFloat64),
		math.Float64bits(1<<53), negative|math.Float64bits(1<<53), math.Float64bits(1<<68),
		math.Float64bits(1e23)-1, math.Float64bits(1e23), math.Float64bits(1e23)+1,
		math.Float64bits(1e21)-2, math.Float64bits(1e21)-1, math.Float64bits(1e21),
		math.Float64bits(1e-6)-1, math.Float64bits(1e-6),
		thirds[13]-3, thirds[13]-2, thirds[13]-1, thirds[13], thirds[13]+1, negative|thirds[27],
		math.Float64bits(1424953923781206.2))...)
}
