// Command manual writes what a release ships beside the program: a man page of each command, and the completions of
// four shells. It is no part of the program, which carries its help itself.
//
//	go run ./internal/cli/manual v1.2.3 2026-06-01T12:00:00Z FOLDER
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: manual VERSION CREATED FOLDER")
	}
	created, err := time.Parse(time.RFC3339, args[1])
	if err != nil {
		return err
	}
	man, completions := filepath.Join(args[2], "man"), filepath.Join(args[2], "completions")
	for _, folder := range []string{man, completions} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
	}
	root := cli.Command(cli.System())
	root.DisableAutoGenTag = true // it has the day of the build
	header := &doc.GenManHeader{Title: "OAP-GATE", Section: "1", Source: "oap-gate " + args[0], Date: &created}
	if err := doc.GenManTree(root, header, man); err != nil {
		return err
	}
	return complete(root, completions)
}

func complete(root *cobra.Command, folder string) error {
	return errors.Join(
		root.GenBashCompletionFileV2(filepath.Join(folder, "oap-gate.bash"), true),
		root.GenZshCompletionFile(filepath.Join(folder, "_oap-gate")),
		root.GenFishCompletionFile(filepath.Join(folder, "oap-gate.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(folder, "oap-gate.ps1")))
}
