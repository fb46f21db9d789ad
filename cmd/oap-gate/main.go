// Command oap-gate checks pull requests to an OAP registry (RFC 0026) and revalidates clones of it.
package main

import (
	"os"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], cli.System())) }
