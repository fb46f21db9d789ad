package judge

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// many is a stream of n events in sessions of 15, as JSON Lines or as an array.
func many(n int, array bool) []byte {
	var b bytes.Buffer
	session := strings.Split(strings.TrimSpace(conforming), "\n")
	for i := 0; i < n; i += 15 {
		for j, line := range session {
			line = strings.NewReplacer("sess_1", fmt.Sprintf("sess_%d", i), `"evt_`, fmt.Sprintf(`"evt_%dx`, i),
				"rpl_1", fmt.Sprintf("rpl_%d", i)).Replace(line)
			if array {
				line = map[bool]string{true: "[", false: ","}[i+j == 0] + line
			}
			b.WriteString(line + "\n")
		}
	}
	if array {
		b.WriteString("]\n")
	}
	return b.Bytes()
}

// BenchmarkStream judges 150,000 events at level 2. Its promise: 3 s on one core, and less than 200 MiB.
func BenchmarkStream(b *testing.B) {
	for _, array := range []bool{false, true} {
		text := many(150_000, array)
		b.Run(map[bool]string{false: "lines", true: "array"}[array], func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s := NewStream("x", Options{Level: 2})
				must.OK(b, s.Read(bytes.NewReader(text)))
				if s.events != 150_000 {
					b.Fatalf("%d events", s.events)
				}
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MiB")
				if _, err := s.Results(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
