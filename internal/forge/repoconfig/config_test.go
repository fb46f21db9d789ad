package repoconfig

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const honest = "version: 1\nprotection:\n  require_pull_request: true\n  approvals: 1\n  required_checks:\n    - " +
	"context: oap-gate\n      app_id: 15368\n"

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"honest", honest, ""},
		{"no version", "protection: {}\n", "version is 0, 1 is the only one that is known"},
		{"other version", "version: 2\nprotection: {}\n", ":1:1: version is 2, 1 is the only one that is known"},
		{"no protection", "version: 1\n", `:1:1: member "protection" is missing`},
		{"protection is text", "version: 1\nprotection: all\n", ":2:13: !!str is found where a mapping is expected"},
		{"unknown member", strings.Replace(honest, "approvals", "reviews", 1),
			`:4:3: member "protection.reviews" is not known`},
		{"other letter case", strings.Replace(honest, "version", "Version", 1), `:1:1: member "Version" is not known`},
		{"unknown member of a check", strings.Replace(honest, "app_id", "app", 1),
			`:7:7: member "protection.required_checks[0].app" is not known`},
		{"duplicate", honest + "version: 1\n", `:8:1: key "version" again; it is on line 1 already`},
		{"anchor", strings.Replace(honest, "approvals: 1", "approvals: &a 1", 1),
			`:4:14: anchor "&a": anchors are not followed, write the value out`},
		{"yes", strings.Replace(honest, "true", "yes", 1), `:3:25: "yes" is found where true or false is expected`},
		{"quoted true", strings.Replace(honest, "true", `"true"`, 1),
			`:3:25: "true" is found where true or false is expected`},
		{"octal", strings.Replace(honest, "approvals: 1", "approvals: 01", 1),
			`:4:14: "01" is found where a whole number is expected`},
		{"many approvals", strings.Replace(honest, "approvals: 1", "approvals: 11", 1),
			":4:3: approvals is 11, 0 to 10 are possible"},
		{"negative approvals", strings.Replace(honest, "approvals: 1", "approvals: -1", 1),
			":4:3: approvals is -1, 0 to 10 are possible"},
		{"huge number", strings.Replace(honest, "15368", "99999999999999999999", 1),
			`:7:15: "99999999999999999999" is found where a whole number is expected`},
		{"app 0", strings.Replace(honest, "15368", "0", 1), ":7:15: app_id is 0; expected 1 or more"},
		{"context is a number", strings.Replace(honest, "oap-gate", "12", 1),
			`:6:16: "12" is found where text is expected`},
		{"no context", strings.Replace(honest, "context: oap-gate", `context: ""`, 1),
			":6:7: a required check has no context; expected the name of its job"},
		{"control character", strings.Replace(honest, "oap-gate", `"a\eb"`, 1),
			`:6:7: the context "a\x1bb" holds control characters`},
		{"twice", honest + "    - context: oap-gate\n", `:8:7: the context "oap-gate" appears twice`},
		{"reviews without pull request", strings.Replace(honest, "true", "false", 1),
			`:2:1: reviews and ways of merging are demanded without "require_pull_request: true": a direct push would need none`},
		{"a queue", honest + "  merge_queue: true\n  queue: {build: 100, merge: 1, wait: 0, timeout: 360}\n", ""},
		{"a queue without merge_queue", honest + "  queue: {build: 5}\n",
			`:8:3: queue is set without "merge_queue: true"`},
		{"nothing to build", honest + "  merge_queue: true\n  queue: {build: 0}\n",
			":9:11: build is 0; expected 1 to 100"},
		{"a negative wait", honest + "  merge_queue: true\n  queue: {wait: -1}\n",
			":9:11: wait is -1; expected 0 to 360"},
		{"a long timeout", honest + "  merge_queue: true\n  queue: {timeout: 361}\n",
			":9:11: timeout is 361; expected 1 to 360"},
		{"a queue that is a number", honest + "  merge_queue: true\n  queue: 5\n",
			":9:10: !!int is found where a mapping is expected"},
		{"a setting that no queue has", honest + "  merge_queue: true\n  queue: {speed: 5}\n",
			`:9:11: member "protection.queue.speed" is not known`},
		{"up to date without checks", "version: 1\nprotection:\n  up_to_date: true\n",
			":3:3: up_to_date is required without required_checks: a branch is up to date for its checks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if !strings.HasSuffix(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("got  %s\nwant …%s", got, c.want)
			}
		})
	}
}

// Only a page of Markdown is prose: a configuration with a fault keeps its name, its place and its error.
func TestProse(t *testing.T) {
	const page = "# Settings\n\nThe registry relies on these.\n\n## Branch protection: main\n\n" +
		"* Force push: disabled\n* Required checks:\n  - `validate / schema`\n"
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"a page", page, true},
		{"line ends of Windows", strings.ReplaceAll(page, "\n", "\r\n"), true},
		{"a list", "* Force push: disabled\n* Deletion: *never*\n", true},
		{"a list that YAML reads", "- Force push\n- Deletion\n", true},
		{"headings that YAML takes for comments", "# Settings\n## Branch\n", true},
		{"the configuration below a comment", "# Settings\n" + honest, false},
		{"with a tab", "# Settings\n" + strings.Replace(honest, "  approvals", "\tapprovals", 1), false},
		{"with a duplicate", "# Settings\n" + honest + "version: 1\n", false},
		{"with text above", "# Settings\nas agreed\n" + honest, false},
		{"of another program", "# Settings\nrepository:\n  name: *x\n", false},
		{"members in braces", "# Settings\n{\"version\": 1, \"protection\": *x}\n", false},
		{"text without a heading", "Nobody pushes to main.\n", false},
		{"empty", "", false},
	} {
		if got := Prose([]byte(c.text)); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

func TestExampleIsRead(t *testing.T) {
	data := must.Read(t, "../../../docs/repo-config.example.yml")
	f := must.Get(Parse(data))(t)
	want := Protection{BlockForcePush: true, BlockDeletion: true, RequirePullRequest: true, Approvals: 1,
		CodeOwnerReview:     true,
		DismissStaleReviews: true, LastPushApproval: true, RequiredChecks: []RequiredCheck{{"oap-gate", 15368}},
		UpToDate: true, BlockRebaseMerging: true}
	if !reflect.DeepEqual(f.Protection, want) {
		t.Errorf("got %+v\nwant %+v", f.Protection, want)
	}
	for _, s := range f.Protection.Switches() {
		if f.Pos("protection."+s.Name).Line == 0 {
			t.Errorf("the example does not show %s", s.Name)
		}
	}
}

func TestSwitchesAreAllMembers(t *testing.T) {
	typ := reflect.TypeFor[Protection]()
	var p Protection
	names := map[string]bool{}
	for _, s := range p.Switches() {
		names[s.Name] = true
	}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if (field.Type.String() == "bool") != names[name] {
			t.Errorf("%s is a switch: %v", name, names[name])
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(honest))
	f.Add([]byte("version: 1\nprotection: {required_checks: [{context: [a]}, x], approvals: ~}\n"))
	f.Add([]byte("[version, 1]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		var e *strictyaml.Error
		if err != nil && !errors.Is(err, ErrProse) && !errors.As(err, &e) {
			t.Fatalf("error is %T", err)
		}
		if err == nil && (file.Version != 1 || file.Protection.Approvals > MaxApprovals) {
			t.Fatalf("accepted %+v", file.Config)
		}
	})
}
