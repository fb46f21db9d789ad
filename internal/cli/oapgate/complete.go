package oapgate

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install/installcmd"
)

// maxOffered is how many slugs a shell is offered.
const maxOffered = 10000

// oneSlug completes the one slug that a command takes, and what else the shell may offer.
func oneSlug(more cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, noFile
		}
		return slugs(c), more
	}
}

// slugs returns the slugs of the listings on disk in the clone that --repo names. It omits a file name that is not a
// slug: a shell would put it into the line as it is.
func slugs(c *cobra.Command) []string {
	repo, err := c.Flags().GetString("repo")
	if err != nil {
		return nil
	}
	clone, err := installcmd.OpenClone(repo)
	if err != nil {
		return nil
	}
	directory, err := os.Open(filepath.Join(clone.Dir, "implementations"))
	if err != nil {
		return nil
	}
	defer directory.Close()
	names, err := directory.Readdirnames(maxOffered)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	var all []string
	for _, name := range names {
		slug, isJSON := strings.CutSuffix(name, ".json")
		if _, err := listing.Path(slug); isJSON && err == nil {
			all = append(all, slug)
		}
	}
	slices.Sort(all)
	return all
}
