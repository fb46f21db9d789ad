//go:build !amd64

package sha1x16

import "unsafe"

const available = false

func blocks(*[5][Lanes]uint32, *[Lanes]unsafe.Pointer, int) { panic("not available") }
