// Package test builds worlds for tests and benchmarks.
package test
