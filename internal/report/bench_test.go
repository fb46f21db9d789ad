package report

import (
	"fmt"
	goruntime "runtime/metrics"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/bulk"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// peak is a writer that looks at the heap now and then.
type peak struct {
	written, most int
	next          int
}

func (p *peak) Write(b []byte) (int, error) {
	if p.written += len(b); p.written >= p.next {
		p.next = p.written + 1<<22
		heap := []goruntime.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		goruntime.Read(heap)
		p.most = max(p.most, int(heap[0].Value.Uint64()))
	}
	return len(b), nil
}

// BenchmarkWriters writes each format of an offline audit, whose results are in a file. The heap does not grow with the
// listings.
func BenchmarkWriters(b *testing.B) {
	for _, listings := range []int{1_000, 10_000, 100_000} {
		r := frame()
		r.Mode = "audit"
		bulk.Spool{Memory: 1 << 16, File: func() (bulk.File, error) {
			return atomicfile.NewScratch(b.TempDir())
		}}.For(&r.Results, catalogue)
		for i := range listings {
			path := fmt.Sprintf("implementations/impl-%07d.json", i)
			for _, rule := range catalogue {
				result := verdict.Result{Check: rule.ID, Subject: path, Verdict: verdict.Skipped,
					Reason: "left out by --offline"}
				if rule.ID == "receipt-validity" && i%10 == 0 {
					result.Verdict = verdict.Warned
					result.Findings = []verdict.Finding{{Severity: verdict.Warning, Code: "expired",
						Message: fmt.Sprintf("expires_at is %d minutes ago", i), Cite: "RFC 0026 section 6"}}
				}
				r.Results.Add(result)
			}
		}
		r.Settle(catalogue)
		for _, format := range Names(Formats) {
			if format == "aaep" { // of a conformance run
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", format, listings), func(b *testing.B) {
				w := &peak{}
				for b.Loop() {
					must.OK(b, Write(w, format, r, Options{Rules: catalogue}))
				}
				b.ReportMetric(float64(w.most)/(1<<20), "heap-MiB")
			})
		}
		must.OK(b, r.Results.Close())
	}
}
