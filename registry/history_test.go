package registry

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestFirstParents(t *testing.T) {
	c := newClone(t)
	root := c.Commit("f", "0")
	one := c.Commit("f", "1")
	c.Git("checkout", "-q", "-b", "side")
	side := c.Commit("g", "1")
	c.Git("checkout", "-q", "main")
	c.Git("merge", "-q", "--no-ff", "-m", "m", side)
	merge := c.Git("rev-parse", "HEAD")
	r := c.open()
	for _, tt := range []struct{ from, to, want string }{
		{"", merge, root + " " + one + " " + merge},
		{root, merge, one + " " + merge},
		{merge, merge, ""},
		{one, "main~0", merge},
	} {
		got, err := r.FirstParents(ctx, tt.from, tt.to)
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("from %q to %q: %v, %v; want %s", tt.from, tt.to, got, err, tt.want)
		}
	}
	for _, from := range []string{side, merge} {
		_, err := r.FirstParents(ctx, from, one)
		wantError(t, err, ErrNotAncestor)
	}
	if _, err := r.FirstParents(ctx, side, merge); err == nil {
		t.Error("a commit of a merged side is on the chain")
	}
	public, err := r.Commit(ctx, merge)
	if err != nil || fmt.Sprint(public.Parents) != fmt.Sprint([]string{one, side}) ||
		public.When.Unix() != int64(c.Date) {
		t.Errorf("commit %+v, %v", public, err)
	}
}

// TestFileHistoryAsGitDoes holds the history of each file of a random history against git log.
func TestFileHistoryAsGitDoes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	c := newClone(t)
	paths := []string{pathA, pathB, "implementations/x/y.json", "README.md"}
	c.Commit("f", "")
	for i := range 40 {
		if rnd.IntN(4) == 0 {
			c.Git("checkout", "-q", "-B", "side", fmt.Sprintf("HEAD~%d", rnd.IntN(min(i, 3)+1)))
			c.Commit(fmt.Sprintf("s%d", i), "s", paths[3], fmt.Sprint(i))
			c.Git("checkout", "-q", "main")
			c.Date++
			c.Git("merge", "-q", "--no-ff", "-X", "ours", "-m", "m", "side")
			continue
		}
		path := paths[rnd.IntN(3)]
		if _, err := c.Try("", "rm", "-q", path); err != nil || rnd.IntN(3) > 0 {
			c.Write(path, fmt.Sprint(rnd.IntN(3)))
		}
		c.Commit()
	}
	r := c.open()
	for _, path := range append(paths, "implementations/none.json") {
		versions, err := r.FileHistory(ctx, "HEAD", path)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range versions {
			line := v.Commit + " -"
			if v.Entry != nil {
				line = v.Commit + " " + v.Entry.ID.String()
			}
			got = append(got, line)
		}
		var want []string
		for _, commit := range strings.Fields(c.Git("log", "--first-parent", "-m", "--no-renames", "--format=%H",
			"HEAD", "--", path)) {
			blob, err := c.Try("", "rev-parse", commit+":"+path)
			if err != nil {
				blob = "-"
			}
			want = append(want, commit+" "+blob)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", path, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestSteps holds that the steps of a history are its first-parent commits, each compared with the one before.
func TestSteps(t *testing.T) {
	c := newClone(t)
	root := c.Commit(pathA, "a")
	c.Git("checkout", "-q", "-b", "side")
	side := c.Commit(pathB, "b")
	c.Git("checkout", "-q", "main")
	one := c.Commit(pathC, "c")
	c.Date++
	c.Git("merge", "-q", "--no-ff", "-m", "m", side)
	names := map[string]string{root: "root", one: "one", c.Git("rev-parse", "HEAD"): "merge", "": "nothing"}
	r := c.open()
	for from, want := range map[string]string{
		"": "1 nothing..root A implementations/a.json\n2 root..one A implementations/c.json\n3 one..merge A " +
			"implementations/b.json\n",
		one: "0 one..merge A implementations/b.json\n",
	} {
		var got strings.Builder
		err := r.Steps(ctx, from, "HEAD", func(s *Step) error {
			fmt.Fprintf(&got, "%d %s..%s %s\n", s.Number, names[s.Base.Commit()], names[s.Commit.ID],
				spellChanges(s.Changes))
			if _, ok, err := s.Base.Entry(pathB); ok || err != nil {
				t.Errorf("%s stands before %s: %v, %v", pathB, s.Commit.ID, ok, err)
			}
			if data, err := s.Base.Data(KindRevocation); len(data) > 0 || err != nil {
				t.Errorf("data before %s: %v, %v", s.Commit.ID, data, err)
			}
			return s.Base.Walk(func(string, Entry) error { return nil })
		})
		if err != nil || got.String() != want {
			t.Errorf("steps from %q:\n%s(%v), want\n%s", from, got.String(), err, want)
		}
	}
}
