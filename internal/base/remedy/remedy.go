// Package remedy attaches to an error what to do about it.
package remedy

import (
	"errors"
	"fmt"
)

// Error is an error with the command or the value that fixes it.
type Error struct {
	error
	fix string
}

// Unwrap returns the error without its fix.
func (e *Error) Unwrap() error { return e.error }

// Fix returns the command or the value that fixes the error, or "" if nothing does.
func (e *Error) Fix() string { return e.fix }

// Errorf returns an error with its fix.
func Errorf(fix, format string, args ...any) error {
	return &Error{fmt.Errorf(format, args...), fix}
}

// coded is an error with the code that scripts compare.
type coded struct {
	Fixer
	code string
}

// Unwrap returns the error without its code.
func (c *coded) Unwrap() error { return c.Fixer }

// Coded returns an error as Errorf does, with a code.
func Coded(code, fix, format string, args ...any) error {
	return &coded{&Error{fmt.Errorf(format, args...), fix}, code}
}

// CodeOf returns the code of err, empty if it has none.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*coded](err); ok {
		return e.code
	}
	return ""
}

// Fixer is an error that knows its fix.
type Fixer interface {
	error
	Fix() string
}

// With adds a fix to err unless err has one. It returns nil for nil.
func With(err error, fix string) error {
	if _, ok := errors.AsType[Fixer](err); ok || err == nil {
		return err
	}
	return &Error{err, fix}
}
