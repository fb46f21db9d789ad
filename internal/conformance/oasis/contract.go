package oasis

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// The files of a profile's directory that hold its contract.
const (
	RequirementsFile = "provider-conformance-requirements.yaml"
	ContractFile     = "provider-conformance.md"
)

// Limits of a contract.
const (
	maxContract     = 1 << 20 // bytes of each of its files
	maxRequirements = 1_000
)

// Contract is what a domain profile asks of a provider: the requirements of its YAML, and the JSON Schema of the map in
// which a provider answers them. What of it could not be read is among its findings and judges nothing.
type Contract struct {
	Profile string // identifier of the profile; empty where the YAML does not give it
	Version string // version of the profile

	out verdict.Outcome // findings on the contract itself

	readable     bool // the YAML could be read as a whole
	path         string
	core         constraint
	requirements []requirement // in the order of the YAML

	schema   *schema.Schema // nil: it could not be read
	required []string       // that the schema asks for at its root
	enums    map[string][]any

	// unmeetable are the requirements that an error of the contract names: they are not judged.
	unmeetable map[string]bool
}

// requirement is one key that a provider must answer.
type requirement struct {
	key      string
	kind     string // the type of its value
	required bool
	at       strict.Pos

	text       string     // a string's
	yes        bool       // a boolean's
	all        []string   // an array's
	bound      constraint // a semver_list's
	operator   string     // an integer's, by the word of the YAML
	value      int64      // an integer's
	ofTier     bool       // an integer's: the tier to evaluate replaces value
	unreadable bool       // type, operator or expected value mean nothing
}

// Files name what holds a contract. A file that is named wins over the one in the directory.
type Files struct {
	Dir          string // the profile's directory
	Requirements string // YAML
	Schema       string // JSON Schema, or Markdown (.md) with a json block that has a $schema
}

// Read reads a contract. The error is of the file system: the directory, or a file, is not there. What is there and
// cannot be used, such as a link that leaves the directory, is a finding of the contract.
func Read(f Files) (*Contract, error) {
	c := &Contract{unmeetable: map[string]bool{}}
	yamlText, path, err := f.read(f.Requirements, RequirementsFile)
	c.path = path
	switch {
	case notThere(err):
		return nil, fmt.Errorf("%s: %w", path, err)
	case err != nil:
		c.unreadable(strict.Pos{Path: path}, "", "%v", err)
	default:
		c.readRequirements(yamlText)
	}
	text, path, err := f.read(f.Schema, ContractFile)
	switch {
	case notThere(err):
		return nil, fmt.Errorf("%s: %w", path, err)
	case err != nil:
		c.unreadable(strict.Pos{Path: path}, "", "%v", err)
	case strings.EqualFold(filepath.Ext(path), ".md"):
		c.readMarkdown(path, text)
	default:
		c.readSchema(path, text, 0)
	}
	c.hold()
	return c, nil
}

// notThere reports whether err means that no file has the name, or that a file has the name of the directory.
func notThere(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// read reads the named file, or else the one in the directory. It follows no link that leaves the directory.
func (f Files) read(named, name string) (data []byte, path string, err error) {
	if named != "" {
		data, err = capped.ReadFile(named, maxContract)
		return data, named, err
	}
	path = filepath.Join(f.Dir, name)
	root, err := capped.OpenRoot(f.Dir)
	if err != nil {
		return nil, path, err
	}
	defer root.Close()
	data, err = capped.ReadPlain(root, name, maxContract)
	return data, path, err
}

func (c *Contract) unreadable(pos strict.Pos, pointer, format string, args ...any) {
	c.out.Errorf(verdict.At(pos), pointer, "contract-unreadable", "the contract cannot be read: %s", fmt.Sprintf(format,
		args...)).WithFix("check the profile out again, or tell its authors")
}

// pos returns the position of a node of the YAML.
func (c *Contract) pos(n *yaml.Node) strict.Pos {
	return strict.Pos{Path: c.path, Line: n.Line, Column: n.Column}
}

func (c *Contract) readRequirements(text []byte) {
	root, err := strictyaml.Parse(c.path, text, maxContract)
	if err != nil {
		fault := err.(*strictyaml.Error)
		c.unreadable(fault.Pos, "", "%s", fault.Message)
		return
	}
	if root.Kind != yaml.MappingNode {
		c.unreadable(c.pos(root), "", "it is not a mapping")
		return
	}
	c.readable = true
	c.Profile, _ = c.scalar(root, "profile")
	c.Version, _ = c.scalar(root, "profile_version")
	if text, n := c.scalar(root, "oasis_core_dependency"); n != nil {
		if c.core, err = readConstraint(text); err != nil {
			c.fault(c.pos(n), "/oasis_core_dependency", "oasis_core_dependency: %v", err)
		}
	}
	name, all := strictyaml.Member(root, "requirements")
	switch {
	case all == nil || all.Kind != yaml.MappingNode:
		c.fault(c.pos(root), "/requirements", "requirements is not a mapping")
	case len(all.Content) == 0:
		c.fault(c.pos(name), "/requirements", "requirements is empty, so that nothing would be asked of a provider")
	case len(all.Content)/2 > maxRequirements:
		c.fault(c.pos(name), "/requirements", "there are %d requirements, at most %d are read", len(all.Content)/2,
			maxRequirements)
	default:
		for i := 0; i+1 < len(all.Content); i += 2 {
			c.requirements = append(c.requirements, c.readRequirement(all.Content[i], all.Content[i+1]))
		}
	}
}

// fault adds an error of the YAML, after which no part of the YAML judges anything.
func (c *Contract) fault(pos strict.Pos, pointer, format string, args ...any) {
	c.readable = false
	c.unreadable(pos, pointer, format, args...)
}

// scalar returns the text of a member at the root, whatever type a YAML reader gives it.
func (c *Contract) scalar(root *yaml.Node, key string) (string, *yaml.Node) {
	_, n := strictyaml.Member(root, key)
	if n == nil || n.Kind != yaml.ScalarNode || n.Value == "" || n.Tag == "!!null" {
		c.fault(c.pos(root), "/"+key, "%s is not a text", key)
		return "", nil
	}
	return n.Value, n
}

// readRequirement reads one requirement. One without `required` is required: what a profile lists, it asks for.
func (c *Contract) readRequirement(name, body *yaml.Node) requirement {
	r := requirement{key: name.Value, at: c.pos(name), required: true}
	pointer := "/requirements/" + strict.Escape(r.key)
	wrong := func(n *yaml.Node, member, format string, args ...any) {
		if n == nil {
			n = name
		}
		r.unreadable, c.unmeetable[r.key] = true, true
		c.out.Errorf(verdict.At(c.pos(n)), pointer+member, "contract-unknown-type", "requirement %s: %s", quoted(r.key),
			fmt.Sprintf(format, args...)).WithFix("tell the profile's authors: no provider can meet it")
	}
	if _, n := strictyaml.Member(body, "required"); n != nil {
		if n.Tag != "!!bool" {
			wrong(n, "/required", "required is %s; expected true or false", quoted(n.Value))
			return r
		}
		r.required = truth(n)
	}
	_, kind := strictyaml.Member(body, "type")
	_, expected := strictyaml.Member(body, "expected")
	if kind == nil || kind.Kind != yaml.ScalarNode {
		wrong(kind, "/type", "it has no type")
		return r
	}
	if expected == nil {
		wrong(nil, "/expected", "it has no expected value")
		return r
	}
	r.kind = kind.Value
	switch r.kind {
	case "string":
		if !isText(expected) {
			wrong(expected, "/expected", "the expected value is not a text")
		}
		r.text = expected.Value
	case "boolean":
		if expected.Kind != yaml.ScalarNode || expected.Tag != "!!bool" {
			wrong(expected, "/expected", "the expected value is neither true nor false")
			break
		}
		r.yes = truth(expected)
	case "array":
		if expected.Kind != yaml.SequenceNode {
			wrong(expected, "/expected", "the expected value is not a list")
		}
		for i, n := range expected.Content {
			if !isText(n) {
				wrong(n, "/expected/"+strconv.Itoa(i), "an expected entry is not a text")
				break
			}
			r.all = append(r.all, n.Value)
		}
	case "semver_list":
		var err error
		if !isText(expected) {
			wrong(expected, "/expected", "the expected value is not a constraint on versions")
		} else if r.bound, err = readConstraint(expected.Value); err != nil {
			wrong(expected, "/expected", "%v", err)
		}
	case "integer":
		c.readComparison(&r, expected, wrong)
	default:
		wrong(kind, "/type", "the type %s is not known: known are string, boolean, array, integer, semver_list",
			quoted(r.kind))
	}
	return r
}

// comparisons are the words of a comparison_operator, each with its sign.
var comparisons = map[string]string{"eq": "=", "gte": ">=", "gt": ">", "lte": "<=", "lt": "<"}

func (c *Contract) readComparison(r *requirement, expected *yaml.Node, wrong func(*yaml.Node, string, string, ...any)) {
	_, operator := strictyaml.Member(expected, "comparison_operator")
	_, value := strictyaml.Member(expected, "value")
	switch {
	case operator == nil || comparisons[operator.Value] == "":
		word := "none"
		if operator != nil {
			word = quoted(operator.Value)
		}
		wrong(operator, "/expected/comparison_operator", "the comparison_operator is %s: known are eq, gte, gt, "+
			"lte, lt", word)
		return
	case value == nil || value.Kind != yaml.ScalarNode:
		wrong(value, "/expected/value", "there is no value to compare with")
		return
	}
	r.operator = operator.Value
	if value.Value == "requested" {
		r.ofTier = true
		return
	}
	n, err := strconv.ParseInt(value.Value, 10, 64)
	if err != nil || value.Tag != "!!int" {
		wrong(value, "/expected/value", "the value is %s; expected an integer or requested", quoted(value.Value))
	}
	r.value = n
}

func isText(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!str" }

func truth(n *yaml.Node) bool {
	var yes bool
	return n.Decode(&yes) == nil && yes
}

// versionOf is the line of the Markdown's header that gives the profile's version.
var versionOf = plain.Pattern(`^\*\*Profile version:\*\*[ \t]*(\S+)`)

// readMarkdown finds the schema in the one json block that has a $schema, and holds the version in the header against
// the YAML's.
func (c *Contract) readMarkdown(path string, text []byte) {
	type block struct {
		text []byte
		line int
	}
	var found []block
	header, fence := true, ""
	var lines []string
	isJSON, start := false, 0
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r")
		bare := strings.TrimLeft(line, " ")
		switch {
		case fence != "" && strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]+" \t") == "":
			body := strings.Join(lines, "\n")
			if isJSON && hasSchema(body) {
				found = append(found, block{[]byte(body), start})
			}
			fence = ""
		case fence != "":
			lines = append(lines, line)
		case strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"):
			fence = bare[:len(bare)-len(strings.TrimLeft(bare, bare[:1]))]
			language, _, _ := strings.Cut(strings.TrimSpace(bare[len(fence):]), " ")
			isJSON, start, lines = strings.EqualFold(language, "json"), i+1, nil
		case strings.HasPrefix(line, "## ") || line == "---":
			header = false
		case header:
			if m := versionOf().FindStringSubmatch(line); m != nil && c.Version != "" && m[1] != c.Version {
				c.out.Warnf(verdict.At{Path: path, Line: i + 1, Column: 1}, "", "contract-version",
					"the header says version %s, the YAML says %s", quoted(m[1]), quoted(c.Version)).
					WithFix("tell the profile's authors; the YAML's is judged by")
			}
		}
	}
	if len(found) != 1 {
		c.unreadable(strict.Pos{Path: path}, "", "%d json blocks have a $schema; expected exactly one", len(found))
		return
	}
	c.readSchema(path, found[0].text, found[0].line)
}

// hasSchema reports whether a text is a JSON object with a member $schema, or would be if it were whole.
func hasSchema(text string) bool {
	doc, err := strict.Parse("", []byte(text), strict.Remote(maxContract))
	if err != nil {
		return strings.Contains(text, `"$schema"`)
	}
	root, _ := doc.Root.(map[string]any)
	_, there := root["$schema"]
	return there
}
