// Package git reads a hostile Git repository.
package git
