package sticky

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

var (
	contributor = ghtest.Author{ID: 70, Login: "contributor"}
	owner       = ghtest.Author{ID: 71, Login: "owner-1"}
)

func file(name, status string) ghtest.File { return ghtest.File{Name: name, Status: status} }

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []ghtest.File
		have  []string
		want  []string
	}{
		{"a new listing", []ghtest.File{file("implementations/nova.json", "added")}, nil, []string{"new-listing"}},
		{"a renewal", []ghtest.File{file("implementations/nova.json", "modified")}, nil, []string{"renewal"}},
		{"a revocation", []ghtest.File{file("revocations/nova-"+strings.Repeat("a", 64)+".json", "added")}, nil,
			[]string{"revocation"}},
		{"a text and a renewal", []ghtest.File{file("README.md", "modified"),
			file("implementations/nova.json", "modified")}, nil, []string{"renewal", "governance"}},
		{"a record of a folder below", []ghtest.File{file("implementations/x/nova.json", "added")}, nil, nil},
		{"out of the registry", []ghtest.File{{Name: "nova.json", Status: "renamed",
			Previous: "implementations/nova.json"}}, nil, []string{"governance"}},
		{"what no longer fits, and a person's", []ghtest.File{file("implementations/nova.json", "modified")},
			[]string{"bug", "governance", "new-listing"}, []string{"bug", "renewal"}},
		{"what fits already", []ghtest.File{file("implementations/nova.json", "modified")}, []string{"renewal"},
			[]string{"renewal"}},
		{"a label that the repository lacks", []ghtest.File{file("peer-witnesses/nova.json", "added"),
			file("implementations/nova.json", "modified")}, []string{"x"}, []string{"x", "renewal"}},
		{"on the third page", append(slices.Repeat([]ghtest.File{file("peer-witnesses/a.json", "added")}, 250),
			file("LICENSE", "modified")), nil, []string{"governance"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t)
			for _, name := range []string{"new-listing", "renewal", "governance", "revocation", "bug", "x"} {
				s.AddLabel(name)
			}
			s.AddPull(ghtest.Pull{Number: 7, State: "open", Head: head, Base: "main", Author: contributor,
				Files: c.files, Labels: c.have})
			o := options()
			o.Labels = true
			for range 2 { // the second run changes nothing
				if _, err := Comment(t.Context(), client(t, s, robot), text(t, honest()), o); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.Pulls()[0].Labels; !slices.Equal(got, c.want) {
				t.Errorf("labels %q, want %q", got, c.want)
			}
			if all := strings.Join(s.Writes(), "\n"); len(c.want) > 0 && strings.Count(all, "POST")+
				strings.Count(all, "DELETE") > 1+len(c.want)+len(c.have) {
				t.Errorf("wrote\n%s", all)
			}
		})
	}
	// Without the option, or without such labels in the repository, there is none.
	s := start(t)
	s.AddPull(ghtest.Pull{Number: 7, State: "open", Head: head, Base: "main", Author: contributor,
		Files: []ghtest.File{file("implementations/nova.json", "modified")}})
	for _, on := range []bool{false, true} {
		o := options()
		o.Labels = on
		if _, err := Comment(t.Context(), client(t, s, robot), text(t, honest()), o); err != nil ||
			len(s.Pulls()[0].Labels) > 0 {
			t.Errorf("%v: labels %q, %v", on, s.Pulls()[0].Labels, err)
		}
	}
}

func TestMentions(t *testing.T) {
	const nova = "implementations/nova.json"
	listings := func(n int) (all []ghtest.File) {
		for _, c := range "abcdefgh"[:n] {
			all = append(all, file("implementations/"+string(c)+"a.json", "modified"))
		}
		return all
	}
	line := func(login, verb, slug string) string {
		return "@" + login + ": this pull request " + verb + " implementations/" + slug +
			".json, which you changed last\n"
	}
	for _, c := range []struct {
		name  string
		files []ghtest.File
		by    ghtest.Author
		want  string
	}{
		{"a renewal", []ghtest.File{file(nova, "modified")}, owner, line("owner-1", "changes", "nova")},
		{"a listing that goes", []ghtest.File{file(nova, "removed")}, owner, line("owner-1", "changes", "nova")},
		{"a listing that moves", []ghtest.File{{Name: "x.json", Status: "renamed", Previous: nova}}, owner,
			line("owner-1", "changes", "nova")},
		{"a revocation", []ghtest.File{file("revocations/nova-"+strings.Repeat("a", 64)+".json", "added")}, owner,
			line("owner-1", "revokes", "nova")},
		{"a new listing", []ghtest.File{file(nova, "added")}, owner, ""},
		{"the author's own", []ghtest.File{file(nova, "modified")}, contributor, ""},
		{"a bot's", []ghtest.File{file(nova, "modified")}, ghtest.Author{ID: 9, Login: "renovate[bot]"}, ""},
		{"nobody's", []ghtest.File{file(nova, "modified")}, ghtest.Author{}, ""},
		{"no login", []ghtest.File{file(nova, "modified")}, ghtest.Author{ID: 9, Login: "x\n@all"}, ""},
		{"a long login", []ghtest.File{file(nova, "modified")}, ghtest.Author{ID: 9, Login: strings.Repeat("x", 40)},
			""},
		{"no slug", []ghtest.File{file("implementations/@all.json", "modified"),
			file("implementations/a\n@all.json", "modified"), file("revocations/x-y.json", "added"),
			file("implementations/b/nova.json", "modified")}, owner, ""},
		{"six listings", listings(6), owner, line("owner-1", "changes", "aa") + line("owner-1", "changes", "ba") +
			line("owner-1", "changes", "ca") + line("owner-1", "changes", "da") + line("owner-1", "changes", "ea")},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t)
			s.AddPull(ghtest.Pull{Number: 7, State: "open", Head: head, Base: "main", Author: contributor,
				Files: c.files})
			for _, f := range append(slices.Clone(c.files), file(nova, "")) {
				s.SetAuthor(f.Name, c.by)
			}
			o := options()
			o.Mention = true
			for _, says := range []string{"first", "second"} { // the edit repeats no mention
				o.Render = func(*verdict.Report, int) string { return says + "\n" }
				if _, err := Comment(t.Context(), client(t, s, robot), text(t, honest()), o); err != nil {
					t.Fatal(err)
				}
				want := c.want
				if want != "" {
					want += "\n"
				}
				if got := s.Comments()[0].Body; got != Marker+"\n"+want+says+"\n" {
					t.Errorf("the comment is %q, want %q", got, want)
				}
			}
			body := s.Comments()[0].Body
			only := regexp.MustCompile(`^@[A-Za-z0-9-]{1,39}: this pull request (changes|revokes) ` +
				`implementations/[a-z0-9-]{2,64}\.json, which you changed last$`)
			for l := range strings.SplitSeq(body, "\n") {
				if strings.Contains(l, "@") && !only.MatchString(l) {
					t.Errorf("a mention is %q", l)
				}
			}
		})
	}
}
