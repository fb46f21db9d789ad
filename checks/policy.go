package checks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/openagentprotocol-OAP/oap-gate/internal/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// PolicyFile is where the base tree says who may use the bootstrap rule of RFC 0026 section 10.
const PolicyFile = ".github/gate-policy.yml"

const (
	maxPolicy      = 64 << 10
	maxMaintainers = 50
)

// Policy is the content of PolicyFile. The zero value exempts nobody.
type Policy struct {
	ReferenceServer string   // DID
	Maintainers     []string // DIDs
	Broken          error    // why the file exempts nobody; nil where there is no reason
}

// ReadPolicy reads a tree's policy. A file that is not as it must be is no error: it exempts nobody.
func ReadPolicy(ctx context.Context, t *registry.Tree) (Policy, error) {
	e, found, err := t.Entry(PolicyFile)
	if err != nil || !found {
		return Policy{}, err
	}
	if e.Mode != registry.ModeFile {
		return Policy{Broken: fmt.Errorf("%s is no plain file", PolicyFile)}, nil
	}
	text, err := t.File(ctx, PolicyFile, maxPolicy)
	if errors.Is(err, gitstore.ErrTooLarge) {
		return Policy{Broken: fmt.Errorf("%s is larger than %d KiB", PolicyFile, maxPolicy>>10)}, nil
	}
	if err != nil {
		return Policy{}, err
	}
	if saysNothing(text) {
		return Policy{}, nil
	}
	p, broken := parsePolicy(text)
	if broken != nil {
		p = Policy{}
	}
	p.Broken = broken
	return p, nil
}

// WasReferenceServer reports whether a policy that stands on the base branch or ever stood there names a DID: a Receipt
// that the bootstrap rule let in stays one without witnesses when the policy is gone.
func (s *Subject) WasReferenceServer(id string) (bool, error) {
	servers, err := s.Run.referenceServers()
	return slices.ContainsFunc(servers, func(server string) bool { return did.Same(id, server) }), err
}

// referenceServers are those of all policies along the base branch's first parents.
func (r *Run) referenceServers() ([]string, error) {
	r.policies.Do(func() {
		var versions []registry.Version
		versions, r.serversErr = r.Repo.FileHistory(r.Context, r.Range.Base.Commit(), PolicyFile, r.Now)
		for _, v := range versions {
			var tree *registry.Tree
			var p Policy
			if tree, r.serversErr = r.Repo.Tree(r.Context, v.Commit); r.serversErr != nil {
				break
			}
			if p, r.serversErr = ReadPolicy(r.Context, tree); r.serversErr != nil {
				break
			}
			if p.ReferenceServer != "" {
				r.servers = append(r.servers, p.ReferenceServer)
			}
		}
	})
	return r.servers, r.serversErr
}

// saysNothing reports whether a policy has comments and nothing else, as the one that a new registry begins with. An
// empty one says nothing either, but nobody meant it so.
func saysNothing(text []byte) bool {
	comments := false
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return false
		}
		comments = comments || len(line) > 0
	}
	return comments
}

func parsePolicy(text []byte) (Policy, error) {
	var p Policy
	root, err := strictyaml.Parse(PolicyFile, text, maxPolicy)
	if err != nil {
		return p, err
	}
	if err := onlyKeys(root, "version", "reference_server", "maintainers"); err != nil {
		return p, err
	}
	if _, version := strictyaml.Member(root, "version"); version == nil || version.Tag != "!!int" ||
		version.Value != "1" {
		return p, errors.New("version is not the number 1, which is the only one")
	}
	_, reference := strictyaml.Member(root, "reference_server")
	_, server := strictyaml.Member(reference, "tool_did")
	if p.ReferenceServer, err = policyDID("reference_server.tool_did", server); err != nil {
		return p, err
	}
	_, list := strictyaml.Member(root, "maintainers")
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) < 1 || len(list.Content) > maxMaintainers {
		return p, fmt.Errorf("maintainers is no list of 1 to %d DIDs", maxMaintainers)
	}
	for _, n := range list.Content {
		m, err := policyDID("a maintainer", n)
		if err != nil {
			return p, err
		}
		if slices.ContainsFunc(p.Maintainers, func(o string) bool { return did.Alike(o, m) }) {
			return p, fmt.Errorf("maintainer %q stands there twice", m)
		}
		p.Maintainers = append(p.Maintainers, m)
	}
	return p, nil
}

// policyDID reads a DID in its one spelling. Decoding into strings would pass over what is null.
func policyDID(what string, n *yaml.Node) (string, error) {
	if n == nil || n.Tag != "!!str" {
		return "", fmt.Errorf("%s is no text, a DID is needed", what)
	}
	d, err := did.Parse(n.Value)
	if err != nil {
		return "", err
	}
	if strings.Contains(d.Host(), "_") {
		return "", fmt.Errorf("%q has an underscore, which no host name has", n.Value)
	}
	if want := d.Spelling(); want != n.Value {
		return "", fmt.Errorf("%q is not in its one spelling %q", n.Value, want)
	}
	return n.Value, nil
}

// onlyKeys holds that a mapping, and the one below reference_server, has no other keys than these.
func onlyKeys(n *yaml.Node, allowed ...string) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d is no mapping", n.Line)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !slices.Contains(allowed, key.Value) {
			return fmt.Errorf("line %d: key %q is not known; the keys are %q", key.Line, key.Value, allowed)
		}
		if key.Value == "reference_server" {
			if err := onlyKeys(n.Content[i+1], "tool_did"); err != nil {
				return err
			}
		}
	}
	return nil
}
