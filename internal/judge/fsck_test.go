package judge_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// shapes is a registry of loose objects, to which a pull request brings objects of any content.
type shapes struct {
	*gittest.Clone
	base, baseTree string
	files          map[string]string // entries of the base tree
}

const shapePerson = "A <a@example.org> 1700000100 +0000"

func newShapes(t *testing.T) *shapes {
	s := &shapes{Clone: gittest.New(t)}
	keep := s.object("blob", "")
	directory := s.tree("100644 .gitkeep " + keep)
	s.files = map[string]string{"README.md": "100644 " + s.object("blob", "A registry.\n"),
		"implementations": "40000 " + directory}
	s.baseTree = s.with()
	s.base = s.commit(s.baseTree, nil)
	s.Git("update-ref", "refs/heads/main", s.base)
	return s
}

func (s *shapes) object(kind, data string) string {
	s.T.Helper()
	text := fmt.Appendf(nil, "%s %d\x00%s", kind, len(data), data)
	id := fmt.Sprintf("%x", sha1.Sum(text))
	var packed bytes.Buffer
	w, _ := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
	if _, err := w.Write(text); err != nil {
		s.T.Fatal(err)
	}
	must.OK(s.T, w.Close())
	s.Write(filepath.Join(".git", "objects", id[:2], id[2:]), packed.String())
	return id
}

// tree writes entries "mode name id" as they are.
func (s *shapes) tree(entries ...string) string {
	var text strings.Builder
	for _, e := range entries {
		mode, rest, _ := strings.Cut(e, " ")
		at := strings.LastIndexByte(rest, ' ')
		raw := must.Get(hex.DecodeString(rest[at+1:]))(s.T)
		text.WriteString(mode + " " + rest[:at] + "\x00" + string(raw))
	}
	return s.object("tree", text.String())
}

// with is the base tree with further entries, name and "mode id" in turn, in Git's order.
func (s *shapes) with(more ...string) string {
	all := map[string]string{}
	for name, e := range s.files {
		all[name] = e
	}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	key := func(name string) string {
		if strings.HasPrefix(all[name], "40000") {
			name += "/"
		}
		return name
	}
	sort.Slice(names, func(i, j int) bool { return key(names[i]) < key(names[j]) })
	var entries []string
	for _, name := range names {
		mode, id, _ := strings.Cut(all[name], " ")
		entries = append(entries, mode+" "+name+" "+id)
	}
	return s.tree(entries...)
}

// file is the base tree with a file of this name and text.
func (s *shapes) file(name, text string) string {
	return s.with(name, "100644 "+s.object("blob", text))
}

// commitText is a commit of the tree onto base.
func (s *shapes) commitText(tree string) string {
	return "tree " + tree + "\nparent " + s.base + "\nauthor " + shapePerson + "\ncommitter " + shapePerson + "\n\nm\n"
}

func (s *shapes) commit(tree string, parents []string) string {
	text := "tree " + tree + "\n"
	for _, p := range parents {
		text += "parent " + p + "\n"
	}
	return s.object("commit", text+"author "+shapePerson+"\ncommitter "+shapePerson+"\n\nm\n")
}

// onto is a commit of the tree onto base.
func (s *shapes) onto(tree string) string { return s.commit(tree, []string{s.base}) }

// shape is a head that a pull request has, and what is expected of it: the code of append-only, "error" where the run
// ends with one, "" where nothing is found.
type shape struct {
	name, want string
	make       func(s *shapes) string
}

// commitShape is a commit whose text after tree and parent is edited.
func commitShape(name, want, old, new string) shape {
	return shape{name, want, func(s *shapes) string {
		text := s.commitText(s.file("note.md", "x\n"))
		if !strings.Contains(text, old) {
			s.T.Fatalf("%s: %q is not in %q", name, old, text)
		}
		return s.object("commit", strings.Replace(text, old, new, 1))
	}}
}

// identShapes are edits of the author line and of the committer line.
func identShapes(name, want, person string) []shape {
	return []shape{
		commitShape("author: "+name, want, "author "+shapePerson, "author "+person),
		commitShape("committer: "+name, want, "committer "+shapePerson, "committer "+person),
	}
}

func fileShape(name, want, path, text string) shape {
	return shape{name, want, func(s *shapes) string { return s.onto(s.file(path, text)) }}
}

func entryShape(name, want, path, mode, kind, text string) shape {
	return shape{name, want, func(s *shapes) string { return s.onto(s.with(path, mode+" "+s.object(kind, text))) }}
}

const badModules, goodModules = "[submodule \"a\"]\n\tpath = a\n\turl = -x\n",
	"[submodule \"a\"]\n\tpath = a\n\turl = https://example.org/a.git\n"

func refusedShapes() []shape {
	const c, f = "fsck-commit", "fsck-file"
	section := func(setting string) string { return "[submodule \"a\"]\n\t" + setting + "\n" }
	out := slices.Concat(
		identShapes("badDate, letters", c, "A <a@example.org> now +0000"),
		identShapes("badDate, none", c, "A <a@example.org> "),
		identShapes("badDate, negative", c, "A <a@example.org> -5 +0000"),
		identShapes("badDate, a unit", c, "A <a@example.org> 1700000100s +0000"),
		identShapes("badDateOverflow", c, "A <a@example.org> 9223372036854775808 +0000"),
		identShapes("badDateOverflow, 30 digits", c, "A <a@example.org> "+strings.Repeat("9", 30)+" +0000"),
		identShapes("badEmail", c, "A <a@example.org 1700000100 +0000"),
		identShapes("badEmail, twice", c, "A <a@<example.org> 1700000100 +0000"),
		identShapes("badName", c, "A > B <a@example.org> 1700000100 +0000"),
		identShapes("badTimezone, three digits", c, "A <a@example.org> 1700000100 +000"),
		identShapes("badTimezone, a name", c, "A <a@example.org> 1700000100 UTC"),
		identShapes("badTimezone, a blank after it", c, shapePerson+" "),
		identShapes("missingEmail", c, "A 1700000100 +0000"),
		identShapes("missingNameBeforeEmail", c, "<a@example.org> 1700000100 +0000"),
		identShapes("missingSpaceBeforeDate", c, "A <a@example.org>1700000100 +0000"),
		identShapes("missingSpaceBeforeEmail", c, "A<a@example.org> 1700000100 +0000"),
		identShapes("zeroPaddedDate", c, "A <a@example.org> 01700000100 +0000"),
		identShapes("empty line", c, ""),
		[]shape{
			commitShape("missingAuthor", c, "author "+shapePerson+"\n", ""),
			commitShape("missingCommitter", c, "committer "+shapePerson+"\n", ""),
			commitShape("missingCommitter, empty line before", c, "committer", "\ncommitter"),
			commitShape("missingCommitter, another header before", c, "committer", "encoding x\ncommitter"),
			commitShape("multipleAuthors", c, "committer", "author "+shapePerson+"\ncommitter"),
			commitShape("two trees", c, "author", "tree "+strings.Repeat("1", 40)+"\nauthor"),
			commitShape("nulInCommit", c, "\n\nm", "\n\nm\x00"),
			commitShape("nulInHeader", c, "A <a@", "A\x00 <a@"),
			commitShape("nulInHeader, a later one", c, "\n\nm", "\nx-note a\x00b\n\nm"),
			commitShape("unterminatedHeader", c, "\n\nm\n", ""),
			{"an intermediate commit", c, func(s *shapes) string {
				bad := s.object("commit", strings.Replace(s.commitText(s.file("note.md", "x\n")), "A <", "A<", 1))
				return s.commit(s.file("note.md", "y\n"), []string{bad})
			}},
			{"a merged side branch", c, func(s *shapes) string {
				tree := s.file("note.md", "x\n")
				bad := s.object("commit", strings.Replace(s.commitText(tree), "A <", "A<", 1))
				return s.commit(tree, []string{s.base, bad})
			}},
			{"a branch that is merged into the side branch", c, func(s *shapes) string {
				tree := s.file("note.md", "x\n")
				bad := s.object("commit", strings.Replace(s.commitText(tree), "A <", "A<", 1))
				side := s.commit(tree, []string{s.onto(s.file("other.md", "")), bad})
				return s.commit(tree, []string{s.base, side})
			}},

			fileShape("gitmodulesUrl", f, ".gitmodules", badModules),
			fileShape("gitmodulesUrl, line end", f, ".gitmodules", section(`url = "./a%0ab"`)),
			fileShape("gitmodulesUrl, another host", f, ".gitmodules", section("url = ../../:x")),
			fileShape("gitmodulesUrl, no host", f, ".gitmodules", section("url = https:///x")),
			fileShape("gitmodulesUrl, before a broken line", f, ".gitmodules", badModules+"@@"),
			fileShape("gitmodulesName", f, ".gitmodules", "[submodule \"../a\"]\n\tpath = a\n"),
			fileShape("gitmodulesName, empty", f, ".gitmodules", "[submodule \"\"]\n\tpath = a\n"),
			fileShape("gitmodulesPath", f, ".gitmodules", section("path = -x")),
			fileShape("gitmodulesUpdate", f, ".gitmodules", section("update = !touch x")),
			fileShape("in the older spelling", f, ".gitmodules", "[Submodule.A]\nURL=-x"),
			entryShape("gitmodulesSymlink", f, ".gitmodules", "120000", "blob", "README.md"),
			entryShape("gitmodulesBlob, a directory", f, ".gitmodules", "40000", "tree", ""),
			entryShape("gitmodulesBlob, a file's mode", f, ".gitmodules", "100644", "tree", ""),
			{"gitmodulesBlob, a submodule that names a commit", f, func(s *shapes) string {
				return s.onto(s.with(".gitmodules", "160000 "+s.base))
			}},
			{"a submodule that names a file", f, func(s *shapes) string {
				id := s.object("blob", badModules)
				return s.onto(s.with(".gitmodules", "160000 "+id, "note.md", "100644 "+id))
			}},
			entryShape("executable", f, ".gitmodules", "100755", "blob", badModules),
			fileShape("gitattributesLineLength", f, ".gitattributes", strings.Repeat("a", 2048)),
			entryShape("gitattributesBlob", f, ".gitattributes", "40000", "tree", ""),
			entryShape("gitattributesMissing", f, ".gitattributes", "160000", "blob", "x"),
			fileShape("NTFS, a short name", f, "gitmod~1", badModules),
			fileShape("NTFS, the other short name", f, "GI7EBA~1", badModules),
			fileShape("NTFS, only the number", f, "~1000000", badModules),
			fileShape("NTFS, a dot", f, ".gitmodules.", badModules),
			fileShape("NTFS, a blank and letter case", f, ".GitModules ", badModules),
			fileShape("NTFS, a stream", f, ".gitmodules:x", badModules),
			fileShape("NTFS, a backslash", f, `a\.gitmodules`, badModules),
			fileShape("NTFS, .gitattributes", f, "gi7d29~1", strings.Repeat("a", 2048)),
			fileShape("HFS", f, ".git\u200cmodules", badModules),
			fileShape("HFS, .gitattributes", f, "\ufeff.gitattributes", strings.Repeat("a", 2048)),
			fileShape("HFS, not UTF-8", f, ".gitmodules\xff", badModules),
			{"in a directory", f, func(s *shapes) string {
				return s.onto(s.with("docs", "40000 "+s.tree("100644 .gitmodules "+s.object("blob", badModules))))
			}},
			{"in a data directory", f, func(s *shapes) string {
				return s.onto(s.with("implementations", "40000 "+s.tree("100644 .gitkeep "+s.object("blob", ""),
					"100644 .gitmodules "+s.object("blob", badModules))))
			}},
			{"in a directory of that name", f, func(s *shapes) string {
				return s.onto(s.with(".gitmodules", "40000 "+s.tree("100644 a "+s.object("blob", ""))))
			}},
			{"corrected by a later commit", f, func(s *shapes) string {
				return s.commit(s.file(".gitmodules", goodModules), []string{s.onto(s.file(".gitmodules", badModules))})
			}},
			{"removed by a later commit", f, func(s *shapes) string {
				return s.commit(s.file("note.md", ""), []string{s.onto(s.file(".gitmodules", badModules))})
			}},
			{"dropped by the merge", f, func(s *shapes) string {
				return s.commit(s.file("note.md", ""), []string{s.base, s.onto(s.file(".gitmodules", badModules))})
			}},
			{"made by the merge", f, func(s *shapes) string {
				return s.commit(s.file(".gitmodules", badModules), []string{s.base, s.onto(s.file(".gitmodules",
					goodModules))})
			}},
			{"as another file before", f, func(s *shapes) string {
				return s.commit(s.file(".gitmodules", badModules), []string{s.onto(s.file("note.md", badModules))})
			}},

			fileShape("hasDotgit", "error", ".git", "x"),
			fileShape("hasDotgit, a short name", "error", "git~1", "x"),
			fileShape("hasDotgit, not UTF-8", "error", ".git\xff", "x"),
			fileShape("hasDotgit, U+FFFE", "error", ".git\ufffe", "x"),
			entryShape("hasDotdot", "error", "..", "40000", "tree", ""),
			{"zeroPaddedFilemode", "error", func(s *shapes) string {
				return s.onto(s.with("a",
					"0100644 "+s.object("blob", "")))
			}},
			{"nullSha1", "error", func(s *shapes) string {
				return s.onto(s.with("a", "100644 "+strings.Repeat("0",
					40)))
			}},
			{"duplicateEntries", "error", func(s *shapes) string {
				e := "100644 a " + s.object("blob", "")
				return s.onto(s.tree(e, e, "40000 implementations "+strings.Fields(s.files["implementations"])[1]))
			}},
			{"a file's mode for a directory", "error", func(s *shapes) string {
				return s.onto(s.with("a", "100644 "+s.object("tree", "")))
			}},
			{"a directory's mode for a file", "error", func(s *shapes) string {
				return s.onto(s.with("a", "40000 "+s.object("blob", "")))
			}},
			{"a link that is a commit", "error", func(s *shapes) string {
				return s.onto(s.with("a",
					"120000 "+s.base))
			}},
			{"a bad tree in a merged side branch", "error", func(s *shapes) string {
				return s.commit(s.file("note.md", ""), []string{s.base, s.onto(s.file(".git", "x"))})
			}},
		})
	return out
}

// laterShapes are the shapes that git accepts until another commit adds the object that they name.
func laterShapes() []shape {
	return []shape{
		entryShape("a submodule .gitmodules", "fsck-file", ".gitmodules", "160000", "blob", "x"),
		{"a submodule .gitmodules of nothing", "fsck-file", func(s *shapes) string {
			return s.onto(s.with(".gitmodules", "160000 "+strings.Repeat("1", 40)))
		}},
	}
}

func acceptedShapes() []shape {
	section := func(setting string) string { return "[submodule \"a\"]\n\t" + setting + "\n" }
	sig := "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n"
	return slices.Concat(
		identShapes("zone +9999", "", "A <a@example.org> 1700000100 +9999"),
		identShapes("zone -0000", "", "A <a@example.org> 1700000100 -0000"),
		identShapes("an empty name", "", " <a@example.org> 1700000100 +0000"),
		identShapes("an empty address", "", "A <> 1700000100 +0000"),
		identShapes("latin1", "", "J\xf6rg <a@example.org> 1700000100 +0000"),
		identShapes("a long name", "", strings.Repeat("A", 5000)+" <a@example.org> 1700000100 +0000"),
		identShapes("1970", "", "A <a@example.org> 0 +0000"),
		identShapes("the last second of 63 bits", "", "A <a@example.org> 9223372036854775807 +0000"),
		identShapes("blanks before the date", "", "A <a@example.org>   1700000100 +0000"),
		[]shape{
			commitShape("no message", "", "\n\nm\n", "\n\n"),
			commitShape("no body", "", "\n\nm\n", "\n"),
			commitShape("a message of latin1", "", "\n\nm\n", "\nencoding ISO-8859-1\n\nGr\xfc\xdfe\n"),
			commitShape("a message without a line end", "", "\n\nm\n", "\n\nm"),
			commitShape("gpgsig", "", "\n\nm", "\n"+sig+"\nm"),
			commitShape("gpgsig-sha256", "", "\n\nm", "\n"+strings.Replace(sig, "gpgsig", "gpgsig-sha256", 1)+"\nm"),
			commitShape("mergetag", "", "\n\nm", "\nmergetag object "+strings.Repeat("1", 40)+"\n type commit\n\nm"),
			commitShape("another header", "", "\n\nm", "\nHG:extra a:b\n\nm"),
			commitShape("a line that is no header", "", "\n\nm", "\nnonsense\n\nm"),
			commitShape("two committers", "fsck-commit", "\n\nm", "\ncommitter "+shapePerson+"\n\nm"),

			fileShape("a submodule's file", "", ".gitmodules", goodModules),
			{"an ordinary submodule", "", func(s *shapes) string {
				return s.onto(s.with(".gitmodules", "100644 "+s.object("blob", goodModules), "a",
					"160000 "+strings.Repeat("1", 40)))
			}},
			fileShape("a relative submodule", "", ".gitmodules", section("url = ../a.git")),
			fileShape("a submodule by ssh", "", ".gitmodules", section("url = git@example.org:a/b.git")),
			fileShape("update = rebase", "", ".gitmodules", section("update = rebase")),
			fileShape("an empty .gitmodules", "", ".gitmodules", ""),
			fileShape("unparsable .gitmodules", "", ".gitmodules", "[submodule \"a\"]\n@@\nurl = -x\n"),
			fileShape("a bad one under another name", "", "gitmodules.txt", badModules),
			fileShape("a number that is no short name", "", "gitmod~5", badModules),
			fileShape("a backslash before .gitattributes", "", `a\.gitattributes`, strings.Repeat("a", 3000)),
			fileShape("ordinary .gitattributes", "", ".gitattributes", "* text=auto eol=lf\n*.json diff\n"),
			fileShape(".gitattributes of 2,047 bytes", "", ".gitattributes", strings.Repeat("a", 2047)+"\n*.md text\n"),
			fileShape(".gitignore of long lines", "", ".gitignore", strings.Repeat("a", 5000)),
			entryShape("a linked .gitignore", "", ".gitignore", "120000", "blob", "README.md"),
			entryShape("a linked .gitattributes", "", ".gitattributes", "120000", "blob", "README.md"),
			entryShape("a linked .mailmap", "", ".mailmap", "120000", "blob", "README.md"),
			entryShape("an executable", "", "run.sh", "100755", "blob", "#!/bin/sh\n"),
			fileShape("a name of 255 bytes", "", strings.Repeat("n", 255), "x"),
			{"a merge of the base", "", func(s *shapes) string {
				tree := s.file("note.md", "x\n")
				return s.commit(tree, []string{s.onto(tree), s.base})
			}},
			{"three parents", "", func(s *shapes) string {
				return s.commit(s.with("a.md", "100644 "+s.object("blob", "a"), "b.md", "100644 "+s.object("blob",
					"b")),
					[]string{s.base, s.onto(s.file("a.md", "a")), s.onto(s.file("b.md", "b"))})
			}},
		})
}

// TestGitAcceptsWhatPasses compares the verdict on each shape with git: what a clone of base and head with
// transfer.fsckObjects refuses may pass neither a check nor an audit.
func TestGitAcceptsWhatPasses(t *testing.T) {
	s := newShapes(t)
	clone := func(branch string) error {
		_, err := s.Try("", "-c", "transfer.fsckObjects=true", "clone", "-q", "--bare", "--single-branch", "-b", branch,
			"file://"+s.Dir, t.TempDir())
		return err
	}
	must.OK(t, clone("main"))
	refused, accepted := refusedShapes(), acceptedShapes()
	if len(refused) < 61 || len(accepted) < 33 {
		t.Fatalf("%d and %d shapes", len(refused), len(accepted))
	}
	for i, sh := range slices.Concat(refused, laterShapes(), accepted) {
		head := sh.make(s)
		s.Git("update-ref", "refs/heads/pr", head)
		err := clone("pr")
		if (err != nil) != (i < len(refused)) {
			t.Errorf("%s: git says %v", sh.name, err)
		}
		repo := must.Get(registry.Open(s.Dir))(t)
		if got := checkShape(t, repo, s.base, head); got != sh.want {
			t.Errorf("%s: check finds %q, want %q", sh.name, got, sh.want)
		}
		for _, from := range []string{"", s.base} {
			if got := auditShape(t, repo, from, head); got != sh.want {
				t.Errorf("%s: audit from %q finds %q, want %q", sh.name, from, got, sh.want)
			}
		}
		repo.Close()
	}
}

// checkShape is the code by which append-only fails a range: "error" for a run that ends with one.
func checkShape(t *testing.T, repo *registry.Repository, base, head string) string {
	t.Helper()
	r, err := repo.Range(t.Context(), base, head)
	if err != nil {
		return "error"
	}
	rep, err := judge.Check(context.Background(), repo, []*registry.Range{r}, sources.Offline(time.Unix(1_800_000_000,
		0), 0),
		judge.Config{Offline: true, Selected: func(id string) bool { return id == "append-only" }})
	if err != nil {
		return "error"
	}
	code := ""
	for res := range rep.Results.All() {
		for _, f := range res.Findings {
			if strings.HasPrefix(f.Code, "fsck-") {
				if f.Severity != verdict.Error || rep.Verdict != verdict.Failed || f.Fix == "" {
					t.Errorf("%+v, verdict %s", f, rep.Verdict)
				}
				code = f.Code
			}
		}
	}
	return code
}

// auditShape is the same for the steps of a history.
func auditShape(t *testing.T, repo *registry.Repository, from, head string) string {
	t.Helper()
	ledger := checks.NewLedger(repo, time.Unix(1_800_000_000, 0))
	if from != "" {
		ledger = checks.LedgerAt(repo, from, time.Unix(1_800_000_000, 0))
	}
	code := ""
	err := repo.Steps(t.Context(), from, head, func(s *registry.Step) error {
		faults, err := ledger.Step(t.Context(), s)
		for _, f := range faults {
			if strings.HasPrefix(f.Code, "fsck-") && f.Severity == verdict.Error {
				if f.Commit != s.Commit.ID {
					t.Errorf("%s is of commit %s, want %s", f.Message, f.Commit, s.Commit.ID)
				}
				code = f.Code
			}
		}
		return err
	})
	if err != nil {
		return "error"
	}
	return code
}
