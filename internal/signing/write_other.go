//go:build !linux

package signing

import "errors"

func unnamed(string, string, []byte) error { return errors.ErrUnsupported }
