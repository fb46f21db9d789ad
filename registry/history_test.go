package registry

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestFirstParentTime checks the time of each commit of a chain whose dates go back, are ahead of the clock, or differ
// on a merged side.
func TestFirstParentTime(t *testing.T) {
	const day = 24 * 60 * 60
	c := newClone(t)
	now := c.Date
	at := func(date int, merge ...string) string {
		c.Date = now + date
		c.Git(append([]string{"commit", "-q", "--allow-empty", "-m", "m"}, merge...)...)
		return c.Git("rev-parse", "HEAD")
	}
	ahead := at(3 * day)
	root := at(-40 * day)
	older := at(-60 * day) // backdated
	c.Git("checkout", "-q", "-b", "side")
	side := at(-day)
	c.Git("checkout", "-q", "main")
	c.Date = now - 30*day
	c.Git("merge", "-q", "--no-ff", "-m", "m", side)
	merge := c.Git("rev-parse", "HEAD")
	skewed := at(int(Skew / time.Second))
	far := at(int(Skew/time.Second) + 1)
	last := at(-50 * day)
	clock := time.Unix(int64(now), 0).In(time.FixedZone("", 3600))
	for _, order := range [][]string{{last, far, skewed, merge, side, older, root, ahead},
		{ahead, root, older, side, merge, skewed, far, last}} {
		r := c.open()
		for _, commit := range order {
			want := map[string]int{ahead: 0, root: -40 * day, older: -40 * day, side: -day, merge: -30 * day,
				skewed: 300, far: 300, last: 300}[commit]
			got, err := r.FirstParentTime(ctx, commit, clock)
			if err != nil || got.Unix() != int64(now+want) || got.Location() != time.UTC {
				t.Errorf("%.7s: %v, %v; want %d s from the clock, got %d", commit, got, err, want,
					got.Unix()-int64(now))
			}
		}
		// By a later clock the first date counts, and so do those that were ahead.
		later, err := r.FirstParentTime(ctx, older, clock.Add(3*day*time.Second))
		if err != nil || later.Unix() != int64(now+3*day) {
			t.Errorf("three days later: %v, %v", later, err)
		}
		if again, err := r.FirstParentTime(ctx, older, clock); err != nil || again.Unix() != int64(now-40*day) {
			t.Errorf("by the first clock again: %v, %v", again, err)
		}
	}
	// The time at which a commit was first seen counts as a date; one ahead of the clock does not.
	r := c.open()
	for _, sight := range []bool{false, true, false} {
		seen, want := map[string]time.Time(nil), -40*day
		if sight {
			seen = map[string]time.Time{older: clock.Add(-35 * day * time.Second), "main": clock,
				root: clock.Add(day * time.Second)}
			want = -35 * day
		}
		r.Sight(seen)
		for commit, want := range map[string]int{root: -40 * day, older: want, merge: -30 * day} {
			got, err := r.FirstParentTime(ctx, commit, clock)
			if err != nil || got.Unix() != int64(now+want) || got.Location() != time.UTC {
				t.Errorf("%.7s with %v: %v, %v; want %d s from the clock", commit, seen, got, err, want)
			}
		}
	}
	c.Write("f", "")
	c.Date = now - 55*day
	c.Commit()
	versions, err := c.open().FolderHistory(ctx, "HEAD", "", clock, func(string) bool { return true })
	if err != nil || len(versions) != 1 || versions[0].When.Unix() != int64(now+300) {
		t.Errorf("file history %v, %v", versions, err)
	}
}

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

// TestFolderHistoryAsGitDoes compares the history of each file of a random history with git log.
func TestFolderHistoryAsGitDoes(t *testing.T) {
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
		directory, _, below := strings.Cut(path, "/")
		if !below {
			directory = ""
		}
		versions := must.Get(r.FolderHistory(ctx, "HEAD", directory, time.Unix(int64(c.Date), 0),
			func(p string) bool { return p == path }))(t)
		var got []string
		for _, v := range slices.Backward(versions) {
			line := v.Commit + " -"
			if v.Entry != nil {
				line = v.Commit + " " + v.Entry.ID.String()
			}
			got = append(got, line)
		}
		var want []string
		for line := range strings.Lines(c.Git("log", "--first-parent", "-m", "--no-renames", "--raw", "--no-abbrev",
			"--format=%H", "HEAD", "--", path)) {
			switch words := strings.Fields(line); len(words) {
			case 1:
				want = append(want, words[0])
			case 6: // :MODE MODE ID ID STATUS PATH
				if words[4] == "D" {
					words[3] = "-"
				}
				want[len(want)-1] += " " + words[3]
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", path, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestSteps checks that the steps of a history are its first-parent commits, each compared with the one before.
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
			if data, err := entriesOf(s.Base, KindRevocation); len(data) > 0 || err != nil {
				t.Errorf("data before %s: %v, %v", s.Commit.ID, data, err)
			}
			return s.Base.Walk(func(string, Entry) error { return nil })
		})
		if err != nil || got.String() != want {
			t.Errorf("steps from %q:\n%s(%v), want\n%s", from, got.String(), err, want)
		}
	}
}
