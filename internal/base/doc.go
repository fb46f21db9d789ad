// Package base contains packages that import nothing of the project.
package base
