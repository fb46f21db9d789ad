package sha1x16

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var available = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW

// blocks goes over n > 0 blocks of 64 bytes of each message.
//
//go:noescape
func blocks(state *[5][Lanes]uint32, messages *[Lanes]unsafe.Pointer, n int)
