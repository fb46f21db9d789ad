// Package conformance checks an implementation against a companion protocol.
package conformance
