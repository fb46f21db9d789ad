// Package install installs the gate and inspects the installation.
//
// The package itself writes the gate into a registry: its workflows, their owners and the configurations, as the
// documentation has them, with what is left open there filled in.
package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/openagentprotocol-OAP/oap-gate/docs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// Release is what the files name of the gate.
type Release struct {
	Commit  string // full SHA of the commit that was released
	Version string // of that commit, for people; may be empty
	Image   string // "sha256:" and the digest of the release's image; empty: what runs the image is left out
	Owner   string // "@user" or "@organisation/team" that must approve changes of the gate; empty: left to be filled in
}

// Errors of a Release.
var (
	ErrCommit = errors.New("no full commit SHA: 40 lower-case hexadecimal digits that are not all zero")
	ErrImage  = errors.New("no digest of an image: sha256: and 64 lower-case hexadecimal digits")
	ErrOwner  = errors.New("no code owner: @user or @organisation/team")
	ErrName   = errors.New("no version: letters, digits, dots and hyphens")
)

var (
	commitForm  = plain.Pattern(`^[0-9a-f]{40}$`)
	imageForm   = plain.Pattern(`^sha256:[0-9a-f]{64}$`)
	ownerForm   = plain.Pattern(`^@[A-Za-z0-9][A-Za-z0-9-]{0,38}(/[A-Za-z0-9._-]{1,100})?$`)
	versionForm = plain.Pattern(`^[A-Za-z0-9.-]{1,64}$`)
)

// Check holds that the members are well-formed. The error is ErrCommit, ErrImage, ErrOwner or ErrName.
func (r Release) Check() error {
	switch {
	case !commitForm().MatchString(r.Commit) || r.Commit == noCommit:
		return fmt.Errorf("%q is %w", r.Commit, ErrCommit)
	case r.Image != "" && !imageForm().MatchString(r.Image):
		return fmt.Errorf("%q is %w", r.Image, ErrImage)
	case r.Owner != "" && !ownerForm().MatchString(r.Owner):
		return fmt.Errorf("%q is %w", r.Owner, ErrOwner)
	case r.Version != "" && !versionForm().MatchString(r.Version):
		return fmt.Errorf("%q is %w", r.Version, ErrName)
	}
	return nil
}

// What the documentation leaves open.
var (
	noCommit = strings.Repeat("0", 40)
	noImage  = "sha256:" + strings.Repeat("0", 64)
)

const (
	noOwner   = "@example/registry-maintainers"
	toReplace = " # replace by the SHA of a release"
)

func remark(version string) string {
	if version == "" {
		return ""
	}
	return " # " + version
}

// File is one file of the installation.
type File struct {
	Path string // in the registry
	Text []byte
	Left string // why it is not written; empty where it is

	elsewhere []string // other places in which the forge looks for it, once there is none at Path
}

// sources are the files of the documentation, by what becomes of them in a registry.
var sources = []struct {
	from, to  string
	elsewhere []string
}{
	{from: "workflows/check.yml", to: ".github/workflows/check.yml"},
	{from: "workflows/comment.yml", to: ".github/workflows/comment.yml"},
	{from: "workflows/audit.yml", to: ".github/workflows/audit.yml"},
	{from: "workflows/protect.yml", to: ".github/workflows/protect.yml"},
	{from: "workflows/remind.yml", to: ".github/workflows/remind.yml"},
	{from: "workflows/rerun.yml", to: ".github/workflows/rerun.yml"},
	{from: "workflows/CODEOWNERS", to: ".github/CODEOWNERS", elsewhere: []string{"CODEOWNERS", "docs/CODEOWNERS"}},
	{from: "repo-config.example.yml", to: ".github/repo-config.yml"},
	{from: "gate-policy.example.yml", to: ".github/gate-policy.yml"},
}

// Files are the files of the installation of r, which Check took.
func Files(r Release) []File {
	var out []File
	for _, s := range sources {
		text, err := docs.Files.ReadFile(s.from)
		if err != nil {
			panic(err) // the program's own file
		}
		f := File{Path: s.to, Text: text, elsewhere: s.elsewhere}
		if bytes.Contains(text, []byte("@"+noImage)) && r.Image == "" {
			f.Left = "it runs the release's image, and no digest of it was given"
		}
		fill := []string{noCommit + toReplace, r.Commit + remark(r.Version)}
		if r.Image != "" {
			fill = append(fill, noImage, r.Image)
		}
		if r.Owner != "" {
			fill = append(fill, noOwner, r.Owner)
		}
		f.Text = []byte(strings.NewReplacer(fill...).Replace(string(text)))
		out = append(out, f)
	}
	return out
}

// State is what became of one file.
type State string

// The states. A file that Differs, or that is no plain file, is kept as it is.
const (
	Written State = "wrote"
	Same    State = "same"
	Differs State = "differs"
)

// maxFile is how large a file may be that is compared, in bytes.
const maxFile = 1 << 20

// Write writes f below root, unless something stands at its path: nothing is ever overwritten. Nor is a file put out of
// force that stands where the forge looks next. With dry nothing is written. Where another text stands there the second
// result is the difference, as a unified diff. The error is that of the disk.
func Write(root *os.Root, f File, dry bool) (State, []byte, error) {
	for _, name := range append([]string{f.Path}, f.elsewhere...) {
		old, err := read(root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", nil, fmt.Errorf("reading %s: %w", name, err)
		case bytes.Equal(old, f.Text):
			return Same, nil, nil
		}
		return Differs, diff.Diff(name+" (here)", old, f.Path+" (oap-gate)", f.Text), nil
	}
	if dry {
		return Written, nil, nil
	}
	if err := root.MkdirAll(path.Dir(f.Path), 0o777); err != nil {
		return "", nil, fmt.Errorf("writing %s: %w", f.Path, err)
	}
	dir, err := root.OpenRoot(path.Dir(f.Path))
	if err != nil {
		return "", nil, fmt.Errorf("writing %s: %w", f.Path, err)
	}
	defer dir.Close()
	if err := atomicfile.Create(dir, path.Base(f.Path), f.Text, 0o666); err != nil {
		return "", nil, fmt.Errorf("writing %s: %w", f.Path, err)
	}
	return Written, nil, nil
}

func read(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is no plain file (%s)", info.Mode().Type())
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return capped.ReadAll(f, maxFile)
}
