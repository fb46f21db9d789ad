package authorcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
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

// check refuses what --out cannot name.
func (f *signedFile) check() error {
	switch {
	case f.out == "":
		return nil
	case f.inPlace:
		return remedy.Errorf("leave --in-place out", "--out and --in-place exclude one another")
	case os.IsPathSeparator(f.out[len(f.out)-1]):
		return remedy.Errorf("name the file too", "--out %q names a directory", f.out)
	}
	return (&frame.Output{}).Place(nil, []report.Target{{Flag: "--out", Path: f.out}}, nil)
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
func (f *signedFile) write(name string, was, signed []byte) (string, error) {
	if !f.inPlace {
		return f.out, report.Save("--out "+f.out, f.out, nil, signed)
	}
	dir, err := capped.OpenRoot(filepath.Dir(name))
	if err != nil {
		return name, typed.Unwritten(err)
	}
	defer dir.Close()
	err = listing.Overwrite(dir, filepath.Base(name), receipt.MaxBytes, was, signed)
	if errors.Is(err, listing.ErrChanged) || errors.Is(err, listing.ErrPlace) {
		return name, remedy.Errorf("run it again", "writing %s: %v", name, err)
	}
	if err != nil {
		return name, typed.Unwritten(fmt.Errorf("writing %s: %w", name, err))
	}
	return name, nil
}
