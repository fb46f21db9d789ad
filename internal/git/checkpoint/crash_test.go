//go:build unix

package checkpoint

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// TestMain lets the test binary be the process that is killed: CHECKPOINT_TEST_WRITE names the file that it writes,
// again and again, CHECKPOINT_TEST_LIMIT the bytes that it may write into one.
func TestMain(m *testing.M) {
	path := os.Getenv("CHECKPOINT_TEST_WRITE")
	if path == "" {
		os.Exit(m.Run())
	}
	if limit, err := strconv.ParseUint(os.Getenv("CHECKPOINT_TEST_LIMIT"), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			os.Exit(3)
		}
	}
	for size := 2; ; size++ {
		c, err := New("registry.example.org/oap", size, testTip, testTrees, 3, testSigners)
		if err == nil {
			err = c.WriteFile(path, nil)
		}
		if err != nil {
			if errors.Is(err, syscall.EFBIG) {
				os.Exit(7)
			}
			os.Exit(4)
		}
		if size == 2 {
			if _, err := os.Stdout.WriteString("begun\n"); err != nil {
				os.Exit(5)
			}
		}
	}
}

func writer(path string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "CHECKPOINT_TEST_WRITE="+path)...)
	return cmd
}

// TestKilled checks that a checkpoint is whole whenever its writer is killed, and never older than the one before.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for range 20 {
		cmd := writer(path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		last := 0
		for range 20 { // while it writes
			c, err := Read(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.Size < last {
				t.Fatalf("size %d after %d", c.Size, last)
			}
			last = c.Size
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the writer was not killed")
		}
		c, err := Read(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Size < last {
			t.Fatalf("size %d after %d", c.Size, last)
		}
	}
}

// TestFull checks that the old checkpoint stands where the disk takes only a part of the new one.
func TestFull(t *testing.T) {
	for _, there := range []bool{true, false} {
		dir := t.TempDir()
		path := filepath.Join(dir, "state")
		if there {
			if err := sample(t).WriteFile(path, nil); err != nil {
				t.Fatal(err)
			}
		}
		err := writer(path, "CHECKPOINT_TEST_LIMIT=100").Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 7 {
			t.Fatalf("the writer ended with %v, want that the file became too large", err)
		}
		got, err := Read(path, nil)
		if there && (err != nil || *got != *sample(t)) {
			t.Errorf("read %+v, %v", got, err)
		}
		if !there && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v, want that there is no file", err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 1 || len(entries) == 1 && !there {
			t.Errorf("%v, %v stand in the directory", entries, err)
		}
	}
}
