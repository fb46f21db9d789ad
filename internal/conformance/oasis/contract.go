package oasis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
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
	place        verdict.Place // finds the members of the YAML
	core         constraint
	requirements []requirement // by their keys

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

	expected   any        // a string's, a boolean's, or an array's
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
	c.out.Errorf(verdict.At(pos), pointer, "contract-unreadable", "the contract cannot be read: %s",
		fmt.Sprintf(format, args...))
}

func (c *Contract) readRequirements(text []byte) {
	place, root, fault := parseYAML(c.path, text, maxContract)
	if fault != nil {
		c.unreadable(fault.Pos, "", "%s", fault.Message)
		return
	}
	c.place, c.readable = place, true
	c.Profile, c.Version = c.scalar(root, "profile"), c.scalar(root, "profile_version")
	if text := c.scalar(root, "oasis_core_dependency"); text != "" {
		var err error
		if c.core, err = readConstraint(text); err != nil {
			c.fault("/oasis_core_dependency", "oasis_core_dependency: %v", err)
		}
	}
	switch all, ok := root["requirements"].(map[string]any); {
	case !ok:
		c.fault("/requirements", "requirements is not a mapping")
	case len(all) == 0:
		c.fault("/requirements", "requirements is empty, so that nothing would be asked of a provider")
	case len(all) > maxRequirements:
		c.fault("/requirements", "there are %d requirements, at most %d are read", len(all), maxRequirements)
	default:
		for _, key := range slices.Sorted(maps.Keys(all)) {
			c.requirements = append(c.requirements, c.readRequirement(key, all[key]))
		}
	}
}

// fault adds an error of the YAML, after which no part of the YAML judges anything.
func (c *Contract) fault(pointer, format string, args ...any) {
	c.readable = false
	c.unreadable(c.place.Pos(pointer), pointer, format, args...)
}

// scalar returns a member at the root that is a text or a number, as the text that it has.
func (c *Contract) scalar(root map[string]any, key string) string {
	text, _ := root[key].(string)
	number, _ := root[key].(json.Number)
	if text += number.String(); text == "" {
		c.fault("/"+key, "%s is not a text", key)
	}
	return text
}

// readRequirement reads one requirement. One without `required` is required: what a profile lists, it asks for.
func (c *Contract) readRequirement(key string, body any) requirement {
	r := requirement{key: key, required: true}
	wrong := func(member, format string, args ...any) {
		r.unreadable, c.unmeetable[key] = true, true
		c.out.Errorf(c.place, "/requirements/"+strict.Escape(key)+member, "contract-unknown-type",
			"requirement %s: %s", quoted(key), fmt.Sprintf(format, args...))
	}
	members, _ := body.(map[string]any)
	if is, there := members["required"]; there {
		var ok bool
		if r.required, ok = is.(bool); !ok {
			wrong("/required", "required is %s; expected true or false", show(is))
			return r
		}
	}
	var typed, there, ok bool
	r.kind, typed = members["type"].(string)
	r.expected, there = members["expected"]
	text, isText := r.expected.(string)
	switch {
	case !typed:
		wrong("/type", "it has no type")
	case !there:
		wrong("/expected", "it has no expected value")
	case r.kind == "string":
		if !isText {
			wrong("/expected", "the expected value is not a text")
		}
	case r.kind == "boolean":
		if _, ok = r.expected.(bool); !ok {
			wrong("/expected", "the expected value is neither true nor false")
		}
	case r.kind == "array":
		list, ok := r.expected.([]any)
		if !ok {
			wrong("/expected", "the expected value is not a list")
		}
		if i := slices.IndexFunc(list, func(v any) bool { _, ok := v.(string); return !ok }); i >= 0 {
			wrong("/expected/"+strconv.Itoa(i), "an expected entry is not a text")
		}
	case r.kind == "semver_list":
		var err error
		if !isText {
			wrong("/expected", "the expected value is not a constraint on versions")
		} else if r.bound, err = readConstraint(text); err != nil {
			wrong("/expected", "%v", err)
		}
	case r.kind == "integer":
		r.readComparison(wrong)
	default:
		wrong("/type", "the type %s is not known: known are string, boolean, array, integer, semver_list",
			quoted(r.kind))
	}
	return r
}

// comparisons are the words of a comparison_operator, each with its sign.
var comparisons = map[string]string{"eq": "=", "gte": ">=", "gt": ">", "lte": "<=", "lt": "<"}

func (r *requirement) readComparison(wrong func(member, format string, args ...any)) {
	comparison, _ := r.expected.(map[string]any)
	r.operator, _ = comparison["comparison_operator"].(string)
	value, there := comparison["value"]
	number, _ := value.(json.Number)
	var err error
	switch r.value, err = strconv.ParseInt(number.String(), 10, 64); {
	case comparisons[r.operator] == "":
		wrong("/expected/comparison_operator", "the comparison_operator is %s: known are eq, gte, gt, lte, lt",
			show(comparison["comparison_operator"]))
	case !there:
		wrong("/expected/value", "there is no value to compare with")
	case value == "requested":
		r.ofTier = true
	case err != nil:
		wrong("/expected/value", "the value is %s; expected an integer or requested", show(value))
	}
}

var (
	// versionOf is the line of the Markdown's header that gives the profile's version.
	versionOf = plain.Pattern(`(?m)^\*\*Profile version:\*\*[ \t]*(\S+)`)
	// headerEnd is the line that ends the header.
	headerEnd = plain.Pattern(`(?m)^(?:## |---\r?$)`)
	// fence is a line that begins or ends a block.
	fence = plain.Pattern("(?m)^ *(`{3,}|~{3,})(.*)$")
)

// readMarkdown finds the schema in the one json block that has a $schema, and holds the version in the header against
// the YAML's.
func (c *Contract) readMarkdown(path string, text []byte) {
	header := text
	if end := headerEnd().FindIndex(text); end != nil {
		header = text[:end[0]]
	}
	lines := func(before int) int { return bytes.Count(text[:before], []byte("\n")) }
	if m := versionOf().FindSubmatchIndex(header); m != nil && c.Version != "" {
		if is := string(header[m[2]:m[3]]); is != c.Version {
			c.out.Warnf(verdict.At{Path: path, Line: lines(m[0]) + 1, Column: 1}, "", "contract-version",
				"the header says version %s, the YAML says %s", quoted(is), quoted(c.Version))
		}
	}
	var found [][]byte
	begin, opened, isJSON, line := 0, "", false, 0 // the block that is open, if opened is not empty
	for _, m := range fence().FindAllSubmatchIndex(text, -1) {
		mark, after := string(text[m[2]:m[3]]), strings.TrimSpace(string(text[m[4]:m[5]]))
		switch {
		case opened == "":
			language, _, _ := strings.Cut(after, " ")
			begin, opened, isJSON = min(m[1]+1, len(text)), mark, strings.EqualFold(language, "json")
		case strings.HasPrefix(mark, opened) && after == "":
			if block := text[begin:m[0]]; isJSON && hasSchema(string(block)) {
				found, line = append(found, block), lines(begin)
			}
			opened = ""
		}
	}
	if len(found) != 1 {
		c.unreadable(strict.Pos{Path: path}, "", "%d json blocks have a $schema; expected exactly one", len(found))
		return
	}
	c.readSchema(path, found[0], line)
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
