package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"errors"
	"fmt"
	"slices"
	"testing"

	"filippo.io/edwards25519"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// encoded is an encoding of the sum of a multiple of the base point and a point of small order.
type encoded struct {
	raw       []byte
	scalar    *edwards25519.Scalar // the multiple; zero: the point is of small order
	small     int                  // the part of small order, as a multiple of torsion
	canonical bool
}

func (e encoded) sound() bool { return e.canonical && e.small == 0 && e.scalar.Equal(zero) == 0 }

var zero = edwards25519.NewScalar()

func scalar(t *testing.T, text string) *edwards25519.Scalar {
	t.Helper()
	sum := sha512.Sum512([]byte(text))
	s := must.Get(edwards25519.NewScalar().SetUniformBytes(sum[:]))(t)
	return s
}

// multiples are i·p for i from 0 to 8.
func multiples(p *edwards25519.Point) []*edwards25519.Point {
	all := []*edwards25519.Point{edwards25519.NewIdentityPoint()}
	for range 8 {
		all = append(all, new(edwards25519.Point).Add(all[len(all)-1], p))
	}
	return all
}

// torsion is a point of order 8: what is left of a point of the whole curve without its part in the subgroup.
func torsion(t *testing.T) *edwards25519.Point {
	t.Helper()
	for y := range byte(100) {
		p, err := new(edwards25519.Point).SetBytes(append([]byte{y}, make([]byte, 31)...))
		if err != nil {
			continue
		}
		sound := new(edwards25519.Point).MultByCofactor(p)
		p.Subtract(p, sound.ScalarMult(eighth(), sound))
		if all := multiples(p); all[4].Equal(all[0]) == 0 && all[8].Equal(all[0]) == 1 {
			return p
		}
	}
	t.Fatal("no point of order 8")
	return nil
}

// encodings are those of all points of small order, of a point of the subgroup, and of the sums of both.
func encodings(t *testing.T, text string) []encoded {
	t.Helper()
	small := multiples(torsion(t))[:8]
	s := scalar(t, text)
	var out []encoded
	for i, p := range small {
		out = append(out, encoded{p.Bytes(), zero, i, true})
		sum := new(edwards25519.Point).ScalarBaseMult(s)
		out = append(out, encoded{sum.Add(sum, p).Bytes(), s, i, true})
	}
	// Second encodings: y and the prime added, and the sign of an x that is 0.
	prime := append([]byte{0xed}, bytes.Repeat([]byte{0xff}, 31)...)
	prime[31] = 0x7f
	one, zeroY, minus := slices.Clone(prime), slices.Clone(prime), slices.Clone(prime)
	one[0], minus[0] = 0xee, 0xec
	for _, raw := range [][]byte{one, signed(one), signed(append([]byte{1}, make([]byte, 31)...)), signed(minus), zeroY,
		signed(zeroY)} {
		p := must.Get(new(edwards25519.Point).SetBytes(raw))(t)
		i := slices.IndexFunc(small, func(q *edwards25519.Point) bool { return q.Equal(p) == 1 })
		if i < 0 || bytes.Equal(p.Bytes(), raw) {
			t.Fatalf("%x is no second encoding of a point of small order", raw)
		}
		out = append(out, encoded{raw, zero, i, false})
	}
	return out
}

func signed(raw []byte) []byte {
	raw = slices.Clone(raw)
	raw[31] |= 0x80
	return raw
}

// forged is a signature by A with R that satisfies the equation with the cofactor, and, where some message allows it,
// the one without.
func forged(t *testing.T, a, r encoded) (message, sig []byte) {
	t.Helper()
	for i := range 64 {
		message = fmt.Appendf(nil, "message %d", i)
		sum := sha512.Sum512(slices.Concat(r.raw, a.raw, message))
		k := must.Get(edwards25519.NewScalar().SetUniformBytes(sum[:]))(t)
		s := edwards25519.NewScalar().MultiplyAdd(k, a.scalar, r.scalar)
		sig = slices.Concat(r.raw, s.Bytes())
		if (int(k.Bytes()[0]&7)*a.small+r.small)%8 == 0 {
			break
		}
	}
	return message, sig
}

// Of all pairs of a key and an R that anyone can make a signature of, only the one of two sound points verifies, though
// the standard library accepts others of every kind.
func TestForgedPoints(t *testing.T) {
	keys, nonces := encodings(t, "key"), encodings(t, "nonce")
	if len(keys) != 22 {
		t.Fatalf("%d encodings, want 8 of small order, 8 sums and 6 second encodings", len(keys))
	}
	verified, laxer := 0, map[string]int{}
	for _, a := range keys {
		key, err := PublicKey(a.raw)
		want := error(nil)
		switch {
		case !a.canonical:
			want = ErrNonCanonical
		case a.scalar.Equal(zero) == 1:
			want = ErrSmallOrder
		case a.small != 0:
			want = ErrMixedOrder
		}
		if !errors.Is(err, want) {
			t.Errorf("key %x: %v, want %v", a.raw, err, want)
		}
		for _, r := range nonces {
			message, sig := forged(t, a, r)
			standard := ed25519.Verify(a.raw, message, sig)
			sound := R(sig) == nil
			if wantSound := r.canonical && r.scalar.Equal(zero) == 0; sound != wantSound {
				t.Errorf("R %x: %v", r.raw, R(sig))
			}
			if err == nil && Verify(key, message, sig) {
				verified++
				if !a.sound() || !r.sound() || !standard {
					t.Errorf("key %x, R %x: verified", a.raw, r.raw)
				}
				continue
			}
			if !standard {
				continue
			}
			// Verify must refuse R by itself too, whatever the key.
			if !sound && Verify(a.raw, message, sig) {
				t.Errorf("key %x, R %x: an unsound R verified", a.raw, r.raw)
			}
			switch {
			case err == nil:
				laxer["sound key, R of small order"]++
			case a.scalar.Equal(zero) == 0:
				laxer["mixed key"]++
			case a.canonical:
				laxer["key of small order"]++
			default:
				laxer["key in a second encoding"]++
			}
		}
	}
	if verified != 1 {
		t.Errorf("%d verified, want the one of sound points", verified)
	}
	t.Logf("verified by the standard library alone: %v", laxer)
	for _, kind := range []string{"sound key, R of small order", "mixed key", "key of small order",
		"key in a second encoding"} {
		if laxer[kind] == 0 {
			t.Errorf("no case of a %s that the standard library verifies: nothing is shown of it", kind)
		}
	}
}

// Keys that a seed gives are sound, and so is R of each signature by them.
func TestSoundKeys(t *testing.T) {
	for i := range 200 {
		seed := sha512.Sum512_256(fmt.Appendf(nil, "seed %d", i))
		private := ed25519.NewKeyFromSeed(seed[:])
		key := must.Get(PublicKey(private.Public().(ed25519.PublicKey)))(t)
		message := fmt.Appendf(nil, "message %d", i)
		if sig := ed25519.Sign(private, message); !Verify(key, message, sig) || R(sig) != nil {
			t.Fatalf("seed %d: refused", i)
		}
	}
}
