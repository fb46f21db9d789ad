// Command manual writes the man pages and the completions of a release.
//
// It writes a man page for each command and the completions of four shells, below the directories where systems look
// for them. The program itself contains only its help.
//
//	go run ./internal/cli/manual v1.2.3 2026-06-01T12:00:00Z DIR
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
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapgate"
)

// The directories in which man and the shells look, below a prefix such as /usr/local.
const (
	manPages = "share/man/man1"
	bash     = "share/bash-completion/completions"
	zsh      = "share/zsh/site-functions"
	fish     = "share/fish/vendor_completions.d"
	others   = "share/doc/oap-gate" // PowerShell has no such directory
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: manual VERSION CREATED DIR")
	}
	created, err := time.Parse(time.RFC3339, args[1])
	if err != nil {
		return err
	}
	for _, dir := range []string{manPages, bash, zsh, fish, others} {
		if err := os.MkdirAll(filepath.Join(args[2], dir), 0o777); err != nil {
			return err
		}
	}
	root := cli.Command(&oapgate.Program, cli.System())
	root.DisableAutoGenTag = true // it has the day of the build
	header := &doc.GenManHeader{Title: "OAP-GATE", Section: "1", Source: "oap-gate " + args[0], Date: &created}
	if err := doc.GenManTree(root, header, filepath.Join(args[2], manPages)); err != nil {
		return err
	}
	return complete(root, args[2])
}

func complete(root *cobra.Command, dir string) error {
	return errors.Join(
		root.GenBashCompletionFileV2(filepath.Join(dir, bash, "oap-gate"), true),
		root.GenZshCompletionFile(filepath.Join(dir, zsh, "_oap-gate")),
		root.GenFishCompletionFile(filepath.Join(dir, fish, "oap-gate.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(dir, others, "oap-gate.ps1")))
}
