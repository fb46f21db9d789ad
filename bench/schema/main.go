// Command schema measures the schema verdicts of 10,000 listings, text in and verdict out, next to Ajv on node.
//
//	go run ./bench/schema                            only the Go side
//	npm i --ignore-scripts --prefix DIR ajv@8.20.0 ajv-formats@3.0.1
//	go run ./bench/schema -modules DIR/node_modules  with the peer
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
)

const (
	listings = 10_000
	rounds   = 7
)

//go:embed ajv.cjs
var script string

// result is the best of the rounds.
type result struct {
	Milliseconds float64
	Valid        int
}

func main() {
	modules := flag.String("modules", "", "node_modules directory with ajv 8.20.0 and ajv-formats 3.0.1")
	asJSON := flag.Bool("json", false, "print the milliseconds on all cores and of the peer, as bench reads them")
	flag.Parse()
	texts := generate()
	if *asJSON {
		peer, err := ajv(texts, *modules)
		if err != nil {
			fmt.Fprintln(os.Stderr, "Ajv: NOT MEASURED:", err)
		}
		gate := measure(texts, runtime.GOMAXPROCS(0))
		fmt.Printf(`{"gate": %f, "peer": %f}`, gate.Milliseconds, peer.Milliseconds)
		return
	}
	fmt.Printf("%d listings of about %d bytes, one in fifty invalid; parse and validate; best of %d rounds\n\n",
		listings, len(texts[0]), rounds)
	print("strict.Parse + schema.Validate, 1 goroutine", measure(texts, 1))
	cores := runtime.GOMAXPROCS(0)
	print(fmt.Sprintf("strict.Parse + schema.Validate, %d goroutines", cores), measure(texts, cores))
	if peer, err := ajv(texts, *modules); err != nil {
		fmt.Printf("Ajv: NOT MEASURED: %v\n", err)
	} else {
		print("JSON.parse + Ajv 2020 on node", peer)
	}
}

func print(name string, r result) {
	fmt.Printf("%-50s %8.1f ms %8.2f us each %6d valid\n", name, r.Milliseconds, r.Milliseconds*1000/listings, r.Valid)
}

func generate() [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([][]byte, listings)
	for i := range out {
		host := fmt.Sprintf("agent-%d.example.org", i)
		slug := fmt.Sprintf("agent-%d", i)
		if i%50 == 7 {
			slug = "Agent"
		}
		out[i] = fmt.Appendf(nil,
			`{"slug":%q,"name":"Agent %d","tool_did":"did:web:%s","manifest_uri":"https://%[3]s/.well-known/oap-tool.json",`+
				`"conformance_level":"L%d","conformance_receipt_uri":"https://%[3]s/oap-conformance-receipt.json","conformance_receipt_sha256":"%016x%016x%016x%016x",`+
				`"issued_at":"2026-05-%02[9]dT10:34:47.660Z","expires_at":"2026-08-%02[9]dT10:34:47.660Z","license":"Apache-2.0","non_commercial":true,"provisional":false,`+
				`"contact":"contact@%[3]s","categories":["calendar","messaging","crm"],"jurisdictions":["DE","EU"]}`,
			slug, i, host, i%6, r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), 1+i%28)
	}
	return out
}

func measure(texts [][]byte, workers int) result {
	s := schema.Builtin("listing")
	best := result{}
	for range rounds {
		var next, valid atomic.Int64
		start := time.Now()
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for {
					i := int(next.Add(1)) - 1
					if i >= len(texts) {
						return
					}
					doc, err := strict.Parse("listing.json", texts[i], strict.RegistryFile)
					if err == nil && s.Validate(doc.Root) == nil {
						valid.Add(1)
					}
				}
			})
		}
		group.Wait()
		ms := float64(time.Since(start).Microseconds()) / 1000
		if best.Milliseconds == 0 || ms < best.Milliseconds {
			best = result{ms, int(valid.Load())}
		}
	}
	return best
}

// ajv gives the same texts and the same schema to Ajv.
func ajv(texts [][]byte, modules string) (result, error) {
	var r result
	if modules == "" {
		return r, fmt.Errorf("-modules is not given")
	}
	for _, name := range []string{"ajv", "ajv-formats"} {
		if _, err := os.Stat(filepath.Join(modules, name)); err != nil {
			return r, err
		}
	}
	lines := make([]string, len(texts))
	for i, text := range texts {
		lines[i] = string(text)
	}
	in, err := json.Marshal(map[string]any{"schema": string(schemas.Text("listing")), "rounds": rounds, "texts": lines})
	if err != nil {
		return r, err
	}
	cmd := exec.Command("node", "-e", script, modules)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("running node: %w", err)
	}
	return r, json.Unmarshal(out, &r)
}
