// Package judge gates a range of a registry by all checks.
package judge
