package cloneage

import "testing"

// An entry of a reflog shows a fetch only if its command asked the remote.
func TestAsksRemote(t *testing.T) {
	for message, want := range map[string]bool{
		"clone: from https://forge.example/r": true,
		"fetch":                               true,
		"fetch: fast-forward":                 true,
		"fetch -q --tags: forced-update":      true,
		"fetch origin: fast-forward":          true,
		"fetch --depth=1 origin +c0ffee:refs/remotes/origin/main: x": true,
		"fetch --append --no-auto-gc -q origin: storing head":        true,
		"pull --ff-only origin main: fast-forward":                   true,
		"update by push":  true,
		"":                false,
		"remote set-head": false,
		"remote: renamed refs/remotes/a/main to refs/remotes/b/main":   false,
		"fetch ../old main:refs/remotes/origin/main: fast-forward":     false,
		"fetch https://origin.example/r main:refs/remotes/origin/main": false,
		"fetch fork: fast-forward":                                     false,
		"reset: moving to HEAD":                                        false,
		"fetched by hand":                                              false,
	} {
		if got := asksRemote(message, "origin"); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
}
