package checks

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// layoutID is the id of layout, to which append-only leaves files with private keys.
const layoutID = "layout"

var layout = &Check{
	ID:    layoutID,
	Title: "every file is where the registry format puts it, and is strict JSON",
	Cite:  "RFC 0026 sections 3 to 5",
	Row:   "Schema",
	Why:   "readers cannot rely on a record that some of them find under another name, or read differently",
	Fix: "name the file as the message says, as a plain file in its data directory, and make its text strict " +
		"JSON",
	Kinds:        registry.DataKinds,
	First:        true,
	inHistory:    true,
	After:        []*Check{appendOnly},
	Run:          runLayout,
	runRecovered: runLayoutRecovered,
	RunRegistry:  runLayoutRegistry,
	Blocks: func(s *Subject, _ []string) (pointer, code, message string) {
		if s.Record.Document == nil {
			return "", s.Record.Err.Code, "the file is not readable: " + s.Record.Err.Message
		}
		return "", "", ""
	},
	Codes: slices.Concat([]Code{
		{"misplaced-file", "a file of a data directory has a name that no record has",
			"rename it to <slug>.json, for a revocation <slug>-<sha256>.json"},
		{"file-mode", "the file is a symbolic link, executable or a submodule",
			"replace it by a plain file of mode 100644"},
		{"folder-mode", "a data directory is not a directory", "make it a directory of plain files"},
		{"empty-folder", "a directory is empty, so no clone keeps it and the next commit removes it",
			"leave it out, or put a file into it"},
		{"slug-mismatch", "slug is not the one that the file's name says",
			"set slug to the file's name, or rename the file"},
		{"revocation-name", "revoked_receipt_sha256 is not the hash in the file's name",
			"name the file <slug>-<revoked_receipt_sha256>.json"},
		{"did-spelling", "tool_did is not in the one spelling that makes equal DIDs equal texts",
			"write the host in lower case, without a trailing dot and without an underscore"},
		{"device-name", "the slug or a new governance path has the name of a device on some systems, which cannot " +
			"hold the file",
			"choose another name"},
		{"duplicate-slug", "another listing has this slug", "choose another slug, or update that listing"},
		{"duplicate-did", "another listing has this tool_did", "update that listing: one implementation has one"},
		{"case-twin", "two paths are one on systems that fold letter case", "rename the newer of the two"},
		{"witness-differs", "the entry of peer-witnesses/ is not an exact copy of the merged listing",
			"copy the listing's file as it is"},
		{"witness-not-current", "the listing that the entry copies is expired, revoked or refused",
			"renew the listing first"},
		{"path-character", "a new governance path holds a character that some systems refuse in names",
			"rename it without any of \\ : * ? \" < > |"},
		{"repository-in-tree", "a directory of the tree is a Git repository to its readers, or has the name of a " +
			"mirror's clone, and would be read instead of the clone",
			"rename HEAD, or registry.git"},
		{"path-too-long", "a new path has more than 1,024 bytes, or a part of it more than 255, which some systems " +
			"cannot hold",
			"choose a shorter name"},
		{codePrivateKey, "a file that base does not hold has a private key, which anyone can use once it is pushed",
			privateKeyFix},
		{"record-elsewhere", "a new file outside the data directories has the members of a record, or its directory " +
			"has nearly the name of a data directory",
			"move it to the path that the message names, or put an example below examples/"},
		{codeGitkeep, "a .gitkeep of a data directory has content, which nobody judges", "empty it"},
		{codeLargeFile, "a commit of the range brings a large file that is not a record, and the history keeps it " +
			"permanently",
			"remove the file from every commit of the branch, and link to it instead"},
		{"standing-faults", "the base tree has more faults than are shown",
			"fix those that are shown; they block nobody"},
		witnessNotListed, witnessLevel,
	}, registry.Codes, strict.Codes),
}

// IsDevice reports whether a slug is the name of a device on some systems, where no clone could hold its file.
func IsDevice(slug string) bool { return deviceName().MatchString(slug) }

var deviceName = plain.Pattern(`^(con|conin\$|conout\$|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// PlainMode is the mode of a record: the value of a finding of layout about another mode.
const PlainMode = "100644"

// fixCommand lets the gate write what a finding of a new record asks for.
const fixCommand = "oap-gate check --worktree --fix"

// place judges what a single file shows: name, mode, text, slug and the spelling of its DID. The right name is that of
// rightName.
func place(s *Subject, right string) []verdict.Finding {
	var out verdict.Outcome
	if s.Path == s.Kind.Directory() {
		if s.Record.Entry.Mode == registry.ModeTree {
			out.Errorf(s, "", "empty-folder", "%s", noClone(s.Path)).WithFix("leave it out, or put a .gitkeep into it")
			return out.Findings
		}
		out.Errorf(s, "", "folder-mode", "%s has mode %06o, a data directory has mode %06o", s.Path,
			uint32(s.Record.Entry.Mode), uint32(registry.ModeTree)).
			WithFix("make %s a directory of plain files", s.Path)
		return out.Findings
	}
	named := RecordSlug(s.Kind, s.Path)
	if named == "" {
		form := s.Kind.Directory() + "/<slug>.json"
		if s.Kind == registry.KindRevocation {
			form = "revocations/<slug>-<sha256>.json"
		}
		f := out.Errorf(s, "", "misplaced-file", "%q is in a data directory, which may contain only %s", s.Path, form)
		f.Pos = registry.Pos{Path: s.Path, Line: 1, Column: 1} // it is the name, not where the text stops being JSON
		f.WithFix("take it out of %s/, or name it %s, with a slug of 2 to 64 characters from a-z, 0-9 and -, not "+
			"beginning with -",
			s.Kind.Directory(), form)
		if right != "" {
			f.WithFix(fixCommand+", or name it %s", right).WithValue(right)
		}
		return out.Findings
	}
	if mode := s.Record.Entry.Mode; mode != registry.ModeFile {
		f := out.Errorf(s, "", "file-mode", "mode is %o, a record is a plain file of mode %o", uint32(mode),
			uint32(registry.ModeFile))
		f.WithFix("replace it by a plain file: no symbolic link, no submodule, no executable bit").WithValue(PlainMode)
		if mode == registry.ModeExecutable && s.Added() {
			f.WithFix(fixCommand+"; if git ignores file modes here, git update-index --chmod=-x %s",
				plain.ShellWord(s.Path))
		}
		if s.Record.Document == nil {
			return out.Findings
		}
	}
	if err := s.Record.Err; err != nil {
		f := out.Errorf(s, err.Pointer, err.Code, "%s", err.Message)
		f.WithFix("write one strict JSON text: UTF-8 without byte order mark, no member twice, at most 64 KiB")
		path := plain.ShellWord(s.Path)
		switch {
		case strings.HasSuffix(err.Message, "is a merge conflict marker"):
			f.WithFix("resolve the conflict, then git add %s", path)
		case err.Message == strict.LFSPointer:
			f.WithFix("git lfs untrack %s, then add the file again", path)
		case err.Message == strict.ByteOrderMark && s.Added():
			f.WithFix(fixCommand)
		case err.Message == strict.UTF16:
			f.WithFix("save it as UTF-8 (PowerShell: Set-Content -Encoding utf8)")
		}
		return out.Findings
	}
	root := s.Record.Document.Root
	slug := strict.String(root, "slug")
	if slug != named {
		f := out.Errorf(s, "/slug", "slug-mismatch", "slug is %q, the file's name says %q", slug, named)
		f.WithFix("set slug to %q, or rename the file", named)
		if right != "" {
			f.WithFix("set slug to %q, or name the file %s", named, right).WithValue(right)
		}
	}
	switch s.Kind {
	case registry.KindRevocation:
		want := revocationName(s.Path).SHA256
		if sum := strict.String(root, "revoked_receipt_sha256"); sum != want {
			f := out.Errorf(s, "/revoked_receipt_sha256", "revocation-name",
				"revoked_receipt_sha256 is %q, the file's name says %q", sum, want)
			f.WithFix("name the file revocations/<slug>-<revoked_receipt_sha256>.json")
			if right != "" {
				f.WithFix("name the file %s", right).WithValue(right)
			}
		}
	case registry.KindListing:
		spelling(&out, s, strict.String(root, "tool_did"))
	}
	return out.Findings
}

// rightName returns the path that the members of an added record require, or "" if they require none or one that is
// taken.
func rightName(s *Subject) (string, error) {
	if s.Record.Document == nil || !s.isNew() {
		return "", nil
	}
	path := memberPath(s.Kind, s.Record.Document.Root)
	if path == s.Path || RecordSlug(s.Kind, path) == "" { // else a ledger would read each directory of the history
		return "", nil
	}
	taken, err := s.Run.Range.Result.Leaf(path)
	if err != nil || taken != nil {
		return "", err
	}
	return path, nil
}

// spelling checks that a did:web is written in the one spelling that makes equal DIDs equal texts.
func spelling(o *verdict.Outcome, s *Subject, text string) {
	d, err := did.Parse(text)
	switch {
	case err != nil: // did-resolution says so
	case strings.Contains(d.Host(), "_"):
		o.Errorf(s, "/tool_did", "did-spelling", "tool_did is %q with an underscore, which no host name has", text).
			WithFix("move to a host name of letters, digits and hyphens")
	case d.Spelling() != text:
		o.Errorf(s, "/tool_did", "did-spelling", "tool_did is %q, its one spelling is %q", text, d.Spelling()).
			WithFix("set tool_did to %q: lower-case host, no trailing dot", d.Spelling()).WithValue(d.Spelling())
	}
}

func runLayout(s *Subject) (verdict.Outcome, error) {
	right, err := rightName(s)
	if err != nil {
		return verdict.Outcome{}, err
	}
	out := verdict.Outcome{Findings: place(s, right)}
	if s.Listing != nil && s.baseListing != nil && s.baseListing.Slug != s.Listing.Slug && s.Run.Selected(reissueID) {
		// A slug that changes is refused there, whatever it changes to.
		out.Findings = slices.DeleteFunc(out.Findings, func(f verdict.Finding) bool { return f.Pointer == slugPointer })
	}
	if s.Record.Document == nil {
		return out, nil
	}
	switch s.Kind {
	case registry.KindListing:
		unique(&out, s)
	case registry.KindPeerWitness:
		if s.isNew() {
			if err := directoryEntry(&out, s); err != nil {
				return out, err
			}
		}
	}
	if named := RecordSlug(s.Kind, s.Path); s.Kind != registry.KindRevocation && s.Kind != registry.KindPeerWitness &&
		s.isNew() && IsDevice(named) {
		out.Errorf(s, "/slug", "device-name", "slug %q is the name of a device on some systems, where no clone could "+
			"hold it", named).
			WithFix("choose another slug")
	}
	forgive(&out, s)
	return out.OrPass(), nil
}

// forgive makes warnings of the findings that no re-issue can fix, since the base tree has the same.
func forgive(o *verdict.Outcome, s *Subject) {
	if !s.modified() || s.Kind != registry.KindListing {
		return
	}
	standing := unmendable(s)
	for i := range o.Findings {
		if f := &o.Findings[i]; standing[f.Pointer] || f.Value == PlainMode {
			f.Severity = verdict.Warning
			f.Message += "; the base tree has it already, and no re-issue can fix it"
		}
	}
}

// unmendable returns the members that a re-issue must not change and has not changed.
func unmendable(s *Subject) map[string]bool {
	was, is := s.baseListing, s.Listing
	if was == nil {
		return nil
	}
	return map[string]bool{slugPointer: was.Slug == is.Slug, "/tool_did": was.ToolDID == is.ToolDID}
}

// runLayoutRecovered checks that no other listing took the slug or DID of a recovered one while it could not be read.
func runLayoutRecovered(s *Subject) verdict.Outcome {
	var out verdict.Outcome
	if s.Listing == nil {
		return out
	}
	unique(&out, s)
	standing := unmendable(s)
	out.Findings = slices.DeleteFunc(out.Findings, func(f verdict.Finding) bool { return standing[f.Pointer] })
	for i := range out.Findings {
		out.Findings[i].Fix = "leave the file as the base tree has it: the other listing counts"
	}
	return out
}

// directoryEntry checks that a new entry in peer-witnesses/ copies a listing that may act as a witness.
func directoryEntry(o *verdict.Outcome, s *Subject) error {
	slug := strings.TrimSuffix(strings.TrimPrefix(s.Path, s.Kind.Directory()+"/"), ".json")
	path := listed.Path(slug)
	const fix = "propose the entry after the listing is merged, as an exact copy of it"
	l := s.Run.Base.BySlug(slug)
	if l == nil {
		o.Errorf(s, "", "witness-not-listed", "the base tree has no %s, of which this entry must be a copy", path).
			Fix = fix
		return nil
	}
	rec, err := s.Run.Range.Base.Record(s.Run.Context, path)
	if err != nil {
		return err
	}
	if pointer, same := firstDifference(s.Record.Document.Root, rec.Document.Root); !same {
		o.Errorf(s, pointer, "witness-differs", "this entry differs from the base tree's %s at %q", path, pointer).
			Fix = fix
	}
	if l.Level.Base() < 4 {
		o.Errorf(s, "/conformance_level", "witness-level", "%s is at level %q, a peer witness is at L4 or L5", path,
			l.Level).
			WithFix("leave the entry out until the listing reaches L4")
	}
	is, err := s.Run.landingState(l)
	switch {
	case err != nil:
		return err
	case is.Status == verdict.StatusRevoked:
		o.Errorf(s, "", "witness-not-current", "the listing's Receipt is revoked by %s", is.RevokedBy).
			WithFix("renew the listing first")
	case is.Status == verdict.StatusRefused:
		o.Errorf(s, "", "witness-not-current", "%s %s", path, is.Why).
			WithFix("correct the listing first, by a re-issue")
	case is.Status == verdict.StatusExpired:
		o.Errorf(s, "", "witness-not-current", "%s expired at %s", path, stamp(l.Expires)).
			WithFix("renew the listing first")
	}
	return nil
}

// firstDifference names the first member, in name order, in which two objects differ.
func firstDifference(a, b any) (string, bool) {
	x, okA := a.(map[string]any)
	y, okB := b.(map[string]any)
	if !okA || !okB {
		return "", reflect.DeepEqual(a, b)
	}
	if names := differingMembers(x, y); len(names) > 0 {
		return "/" + strict.Escape(names[0]), false
	}
	return "", true
}

// differingMembers returns the names of the members in which two objects differ, in order.
func differingMembers(a, b map[string]any) []string {
	names := slices.Sorted(maps.Keys(a))
	for n := range b {
		if _, there := a[n]; !there {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(n string) bool {
		x, inA := a[n]
		y, inB := b[n]
		return inA == inB && reflect.DeepEqual(x, y)
	})
}

// runLayoutRegistry looks for paths of the tree that would land which other systems cannot tell apart or hold, or which
// readers would take for a repository.
func runLayoutRegistry(r *Run) (verdict.Outcome, error) {
	var out verdict.Outcome
	for _, find := range []func(*Run) (verdict.Outcome, error){
		newTwins, privateKeys, largeFiles, dataFiles, directoryFindings, shadowFindings, longPaths, portable, elsewhere,
	} {
		found, err := find(r)
		if err != nil {
			return out, err
		}
		out.Findings = append(out.Findings, found.Findings...)
	}
	return out.OrPass(), nil
}

func isDataDirectory(path string) bool {
	return path != "" && registry.KindOf(path).Directory() == path
}

// directoryFindings checks that the governance files of the data directories are plain files. A file of another kind
// that the base tree already has is a warning.
func directoryFindings(r *Run) (verdict.Outcome, error) {
	var out verdict.Outcome
	for _, k := range registry.DataKinds {
		for _, name := range []string{"README.md", ".gitkeep"} {
			path := k.Directory() + "/" + name
			before, err := r.Range.Base.Leaf(path)
			if err != nil {
				return out, err
			}
			e := before // without reading the result's directory, which the base's or the changes show
			if c := changeOf(r.Range.Changes, path); c != nil {
				e = c.Head
			}
			if e == nil || e.Mode == registry.ModeFile {
				continue // files in a directory of this name are misplaced records
			}
			out.Add(verdict.At{Path: path}, errorIf(before == nil || before.Mode != e.Mode), "", "file-mode",
				"mode is %o, a file of a data directory has mode %o", uint32(e.Mode), uint32(registry.ModeFile)).
				WithFix("replace it by a plain file: no symbolic link, no submodule, no executable bit")
		}
	}
	return out, nil
}
