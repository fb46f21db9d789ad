package sha1x16

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestSum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 90_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for range 300 {
		messages := make([]Message, 1+r.IntN(40))
		length := r.IntN(len(noise) / 2)
		pieces := 1 + r.IntN(6)
		for i := range messages {
			from := r.IntN(1000)
			rest := noise[from:][:length+r.IntN(200)]
			for range pieces {
				at := r.IntN(len(rest) + 1)
				messages[i] = append(messages[i], rest[:at])
				rest = rest[at:]
			}
			messages[i] = append(messages[i], rest)
		}
		for i, got := range Sum(messages) {
			if want := sha1.Sum(bytes.Join(messages[i], nil)); got != want {
				t.Fatalf("message %d of %d, %d pieces, %d bytes: got %x, crypto/sha1 gives %x",
					i, len(messages), len(messages[i]), messages[i].size(), got, want)
			}
		}
	}
}

func BenchmarkSum(b *testing.B) {
	data := make([]byte, 16*560_000)
	for _, n := range []int{1, 5, 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var messages []Message
			for i := range n {
				messages = append(messages, Message{data[i*560_000:][:560_000]})
			}
			b.SetBytes(int64(n * 560_000))
			for b.Loop() {
				Sum(messages)
			}
		})
	}
}
