// Package repoconfig defines the format of .github/repo-config.yml, version 1: the protections of a registry's default
// branch from which they are reproducible (RFC 0026 section 7).
package repoconfig

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
)

// Path is the file's path in a registry.
const Path = ".github/repo-config.yml"

// Limits of the file.
const (
	MaxBytes     = 64 << 10
	MaxApprovals = 10 // the most that GitHub can require
	MaxChecks    = 50
	MaxContext   = 100 // characters of a required check's name
)

// Config is one repo-config.yml.
type Config struct {
	Version    int        `json:"version" jsonschema:"enum=1,description=version of this format"`
	Protection Protection `json:"protection" jsonschema:"description=protections of the default branch; a member that is left out requires nothing. Nobody may bypass them: that has no switch."`
}

// Protection is the protection of the default branch. It is the wanted state in a Config, and the present state at the
// forge in the same terms. Each member that is true, and each higher number, protects more.
type Protection struct {
	BlockForcePush      bool            `json:"block_force_push,omitempty" jsonschema:"description=nobody rewrites the history (RFC 0026 section 7)"`
	BlockDeletion       bool            `json:"block_deletion,omitempty" jsonschema:"description=nobody deletes the branch: one that is created again has another history"`
	RequirePullRequest  bool            `json:"require_pull_request,omitempty" jsonschema:"description=no direct push (RFC 0026 section 7)"`
	Approvals           int             `json:"approvals,omitempty" jsonschema:"minimum=0,maximum=10,description=approving reviews that a pull request needs (RFC 0026 section 7: 1)"`
	CodeOwnerReview     bool            `json:"code_owner_review,omitempty" jsonschema:"description=an owner of the changed files by CODEOWNERS must approve"`
	DismissStaleReviews bool            `json:"dismiss_stale_reviews,omitempty" jsonschema:"description=a push after an approval takes it back"`
	LastPushApproval    bool            `json:"last_push_approval,omitempty" jsonschema:"description=someone else than the last pusher must approve"`
	RequiredChecks      []RequiredCheck `json:"required_checks,omitempty" jsonschema:"maxItems=50,description=status checks that must pass; the jobs of the gate"`
	UpToDate            bool            `json:"up_to_date,omitempty" jsonschema:"description=the checks ran on the branch as it is now; a merge queue does as well"`
	MergeQueue          bool            `json:"merge_queue,omitempty" jsonschema:"description=pull requests land by a merge queue (organisations only)"`
	Queue               Queue           `json:"queue,omitempty" jsonschema:"description=throughput of the merge queue; needs merge_queue: true"`
	SignedCommits       bool            `json:"signed_commits,omitempty" jsonschema:"description=each commit carries a signature that the forge has verified"`
	LinearHistory       bool            `json:"linear_history,omitempty" jsonschema:"description=no merge commits"`
	BlockRebaseMerging  bool            `json:"block_rebase_merging,omitempty" jsonschema:"description=a pull request lands as one commit or one merge: rebased the steps between would stand on the branch"`
}

// Queue is the throughput of a merge queue. A member that is nil is left as it is at the forge.
type Queue struct {
	Build   *int `json:"build,omitempty" jsonschema:"minimum=1,maximum=100,description=pull requests that are judged at the same time"`
	Merge   *int `json:"merge,omitempty" jsonschema:"minimum=1,maximum=100,description=pull requests that land together at most"`
	Wait    *int `json:"wait,omitempty" jsonschema:"minimum=0,maximum=360,description=minutes to wait for more pull requests"`
	Timeout *int `json:"timeout,omitempty" jsonschema:"minimum=1,maximum=360,description=minutes until a required check that does not report has failed"`
}

// Setting is one member of a Queue, with its limits and the name that the forge has for it.
type Setting struct {
	Name        string
	Value       **int
	Least, Most int
	Parameter   string
}

// Settings returns the members in the order of the file.
func (q *Queue) Settings() []Setting {
	return []Setting{
		{"build", &q.Build, 1, 100, "max_entries_to_build"},
		{"merge", &q.Merge, 1, 100, "max_entries_to_merge"},
		{"wait", &q.Wait, 0, 360, "min_entries_to_merge_wait_minutes"},
		{"timeout", &q.Timeout, 1, 360, "check_response_timeout_minutes"},
	}
}

// RequiredCheck is one status check that must pass.
type RequiredCheck struct {
	Context string `json:"context" jsonschema:"minLength=1,maxLength=100,description=name of the job"`
	AppID   int64  `json:"app_id,omitempty" jsonschema:"minimum=1,description=only this app's result counts; 15368 is GitHub Actions"`
}

// Switch is one yes-or-no member of a Protection.
type Switch struct {
	Name string
	On   *bool
}

// Switches returns the yes-or-no members in the order of the file.
func (p *Protection) Switches() []Switch {
	return []Switch{
		{"block_force_push", &p.BlockForcePush},
		{"block_deletion", &p.BlockDeletion},
		{"require_pull_request", &p.RequirePullRequest},
		{"code_owner_review", &p.CodeOwnerReview},
		{"dismiss_stale_reviews", &p.DismissStaleReviews},
		{"last_push_approval", &p.LastPushApproval},
		{"up_to_date", &p.UpToDate},
		{"merge_queue", &p.MergeQueue},
		{"signed_commits", &p.SignedCommits},
		{"linear_history", &p.LinearHistory},
		{"block_rebase_merging", &p.BlockRebaseMerging},
	}
}

// File is a Config with the places of its members.
type File struct {
	Config
	places map[string]strict.Pos
}

// Pos returns the position of a member such as "protection.approvals" or "protection.required_checks[0].context", or of
// what it is in if the member is missing. The position in a nil File is the file as a whole.
func (f *File) Pos(member string) strict.Pos {
	for in := member; f != nil && in != ""; in = in[:max(0, strings.LastIndexAny(in, ".["))] {
		if p, ok := f.places[in]; ok {
			return p
		}
	}
	return strict.Pos{Path: Path}
}

// ErrProse is the error of a repo-config.yml that is a text for people.
var ErrProse = errors.New("the file is prose, not the configuration of RFC 0026 section 7")

// ProseFix is the fix of ErrProse.
const ProseFix = "run oap-gate init, which moves the prose to " + ProsePath + " and writes the configuration"

// ProsePath is where init moves a prose repo-config.yml.
const ProsePath = "docs/repo-settings.md"

var (
	markdown = plain.Pattern(`^\s*(?:#{1,6}|[-*+])[ \t]+\S`)
	// yamlKey is a member at the start of a line, as a configuration of any format has it.
	yamlKey = plain.Pattern(`(?m)^[{ \t]*["']?[a-z][a-z0-9_-]*["']?[ \t]*:(?:[ \t\r]|$)`)
)

// Prose reports whether the text of a repo-config.yml is a page of Markdown: its first line is a heading or a list
// item, and it is not a YAML mapping. A line that reads like a member makes it a configuration with an error.
func Prose(data []byte) bool {
	if !markdown().Match(data) || yamlKey().Match(data) {
		return false
	}
	root, err := strictyaml.Parse(Path, data, MaxBytes)
	return err != nil || root.Kind != yaml.MappingNode
}

// Parse reads the text of a repo-config.yml. Its error is a *strictyaml.Error, or ErrProse.
func Parse(data []byte) (*File, error) {
	if Prose(data) {
		return nil, ErrProse
	}
	root, err := strictyaml.Parse(Path, data, MaxBytes)
	if err != nil {
		return nil, err
	}
	f := &File{places: map[string]strict.Pos{}}
	p := &f.Protection
	var protection yaml.Node
	if err := f.object(root, "", map[string]any{"version": &f.Version, "protection": &protection}); err != nil {
		return nil, err
	}
	if f.Version != 1 {
		return nil, fault(f.Pos("version"), "version is %d, 1 is the only one that is known", f.Version)
	}
	if protection.Kind == 0 {
		return nil, fault(strict.Pos{Path: Path, Line: root.Line, Column: root.Column}, "member %q is missing",
			"protection")
	}
	members := map[string]any{"approvals": &p.Approvals, "required_checks": &p.RequiredChecks, "queue": &p.Queue}
	for _, s := range p.Switches() {
		members[s.Name] = s.On
	}
	if err := f.object(&protection, "protection.", members); err != nil {
		return nil, err
	}
	if p.Approvals < 0 || p.Approvals > MaxApprovals {
		return nil, fault(f.Pos("protection.approvals"), "approvals is %d, 0 to %d are possible", p.Approvals,
			MaxApprovals)
	}
	if p.Approvals > 0 || p.CodeOwnerReview || p.DismissStaleReviews || p.LastPushApproval || p.MergeQueue ||
		p.BlockRebaseMerging {
		if !p.RequirePullRequest {
			return nil,
				fault(f.Pos("protection"),
					`reviews and ways of merging are demanded without "require_pull_request: true": a direct push would need none`)
		}
	}
	if place, given := f.places["protection.queue"]; given && !p.MergeQueue {
		return nil, fault(place, "queue is set without \"merge_queue: true\"")
	}
	if p.UpToDate && len(p.RequiredChecks) == 0 && !p.MergeQueue {
		return nil,
			fault(f.Pos("protection.up_to_date"), "up_to_date is required without required_checks: a branch is up to "+
				"date for its checks")
	}
	return f, nil
}

func fault(pos strict.Pos, format string, args ...any) error {
	return &strictyaml.Error{Pos: pos, Message: fmt.Sprintf(format, args...)}
}

func posOf(n *yaml.Node) strict.Pos { return strict.Pos{Path: Path, Line: n.Line, Column: n.Column} }

// object reads the mapping n into the targets of its members.
func (f *File) object(n *yaml.Node, prefix string, members map[string]any) error {
	if n.Kind != yaml.MappingNode {
		return fault(posOf(n), "%s is found where a mapping is expected", n.ShortTag())
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f.places[prefix+key.Value] = posOf(key)
		var err error
		switch target := members[key.Value].(type) {
		case *bool:
			*target, err = boolean(value)
		case *int:
			var v int64
			v, err = integer(value)
			*target = int(v)
		case **int:
			var v int64
			v, err = integer(value)
			*target = new(int(v))
		case *int64:
			*target, err = integer(value)
		case *Queue:
			err = f.queue(value, target)
		case *string:
			*target, err = text(value)
		case *yaml.Node:
			*target = *value
		case *[]RequiredCheck:
			*target, err = f.checks(value)
		default:
			return fault(posOf(key), "member %q is not known", prefix+key.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *File) queue(n *yaml.Node, q *Queue) error {
	members := map[string]any{}
	for _, s := range q.Settings() {
		members[s.Name] = s.Value
	}
	if err := f.object(n, "protection.queue.", members); err != nil {
		return err
	}
	for _, s := range q.Settings() {
		if n := *s.Value; n != nil && (*n < s.Least || *n > s.Most) {
			return fault(f.Pos("protection.queue."+s.Name), "%s is %d; expected %d to %d", s.Name, *n, s.Least, s.Most)
		}
	}
	return nil
}

func (f *File) checks(n *yaml.Node) ([]RequiredCheck, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, fault(posOf(n), "%s is found where a sequence is expected", n.ShortTag())
	}
	if len(n.Content) > MaxChecks {
		return nil, fault(posOf(n), "%d checks are required; expected at most %d", len(n.Content), MaxChecks)
	}
	var all []RequiredCheck
	seen := map[string]bool{}
	for i, item := range n.Content {
		var c RequiredCheck
		if err := f.object(item, fmt.Sprintf("protection.required_checks[%d].", i),
			map[string]any{"context": &c.Context, "app_id": &c.AppID}); err != nil {
			return nil, err
		}
		switch {
		case c.Context == "":
			return nil, fault(posOf(item), "a required check has no context; expected the name of its job")
		case len([]rune(c.Context)) > MaxContext:
			return nil, fault(posOf(item), "the context has %d characters; expected at most %d",
				len([]rune(c.Context)), MaxContext)
		case !printable().MatchString(c.Context):
			return nil, fault(posOf(item), "the context %q holds control characters", c.Context)
		case seen[c.Context]:
			return nil, fault(posOf(item), "the context %q appears twice", c.Context)
		}
		if _, value := strictyaml.Member(item, "app_id"); value != nil && c.AppID < 1 {
			return nil, fault(posOf(value), "app_id is %d; expected 1 or more", c.AppID)
		}
		seen[c.Context] = true
		all = append(all, c)
	}
	return all, nil
}

var (
	printable = plain.Pattern(`^[^\p{C}\p{Zl}\p{Zp}]+$`)
	decimal   = plain.Pattern(`^(?:0|-?[1-9][0-9]{0,14})$`)
)

// boolean takes only true and false: YAML 1.1 readers also take yes, on and y, and do not agree about them.
func boolean(n *yaml.Node) (bool, error) {
	if n.Kind != yaml.ScalarNode || n.Style != 0 || n.Value != "true" && n.Value != "false" {
		return false, fault(posOf(n), "%s is found where true or false is expected", shown(n))
	}
	return n.Value == "true", nil
}

// integer takes only decimal numbers: 010 is eight to some readers and ten to others.
func integer(n *yaml.Node) (int64, error) {
	if n.Kind != yaml.ScalarNode || n.Style != 0 || !decimal().MatchString(n.Value) {
		return 0, fault(posOf(n), "%s is found where a whole number is expected", shown(n))
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		return 0, fault(posOf(n), "%s is found where a whole number is expected", shown(n))
	}
	return v, nil
}

func text(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		return "", fault(posOf(n), "%s is found where text is expected", shown(n))
	}
	return n.Value, nil
}

func shown(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		return n.ShortTag()
	}
	return strconv.Quote(n.Value)
}

// Minimum returns what RFC 0026 section 7 requires, in addition to the required checks, and that pull requests are
// judged on the branch on which they land.
func Minimum() Protection {
	return Protection{BlockForcePush: true, BlockDeletion: true, RequirePullRequest: true, Approvals: 1, UpToDate: true}
}
