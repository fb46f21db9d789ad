//go:build linux || darwin

package registry

import (
	"io/fs"
	"syscall"
)

// sameFile reports whether a file has the inode, the owner and, if that counts, the time of the last status change that
// its entry in the index has.
func sameFile(tracked *indexEntry, info fs.FileInfo, ctime bool) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	when := statusChange(s)
	changed := [2]uint32{uint32(when.Sec), tracked.changed[1]}
	if tracked.changed[1] != 0 {
		changed[1] = uint32(when.Nsec)
	}
	return tracked.file == [3]uint32{uint32(s.Ino), s.Uid, s.Gid} && (!ctime || tracked.changed == changed)
}
