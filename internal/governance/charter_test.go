package governance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const (
	head40  = "1111111111111111111111111111111111111111"
	old40   = "2222222222222222222222222222222222222222"
	cleared = "Charter Review Gate cleared"
)

// TestCharterTriggers has what touches user rights next to what does not.
func TestCharterTriggers(t *testing.T) {
	says := func(sentence string) files { return files{"rfcs/RFC-0002-b.md": sentence + "\n"} }
	const text = "rfcs/RFC-0002-b.md"
	section := func(text string) files { return says("# RFC 0002\n\nStatus: Draft\n\n## 1. One\n\n" + text) }
	charter := func(front, text string) string {
		return "# RFC 0016: Charter\n\n- Author: " + front + "\n\n## 1. Rights\n\n" + text + "\n"
	}
	const sixteen = "rfcs/RFC-0016-x.md"
	for _, c := range []struct {
		name       string
		base, head files
		want       string // in the message; empty: not triggered
	}{
		{"nothing", nil, says("A Tool MUST answer."), ""},
		{"path of the charter", nil, files{sixteen: "x"}, `path "rfcs/RFC-0016-x.md" (rfcs/RFC-0016-x.md:1)`},
		{"path in other letters", nil, files{"rfcs/rfc-0016-x.md": "x"}, "path"},
		{"path of cooling off", nil, files{"rfcs/RFC-0017-x.md": "x"}, "RFC-0017"},
		{"path of the human path", nil, files{"rfcs/RFC-0018-x.md": "x"}, "RFC-0018"},
		{"path of another", nil, files{"rfcs/RFC-0019-x.md": "x", "papers/rfcs/RFC-0016-x.md": "x"}, ""},
		{"path of its tests", nil, files{"test-suite/charter/a/b.js": "x"}, "test-suite/charter/a/b.js"},
		{"no key word, before the first section", nil, says("A Tool must keep memory."), "text"},
		{"no key word, in a section", nil, section("A Tool keeps memory."),
			`text "A Tool keeps memory." (` + text + ":7)"},
		{"no key word, in an item", nil, section("- A Tool keeps memory."), "text"},
		{"no key word, in a row", nil, section("| a | memory |\n|---|---|"), "text"},
		{"in code", nil, section("```\nmemory\n```"), "text"},
		{"in a comment", nil, section("<!-- memory -->"), "text"},
		{"in a list of references", nil, section("### 1.1 References\n\n- Memory."), "text"},
		{"identity", nil, says("A Tool MUST keep identity."), `text "A Tool MUST keep identity." (` + text + ":1)"},
		{"identities", nil, says("Identities MUST stay."), "Identities"},
		{"memory", nil, says("A Tool SHOULD keep MEMORY."), "MEMORY"},
		{"memories", nil, says("A Tool MAY keep memories."), "memories"},
		{"reputation", nil, says("Reputations are REQUIRED."), "Reputations"},
		{"projection", nil, says("A projection is OPTIONAL."), "projection"},
		{"persona", nil, says("Personas SHALL stay."), "Personas"},
		{"personal is no persona", nil, says("A personal Tool SHALL stay."), ""},
		{"cooling off", nil, says("Cooling off is RECOMMENDED."), "Cooling off"},
		{"cool-off", nil, says("A cool-off is NOT RECOMMENDED."), "cool-off"},
		{"escalation", nil, says("A Tool MUST escalate."), "escalate"},
		{"deletion", nil, says("A Tool MUST NOT undelete; it MUST offer deletion."), "deletion"},
		{"within a word", nil, says("A Tool MUST NOT undelete."), ""},
		{"replaceability", nil, says("Replaceability MUST hold."), "Replaceability"},
		{"pluralism", nil, says("Pluralism MUST hold."), "Pluralism"},
		{"plurality", nil, says("A plurality MUST hold."), "plurality"},
		{"explanation", nil, says("It MUST be explained."), "explained"},
		{"optimisation", nil, says("It MUST NOT optimise."), "optimise"},
		{"personalization", nil, says("It MAY personalize."), "personalize"},
		{"human contact", nil, says("A human contact MUST be named."), "human contact"},
		{"a human is no human path", nil, says("A human reader MUST be named."), ""},
		{"erasure", nil, says("Erasure MUST be offered."), "Erasure"},
		{"a charter's number", nil, says("It MUST follow RFC-0017."), "RFC-0017"},
		{"another number", nil, says("It MUST follow RFC 0019."), ""},
		{"a member's name", nil, says("The member memory_exchange MUST hold."), "memory_exchange"},
		{"a member's name in capitals and small letters", nil, says("The member userMemory MUST hold."), "userMemory"},
		{"a member's name after a digit", nil, says("The member oauth2Memory MUST hold."), "oauth2Memory"},
		{"emphasis within", nil, says("It MUST keep me*mor*y."), "text"},
		{"full-width letters", nil, says("It keeps \uff4demory."), "text"},
		{"an invisible character, a tag, a comment and an entity", nil,
			says("me\u00admo<b></b>r<!-- -->&#121; stays"), `"memory stays"`},
		{"a word of another script", nil, says("It MUST say \u043f\u0440\u0438\u0432\u0435\u0442."), ""},
		{"a value in JSON", nil, files{"spec/v1.0/core.json": `{"x": ["A Tool MUST keep memory."]}`},
			`property "A Tool MUST keep memory." (spec/v1.0/core.json:1)`},
		{"a value behind a second member of its name", nil, files{"spec/v1.0/core.json": `{"x": "memory", "x": "y"}`},
			"text"},
		{"no JSON", nil, files{"spec/v1.0/core.json": `{"x": "memory"`}, "text"},
		{"no text, no word", nil, files{"spec/v1.0/x.png": "memory\x00"}, ""},
		{"no text, by its name", nil, files{"spec/v1.0/memory.png": "\x00"}, `text "memory.png"`},
		{"an item below a heading of the third level", nil, says("# RFC\n\n### One\n\n- A Tool keeps memory."), "text"},
		{"a link", nil, says("It MUST keep [memory](https://example.org)."), "text"},
		{"a sentence beside", nil, says("A Tool MUST answer. It keeps memory."), "text"},
		{"a governed item", nil, says("A Tool MUST keep:\n\n- a list\n- the memory"),
			`text "the memory" (` + text + ":4)"},
		{"a quote over lines", nil, says("> A Tool MUST keep\n> the memory."), "text"},
		{"what is gone", says("A Tool MUST keep memory."), says("A Tool MUST answer."), "text"},
		{"what stays", says("Memory MUST stay.\n\nIt MUST answer."), says("Memory MUST stay.\n\nIt MUST ask."), ""},
		{"what moves into a comment", says("Memory MUST stay."), says("<!-- Memory MUST stay. -->"), "text"},
		{"heading", nil, section("### Memory\n\nIt MUST answer."), `text "Memory" (` + text + ":9)"},
		{"heading above the heading", nil, says("# Memory\n\n## More\n\nIt MUST answer."), "text"},
		{"what stays below another title", says("# A\n\nMemory."), says("# B\n\nMemory."), ""},
		{"what moves below another heading", says("# A\n\n## A\n\n## B\n\nMemory."),
			says("# A\n\n## A\n\nMemory.\n\n## B"), "text"},
		{"name", nil, files{"rfcs/RFC-0009-reputation.md": "It MUST answer."}, `text "RFC-0009-reputation.md"`},
		{"name that goes", files{"rfcs/RFC-0002-reputation.md": "## A\n\nIt MAY."},
			files{"rfcs/RFC-0002-reputation.md": gone, "rfcs/RFC-0002-fame.md": "## A\n\nIt MAY. One."}, "text"},
		{"name, the same blocks", files{"rfcs/RFC-0009-reputation.md": "One."},
			files{"rfcs/RFC-0009-reputation.md": "One.\n\n"}, ""},
		{"names the charter by number", nil, says("Follow RFC 0016."), "text"},
		{"names the charter in entities", nil, says("Amends: RFC 001&#54;"), "text"},
		{"names another, in entities", nil, says("Amends: RFC 001&#53;"), ""},
		{"names an RFC of a right", files{"rfcs/RFC-0006-personas.md": "x"}, says("Supersedes: RFC-6"), "text"},
		{"names another", files{"rfcs/RFC-0006-personas.md": "x"}, says("Supersedes: RFC 0007"), ""},
		{"names it no longer", says("Affects: RFC 0016"), says("Affects: none"), "text"},
		{"a field", nil, files{schemaA: `{"$id": "https://x.example/schemas/v1.0/a.schema.json", "type": "object",
			"properties": {"userMemory": {}}}`}, `property "userMemory" (` + schemaA + ":2)"},
		{"a field of an added schema", nil,
			files{"schemas/v1.0/n.json": `{"items": {"properties": {"persona_id": {}}}}`},
			"property"},
		{"a field that goes", files{schemaA: `{"properties": {"memory": {}}}`}, files{schemaA: `{"properties": {}}`},
			"property"},
		{"a field that stays", files{schemaA: `{"properties": {"memory": {}}}`},
			files{schemaA: `{"properties": {"memory": {"title": "M"}}}`}, ""},
		{"another field", nil, files{schemaA: `{"properties": {"memo": {}}}`}, ""},
		{"a description in a schema", nil, files{"schemas/v1.0/n.json": `{"description": "Memory stays."}`}, "property"},
		{"an example", nil, files{"schemas/v1.0/examples/n.json": `{"a": ["Memory"]}`}, "property"},
		{"the $id of a schema", nil,
			files{"schemas/v1.0/n.json": `{"$id": "https://e.org/memory", "$ref": "memory", "$schema": "memory"}`}, ""},
		{"a renumbered RFC", files{"rfcs/RFC-0002-b.md": "## A\n\nMemory MUST stay."},
			files{"rfcs/RFC-0002-b.md": gone, "rfcs/RFC-0003-b.md": "## A\n\nMemory MUST stay."}, ""},
		{"a renamed RFC of equal requirements", files{"rfcs/RFC-0002-b.md": "## A\n\nMemory MUST stay."},
			files{"rfcs/RFC-0002-b.md": gone, "rfcs/RFC-0003-c.md": "## A\n\nMemory MUST stay."}, ""},
		{"a renumbered RFC that changes", files{"rfcs/RFC-0002-b.md": "Memory MUST stay."},
			files{"rfcs/RFC-0002-b.md": gone, "rfcs/RFC-0003-b.md": "Memory MUST go."}, "text"},
		{"an RFC that moves to another directory", files{"rfcs/RFC-0002-b.md": "Memory MUST stay."},
			files{"rfcs/RFC-0002-b.md": gone, "papers/RFC-0002-b.md": "Memory MUST stay."}, "text"},
		{"an author line of the charter", files{sixteen: charter("A", "It MUST.")},
			files{sixteen: charter("B", "It MUST.")}, "path"},
		{"a section of the charter", files{sixteen: charter("A", "One.")},
			files{sixteen: charter("A", "Two.")}, "path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base := files{"governance/MAINTAINERS.md": gone}
			maps.Copy(base, c.base)
			got, r := found(t, propose(t, base, c.head), "charter-review")
			var want []string
			if c.want != "" {
				want = []string{"error roster-empty governance/MAINTAINERS.md"}
			}
			if !slices.Equal(got, want) || c.want != "" && !strings.Contains(r.Findings[0].Message, c.want) {
				t.Errorf("got %q %+v, want %q", got, r.Findings, c.want)
			}
		})
	}
}

// TestCharterLabels checks which labels ask for the review, and when issues are asked.
func TestCharterLabels(t *testing.T) {
	advocates := files{rfc: editsRFC}
	for _, c := range []struct {
		name   string
		head   files
		labels []string
		body   string
		issues func([]int) ([]string, error)
		want   []string
	}{
		{"none", advocates, []string{"charter"}, "fixes #1", nil, nil},
		{"on the pull request", advocates, []string{"Charter-Affecting"}, "", nil,
			[]string{"inconclusive reviews-unknown " + rfc}},
		{"on an issue", advocates, nil, "fixes #1, closes #2", func(n []int) ([]string, error) {
			if !slices.Equal(n, []int{1, 2}) {
				return nil, fmt.Errorf("asked for %v", n)
			}
			return []string{"bug", "charter-affecting"}, nil
		}, []string{"inconclusive reviews-unknown " + rfc}},
		{"on no issue", advocates, nil, "fixes #1", func([]int) ([]string, error) { return []string{"bug"}, nil }, nil},
		{"of issues that are not known", advocates, nil, "fixes #1", func([]int) ([]string, error) {
			return nil,
				errors.New("no answer")
		},
			[]string{"inconclusive labels-unknown " + rfc}},
		{"not asked where a sentence tells", files{rfc: "Memory MUST stay.\n"}, nil, "fixes #1",
			func([]int) ([]string, error) { return nil, errors.New("asked") },
			[]string{"inconclusive reviews-unknown " + rfc}},
		{"without a body", advocates, nil, "-", func([]int) ([]string, error) { return nil, errors.New("asked") }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := propose(t, nil, c.head)
			p.Labels, p.Forge = c.labels, &Forge{Labels: c.issues}
			if c.body != "-" {
				p.Words = worded(t, c.body)
			}
			if got, r := found(t, p, "charter-review"); !slices.Equal(got, c.want) {
				t.Errorf("got %q %+v, want %q", got, r, c.want)
			}
		})
	}
}

// review is one that counts, but for what edit changes.
func review(login string, edit ...string) Review {
	fields := map[string]string{"state": "APPROVED", "body": cleared, "commit_id": head40,
		"submitted_at":       "2026-06-01T10:00:00Z",
		"author_association": "MEMBER", "type": "User"}
	for i := 0; i < len(edit); i += 2 {
		fields[edit[i]] = edit[i+1]
	}
	text := fmt.Sprintf(`[{"user": {"login": %q, "type": %q}, "state": %q, "body": %q, "commit_id": %q,
		"author_association": %q`,
		login, fields["type"], fields["state"], fields["body"], fields["commit_id"], fields["author_association"])
	if at := fields["submitted_at"]; at != "" {
		text += fmt.Sprintf(`, "submitted_at": %q`, at)
	}
	all, err := ParseReviews("reviews.json", []byte(text+"}]"))
	if err != nil {
		panic(err)
	}
	return all[0]
}

// TestQuorum checks what each review counts for.
func TestQuorum(t *testing.T) {
	good := func(more ...Review) []Review {
		return append([]Review{review("ann"), review("bob"), review("cyd"), review("dee")}, more...)
	}
	three := func(more ...Review) []Review {
		return append([]Review{review("ann"), review("bob"), review("cyd")}, more...)
	}
	const roster = "## Current Maintainers\n\n| handle | org | User Advocate |\n|---|---|---|\n| @ann | Alpha | yes " +
		"|\n| @bob | Beta | |\n| @cyd | Gamma | no |\n| @Dee | Delta | |\n| @eve | ＡＬＰＨＡ | |\n| @fay | | |\n| @gus | " +
		"Straße | x |\n| @hal | STRASSE | |\n"
	for _, c := range []struct {
		name    string
		reviews []Review
		authors []string
		want    []string
	}{
		{"four", good(), nil, nil},
		{"none", nil, nil, []string{"error quorum", "error user-advocate-missing"}},
		{"three", three(), nil, []string{"error quorum"}},
		{"letter case", []Review{review("ANN"), review("Bob"), review("cyd"), review("dEE")}, nil, nil},
		{"a stranger", good(review("mallory", "body", "x")), nil, nil},
		{"a stranger's objection", good(review("mallory", "state", "CHANGES_REQUESTED")), nil, nil},
		{"an objection", good(review("eve", "state", "CHANGES_REQUESTED")), nil, []string{"error objection"}},
		{"an objection, then an approval",
			good(review("eve", "state", "CHANGES_REQUESTED", "submitted_at", "2026-06-01T09:00:00Z"),
				review("eve")), nil, nil},
		{"listed out of order",
			good(review("dee", "state", "CHANGES_REQUESTED", "submitted_at", "2026-06-01T09:00:00Z")), nil, nil},
		{"an objection by a login of another letter case",
			good(review("DEE", "state", "CHANGES_REQUESTED", "submitted_at",
				"2026-06-01T11:00:00Z")), nil, []string{"error objection", "error quorum"}},
		{"an objection dismissed", good(review("eve", "state", "CHANGES_REQUESTED"),
			review("eve", "state", "DISMISSED", "submitted_at",
				"2026-06-01T11:00:00Z")), nil, nil},
		{"an approval dismissed", good(review("dee", "state", "DISMISSED", "submitted_at", "2026-06-01T11:00:00Z")),
			nil,
			[]string{"error quorum"}},
		{"a comment later", good(review("dee", "state", "COMMENTED", "submitted_at", "2026-06-01T11:00:00Z")), nil,
			nil},
		{"a pending one later", good(review("dee", "state", "PENDING", "submitted_at", "")), nil, nil},
		{"a time of another zone",
			good(review("dee", "state", "DISMISSED", "submitted_at", "2026-06-01T11:30:00+02:00")), nil, nil},
		{"without a role", three(review("dee", "author_association", "CONTRIBUTOR")), nil,
			[]string{"error quorum", "warning login-without-role"}},
		{"an owner", three(review("dee", "author_association", "OWNER")), nil, nil},
		{"a collaborator", three(review("dee", "author_association", "COLLABORATOR")), nil, nil},
		{"the opener", append(three(), review("mia")), nil, []string{"error quorum"}},
		{"a committer", good(), []string{"DEE"}, []string{"error quorum", "warning own-approval"}},
		{"a bot", three(review("dee", "type", "Bot")), nil, []string{"error quorum", "notice bot-approval"}},
		{"stale", three(review("dee", "commit_id", old40)), nil, []string{"error quorum", "warning stale-approval"}},
		{"no phrase", three(review("dee", "body", "LGTM")), nil, []string{"error quorum", "warning phrase-missing"}},
		{"the phrase in another letter case", three(review("dee", "body", "charter review gate cleared")), nil,
			nil},
		{"the phrase in a quote", three(review("dee", "body", "> Charter Review Gate cleared\n\nno")), nil,
			[]string{"error quorum", "warning phrase-missing"}},
		{"the phrase in code", three(review("dee", "body", "`Charter Review Gate cleared`")), nil,
			[]string{"error quorum", "warning phrase-missing"}},
		{"the phrase in a comment", three(review("dee", "body", "<!-- Charter Review Gate cleared -->")), nil,
			[]string{"error quorum", "warning phrase-missing"}},
		{"the phrase among others",
			three(review("dee", "body", "Fine.\r\n\r\n**Charter Review Gate cleared.** Thanks.")), nil, nil},
		{"one organisation twice, in other letters", append(three(), review("eve")), nil, []string{"error quorum"}},
		{"one organisation twice, by full folding", append(three(), review("gus"), review("hal")), nil, nil},
		{"no organisation", append(three(), review("fay")), nil, []string{"error quorum"}},
		{"five, one without an organisation", good(review("fay")), nil, nil},
		{"no advocate", []Review{review("bob"), review("cyd"), review("dee"), review("eve")}, nil,
			[]string{"error user-advocate-missing"}},
		{"another advocate", []Review{review("bob"), review("cyd"), review("dee"), review("gus")}, nil, nil},
		{"an account that is gone", good(review("")), nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := propose(t, files{"governance/MAINTAINERS.md": roster}, files{"rfcs/RFC-0016-x.md": "x"})
			p.Head, p.Opener = head40, "mia"
			p.Forge = &Forge{Reviews: func() ([]Review, error) { return c.reviews, nil },
				Authors: func() ([]string, error) { return c.authors, nil }}
			var want []string
			for _, w := range c.want {
				want = append(want, w+" rfcs/RFC-0016-x.md")
			}
			if got, r := found(t, p, "charter-review"); !slices.Equal(got, want) {
				t.Errorf("got %q %+v, want %q", got, r, want)
			}
		})
	}
}

// TestOpenerApproves checks that the opener's approval does not count, whatever its letters.
func TestOpenerApproves(t *testing.T) {
	p := propose(t, nil, files{"rfcs/RFC-0016-x.md": "x"})
	p.Head, p.Opener = head40, "Ann"
	p.Forge = &Forge{Reviews: func() ([]Review, error) {
		return []Review{review("ann"), review("bob"), review("cyd"), review("dee")}, nil
	}}
	got, _ := found(t, p, "charter-review")
	const at = " rfcs/RFC-0016-x.md"
	if want := []string{"error quorum" + at, "error user-advocate-missing" + at, "notice authors-from-git" + at,
		"warning own-approval" + at}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRosterOfTheBase checks that a proposal cannot name its own reviewers.
func TestRosterOfTheBase(t *testing.T) {
	p := propose(t,
		files{"governance/MAINTAINERS.md": "## Current Maintainers\n\n| h | o |\n|---|---|\n| @ann | A |\n"},
		files{"rfcs/RFC-0016-x.md": "x", "governance/MAINTAINERS.md": specified["governance/MAINTAINERS.md"]})
	if got, _ := found(t, p, "charter-review"); !slices.Equal(got,
		[]string{"error no-user-advocate governance/MAINTAINERS.md",
			"warning roster-changed governance/MAINTAINERS.md"}) {
		t.Errorf("got %q", got)
	}
}

// TestForgeFails checks that reviews and authors that are not known are not a pass.
func TestForgeFails(t *testing.T) {
	fails := func() ([]string, error) { return nil, errors.New("no answer") }
	reviews := func() ([]Review, error) {
		return []Review{review("ann"), review("bob"), review("cyd"), review("dee")}, nil
	}
	for _, c := range []struct {
		forge *Forge
		want  string
	}{
		{nil, "inconclusive reviews-unknown"},
		{&Forge{}, "inconclusive reviews-unknown"},
		{&Forge{Reviews: func() ([]Review, error) { return nil, errors.New("no answer") }},
			"inconclusive reviews-unknown"},
		{&Forge{Reviews: reviews, Authors: fails}, "inconclusive authors-unknown"},
		{&Forge{Reviews: reviews}, "notice authors-from-git"},
	} {
		p := propose(t, nil, files{"rfcs/RFC-0016-x.md": "x"})
		p.Head, p.Forge = head40, c.forge
		if got, _ := found(t, p, "charter-review"); !slices.Equal(got, []string{c.want + " rfcs/RFC-0016-x.md"}) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestAuthorsOfRange checks that the e-mail address by which a forge names an account takes its approval out.
func TestAuthorsOfRange(t *testing.T) {
	p := propose(t, nil, files{"rfcs/RFC-0016-x.md": "x"})
	p.Head = head40
	p.Forge = &Forge{Reviews: func() ([]Review, error) {
		return []Review{review("ann"), review("bob"), review("cyd"), review("dee")}, nil
	}}
	for address, own := range map[string]bool{
		"123+DEE@users.noreply.github.com": true, "dee@users.noreply.ghe.example": true, "dee@example.org": false,
		"noreply@github.com": false, "dee+1@users.noreply.github.com": false, "x dee@users.noreply.github.com": false,
	} {
		p.people = func() ([]string, error) { return []string{"ann@example.org", address}, nil }
		got, _ := found(t, p, "charter-review")
		if slices.Contains(got, "error quorum rfcs/RFC-0016-x.md") != own {
			t.Errorf("%s: got %q", address, got)
		}
	}
}

// TestRosterChanged has changes of the roster next to changes of its page.
func TestRosterChanged(t *testing.T) {
	const page = "governance/MAINTAINERS.md"
	was := specified[page]
	for _, c := range []struct {
		name, is, says string
	}{
		{"a word of the page", "Words.\n\n" + was, ""},
		{"a row without a handle", was + "| the team | E | |\n", ""},
		{"another table", was + "\n## Emeritus\n\n| h |\n|---|\n| @eve |\n", ""},
		{"a row more", was + "| @eve | E | |\n", `new rows "@eve | E | "; old rows none`},
		{"a row less", strings.Replace(was, "| @dee | D | |\n", "", 1), `new rows none; old rows "@dee | D | "`},
		{"an organisation", strings.Replace(was, "| D |", "| E |", 1),
			`new rows "@dee | E | "; old rows "@dee | D | "`},
		{"an advocate", strings.Replace(was, "User Advocate", "Friend", 1),
			`new rows "@ann | A | yes"; old rows "@ann | A | yes (User Advocate)"`},
		{"no page", gone, `new rows none; old rows "@ann`},
	} {
		got, r := found(t, propose(t, nil, files{page: c.is}), "charter-review")
		warned := slices.Equal(got, []string{"warning roster-changed " + page})
		if c.says == "" && len(got) > 0 ||
			c.says != "" && !(warned && strings.Contains(r.Findings[0].Message, c.says)) {
			t.Errorf("%s: got %q %+v", c.name, got, r.Findings)
		}
	}
}

// TestRosterFix follows the fixes of roster-empty and no-user-advocate step by step, until the gate passes.
func TestRosterFix(t *testing.T) {
	for _, c := range []struct{ name, rows, code string }{
		{"nobody by handle", "| the team | A | 2026 |\n", "roster-empty"},
		{"too few", "| @ann | A | 2026 |\n", "no-user-advocate"},
		{"nobody marked", "| @ann | A | 2026 |\n| @bob | B | 2026 |\n| @cyd | C | 2026 |\n| @dee | D | 2026 |\n",
			"no-user-advocate"},
	} {
		t.Run(c.name, func(t *testing.T) { followRoster(t, c.rows, c.code) })
	}
}

func followRoster(t *testing.T, rows, code string) {
	const page = "governance/MAINTAINERS.md"
	repo := must.Get(fixture.NewBareRepo(t.TempDir()))(t)
	at := time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)
	commit := func(subject string, all files) {
		t.Helper()
		must.OK(t, write(repo, all))
		repo.Commit(subject, at)
		must.OK(t, repo.Sync())
	}
	base := maps.Clone(specified)
	base[page] = "# M\n\n## Current Maintainers\n\n| handle | organisation | term |\n|---|---|---|\n" + rows
	commit("base", base)
	repo.Branch("topic")
	commit("change", files{rfc: "# RFC 0001\n\nMemory MUST stay.\n"})
	judge := func(branch string, reviews []Review) ([]string, verdict.Result) {
		t.Helper()
		p := open(t, repo.Dir, "main", branch)
		p.Head, p.Opener = head40, "mia"
		p.Forge = &Forge{Reviews: func() ([]Review, error) { return reviews, nil },
			Authors: func() ([]string, error) { return nil, nil }}
		return found(t, p, "charter-review")
	}
	got, r := judge("topic", nil)
	if got[0] != "error "+code+" "+page || r.Findings[0].Pos.Line != 5 ||
		r.Findings[0].Fix != rosterFix {
		t.Fatalf("got %q %+v", got, r.Findings)
	}

	// 1. Each Maintainer gets a row, in a pull request of its own. 2. It is merged.
	repo.Checkout("main")
	repo.Branch("roster")
	commit("roster", files{page: "# M\n\n## Current Maintainers\n\n" +
		"| handle | organisation | term | User Advocate |\n|---|---|---|---|\n" +
		"| @ann | A | 2026 | yes |\n| @bob | B | 2026 | |\n| @cyd | C | 2026 | |\n| @dee | D | 2026 | |\n"})
	if got, r := judge("roster", nil); r.Verdict != verdict.Warned {
		t.Errorf("the roster's own pull request: %q %+v", got, r)
	}
	repo.Checkout("main")
	commit("roster", files{page: "# M\n\n## Current Maintainers\n\n" +
		"| handle | organisation | term | User Advocate |\n|---|---|---|---|\n" +
		"| @ann | A | 2026 | yes |\n| @bob | B | 2026 | |\n| @cyd | C | 2026 | |\n| @dee | D | 2026 | |\n"})

	// 3. The branch is updated.
	repo.Branch("updated")
	commit("change", files{rfc: "# RFC 0001\n\nMemory MUST stay.\n"})
	if got, r := judge("updated", nil); len(got) != 2 || !strings.Contains(r.Findings[0].Message,
		"0 of 4 approvals, 0 of 4 organisations, 0 of 1 User Advocate; missing are @ann, @bob, @cyd, @dee") {
		t.Errorf("got %q %+v", got, r.Findings)
	}

	// 4. Four approve with the phrase.
	three := []Review{review("bob"), review("cyd"), review("dee")}
	if got, r := judge("updated", three); len(got) != 2 || !strings.Contains(r.Findings[0].Message,
		"3 of 4 approvals, 3 of 4 organisations, 0 of 1 User Advocate; missing are @ann") {
		t.Errorf("got %q %+v", got, r.Findings)
	}
	if got, r := judge("updated", append(three, review("ann"))); r.Verdict != verdict.Passed {
		t.Errorf("got %q %+v", got, r)
	}
}

// TestSmallRoster checks that the quorum's fix begins with the roster if that cannot reach the quorum.
func TestSmallRoster(t *testing.T) {
	p := propose(t, files{"governance/MAINTAINERS.md": "## Current Maintainers\n\n| h | o | User Advocate |\n" +
		"|---|---|---|\n| @ann | A | x |\n| @bob | n/a | |\n| @cyd | - | |\n| @dee | None | |\n"},
		files{"rfcs/RFC-0016-x.md": "x"})
	p.Head = head40
	p.Forge = &Forge{Reviews: func() ([]Review, error) {
		return []Review{review("ann"), review("bob"), review("cyd"), review("dee")}, nil
	}, Authors: func() ([]string, error) { return nil, nil }}
	got, r := found(t, p, "charter-review")
	if !slices.Equal(got, []string{"error quorum rfcs/RFC-0016-x.md"}) ||
		!strings.Contains(r.Findings[0].Message, "4 of 4 approvals, 1 of 4 organisations, 1 of 1 User Advocate") ||
		r.Findings[0].Fix != rosterFix {
		t.Errorf("got %q %+v", got, r.Findings)
	}
}

// TestRoster checks which table names the maintainers, and which of its rows count.
func TestRoster(t *testing.T) {
	const title = "# M\n\n## Current Maintainers\n\nSome text.\n\n"
	table := func(rows ...string) string {
		return "| GitHub handle | Organization | Term | Is a User  Advocate? |\n|---|:-:|---|---|\n" +
			strings.Join(rows, "\n") + "\n"
	}
	for _, c := range []struct {
		name, text string
		want       []maintainer
	}{
		{"plain", title + table("| @ann | Alpha | x | yes |", "| @bob | Beta | x | |"),
			[]maintainer{{"ann", "alpha", true}, {"bob", "beta", false}}},
		{"marks", title + table("| @a | A | | X |", "| @b | A | | ✓ |", "| @c | A | | ✔ |", "| @d | A | | ✅ |",
			"| @e | A | | TRUE |",
			"| @f | A | | ✔️ |", "| @g | A | | no |", "| @h | A | | maybe yes |", "| @i | A | | - |"),
			[]maintainer{{"a", "a", true}, {"b", "a", true}, {"c", "a", true}, {"d", "a", true}, {"e", "a", true},
				{"f", "a", true},
				{"g", "a", false}, {"h", "a", false}, {"i", "a", false}}},
		{"links", title + table("| [@ann](https://github.com/ann) | [Alpha](https://a.example) | | **yes** |"),
			[]maintainer{{"ann", "alpha", true}}},
		{"no handle", title + table("| ann | A | | yes |", "| _(none yet)_ | A | | yes |", "| @a/b | A | | yes |",
			"| @ | A | | yes |",
			"| the @ann | A | | yes |", "| | A | | yes |"), nil},
		{"without outer pipes", title + "handle | org | User Advocate\n---|---|---\n@ann | A | yes\n",
			[]maintainer{{"ann", "a", true}}},
		{"an escaped pipe", title + table(`| @ann | A \| B | | yes |`), []maintainer{{"ann", "a | b", true}}},
		{"CRLF", strings.ReplaceAll(title+table("| @ann | A | | yes |"), "\n", "\r\n"),
			[]maintainer{{"ann", "a", true}}},
		{"short rows", title + table("| @ann |", "| @bob | B"), []maintainer{{"ann", "", false}, {"bob", "b", false}}},
		{"no column", title + "| h | o |\n|---|---|\n| @ann | A |\n", []maintainer{{"ann", "a", false}}},
		{"the first of two rows", title + table("| @ann | A | | yes |", "| @Ann | B | | |"),
			[]maintainer{{"ann", "a", true}}},
		{"Emeritus", "## Emeritus Maintainers\n\n" + table("| @ann | A | | yes |"), nil},
		{"behind another heading", title + "### Emeritus\n\n" + table("| @ann | A | | yes |"), nil},
		{"another level", "# Current Maintainers\n\n" + table("| @ann | A | | yes |"), nil},
		{"the first table alone", title + table("| @ann | A | | yes |") + "\n\n" + table("| @bob | B | | yes |"),
			[]maintainer{{"ann", "a", true}}},
		{"up to a blank line", title + table("| @ann | A | | yes |", "", "| @bob | B | | yes |"),
			[]maintainer{{"ann", "a", true}}},
		{"in a comment", title + table("| @ann | A | | yes |", "<!-- | @bob | B | | yes | -->"),
			[]maintainer{{"ann", "a", true}}},
		{"commented out", title + "<!--\n" + table("| @ann | A | | yes |") + "-->\n", nil},
		{"in a fence", title + "```\n" + table("| @ann | A | | yes |") + "```\n", nil},
		{"bold", title + table("| **@ann** | __Alpha__ | | yes |"), []maintainer{{"ann", "alpha", true}}},
		{"a handle in code", title + table("| `@ann` | Alpha | | yes |"), []maintainer{{"ann", "alpha", true}}},
		{"a mark of the forge", title + table("| @ann | Alpha | | :heavy_check_mark: |",
			"| @bob | B | | user advocate |"), []maintainer{{"ann", "alpha", true}, {"bob", "b", true}}},
		{"a handle in a tag", title + table("| <s>@ann</s> | Alpha | | yes |"), nil},
		{"a struck handle", title + table("| ~~@ann~~ | Alpha | | yes |"), nil},
		{"an organisation in code", title + table("| @ann | `Alpha` | | `yes` |"),
			[]maintainer{{"ann", "alpha", true}}},
		{"an organisation in parts", title + table("| @ann | Al<b></b>pha<!-- 2 --> &amp; co | | yes |"),
			[]maintainer{{"ann", "alpha & co", true}}},
		{"placeholders", title + table("| @a | - | |", "| @b | &mdash; | |", "| @c | *n/a* | |", "| @d | TBD | |",
			"| @e | Unaffiliated | |", "| @f | ? | |", "| @g | \u2013 | |", "| @h | Nonesuch | |"),
			[]maintainer{{"a", "", false}, {"b", "", false}, {"c", "", false}, {"d", "", false}, {"e", "", false},
				{"f", "", false}, {"g", "", false}, {"h", "nonesuch", false}}},
		{"in a quote", title + "> | h | o | User Advocate |\n> |---|---|---|\n> | @ann | A | yes |\n", nil},
		{"no table", title, nil},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := readRoster([]byte(c.text))
			if !slices.Equal(r.members, c.want) || err != nil {
				t.Errorf("got %+v, want %+v; %v", r.members, c.want, err)
			}
		})
	}
}

// TestRosterRow has the rows that cannot be read next to those that can.
func TestRosterRow(t *testing.T) {
	for row, want := range map[string]int{
		"| @ann | A | | yes |": 0, "| @ann | A | | |": 0, "| @ann | A | | n/a |": 0, "| | A | | |": 0,
		"| `@ann` | A | | |":  0,
		"| Ann | A | | yes |": 1, "| @ann, @bob | A | | |": 1, "| @ann | A | | perhaps |": 1, "| ~~@ann~~ | A | | |": 1,
	} {
		text := "## Current Maintainers\n\n| h | o | t | User Advocate |\n|---|---|---|---|\n" + row + "\n"
		r, err := readRoster([]byte(text))
		var out verdict.Outcome
		r.count(&out)
		if len(out.Findings) != want || err != nil || want > 0 && out.Findings[0].Pos.Line != 5 {
			t.Errorf("%s: %+v, %v", row, out.Findings, err)
		}
	}
}

// TestParseReviews checks that a list that is none is refused.
func TestParseReviews(t *testing.T) {
	for _, text := range []string{"", "{}", `{"message": "Not Found"}`, `[1]`, `[{"state": 1}]`,
		`[{"state": "a", "state": "b"}]`,
		`[{"submitted_at": "yesterday"}]`, "[] []"} {
		if got, err := ParseReviews("reviews.json", []byte(text)); err == nil {
			t.Errorf("%s: read as %+v", text, got)
		}
	}
	got, err := ParseReviews("reviews.json",
		[]byte(`[{"user": null, "state": "APPROVED", "body": null, "submitted_at": null, "more": {}}]`))
	if err != nil || len(got) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestReviewOrder checks that the order of the list changes nothing.
func TestReviewOrder(t *testing.T) {
	all := []Review{review("ann"), review("bob"), review("cyd"), review("dee"), review("ann", "state", "DISMISSED"),
		review("bob", "body", "no"), review("cyd", "commit_id", old40),
		review("dee", "submitted_at", "2026-06-01T09:00:00Z", "state", "CHANGES_REQUESTED")}
	var want string
	for i := range all {
		all[i].ID = int64(i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		p := propose(t, nil, files{"rfcs/RFC-0016-x.md": "x"})
		p.Head = head40
		p.Forge = &Forge{Reviews: func() ([]Review, error) { return all, nil },
			Authors: func() ([]string, error) { return nil, nil }}
		_, r := found(t, p, "charter-review")
		got := fmt.Sprintf("%s %s", r.Verdict, r.Reason)
		for _, f := range r.Findings {
			got += "\n" + f.Message
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("got\n%s\nand\n%s", got, want)
		}
	}
}

// TestLatest checks that of two reviews of one time the later listed stands.
func TestLatest(t *testing.T) {
	all := latest([]Review{review("ann"), review("ANN", "state", "dismissed")})
	if len(all) != 1 || all[0].state() != "DISMISSED" {
		text, _ := json.Marshal(all)
		t.Errorf("got %s", text)
	}
}
