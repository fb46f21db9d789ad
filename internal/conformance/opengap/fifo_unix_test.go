//go:build unix

package opengap

import "syscall"

var mkfifo = syscall.Mkfifo
