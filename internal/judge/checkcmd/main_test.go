package checkcmd_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
)

func TestMain(m *testing.M) { clitest.Start(m) }
