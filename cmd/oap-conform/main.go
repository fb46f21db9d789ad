// Command oap-conform checks a provider, an agent, a producer or a subscriber against its companion protocol.
package main

import (
	"os"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapconform"
)

func main() { os.Exit(cli.Run(&oapconform.Program, os.Args[1:], cli.System())) }
