package sha1x16

import (
	"crypto/sha1"
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestSum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 40_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for range 300 {
		messages := make([]Message, 1+r.IntN(40))
		length := r.IntN(len(noise) / 2)
		for i := range messages {
			head := r.IntN(65)
			from := head + r.IntN(1000)
			messages[i] = Message{noise[:head], noise[from:][:length+r.IntN(200)]}
		}
		for i, got := range Sum(messages) {
			if want := sha1.Sum(append(append([]byte{}, messages[i].Head...), messages[i].Data...)); got != want {
				t.Fatalf("message %d of %d, %d and %d bytes: got %x, crypto/sha1 gives %x",
					i, len(messages), len(messages[i].Head), len(messages[i].Data), got, want)
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
				messages = append(messages, Message{[]byte("tree 560000\x00"), data[i*560_000:][:560_000]})
			}
			b.SetBytes(int64(n * 560_000))
			for b.Loop() {
				Sum(messages)
			}
		})
	}
}
