// Package remedy is the error that carries what to do about it.
package remedy

import (
	"errors"
	"fmt"
)

// Error is an error with the command or the value that would do.
type Error struct {
	error
	fix string
}

// Unwrap gives the error without its remedy.
func (e *Error) Unwrap() error { return e.error }

// Fix is the command or the value that would do; empty where nothing would.
func (e *Error) Fix() string { return e.fix }

// Errorf is an error with what would do.
func Errorf(fix, format string, args ...any) error {
	return &Error{fmt.Errorf(format, args...), fix}
}

// coded is an error with the code by which scripts know it.
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

// Fixer is an error that says what would do.
type Fixer interface {
	error
	Fix() string
}

// With says what mends err, unless err itself does; nil stays nil.
func With(err error, fix string) error {
	if _, ok := errors.AsType[Fixer](err); ok || err == nil {
		return err
	}
	return &Error{err, fix}
}
