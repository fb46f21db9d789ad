// Command manual writes the man pages and the completions of a release.
//
// It writes a man page for each command of each program, and the completions of four shells, below the directories
// where systems look for them. A program itself contains only its help.
//
//	go run ./internal/cli/manual v1.2.3 2026-06-01T12:00:00Z DIR
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
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
	for _, p := range programs.All {
		root := cli.Command(p, cli.System())
		root.DisableAutoGenTag = true // it has the day of the build
		header := &doc.GenManHeader{Title: strings.ToUpper(p.Name), Section: "1", Source: p.Name + " " + args[0],
			Date: &created}
		if err := cmp.Or(doc.GenManTree(root, header, filepath.Join(args[2], manPages)),
			complete(root, p.Name, args[2])); err != nil {
			return err
		}
	}
	return nil
}

func complete(root *cobra.Command, name, dir string) error {
	return errors.Join(
		root.GenBashCompletionFileV2(filepath.Join(dir, bash, name), true),
		root.GenZshCompletionFile(filepath.Join(dir, zsh, "_"+name)),
		root.GenFishCompletionFile(filepath.Join(dir, fish, name+".fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(dir, others, name+".ps1")))
}
