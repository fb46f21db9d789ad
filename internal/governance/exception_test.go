package governance

import (
	"slices"
	"strings"
	"testing"
)

// TestException has each row of what an exception comes to, with the cheapest change that is not the honest one.
func TestException(t *testing.T) {
	const core = "spec/v1.0/core.md"
	const text = "# Core\n\nA Tool MUST answer. It SHOULD bow.\n\n| a | b |\n|---|---|\n| c | d |\n\n```\na  b\n```\n"
	edit := func(old, new string) files {
		if !strings.Contains(text, old) {
			t.Fatal(old)
		}
		return files{core: strings.Replace(text, old, new, 1)}
	}
	all := []Review{review("ann"), review("bob"), review("cyd"), review("dee")}
	const granted, no = "notice exception-granted " + core, "error exception-not-editorial "
	formatting := []string{"notice formatting-only " + core}
	notEditorial := []string{no + core}
	for _, c := range []struct {
		name    string
		head    files
		body    string
		reviews []Review
		want    []string
		says    string // in the first finding
	}{
		{"a typo", edit("answer", "anwser"), justify, all[:3], []string{granted},
			"3 of 4 Maintainers approve the head; 3 are needed"},
		{"a typo, two of four", edit("answer", "anwser"), justify, all[:2], []string{"error two-thirds " + core},
			"2 of 4 Maintainers approve the head; 3 are needed; missing are @cyd, @dee"},
		{"a struck requirement", edit("It SHOULD bow.", "~~It SHOULD bow.~~"), justify, nil,
			[]string{"error two-thirds " + core}, "0 of 4"},
		{"a new link target", edit("bow", "[bow](x)"), justify, nil, []string{"error two-thirds " + core}, ""},
		{"a definition of a link", files{core: text + "\n[bow]: https://b.example\n"}, justify, nil, formatting, ""},
		{"an alignment", edit("|---|---|", "|:--|---|"), justify, nil, []string{"error two-thirds " + core}, ""},
		{"a language of code", edit("```\na", "```js\na"), justify, nil, []string{"error two-thirds " + core}, ""},
		{"white space in code", edit("a  b", "a b"), justify, nil, []string{"error two-thirds " + core}, ""},
		{"a new comment", files{core: text + "\n<!-- x -->\n"}, justify, nil, []string{"error two-thirds " + core}, ""},

		{"lines wrapped", edit("answer. It", "answer.\nIt"), justify, nil, formatting, ""},
		{"bold", edit("answer", "**answer**"), justify, nil, formatting, ""},
		{"an aligned table", edit("| a | b |", "| a   | b   |"), justify, nil, formatting, ""},
		{"a mode", files{core: "mode 100755 " + specified[core]}, justify, nil, formatting, ""},

		{"SHOULD for MUST", edit("MUST", "SHOULD"), justify, all, notEditorial,
			`the key words of "` + core + `" were MUST, are SHOULD`},
		{"NOT", edit("SHOULD", "SHOULD NOT"), justify, all, notEditorial, "were SHOULD, are SHOULD NOT"},
		{"a word in small letters", edit("SHOULD", "should"), justify, all, notEditorial, "were SHOULD, are none"},
		{"a word in a comment", edit("It SHOULD bow.", "<!-- It SHOULD bow. -->"), justify, all, notEditorial, ""},
		{"words in another order", edit("MUST answer. It SHOULD", "SHOULD answer. It MUST"), justify, all, notEditorial,
			""},
		{"another encoding", files{core: "A\x00 \x00M\x00"}, justify, all, notEditorial, "are none"},
		{"a link", files{core: "mode 120000 ../core.md"}, justify, all, []string{no + core, "error not-a-file " + core},
			""},
		{"deleted", files{core: gone}, justify, all, notEditorial, ""},
		{"a schema", files{schemaA: strings.Replace(specified[schemaA], "object", "array", 1)}, justify, all,
			[]string{no + schemaA}, `"/type" of "` + schemaA},
		{"a schema that comes", files{"schemas/v1.0/n.json": `{"$id": "https://x.example/schemas/v1.0/n.json"}`}, justify, all,
			[]string{no + "schemas/v1.0/n.json"}, ""},
		{"a title of a schema", files{schemaA: strings.Replace(specified[schemaA], "{}", `{}, "title": "a"`, 1)}, justify, all,
			[]string{"notice exception-granted " + schemaA}, ""},
		{"the layout of a schema", files{schemaA: strings.Replace(specified[schemaA], "{}", "{ }", 1)}, justify, nil,
			[]string{"notice formatting-only " + schemaA}, ""},
		{"no reason", edit("answer", "anwser"), "Implementability Gate exception: a b c d", all,
			[]string{"error exception-unjustified " + core}, "4 words; expected at least 5"},
		{"no reason for a rule", edit("MUST", "MAY"), "Implementability Gate exception", all,
			[]string{no + core, "error exception-unjustified " + core}, ""},

		{"renamed by digits", files{rfc: gone, "rfcs/RFC-0002-a.md": editsOne}, justify, all,
			[]string{"notice exception-granted " + rfc}, ""},
		{"renamed, no other word", files{rfc: gone, "rfcs/RFC-0002-a.md": specified[rfc]}, justify, nil,
			[]string{"error two-thirds " + rfc}, ""},
		{"renamed with its key words", files{rfc: gone, "rfcs/RFC-0002-b.md": editsOne}, justify, all,
			[]string{"notice exception-granted " + rfc}, ""},
		{"moved to another directory", files{rfc: gone, "spec/v1.0/RFC-0001-a.md": specified[rfc]}, justify, all,
			[]string{no + "spec/v1.0/RFC-0001-a.md"}, ""},
		{"without key words, renamed", files{rfc: gone, "rfcs/RFC-0002-b.md": "x\n"}, justify, all,
			[]string{no + "rfcs/RFC-0002-b.md"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base := files{core: text}
			if c.name == "a mode" {
				base = nil
			}
			p := propose(t, base, c.head)
			p.Words, p.Head, p.Opener = worded(t, c.body), head40, "mia"
			p.Forge = &Forge{Reviews: func() ([]Review, error) { return c.reviews, nil },
				Authors: func() ([]string, error) { return nil, nil }}
			got, r := found(t, p, "implementability")
			if len(c.want) == 1 && !slices.Equal(got, c.want) && !(strings.HasPrefix(c.want[0], no) && len(got) == 1 &&
				strings.HasPrefix(got[0], no)) || len(c.want) > 1 && !slices.Equal(got, c.want) ||
				!strings.Contains(r.Findings[0].Message, c.says) {
				t.Errorf("got %q, want %q, %q: %+v", got, c.want, c.says, r)
			}
		})
	}
}

// TestExceptionRow checks what people see of an exception, granted or not, and that only a granted one is an output.
func TestExceptionRow(t *testing.T) {
	for _, reviews := range [][]Review{nil, {review("ann"), review("bob"), review("cyd")}} {
		p := propose(t, nil, files{rfc: editsOne})
		p.Words, p.Head = worded(t, justify), head40
		p.Forge = &Forge{Reviews: func() ([]Review, error) { return reviews, nil },
			Authors: func() ([]string, error) { return nil, nil }}
		j, err := Judge(p, func(id string) bool { return id == "implementability" })
		if err != nil || len(j.Attest) == 0 || j.Exception != (reviews != nil) {
			t.Fatalf("%+v, %v", j, err)
		}
		for _, want := range []string{"each changed block is editorial", "1 2 3 4 5", rfc + ":5:\n+ Some say so."} {
			if !strings.Contains(j.Attest[0].Text, want) {
				t.Errorf("%q does not hold %q", j.Attest[0].Text, want)
			}
		}
		if granted := strings.Contains(j.Attest[0].Text,
			"@cyd at 2026-06-01 10:00 UTC; the approvals are of the commits, "+
				"and this line can be newer"); granted != (reviews != nil) {
			t.Errorf("%q", j.Attest[0].Text)
		}
	}
}

// TestVotesOutOfReach checks what is said of a roster that cannot reach two thirds, since one of it opened the change.
func TestVotesOutOfReach(t *testing.T) {
	p := propose(t, files{maintainersPath: "## Current Maintainers\n\n| h | o |\n|---|---|\n| @ann | A |\n| @bob | " +
		"B |\n"},
		files{rfc: editsOne})
	p.Words, p.Head, p.Opener = worded(t, justify), head40, "ANN"
	p.Forge = &Forge{Reviews: func() ([]Review, error) { return []Review{review("bob")}, nil },
		Authors: func() ([]string, error) { return nil, nil }}
	got, r := found(t, p, "implementability")
	if !slices.Equal(got, []string{"error two-thirds " + rfc}) || !strings.Contains(r.Findings[0].Message,
		"1 of 2 Maintainers approve the head; 2 are needed; missing are @ann; @ANN opened the change and cannot "+
			"approve it") {
		t.Errorf("%q %+v", got, r.Findings)
	}
}
