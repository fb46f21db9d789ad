// Package gitfsck finds what git refuses to receive from another repository if transfer.fsckObjects is set: commits,
// and files under names that git itself reads. It judges bytes and names; git-fsck(1) lists the ids.
//
// Versions and builds of git differ in details. What one of them refuses counts as refused.
package gitfsck

import "fmt"

// Fault is why git refuses an object.
type Fault struct {
	ID     string // of git, such as badEmail
	Detail string // the fault, with quoted texts of the object
}

func fault(id, format string, args ...any) *Fault {
	return &Fault{ID: id, Detail: fmt.Sprintf(format, args...)}
}

// maxShown is how many bytes of a text are quoted.
const maxShown = 100

func shown(text []byte) string { return fmt.Sprintf("%q", text[:min(len(text), maxShown)]) }
