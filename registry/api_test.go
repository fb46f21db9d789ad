package registry_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/apitest"
)

func TestAPI(t *testing.T) { apitest.Check(t, "registry", false) }
