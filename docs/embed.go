// Package docs holds the files that a registry copies, so that the program can write them.
package docs

import "embed"

// Files holds the workflows, CODEOWNERS and the example configurations of this directory.
//
//go:embed workflows repo-config.example.yml gate-policy.example.yml dependabot.example.yml
var Files embed.FS
