// Package script runs the programs as testdata/script says.
package script_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/privatekey"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

// subscribe is a subscriber of AAEP as a command, aaep-subscriber LEVEL TRANSPORT [FAULT]. It stops at SIGTERM.
func subscribe() {
	args := append(os.Args[1:], "", "", "")
	level, err := strconv.Atoi(args[0])
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err == nil {
		err = aaeptest.Subscribe(ctx, aaeptest.SubscriberOptions{URL: os.Getenv("AAEP_ENDPOINT"), Level: level,
			WebSocket: args[1] == "ws", Fault: args[2], Rate: 50})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestMain(m *testing.M) {
	if os.Args[0] == asWorker {
		privatekey.AcceptExamples()
		work()
	}
	clitest.Programs["aaep-subscriber"] = subscribe
	clitest.Start(employer{m})
}

var scripts = filepath.Join("..", "..", "..", "testdata", "script")

// TestScript runs the real program on real Git repositories and a real web, one txtar file each. A script fails if
// noted finds fault with a run. In addition to the commands of testscript a script has
//
//	oap [STATUS] ARG…     oap-gate ARG… in a worker, as gate and those like it; it must end with this exit status (0).
//	                      `exec oap-gate ARG…` begins a process
//	conform [STATUS] ARG… oap-conform ARG… in a worker, as oap runs oap-gate; spec runs oap-spec
//	world FILE…           build the registry in $REGISTRY and start the web that the files, put together, describe
//	gate STATUS [FLAG…]   oap-gate check on that world's pull request; it must end with this exit status
//	audit STATUS [FLAG…]  oap-gate audit of that world's branch main; it must end with this exit status
//	verify STATUS ARG…    oap-gate verify at that world's time, on its web; it must end with this exit status. It says
//	                      --without-registry unless ARG has that, --registry, --require-registry or --replay
//	accepted [LEVEL…]     the levels that the verification before accepted, all of them
//	web-gone              the world's web ends
//	failed [ID…]          the checks that failed in the run before, all of them
//	doubtful [ID…]        the checks that were inconclusive in the run before, all of them
//	finding ID CODE [SEV] the run before has this finding of this severity (error)
//	asked N REQUEST       the world's web was asked so often: a URL, "rdap NAME" or "whois NAME"
//	commit VAR REV        put the id of a commit of $REGISTRY into the environment
//	run STATUS COMMAND…   oap-gate COMMAND… with that world's flags; it must end with this exit status
//	keyfile NAME FILE     write the private key of that name, which implementations of the world have
//	sign VAR NAME         put the signature of the second line of stdout by the key of that name into the environment
//	publish DIR           write the log checkpoint of $REGISTRY's main, cosigned at $AT, and a policy into DIR
//	serve FILE URL        the world's web serves this file from now on
//	unseen                no key that keyfile wrote is in another file of the script, in stdout or in stderr
//	record STATUS COMMAND oap-gate COMMAND, one that writes records, on that world; it must end with this exit status
//	site SLUG DIR         write what the host of an implementation of the world serves now into a directory
//	deploy KEYFILE SLUG LEVEL  publish an implementation whose owner has that key
//	snapshot              note all files of $REGISTRY; `unchanged` holds that they are as noted, `! unchanged` that
//
// they are not
//
//	peer LAYOUT [FAULT]   start a producer of AAEP in that layout, with that fault, and put its URL into $PEER
//	needs PROGRAM…        skip the script if one is missing; what a line begins with `exec` needs not be named
//	event NAME FILE       go on as a workflow that this event started; $VAR is expanded in FILE. `event` alone ends
//
// that
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 scripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		ContinueOnError:     testing.Verbose(), // -v tells all that fails in a script
		Setup: func(e *testscript.Env) error {
			name := strings.TrimPrefix(filepath.Base(e.WorkDir), "script-")
			if err := needPrograms(e, name); err != nil {
				return err
			}
			s := &script{needs: func(programs ...string) {
				needs.Script(e.T(), "TestScript/"+name, programs...)
			}}
			e.Values["script"] = s
			testdata, err := filepath.Abs(filepath.Join("..", "..", "..", "testdata"))
			if err != nil {
				return err
			}
			e.Setenv("TESTDATA", testdata)
			odd := filepath.Join(e.WorkDir, ".unexplained")
			e.Setenv(clitest.Unexplained, odd)
			e.Defer(func() {
				if told, err := os.ReadFile(odd); err == nil {
					e.T().Fatal("no run may end like this; TestEveryCodeIsExplained says where to add a code:\n" +
						string(told))
				}
			})
			e.Setenv("GITHUB_ACTIONS", "")
			e.Setenv("GORACE", clitest.Race)
			e.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			for _, v := range e.Vars {
				name, _, _ := strings.Cut(v, "=")
				s.variables = append(s.variables, name)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"oap":      oap,
			"conform":  another("oap-conform"),
			"spec":     another("oap-spec"),
			"world":    world,
			"gate":     runGate,
			"audit":    runAudit,
			"verify":   runVerify,
			"accepted": accepted,
			"web-gone": func(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(state(ts).world.Close()) },
			"failed":   verdictIs("fail"),
			"doubtful": verdictIs("inconclusive"),
			"finding":  finding,
			"asked":    asked,
			"commit":   commitID,
			"event":    event,

			"run":       runCommand,
			"keyfile":   keyFile,
			"sign":      sign,
			"publish":   publishLog,
			"serve":     serve,
			"unseen":    unseen,
			"record":    record,
			"deploy":    deploy,
			"site":      writeSite,
			"snapshot":  snapshot,
			"unchanged": unchanged,
			"unasked":   unasked,
			"peer":      producer,
			"needs":     func(ts *testscript.TestScript, _ bool, programs []string) { state(ts).needs(programs...) },
		},
	})
}

var executed = regexp.MustCompile(`(?m)^(\[(?:unix|linux)\] )?(?:! )?exec (\S+)`)

// needPrograms skips a script that executes a program which is not installed.
func needPrograms(e *testscript.Env, name string) error {
	text, err := os.ReadFile(filepath.Join(scripts, name+".txtar"))
	if err != nil {
		return err
	}
	for _, m := range executed.FindAllStringSubmatch(string(text), -1) {
		if m[1] == "" || runtime.GOOS != "windows" {
			needs.Script(e.T(), "TestScript/"+name, m[2])
		}
	}
	return nil
}

// script is what the commands of one script share.
type script struct {
	needs  func(programs ...string)
	world  *fixture.World
	worlds int
	flags  []string

	secrets [][]byte // private keys that the script has written, and their files
	keys    []string
	files   map[string]string // see snapshot

	variables []string // names of the environment
	read      bool     // with those that the script's file sets
}

func state(ts *testscript.TestScript) *script { return ts.Value("script").(*script) }

func world(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: world FILE…")
	}
	s := state(ts)
	s.worlds++
	var text strings.Builder
	for _, file := range args {
		text.WriteString(ts.ReadFile(file))
	}
	w, err := fixture.Build(ts.MkAbs(fmt.Sprintf("world%d", s.worlds)), []byte(text.String()))
	ts.Check(err)
	ts.Defer(func() { w.Close() })
	s.world, s.flags = w, slices.Concat(w.Args(), w.RangeArgs())
	for _, v := range w.Env() {
		name, value, _ := strings.Cut(v, "=")
		setenv(ts, name, value)
	}
}

func producer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: peer LAYOUT [FAULT]")
	}
	p, err := aaeptest.Start(aaeptest.Options{Reference: args[0] == "reference", Fault: strings.Join(args[1:], "")})
	ts.Check(err)
	ts.Defer(func() { p.Close() })
	setenv(ts, "PEER", p.URL)
}

func runGate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: gate STATUS [FLAG…]")
	}
	s := state(ts)
	flags := s.flags
	names := func(a string) bool { return a == "--worktree" || a == "--head" || a == "--base" }
	if slices.ContainsFunc(args, names) || ts.Getenv("GITHUB_ACTIONS") == "true" {
		flags = s.world.Args()
	}
	run(ts, args[0], slices.Concat([]string{"check"}, flags, args[1:]))
}

func runAudit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: audit STATUS [FLAG…]")
	}
	flags := state(ts).world.Args()
	if !slices.Contains(args, "--rev") {
		flags = append(flags, "--rev", "main")
	}
	run(ts, args[0], slices.Concat([]string{"audit"}, flags, args[1:]))
}

func runVerify(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: verify STATUS ARG…")
	}
	flags := state(ts).world.WebArgs()
	if !slices.Contains(args, "--replay") {
		flags = append(flags, "--at", ts.Getenv("AT"))
		named := func(a string) bool { return strings.HasSuffix(a, "-registry") || a == "--registry" }
		if !slices.ContainsFunc(args, named) && !slices.Contains(args, "--proof") {
			flags = append(flags, "--without-registry")
		}
	}
	run(ts, args[0], slices.Concat([]string{"verify"}, flags, args[1:]))
}

func accepted(ts *testscript.TestScript, neg bool, want []string) {
	doc, err := strict.Parse("report", []byte(ts.ReadFile("report.json")), strict.Limits{Bytes: 1 << 26, Depth: 64,
		Number: 64})
	ts.Check(err)
	var got []string
	levels, _ := strict.Member(doc.Root, "accepted_levels").([]any)
	for _, l := range levels {
		got = append(got, l.(string))
	}
	if neg || !slices.Equal(got, want) {
		ts.Fatalf("accepted levels %q, want %q", got, want)
	}
	claimed, _ := strict.Member(doc.Root, "claimed_levels").([]any)
	if all := strict.Member(doc.Root, "accepted"); all != (len(got) == len(claimed) && len(got) > 0) {
		ts.Fatalf("accepted is %v, %d of %d levels are", all, len(got), len(claimed))
	}
}

// run runs the program, which leaves its report for the commands that look at it.
func run(ts *testscript.TestScript, want string, command []string) {
	report := ts.MkAbs("report.json")
	os.Remove(report)
	args := slices.Concat(command[:1], []string{"--retry-wait", "1ms"}, command[1:],
		[]string{"--report", "json=" + report})
	endsWith(ts, want, args)
}

// endsWith runs the program, which must end with this exit status.
func endsWith(ts *testscript.TestScript, want string, args []string) {
	if got := strconv.Itoa(inWorker(ts, args...)); got != want {
		ts.Fatalf("exit status %s, want %s", got, want)
	}
}

func oap(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) > 0 && len(args[0]) == 1 && !neg {
		endsWith(ts, args[0], args[1:])
	} else if status := inWorker(ts, args...); neg == (status == 0) {
		ts.Fatalf("exit status %d", status)
	}
}

// another runs another program as oap runs oap-gate.
func another(program string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		at := 0
		if len(args) > 0 && len(args[0]) == 1 {
			at = 1
		}
		oap(ts, neg, slices.Insert(args, at, program))
	}
}

// resultsOf reads the results of the run before, as check and subject -> verdict and findings.
func resultsOf(ts *testscript.TestScript) []result {
	rs, err := readResults(ts.MkAbs("report.json"))
	ts.Check(err)
	return rs
}

func verdictIs(verdict string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, want []string) {
		got := map[string]bool{}
		for _, r := range resultsOf(ts) {
			if r.verdict == verdict {
				got[r.check] = true
			}
		}
		ids := slices.Sorted(maps.Keys(got))
		slices.Sort(want)
		if neg || !slices.Equal(ids, want) {
			ts.Fatalf("checks with the verdict %s: %q, want %q", verdict, ids, want)
		}
	}
}

func finding(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: finding ID CODE [SEVERITY]")
	}
	severity := "error"
	if len(args) == 3 {
		severity = args[2]
	}
	var have []string
	for _, r := range resultsOf(ts) {
		for _, f := range r.findings {
			line := r.check + " " + f[0] + " " + f[1]
			if line == args[0]+" "+args[1]+" "+severity {
				if neg {
					ts.Fatalf("unwanted finding %s", line)
				}
				return
			}
			have = append(have, line)
		}
	}
	if !neg {
		ts.Fatalf("no finding %s %s %s among %q", args[0], args[1], severity, have)
	}
}

func asked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: asked N REQUEST")
	}
	if got := strconv.Itoa(state(ts).world.Web.Hits(args[1])); got != args[0] {
		ts.Fatalf("%s was asked for %s times, want %s; all requests: %q", args[1], got, args[0],
			state(ts).world.Web.Requests())
	}
}

// TestEveryCheckHasScripts checks that each check has a script in which it alone fails, or for one that only warns,
// warns.
func TestEveryCheckHasScripts(t *testing.T) {
	files := must.Get(filepath.Glob(filepath.Join("..", "..", "..", "testdata", "script", "*.txtar")))(t)
	for _, c := range mirror.Catalogue() {
		warns := c.ID == "name-similarity"
		found := false
		for _, f := range files {
			text := must.Read(t, f)
			for line := range strings.Lines(string(text)) {
				line = strings.TrimSpace(line)
				found = found || line == "failed "+c.ID || warns && strings.HasPrefix(line, "finding "+c.ID+" ") &&
					strings.HasSuffix(line, " warning")
			}
		}
		if !found {
			t.Errorf("no script shows that %s alone decides: want a line %q", c.ID, "failed "+c.ID)
		}
	}
}
