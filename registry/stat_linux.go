package registry

import "syscall"

// statusChange returns the time of a file's last status change.
func statusChange(s *syscall.Stat_t) syscall.Timespec { return s.Ctim }
