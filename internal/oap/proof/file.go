package proof

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/tlog"
)

// MaxFile is the size in bytes of the largest proof file.
const MaxFile = 64 << 10

// fileLine is the first line of a C2SP tlog-proof.
const fileLine = "c2sp.org/tlog-proof@v1"

// IsFile reports whether a text begins as a proof does.
func IsFile(text []byte) bool { return bytes.HasPrefix(text, []byte(fileLine+"\n")) }

// File is a proof file: a C2SP tlog-proof of the newest entry of a log, with the proofs of names in the entry's map.
type File struct {
	Entry   Entry // without Files, which the proofs of names give
	Content []byte
	Names   []NameProof // the listing, and unless it is absent the name of its revocation
	Index   int64
	Path    []Hash // inclusion path, from the leaf's sibling upwards
	Signed  *Signed
}

// extra is the JSON object in a proof file. Only content may be empty where it is present: it is a pointer.
type extra struct {
	Version int64       `json:"version"`
	Commit  string      `json:"commit"`
	Time    int64       `json:"time"`
	After   string      `json:"after,omitzero"`
	Files   []extraFile `json:"files"`
}

type extraFile struct {
	Path     string  `json:"path"`
	Content  *string `json:"content,omitzero"`
	SHA256   string  `json:"sha256,omitzero"`
	Siblings string  `json:"siblings"`
	Other    string  `json:"other,omitzero"`
}

// Encode returns the bytes of the file.
func (f *File) Encode() ([]byte, error) {
	x := extra{Version: 1, Commit: f.Entry.Commit, Time: f.Entry.Time, After: f.Entry.After}
	encode := base64.StdEncoding.EncodeToString
	for i, n := range f.Names {
		var siblings []byte
		for _, s := range n.Siblings {
			siblings = append(siblings, s[:]...)
		}
		e := extraFile{Path: n.Name, Siblings: encode(siblings)}
		switch {
		case n.Value != nil && i == 0:
			e.Content = new(encode(f.Content))
		case n.Value != nil:
			e.SHA256 = n.Value.String()
		case n.Other != nil:
			e.Other = encode(append(n.Other.Key[:], n.Other.Value[:]...))
		}
		x.Files = append(x.Files, e)
	}
	object, err := json.Marshal(x)
	if err != nil {
		return nil, fmt.Errorf("encoding the proof: %w", err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\nextra %s\nindex %d\n", fileLine, encode(object), f.Index)
	for _, h := range f.Path {
		fmt.Fprintf(&b, "%s\n", h)
	}
	b.WriteByte('\n')
	b.Write(f.Signed.data)
	if b.Len() > MaxFile {
		return nil, fmt.Errorf("the proof has %d bytes; expected at most %d", b.Len(), MaxFile)
	}
	return b.Bytes(), nil
}

// ParseFile reads a proof file in the one form that Encode writes. Nothing in it is verified yet.
func ParseFile(data []byte) (*File, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("the proof exceeds %d bytes", MaxFile)
	}
	head, checkpoint, found := bytes.Cut(data, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	if !found || len(lines) < 3 || lines[0] != fileLine {
		return nil, fmt.Errorf("the proof does not begin with the lines %s, extra and index", fileLine)
	}
	object, ok := strings.CutPrefix(lines[1], "extra ")
	index, is := strings.CutPrefix(lines[2], "index ")
	if !ok || !is {
		return nil, errors.New("the second and third line of the proof are not extra and index")
	}
	f := &File{}
	text, err := fromBase64(object)
	if err == nil {
		err = f.decode(text)
	}
	if err != nil {
		return nil, fmt.Errorf("line extra: %w", err)
	}
	if f.Index, err = decimal(index); err != nil {
		return nil, fmt.Errorf("line index: %w", err)
	}
	for _, line := range lines[3:] {
		h, err := parseHash(line)
		if err != nil {
			return nil, fmt.Errorf("inclusion path: %w", err)
		}
		f.Path = append(f.Path, h)
	}
	if f.Signed, err = ParseSigned(checkpoint); err != nil {
		return nil, err
	}
	again, err := f.Encode()
	if err != nil || !bytes.Equal(again, data) {
		return nil, errors.New("the proof is not in the one form that a proof has")
	}
	return f, nil
}

// decode reads the JSON object. That its members are in order and without white space, and that none is there that
// should not be, is left to ParseFile, which encodes it again.
func (f *File) decode(text []byte) error {
	var x extra
	if err := json.Unmarshal(text, &x, json.RejectUnknownMembers(true)); err != nil {
		return errors.New("it is not the JSON object of a proof")
	}
	f.Entry = Entry{Commit: x.Commit, Time: x.Time, After: x.After}
	switch {
	case x.Version != 1:
		return fmt.Errorf("the version is %d; expected 1", x.Version)
	case !isCommit(x.Commit) || x.After != "" && !isCommit(x.After) || x.Time < 0:
		return errors.New("commit, time or after is not one of a commit")
	case len(x.Files) != 1 && len(x.Files) != 2:
		return fmt.Errorf("files has %d members; expected 1 or 2", len(x.Files))
	}
	for i := range x.Files {
		n, err := f.decodeName(&x.Files[i])
		if err != nil {
			return fmt.Errorf("files %d: %w", i, err)
		}
		f.Names = append(f.Names, n)
	}
	return nil
}

func (f *File) decodeName(e *extraFile) (NameProof, error) {
	n := NameProof{Name: e.Path}
	siblings, err := fromBase64(e.Siblings)
	if err != nil || len(siblings)%tlog.HashSize != 0 || len(siblings) > MaxSiblings*tlog.HashSize {
		return n, fmt.Errorf("siblings is not the base64 of at most %d SHA-256", MaxSiblings)
	}
	for ; len(siblings) > 0; siblings = siblings[tlog.HashSize:] {
		n.Siblings = append(n.Siblings, Hash(siblings[:tlog.HashSize]))
	}
	if e.Content != nil {
		if f.Content, err = fromBase64(*e.Content); err != nil {
			return n, err
		}
		n.Value = new(Hash(sha256.Sum256(f.Content)))
	}
	if e.SHA256 != "" {
		value, err := parseHash(e.SHA256)
		if err != nil {
			return n, err
		}
		n.Value = &value
	}
	if e.Other != "" {
		other, err := fromBase64(e.Other)
		if err != nil || len(other) != 2*tlog.HashSize {
			return n, errors.New("other is not the base64 of a key and a value")
		}
		n.Other = &Member{Hash(other[:tlog.HashSize]), Hash(other[tlog.HashSize:])}
	}
	return n, nil
}

// root returns the root of the map, which the proofs of all names must agree on.
func (f *File) root() (Hash, error) {
	root, err := f.Names[0].Root()
	for i := range f.Names[1:] {
		again, more := f.Names[i+1].Root()
		if err == nil && more == nil && again != root {
			more = errors.New("the proofs of the names are of different maps")
		}
		err = errors.Join(err, more)
	}
	return root, err
}
