// Command oap-gate checks pull requests to an OAP registry (RFC 0026) and revalidates clones of it.
package main

import (
	"os"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapgate"
)

func main() { os.Exit(cli.Run(&oapgate.Program, os.Args[1:], cli.System())) }
