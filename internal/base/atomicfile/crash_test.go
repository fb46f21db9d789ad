//go:build unix

package atomicfile

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestMain lets the test binary be the process that is killed: ATOMICFILE_TEST_WRITE names the file that it writes,
// ATOMICFILE_TEST_SCRATCH the directory of its Scratch.
func TestMain(m *testing.M) {
	if dir := os.Getenv("ATOMICFILE_TEST_SCRATCH"); dir != "" {
		f, err := NewScratch(dir)
		if err != nil {
			os.Exit(4)
		}
		for n := 0; n < 1<<12; n++ { // killed long before
			if _, err := f.Write(make([]byte, 1<<16)); err != nil {
				os.Exit(4)
			}
			if n == 0 {
				_, _ = os.Stdout.WriteString("begun\n")
			}
		}
		os.Exit(5)
	}
	path := os.Getenv("ATOMICFILE_TEST_WRITE")
	if path == "" {
		os.Exit(m.Run())
	}
	for n := 0; ; n++ {
		if Write(path, bytes.Repeat([]byte{'a' + byte(n%26)}, 1<<20), 0o644) != nil {
			os.Exit(4)
		}
		if n == 0 {
			_, _ = os.Stdout.WriteString("begun\n")
		}
	}
}

// killed runs this binary as the environment says, and kills it once it has begun.
func killed(t *testing.T, environment string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), environment)
	out, err := cmd.StdoutPipe()
	must.OK(t, err)
	must.OK(t, cmd.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	if killed := cmd.Process.Kill(); err != nil || killed != nil || cmd.Wait() == nil {
		t.Fatalf("the writer was not killed: %v, %v", err, killed)
	}
}

// TestKilledScratch checks that nothing is left of the scratch file of a process that was killed.
func TestKilledScratch(t *testing.T) {
	dir := t.TempDir()
	killed(t, "ATOMICFILE_TEST_SCRATCH="+dir)
	if got := list(t, dir); len(got) != 0 {
		t.Errorf("%q are left", got)
	}
}

// TestKilled checks that a file is whole whenever its writer is killed, that what is left beside it is known by its
// name, and that the next writer removes it once it is stale, and not before.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	left := 0
	for n := range 200 {
		killed(t, "ATOMICFILE_TEST_WRITE="+path)
		data, err := os.ReadFile(path)
		if err != nil || len(data) != 1<<20 || len(bytes.Trim(data, string(data[:1]))) != 0 {
			t.Fatalf("the file has %d bytes of several texts, %v", len(data), err)
		}
		left = 0
		for _, name := range list(t, dir) {
			if name == "state" {
				continue
			}
			if left++; nameOf(name) != "state" {
				t.Errorf("%q is left", name)
			}
		}
		if left >= 3 && n >= 10 {
			break
		}
	}
	if left == 0 {
		t.Skip("no writer was killed while it wrote")
	}
	must.OK(t, Write(path, []byte("new"), 0o644))
	if got := list(t, dir); len(got) != left+1 {
		t.Errorf("%q are left of %d that a writer may still have", got, left)
	}
	for _, name := range list(t, dir) {
		then := time.Now().Add(-old)
		must.OK(t, os.Chtimes(filepath.Join(dir, name), then, then))
	}
	must.OK(t, Write(path, []byte("new"), 0o644))
	if got := list(t, dir); len(got) != 1 {
		t.Errorf("%q are left", got)
	}
}
