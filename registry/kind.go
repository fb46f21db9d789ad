package registry

import "strings"

// Kind says which of the registry's data folders a path stands in (RFC 0026 section 3).
type Kind uint8

// The kinds of files. Governance is every path outside the data folders, and README.md and .gitkeep in them.
const (
	Governance Kind = iota
	KindListing
	KindRevocation
	KindPeerWitness
	KindWorkflowAnchor
)

var folders = [...]string{"", "implementations", "revocations", "peer-witnesses", "workflow-anchors"}

// DataKinds lists the kinds that have a data folder, in path order of the report.
var DataKinds = []Kind{KindListing, KindPeerWitness, KindRevocation, KindWorkflowAnchor}

// Folder is the data folder of k, without slashes; empty for Governance.
func (k Kind) Folder() string { return folders[k] }

func (k Kind) String() string {
	return [...]string{"governance file", "listing", "revocation", "peer witness entry", "workflow anchor"}[k]
}

// KindOf classifies a path by its first component alone: implementations/a/b is a (misplaced) listing.
func KindOf(path string) Kind {
	folder, rest, _ := strings.Cut(path, "/")
	if rest == "README.md" || rest == ".gitkeep" {
		return Governance
	}
	for _, k := range DataKinds {
		if folder == k.Folder() {
			return k
		}
	}
	return Governance
}
