// Package test builds worlds for tests, the demo and the benchmarks.
package test
