package authorcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/usergit"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// signedFile says where a file goes that was signed. If neither is given, it is not written.
type signedFile struct {
	out     string
	inPlace bool
}

// bind binds the flags for a subject that gets what is added.
func (f *signedFile) bind(c *cobra.Command, subject, added string) {
	c.Flags().StringVar(&f.out, "out", "", "`FILE` to write; new, "+subject+" with "+added)
	c.Flags().BoolVar(&f.inPlace, "in-place", false, "write over the input; "+subject+", a file, with "+added)
}

func (f *signedFile) given() bool { return f.out != "" || f.inPlace }

// check refuses what --out cannot name: a new file in a Git directory or a data directory, too. A directory that is not
// there is an error of writing.
func (f *signedFile) check() error {
	switch {
	case f.out == "":
		return nil
	case f.inPlace:
		return remedy.Errorf("leave --in-place out", "--out and --in-place exclude one another")
	case f.out == "-":
		return remedy.Errorf("name a new file with --out FILE", "--out writes a file, and - is not a file")
	case os.IsPathSeparator(f.out[len(f.out)-1]):
		return remedy.Errorf("name the file too", "--out %q names a directory", f.out)
	}
	if at, err := usergit.Place(f.out); err == nil && (at.InGit || at.Root != "" && registry.InData(at.Path)) {
		return remedy.Errorf("name a file outside of it",
			"--out %q lies in the Git directory or a data directory of %s", f.out, at.Root)
	}
	return nil
}

// readPlain reads a file for its signature. It refuses what is not a plain file.
func readPlain(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a plain file")
	}
	var text []byte
	if err == nil {
		text, err = capped.ReadFile(name, receipt.MaxBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return text, nil
}

// write writes the signed text of a file that had the text was, and returns the name of the file that has it now.
func (f *signedFile) write(name string, was, signed []byte) (to string, err error) {
	if to = f.out; f.inPlace {
		to = name
	}
	dir, err := capped.OpenRoot(filepath.Dir(to))
	if err != nil {
		return to, typed.Unwritten(err)
	}
	defer dir.Close()
	if f.inPlace {
		err = listing.Overwrite(dir, filepath.Base(to), receipt.MaxBytes, was, signed)
	} else {
		err = atomicfile.Create(dir, filepath.Base(to), signed, 0o644)
	}
	switch {
	case err == nil:
		return to, nil
	case errors.Is(err, fs.ErrExist):
		return to, remedy.Errorf("name a file that does not exist", "writing %s: it exists, and is not overwritten", to)
	case errors.Is(err, listing.ErrChanged), errors.Is(err, listing.ErrPlace):
		return to, remedy.Errorf("run it again", "writing %s: %v", to, err)
	}
	return to, typed.Unwritten(fmt.Errorf("writing %s: %w", to, err))
}
