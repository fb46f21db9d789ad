package gitobject

import (
	"errors"
	"fmt"
)

// What is wrong with the bytes of an object or of a file that has objects, for errors.Is.
var (
	// ErrCorrupt: a file of the clone is damaged, or an object's bytes do not hash to its id.
	ErrCorrupt = errors.New("corrupt")
	// ErrTooLarge means that an object, or a part that it is made from, exceeds a cap.
	ErrTooLarge = errors.New("too large")
	// ErrUnsupported: the clone uses something that is not read.
	ErrUnsupported = errors.New("not supported")
)

// Within returns an error unless a size is within a limit.
func Within(size, limit int64) error {
	if size > limit {
		return fmt.Errorf("%w: %d bytes, at most %d are read", ErrTooLarge, size, limit)
	}
	return nil
}
