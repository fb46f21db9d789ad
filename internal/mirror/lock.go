package mirror

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
)

// lock takes the lock of a mirror and writes there which process holds it. A file that merely is there is no lock: a
// killed mirror leaves it.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, remedy.With(fmt.Errorf("locking the mirror: %w", err), "name a directory that can be written")
	}
	taken, err := take(f)
	if err == nil && !taken {
		by, _ := io.ReadAll(io.LimitReader(f, 1024))
		err = remedy.Errorf("let it end, or name another directory", "the mirror is in use: %q is held by %s", path,
			strings.TrimSpace(string(by)))
	}
	if err == nil {
		host, _ := os.Hostname() // an empty one says less, and nothing wrong
		err = f.Truncate(0)
		if err == nil {
			_, err = fmt.Fprintf(f, "process %d of %s\n", os.Getpid(), host)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
