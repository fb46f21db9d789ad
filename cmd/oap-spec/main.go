// Command oap-spec checks a change of the specification against the gates of RFC 0019.
package main

import (
	"os"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapspec"
)

func main() { os.Exit(cli.Run(&oapspec.Program, os.Args[1:], cli.System())) }
