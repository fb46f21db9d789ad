package cli

import "errors"

// become fails: a process of Windows cannot become another program.
func become(string) error { return errors.ErrUnsupported }
