package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

// generateCommand has this program generate a registry and end.
const generateCommand = "generate"

func generate(args []string) error {
	if len(args) != 5 {
		return fmt.Errorf("%s: want DIR LISTINGS COMMITS NEW REFUSED", generateCommand)
	}
	b := fixture.Bulk{Refused: args[4] == "true"}
	for i, to := range []*int{&b.Listings, &b.Commits, &b.New} {
		n, err := strconv.Atoi(args[i+1])
		if err != nil {
			return err
		}
		*to = n
	}
	_, err := fixture.Generate(args[0], b)
	return err
}

// registry generates a registry, or finds the one generated before, and gives its directory.
func (b *bench) registry(size fixture.Bulk) string {
	dir := filepath.Join(b.dir, fmt.Sprintf("registry-%d-%d-%d", size.Listings, size.Commits, size.New))
	if size.Refused {
		dir += "-refused"
	}
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	self, err := os.Executable()
	try(err)
	unfinished := dir + ".unfinished"
	try(os.RemoveAll(unfinished))
	cmd := exec.CommandContext(b.ctx, self, generateCommand, unfinished,
		strconv.Itoa(size.Listings), strconv.Itoa(size.Commits), strconv.Itoa(size.New),
		strconv.FormatBool(size.Refused))
	cmd.Stderr = os.Stderr
	try(cmd.Run())
	try(os.Rename(unfinished, dir))
	return dir
}
