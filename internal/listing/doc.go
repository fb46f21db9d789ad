// Package listing makes, edits and writes the registry's records: drafts of what somebody proposes. What they are judged
// by is said in package checks.
package listing
