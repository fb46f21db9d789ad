//go:build !linux

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
)

func createUnnamed(*os.Root, string, []byte, fs.FileMode) error { return errors.ErrUnsupported }
