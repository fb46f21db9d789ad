package mirror

import "github.com/openagentprotocol-OAP/oap-gate/internal/verdict"

// AddSilent adds a check that says nothing to those that only an audit has; restore removes it.
func AddSilent(id string) (restore func()) {
	was := own
	own = append(own[:len(own):len(own)], selected(verdict.Rule{ID: id},
		func(*audit) (verdict.Outcome, error) { return verdict.Outcome{}, nil }))
	return func() { own = was }
}

// SetWindow sets how many records are held at once; restore sets it back.
func SetWindow(n int) (restore func()) {
	was := window
	window = n
	return func() { window = was }
}
