// Package docs holds the files that a registry copies, so that the program can write them.
package docs

import "embed"

// Files are the workflows, CODEOWNERS and the example configurations, as they stand in this directory.
//
//go:embed workflows repo-config.example.yml gate-policy.example.yml dependabot.example.yml
var Files embed.FS
