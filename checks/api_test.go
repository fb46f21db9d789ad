package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/apitest"
)

func TestAPI(t *testing.T) { apitest.Check(t, "checks", false) }
