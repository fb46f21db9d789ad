package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	head40  = "1111111111111111111111111111111111111111"
	old40   = "2222222222222222222222222222222222222222"
	cleared = "Charter Review Gate cleared"
)

// TestCharterTriggers holds what touches user rights.
func TestCharterTriggers(t *testing.T) {
	says := func(sentence string) files { return files{"rfcs/RFC-0002-b.md": sentence + "\n"} }
	for _, c := range []struct {
		name string
		head files
		want string // in the message; empty: not triggered
	}{
		{"nothing", says("A Tool MUST answer."), ""},
		{"path of the charter", files{"rfcs/RFC-0016-x.md": "x"}, `the paths "rfcs/RFC-0016-x.md"`},
		{"path of cooling off", files{"rfcs/RFC-0017-x.md": "x"}, "RFC-0017"},
		{"path of the human path", files{"rfcs/RFC-0018-x.md": "x"}, "RFC-0018"},
		{"path of another", files{"rfcs/RFC-0019-x.md": "x", "rfcs/RFC-0016": "x", "papers/rfcs/RFC-0016-x.md": "x"},
			""},
		{"path of its tests", files{"test-suite/charter/a/b.js": "x"}, "test-suite/charter/a/b.js"},
		{"no key word", says("A Tool must keep memory."), ""},
		{"identity", says("A Tool MUST keep identity."), `the sentences "A Tool MUST keep identity."`},
		{"identities", says("Identities MUST stay."), "Identities"},
		{"memory", says("A Tool SHOULD keep MEMORY."), "MEMORY"},
		{"memories", says("A Tool MAY keep memories."), "memories"},
		{"reputation", says("Reputations are REQUIRED."), "Reputations"},
		{"projection", says("A projection is OPTIONAL."), "projection"},
		{"persona", says("Personas SHALL stay."), "Personas"},
		{"personal is no persona", says("A personal Tool SHALL stay."), ""},
		{"cooling off", says("Cooling off is RECOMMENDED."), "Cooling off"},
		{"cool-off", says("A cool-off is NOT RECOMMENDED."), "cool-off"},
		{"escalation", says("A Tool MUST escalate."), "escalate"},
		{"deletion", says("A Tool MUST NOT undelete; it MUST offer deletion."), "deletion"},
		{"within a word", says("A Tool MUST NOT undelete."), ""},
		{"replaceability", says("Replaceability MUST hold."), "Replaceability"},
		{"pluralism", says("Pluralism MUST hold."), "Pluralism"},
		{"plurality", says("A plurality MUST hold."), "plurality"},
		{"a member's name", says("The member memory_exchange MUST hold."), ""},
		{"a sentence beside", says("A Tool MUST answer. It keeps memory."), "It keeps memory."},
		{"a governing paragraph", says("A Tool MUST keep:\n\n- a list\n- the memory"), "the memory"},
		{"a quote over lines", says("> A Tool MUST keep\n> the memory."), "A Tool MUST keep the memory."},
		{"a schema", files{"schemas/v1.0/n.json": `{"description": "Memory MUST stay."}`}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, r := found(t, propose(t, files{"governance/MAINTAINERS.md": gone}, c.head), "charter-review")
			var want []string
			if c.want != "" {
				want = []string{"error no-user-advocate governance/MAINTAINERS.md"}
			}
			if !slices.Equal(got, want) || c.want != "" && !strings.Contains(r.Findings[0].Message, c.want) {
				t.Errorf("got %q %+v, want %q", got, r, c.want)
			}
		})
	}
}

// TestCharterLabels holds which labels ask for the review, and when issues are asked.
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
				p.Words = NewWords("the body", c.body)
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

// TestQuorum holds what each review counts for.
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
			[]string{"error quorum", "warning phrase-missing"}},
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

// TestOpenerApproves holds that the opener's approval does not count, whatever its letters.
func TestOpenerApproves(t *testing.T) {
	p := propose(t, nil, files{"rfcs/RFC-0016-x.md": "x"})
	p.Head, p.Opener = head40, "Ann"
	p.Forge = &Forge{Reviews: func() ([]Review, error) {
		return []Review{review("ann"), review("bob"), review("cyd"), review("dee")}, nil
	}}
	got, _ := found(t, p, "charter-review")
	const at = " rfcs/RFC-0016-x.md"
	if want := []string{"error quorum" + at, "error user-advocate-missing" + at, "warning own-approval" +
		at}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRosterOfTheBase holds that a proposal cannot name its own reviewers.
func TestRosterOfTheBase(t *testing.T) {
	p := propose(t,
		files{"governance/MAINTAINERS.md": "## Current Maintainers\n\n| h | o |\n|---|---|\n| @ann | A |\n"},
		files{"rfcs/RFC-0016-x.md": "x", "governance/MAINTAINERS.md": specified["governance/MAINTAINERS.md"]})
	if got, _ := found(t, p, "charter-review"); !slices.Equal(got,
		[]string{"error no-user-advocate governance/MAINTAINERS.md"}) {
		t.Errorf("got %q", got)
	}
}

// TestForgeFails holds that reviews which could not be had are no verdict.
func TestForgeFails(t *testing.T) {
	for _, f := range []*Forge{nil, {}, {Reviews: func() ([]Review, error) { return nil, errors.New("no answer") }},
		{Reviews: func() ([]Review, error) { return nil, nil }, Authors: func() ([]string, error) {
			return nil,
				errors.New("no answer")
		}}} {
		p := propose(t, nil, files{"rfcs/RFC-0016-x.md": "x"})
		p.Forge = f
		if got, _ := found(t, p, "charter-review"); !slices.Equal(got,
			[]string{"inconclusive reviews-unknown rfcs/RFC-0016-x.md"}) {
			t.Errorf("got %q", got)
		}
	}
}

// TestRoster holds which rows of which table count.
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
		{"no table", title, nil},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := readRoster(c.text).members; !slices.Equal(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestParseReviews holds that a list that is none is refused.
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

// TestLatest holds that of two reviews of one time the later listed stands.
func TestLatest(t *testing.T) {
	all := latest([]Review{review("ann"), review("ANN", "state", "dismissed")})
	if len(all) != 1 || all[0].state() != "DISMISSED" {
		text, _ := json.Marshal(all)
		t.Errorf("got %s", text)
	}
}
