// Package hostile runs the programs against what strangers say and serve.
package hostile_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

func TestMain(m *testing.M) { clitest.Start(m) }

// begin makes a registry without a record, and its web, until the test ends.
func begin(t testing.TB) *fixture.World {
	t.Helper()
	w := must.Get(fixture.New(t.TempDir(), fixture.Clock, webtest.Options{}))(t)
	t.Cleanup(func() { _ = w.Close() })
	w.Skeleton()
	w.Commit("Begin")
	return w
}
