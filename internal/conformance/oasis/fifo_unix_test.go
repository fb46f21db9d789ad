//go:build unix

package oasis

import "syscall"

var mkfifo = syscall.Mkfifo
