// Command bench measures oap-gate next to a peer on the same machine, in the same run, and prints a table with the
// command lines.
//
//	go run ./bench                      every row but scale and log-million
//	go run ./bench -rows flat,online    some of them
//	go run ./bench -rows scale          the table of docs/scale.md, up to a million listings: about an hour
//	go run ./bench -quick               small sizes and one round: that every row still works, not how fast it is
//
// It builds the binary that it measures. Each figure is the median of several rounds. If there is a peer, the two run
// in turn, and the ratio is the median of the rounds' ratios. README.md has the figures of one machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == generateCommand {
		exit(generate(os.Args[2:]))
	}
	fixture.Salt("bench ") // the program refuses the keys that are published with it
	b := &bench{}
	names := flag.String("rows", "", "comma-separated `names` of the rows to measure, of "+
		strings.Join(rowNames(), ",")+"; empty: all but "+strings.Join(large, " and "))
	flag.BoolVar(&b.quick, "quick", false, "small sizes, one round")
	flag.IntVar(&b.rounds, "rounds", 5, "how often each command is run")
	flag.StringVar(&b.modules, "modules", "", "node_modules `directory` with ajv 8.20.0 and ajv-formats 3.0.1, for "+
		"the row schema")
	flag.StringVar(&b.dir, "dir", "", "`directory` to keep the generated registries in for the next time; empty: a "+
		"temporary one")
	flag.Parse()
	exit(b.run(*names))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// bench is one run of this program.
type bench struct {
	quick   bool
	rounds  int
	modules string
	dir     string // directory of the generated registries
	ctx     context.Context
	gate    string // path of the binary under measure

	temporary string
}

// row is one line of the table.
type row struct {
	name    string
	measure func(*bench) []figure
}

// large are the rows that are measured only where they are asked for by name, or quickly.
var large = []string{"log-million", "scale"}

var rows = []row{
	{"start", (*bench).start},
	{"small", (*bench).small},
	{"queue", (*bench).queue},
	{"flat", (*bench).flat},
	{"worktree", (*bench).worktree},
	{"list", (*bench).list},
	{"schema", (*bench).schema},
	{"witnesses", (*bench).witnesses},
	{"online", (*bench).online},
	{"receipt", (*bench).sharedReceipt},
	{"history", (*bench).history},
	{"refused", (*bench).refused},
	{"checkpoint", (*bench).checkpoint},
	{"log", (*bench).log},
	{"log-million", (*bench).logOfMillion},
	{"audit", (*bench).auditOnline},
	{"mirror", (*bench).mirror},
	{"verify", (*bench).verifyMany},
	{"cached", (*bench).verifyCached},
	{"scale", (*bench).scale},
}

func rowNames() []string {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return names
}

// failure is what try panics with.
type failure struct{ error }

// try ends the run with err unless it is nil.
func try(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func (b *bench) run(names string) (err error) {
	at := "before the first row"
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case failure:
			err = fmt.Errorf("%s: %w", at, failed.error)
		default:
			panic(failed)
		}
	}()
	chosen := strings.Split(names, ",")
	if names == "" {
		chosen = slices.DeleteFunc(rowNames(), func(n string) bool { return slices.Contains(large, n) && !b.quick })
	}
	for _, n := range chosen {
		if !slices.Contains(rowNames(), n) {
			return fmt.Errorf("row %q is not known; expected some of %s", n, strings.Join(rowNames(), ","))
		}
	}
	if b.quick {
		b.rounds = 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b.ctx = ctx
	b.temporary, err = os.MkdirTemp("", "oap-gate-bench-")
	try(err)
	defer os.RemoveAll(b.temporary)
	if b.dir == "" {
		b.dir = b.temporary
	}
	b.gate = filepath.Join(b.temporary, "oap-gate")
	b.build(b.gate, "./cmd/oap-gate")
	fmt.Printf("%s; %s\n\n", machine(), b.method())
	var figures []figure
	for _, r := range rows {
		if !slices.Contains(chosen, r.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring", r.name)
		at = "row " + r.name
		figures = append(figures, r.measure(b)...)
	}
	table(os.Stdout, figures, b.dir, b.temporary)
	return nil
}

func (b *bench) method() string {
	if b.quick {
		return "quick: small sizes, one round, no verdict on speed"
	}
	return fmt.Sprintf("medians of %d rounds, the peer run in turn with the gate", b.rounds)
}

// build builds a package of this module, or a file, with the same flags as a release.
func (b *bench) build(to, pkg string) {
	cmd := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", to, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	try(cmd.Run())
}
