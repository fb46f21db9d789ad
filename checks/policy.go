package checks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// policyFile is the file of the base tree that says who may use the bootstrap rule of RFC 0026 section 10, which names
// are public suffixes in addition to those of the embedded list, and which files with private keys are examples.
const policyFile = ".github/gate-policy.yml"

// PolicyVersion is the version of the file that is read.
const PolicyVersion = "1"

const (
	maxPolicy      = 64 << 10
	maxMaintainers = 50
	maxExampleKeys = 1000
	minMaxFile     = 10 << 20 // bounds of max_file_bytes
	maxMaxFile     = 100 << 20
)

// Policy is the content of policyFile. The zero value exempts nobody and adds nothing.
type Policy struct {
	ReferenceServer string   // DID
	Maintainers     []string // DIDs
	Suffixes        *domainage.Suffixes
	exampleKeys     map[string]bool // SHA-256 of files, in hex
	maxFileBytes    int64           // size from which on a new file that is not a record is refused; 0: minMaxFile
	Broken          error           // why the file is not read; nil where there is no reason
}

// ReadPolicy reads a tree's policy. A malformed file is not an error: it exempts nobody.
func ReadPolicy(ctx context.Context, t *registry.Tree) (Policy, error) {
	e, found, err := t.Entry(policyFile)
	if err != nil || !found {
		return Policy{}, err
	}
	if e.Mode != registry.ModeFile {
		return Policy{Broken: fmt.Errorf("%s is not a plain file", policyFile)}, nil
	}
	text, err := t.File(ctx, policyFile, maxPolicy)
	if errors.Is(err, gitobject.ErrTooLarge) {
		return Policy{Broken: fmt.Errorf("%s is larger than %d KiB", policyFile, maxPolicy>>10)}, nil
	}
	if err != nil {
		return Policy{}, err
	}
	if saysNothing(text) {
		return Policy{}, nil
	}
	p, broken := parsePolicy(text)
	if broken != nil {
		return Policy{Broken: broken}, nil
	}
	return p, nil
}

const codePolicyUnreadable = "policy-unreadable"

// policyUnreadable explains codePolicyUnreadable.
var policyUnreadable = Code{codePolicyUnreadable,
	"the policy cannot be read, so that it is not known which names are public suffixes", policyFix}

const policyFix = "correct " + policyFile + " in a pull request of its own, which needs no such check"

// PolicyUnreadable returns the outcome of a check that needs registrable domains if the policy cannot be read: the
// policy may add public suffixes.
func PolicyUnreadable(at verdict.Place, broken error) verdict.Outcome {
	var out verdict.Outcome
	out.Doubtf(at, "", codePolicyUnreadable,
		"the registrable domains are unknown, since the policy cannot be read: %v", broken).WithFix(policyFix)
	return out
}

// wasReferenceServer reports whether a present or former policy of the base branch names a DID: a Receipt that was
// admitted under the bootstrap rule remains one without witnesses when the policy is gone.
func (s *Subject) wasReferenceServer(id string) (bool, error) {
	servers, err := s.Run.referenceServers()
	return slices.ContainsFunc(servers, func(server string) bool { return did.Same(id, server) }), err
}

// referenceServers returns the reference servers of all policies along the base branch's first parents.
func (r *Run) referenceServers() ([]string, error) {
	return r.servers.get(r.findReferenceServers)
}

func (r *Run) findReferenceServers() ([]string, error) {
	versions, err := r.Repo.FolderHistory(r.Context, r.Range.Base.Commit(), path.Dir(policyFile), r.Now,
		func(path string) bool { return path == policyFile })
	if err != nil {
		return nil, err
	}
	var servers []string
	for _, v := range versions {
		tree, err := r.Repo.Tree(r.Context, v.Commit)
		if err != nil {
			return nil, err
		}
		p, err := ReadPolicy(r.Context, tree)
		if err != nil {
			return nil, err
		}
		if p.ReferenceServer != "" {
			servers = append(servers, p.ReferenceServer)
		}
	}
	return servers, nil
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
	root, err := strictyaml.Parse(policyFile, text, maxPolicy)
	if err != nil {
		return p, err
	}
	if err := onlyKeys(root, "version", "reference_server", "maintainers", "public_suffixes",
		"example_keys", "max_file_bytes"); err != nil {
		return p, err
	}
	if err := p.parseLists(root); err != nil {
		return p, err
	}
	has := func(key string) bool { k, _ := strictyaml.Member(root, key); return k != nil }
	alone := (has("public_suffixes") || has("example_keys") || has("max_file_bytes")) && !has("reference_server") &&
		!has("maintainers")
	if alone && !has("version") {
		return p, nil
	}
	if _, version := strictyaml.Member(root, "version"); version == nil || version.Tag != "!!int" ||
		version.Value != PolicyVersion {
		return p, errors.New("version is not the number 1, which is the only one")
	}
	if alone {
		return p, nil
	}
	_, reference := strictyaml.Member(root, "reference_server")
	_, server := strictyaml.Member(reference, "tool_did")
	if p.ReferenceServer, err = policyDID("reference_server.tool_did", server); err != nil {
		return p, err
	}
	_, list := strictyaml.Member(root, "maintainers")
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) < 1 || len(list.Content) > maxMaintainers {
		return p, fmt.Errorf("maintainers is not a list of 1 to %d DIDs", maxMaintainers)
	}
	for _, n := range list.Content {
		m, err := policyDID("a maintainer", n)
		if err != nil {
			return p, err
		}
		if slices.ContainsFunc(p.Maintainers, func(o string) bool { return did.Alike(o, m) }) {
			return p, fmt.Errorf("maintainer %q appears twice", m)
		}
		p.Maintainers = append(p.Maintainers, m)
	}
	return p, nil
}

// parseLists reads the members that need no reference server.
func (p *Policy) parseLists(root *yaml.Node) error {
	names, err := policyTexts(root, "public_suffixes", domainage.MaxSuffixes)
	if err != nil {
		return err
	}
	if p.Suffixes, err = domainage.NewSuffixes(names); err != nil {
		return fmt.Errorf("public_suffixes: %w", err)
	}
	sums, err := policyTexts(root, "example_keys", maxExampleKeys)
	if err != nil {
		return err
	}
	p.exampleKeys = map[string]bool{}
	for _, sum := range sums {
		if !plain.IsSHA256(sum) {
			return fmt.Errorf("example_keys: %.100q is not a SHA-256 of 64 lower-case hexadecimal digits", sum)
		}
		p.exampleKeys[sum] = true
	}
	if _, most := strictyaml.Member(root, "max_file_bytes"); most != nil {
		p.maxFileBytes, err = strconv.ParseInt(most.Value, 10, 64)
		if most.Tag != "!!int" || err != nil || p.maxFileBytes < minMaxFile || p.maxFileBytes > maxMaxFile {
			return fmt.Errorf("max_file_bytes is not an integer from %d to %d", minMaxFile, maxMaxFile)
		}
	}
	return nil
}

// policyTexts reads a list of texts. A member that is absent is an empty list.
func policyTexts(root *yaml.Node, member string, most int) ([]string, error) {
	key, list := strictyaml.Member(root, member)
	if key == nil {
		return nil, nil
	}
	if list.Kind != yaml.SequenceNode || len(list.Content) > most {
		return nil, fmt.Errorf("%s is not a list of at most %d texts", member, most)
	}
	texts := make([]string, 0, len(list.Content))
	for _, n := range list.Content {
		if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
			return nil, fmt.Errorf("line %d: an item of %s is not a text", n.Line, member)
		}
		texts = append(texts, n.Value)
	}
	return texts, nil
}

// policyDID reads a DID in its one spelling. Decoding into strings would skip what is null.
func policyDID(what string, n *yaml.Node) (string, error) {
	if n == nil || n.Tag != "!!str" {
		return "", fmt.Errorf("%s is not a text; expected a DID", what)
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

// onlyKeys checks that a mapping, and the one below reference_server, has only these keys.
func onlyKeys(n *yaml.Node, allowed ...string) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d is not a mapping", n.Line)
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
