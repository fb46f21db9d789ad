// Package needs skips a test that needs a program which is not installed. All that a test may count on is Go and git.
package needs

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// absent are the programs that CI may be without. Any other is part of the machine, or .ci/run programs installs it.
var absent = map[string]bool{"actionlint": true, "cosign": true, "kubectl": true, "man": true, "systemctl": true,
	"systemd-analyze": true}

// Program skips the test, and says so, if one of the programs is missing. With CI=true it fails the test: there, what
// is not run would be taken for passed.
func Program(t testing.TB, programs ...string) {
	t.Helper()
	Script(t, t.Name(), programs...)
}

// Script skips or fails, as Program does, a test of this name that the package testing does not run itself.
func Script(t interface {
	Skip(...any)
	Fatal(...any)
}, name string, programs ...string) {
	if t, ok := t.(testing.TB); ok {
		t.Helper()
	}
	if missing, must := find(name, programs); must {
		t.Fatal(missing)
	} else if missing != "" {
		t.Skip(missing)
	}
}

// Has reports whether a part of the test can be run. Where the part must not be left out it fails the test, as Program
// does.
func Has(t testing.TB, part string, programs ...string) bool {
	t.Helper()
	missing, must := find(t.Name()+": "+part, programs)
	if must {
		t.Fatal(missing)
	}
	return missing == ""
}

// find says which program is missing, if one is, and whether CI must have it.
func find(name string, programs []string) (missing string, must bool) {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err == nil {
			continue
		}
		missing = fmt.Sprintf("NOT RUN: %s: %s is not installed", name, p)
		if os.Getenv("CI") == "true" && !absent[p] {
			return missing + ", and CI must have it: see stage_programs of .ci/run", true
		}
		fmt.Println(missing)
		return missing, false
	}
	return "", false
}
