//go:build !unix

package opengap

import "errors"

func mkfifo(string, uint32) error { return errors.ErrUnsupported }
