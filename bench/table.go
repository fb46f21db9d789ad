package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
)

// figure is one line of the table: a measurement, and its bound.
type figure struct {
	name     string
	gate     string   // the gate's median, with its range
	peer     string   // the peer's; may be empty
	ratio    string   // or what else is compared
	memory   string   // peak resident set of the gate
	must     string   // what must hold
	holds    bool     // whether it does
	unjudged bool     // quick, or nothing to judge
	commands []string // as a reader would type them
}

// figure returns the figure of a command, and of its peer if there is one.
func (b *bench) figure(name string, gate, peer []usage, ratio, must string, holds bool, commands ...command) figure {
	f := figure{name: name, gate: spread(gate), ratio: ratio, memory: mebibytes(gate), must: must, holds: holds,
		unjudged: b.quick || must == ""}
	if peer != nil {
		f.peer = spread(peer)
	}
	for _, c := range commands {
		f.commands = append(f.commands, c.String())
	}
	return f
}

// times spells a ratio.
func times(ratio float64) string { return fmt.Sprintf("%.2fx", ratio) }

// table writes the figures as a Markdown table, and below it the command lines, in which DIR replaces the directories.
func table(out io.Writer, figures []figure, directories ...string) {
	fmt.Fprintln(out, "| what | oap-gate | peer | ratio | peak RSS | must hold | holds |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|")
	for _, f := range figures {
		holds := "no"
		switch {
		case f.unjudged:
			holds = ""
		case f.holds:
			holds = "yes"
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join([]string{f.name, f.gate, f.peer, f.ratio, f.memory, f.must, holds},
			" | "))
	}
	for _, f := range figures {
		fmt.Fprintf(out, "\n%s:\n\n", f.name)
		for _, c := range f.commands {
			for _, directory := range directories {
				c = strings.ReplaceAll(c, directory, "DIR")
			}
			fmt.Fprintf(out, "    %s\n", c)
		}
	}
}

// machine says where the figures are from.
func machine() string {
	revision := ""
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				revision = ", commit " + s.Value
			}
		}
	}
	return fmt.Sprintf("%d cores, %s, %s %s/%s, %s%s", runtime.NumCPU(), processor(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH,
		gitVersion(), revision)
}
