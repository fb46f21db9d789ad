package script_test

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// commitID puts the id of a commit of the world's registry into the environment of a script.
func commitID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: commit VAR REV")
	}
	id, err := state(ts).world.Repo.RevParse(args[1])
	ts.Check(err)
	setenv(ts, args[0], id)
}

// event makes the script's later runs those of a workflow.
func event(ts *testscript.TestScript, neg bool, args []string) {
	switch {
	case neg || len(args) != 0 && len(args) != 2:
		ts.Fatalf("usage: event [NAME FILE]")
	case len(args) == 0:
		setenv(ts, "GITHUB_ACTIONS", "")
		return
	}
	path := ts.MkAbs("event.json")
	ts.Check(os.WriteFile(path, []byte(os.Expand(ts.ReadFile(args[1]), ts.Getenv)), 0o644))
	setenv(ts, "GITHUB_ACTIONS", "true")
	setenv(ts, "GITHUB_EVENT_NAME", args[0])
	setenv(ts, "GITHUB_EVENT_PATH", path)
}
