package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// WriteFile writes r to the file at path, which is then whole: the old text or the new. The text is written
// beside it, synced, and renamed. What is there and is no regular file, such as /dev/stdout or a pipe, is
// written to as it is; a symbolic link is followed.
func WriteFile(path, format string, r *verdict.Report, o Options) error {
	var b bytes.Buffer
	if err := render(&b, format, r, o); err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeInto(path, b.Bytes())
	}
	return replaceFile(path, b.Bytes())
}

// Writable gives the reason why WriteFile could not write to path, nil where it could. It leaves nothing behind.
// What is there and is no regular file is not tried.
func Writable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a folder")
	case err == nil && !info.Mode().IsRegular():
		return nil
	}
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// createBeside makes a new file in the folder of path. Its error names the folder: the name that was tried is drawn at
// random, and two runs must say the same.
func createBeside(path string) (*os.File, error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		at.Path = dir
	}
	return f, err
}

// AppendFile appends r to the file at path, as a step does with the one that GITHUB_STEP_SUMMARY names.
func AppendFile(path, format string, r *verdict.Report, o Options) error {
	var b bytes.Buffer
	if err := render(&b, format, r, o); err != nil {
		return err
	}
	return appendFile(path, b.Bytes())
}

func writeInto(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("opening report: %w", err)
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("writing report: %w", err)
	}
	return nil
}

func replaceFile(path string, data []byte) error {
	f, err := createBeside(path)
	if err != nil {
		return fmt.Errorf("creating report: %w", err)
	}
	defer os.Remove(f.Name()) // gone by then where all went well
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing report %s: %w", path, err)
	}
	return nil
}
