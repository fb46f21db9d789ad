// Package oap parses and signs the documents of the protocol.
package oap
