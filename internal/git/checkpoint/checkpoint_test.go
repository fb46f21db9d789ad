package checkpoint

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

var (
	testTip     = strings.Repeat("ab", 20)
	testSigners = strings.Repeat("0f", 32)
	testTrees   = [4]string{strings.Repeat("1", 40), Absent, strings.Repeat("3", 40), Absent}
)

// testBody is what two mirrors must agree on, byte for byte. Its root is that of
// printf 'oap-gate checkpoint v1\nTIP\nTREE\n-\nTREE\n-\n' | openssl dgst -sha256 -binary | base64
var testBody = "registry.example.org/oap\n50000\nN/fhScOAAaDRyaTn/ZMYzoSrE9EzwM/QHph4kd+k6NI=\npolicy 3\nsigners " +
	testSigners + "\ntip " + testTip + "\n"

func sample(t testing.TB) *Checkpoint {
	t.Helper()
	c := must.Get(New("registry.example.org/oap", 50000, testTip, testTrees, 3, testSigners))(t)
	return c
}

// zeros is a source of a key that is the same each time.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func keys(t testing.TB, name string) (note.Signer, note.Verifier) {
	t.Helper()
	private, public, err := note.GenerateKey(zeros{}, name)
	must.OK(t, err)
	file := filepath.Join(t.TempDir(), "key")
	must.OK(t, os.WriteFile(file, []byte(private+"\n"), 0o600))
	s := must.Get(Signer(file))(t)
	v := must.Get(Verifier(public))(t)
	return s, v
}

func TestBody(t *testing.T) {
	c := sample(t)
	if got := string(c.Body()); got != testBody {
		t.Errorf("body\n%swant\n%s", got, testBody)
	}
	if !c.Is(testTip, testTrees) {
		t.Error("not the checkpoint of its own tip")
	}
	other := testTrees
	other[1] = strings.Repeat("2", 40)
	if c.Is(testTip, other) || c.Is(strings.Repeat("cd", 20), testTrees) {
		t.Error("also the checkpoint of another tip")
	}
}

// TestMore checks that what was accepted, and from when on signatures were demanded, are lines of their own.
func TestMore(t *testing.T) {
	for _, tt := range []struct{ accepted, since, more string }{
		{testSigners, "", "accepted " + testSigners + "\n"},
		{"", testTip, "since " + testTip + "\n"},
		{testSigners, testTip, "accepted " + testSigners + "\nsince " + testTip + "\n"},
	} {
		c := sample(t)
		c.Accepted, c.Since = tt.accepted, tt.since
		if got := string(c.Body()); got != testBody+tt.more {
			t.Errorf("body\n%swant\n%s", got, testBody+tt.more)
		}
		if got, err := Parse(c.Body(), nil); err != nil || *got != *c {
			t.Errorf("read %+v, %v", got, err)
		}
	}
}

func TestNew(t *testing.T) {
	sha256Tip := strings.Repeat("ab", 32)
	tests := []struct {
		name    string
		origin  string
		size    int
		tip     string
		trees   [4]string
		policy  int
		signers string
		ok      bool
	}{
		{"good", "a", 1, testTip, testTrees, 0, testSigners, true},
		{"SHA-256", "a", 1, sha256Tip, [4]string{sha256Tip, "-", "-", "-"}, 0, testSigners, true},
		{"no origin", "", 1, testTip, testTrees, 0, testSigners, false},
		{"two lines of origin", "a\nb", 1, testTip, testTrees, 0, testSigners, false},
		{"space in origin", "a b", 1, testTip, testTrees, 0, testSigners, false},
		{"bad UTF-8", "a\xff", 1, testTip, testTrees, 0, testSigners, false},
		{"no commits", "a", 0, testTip, testTrees, 0, testSigners, false},
		{"short tip", "a", 1, testTip[1:], testTrees, 0, testSigners, false},
		{"upper case", "a", 1, strings.ToUpper(testTip), testTrees, 0, testSigners, false},
		{"tree of another length", "a", 1, testTip, [4]string{sha256Tip, "-", "-", "-"}, 0, testSigners, false},
		{"tree that is not hexadecimal", "a", 1, testTip, [4]string{strings.Repeat("g", 40), "-", "-", "-"}, 0,
			testSigners, false},
		{"longest origin", strings.Repeat("a", maxOrigin), 1, testTip, testTrees, 0, testSigners, true},
		{"origin of one byte more", strings.Repeat("a", maxOrigin+1), 1, testTip, testTrees, 0, testSigners, false},
		{"control character", "a\x01b", 1, testTip, testTrees, 0, testSigners, false},
		{"replacement character", "a\ufffdb", 1, testTip, testTrees, 0, testSigners, false},
		{"empty tree", "a", 1, testTip, [4]string{"", "-", "-", "-"}, 0, testSigners, false},
		{"policy", "a", 1, testTip, testTrees, -1, testSigners, false},
		{"signers", "a", 1, testTip, testTrees, 0, "-", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(tt.origin, tt.size, tt.tip, tt.trees, tt.policy, tt.signers)
			if (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrMalformed) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestParse(t *testing.T) {
	signer, verifier := keys(t, "mirror.example.org")
	_, stranger := keys(t, "other.example.org")
	c := sample(t)
	signed := must.Get(c.Encode(signer))(t)
	again, err := c.Encode(signer)
	if err != nil || !bytes.Equal(signed, again) {
		t.Errorf("signed twice: %v\n%s%s", err, signed, again)
	}
	note := string(signed)
	change := func(text, old, now string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("%q is not in %q", old, text)
		}
		return strings.Replace(text, old, now, 1)
	}
	tests := []struct {
		name, text string
		key        int // 0: none demanded, 1: that of the signer, 2: another
		want       error
	}{
		{"unsigned", testBody, 0, nil},
		{"unsigned where a key is demanded", testBody, 1, ErrUnverified},
		{"signed", note, 0, nil},
		{"signed by the key", note, 1, nil},
		{"signed by another", note, 2, ErrUnverified},
		{"tampered", change(note, "50000", "50001"), 1, ErrUnverified},
		{"signature changed", change(note, "\u2014 mirror.example.org ", "\u2014 mirror.example.org A"), 1,
			ErrMalformed},
		{"signature beside", note + "\u2014 witness.example.org " + strings.Repeat("A", 96) + "\n", 1, nil},
		{"empty", "", 0, ErrMalformed},
		{"no line end", strings.TrimSuffix(testBody, "\n"), 0, ErrMalformed},
		{"cut off", testBody[:len(testBody)/2], 0, ErrMalformed},
		{"empty line", testBody + "\n", 0, ErrMalformed},
		{"CRLF", strings.ReplaceAll(testBody, "\n", "\r\n"), 0, ErrMalformed},
		{"size +", change(testBody, "50000", "+50000"), 0, ErrMalformed},
		{"size 0", change(testBody, "50000", "050000"), 0, ErrMalformed},
		{"huge size", change(testBody, "50000", "99999999999999999999"), 0, ErrMalformed},
		{"base64 bits", change(testBody, "=\n", "\n"), 0, ErrMalformed},
		{"policy word", change(testBody, "policy 3", "policy x"), 0, ErrMalformed},
		{"no policy", change(testBody, "policy 3", "policy"), 0, ErrMalformed},
		{"other order", change(change(testBody, "policy 3\n", ""), "tip ", "policy 3\ntip "), 0, ErrMalformed},
		{"one line more", testBody + "x\n", 0, ErrMalformed},
		{"accepted of another length", testBody + "accepted 0f\n", 0, ErrMalformed},
		{"since of another length", testBody + "since 0f\n", 0, ErrMalformed},
		{"accepted twice", testBody + strings.Repeat("accepted "+testSigners+"\n", 2), 0, ErrMalformed},
		{"since before accepted", testBody + "since " + testTip + "\naccepted " + testSigners + "\n", 0, ErrMalformed},
		{"accepted of nothing", testBody + "accepted \n", 0, ErrMalformed},
		{"short tip", change(testBody, "tip ab", "tip "), 0, ErrMalformed},
		{"upper case", change(testBody, "tip ab", "tip AB"), 0, ErrMalformed},
		{"too large", strings.Repeat("a", maxBytes+1), 0, ErrMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got *Checkpoint
			var err error
			switch tt.key {
			case 0:
				got, err = Parse([]byte(tt.text), nil)
			case 1:
				got, err = Parse([]byte(tt.text), verifier)
			case 2:
				got, err = Parse([]byte(tt.text), stranger)
			}
			if !errors.Is(err, tt.want) {
				t.Fatalf("error %v, want %v", err, tt.want)
			}
			if err == nil && *got != *c {
				t.Errorf("read %+v, want %+v", got, c)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	tests := []struct{ remote, want string }{
		{"https://forge.example.org/oap/registry.git", "forge.example.org/oap/registry"},
		{"https://user:word@Forge.example.org/oap/registry/", "forge.example.org/oap/registry"},
		{"git@forge.example.org:oap/registry.git", "forge.example.org/oap/registry"},
		{"forge.example.org:/oap/registry", "forge.example.org/oap/registry"},
		{"ssh://git@forge.example.org:2222/oap/registry.git/", "forge.example.org:2222/oap/registry"},
		{"/srv/registry.git", "/srv/registry"},
		{"file:///srv/registry", "/srv/registry"},
		{"file:///srv/my registry", ""},
		{"Registry", "Registry"},
		{"/srv/A:b", "/srv/A:b"},
		{"https://forge.example.org/a%20b", "forge.example.org/a%20b"},
		{"https://forge.example.org/a\nb", ""},
		{"/srv/my registry", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := Origin(tt.remote); got != tt.want {
			t.Errorf("origin of %q is %q, want %q", tt.remote, got, tt.want)
		}
	}
}

func TestPublicOrigin(t *testing.T) {
	for remote, want := range map[string]string{
		"https://forge.example.org/oap/registry.git": "forge.example.org/oap/registry",
		"registry":               "registry",
		"/srv/registry.git":      "",
		"../registry":            "",
		`C:\registry`:            "",
		"https://forge.example/": "forge.example",
		"":                       "",
	} {
		if got := PublicOrigin(remote); got != want {
			t.Errorf("public origin of %q is %q, want %q", remote, got, want)
		}
	}
}

func TestFile(t *testing.T) {
	signer, verifier := keys(t, "mirror.example.org")
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	if _, err := Read(path, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that it is not there", err)
	}
	c := sample(t)
	for _, s := range []note.Signer{nil, signer} {
		text := must.Get(c.Encode(s))(t)
		if !IsFile(text) {
			t.Errorf("%q is not a checkpoint", text)
		}
		must.OK(t, os.WriteFile(path, text, 0o600))
		got, err := Read(path, nil)
		if err != nil || *got != *c {
			t.Errorf("read %+v, %v", got, err)
		}
	}
	if _, err := Read(path, verifier); err != nil {
		t.Error(err)
	}
	if _, err := Read(dir, nil); err == nil {
		t.Error("a directory is read")
	}
	must.OK(t, os.WriteFile(path, nil, 0o600))
	for _, nothing := range []string{path, os.DevNull} {
		if c, err := Read(nothing, verifier); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, %v, want that it is not there", nothing, c, err)
		}
	}
	if _, err := (&Checkpoint{}).Encode(nil); !errors.Is(err, ErrMalformed) {
		t.Errorf("an empty checkpoint is written: %v", err)
	}
	secret := filepath.Join(dir, "key")
	must.OK(t, os.WriteFile(secret, []byte("PRIVATE+KEY+secret"), 0o600))
	if _, err := Signer(secret); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	if _, err := Verifier("x"); err == nil {
		t.Error("a key that is none is read")
	}
}

// TestIsFile holds that one line of a checkpoint is enough, so that a damaged one is not taken for another's file.
func TestIsFile(t *testing.T) {
	for text, want := range map[string]bool{
		"a\npolicy b": true, "a\nb\nsigners c": true, "a\n\ntip c": true, "tip": false, "a policy b": false, "": false,
	} {
		if got := IsFile([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestParseMessages checks that the error names the part that is wrong. Often the comparison with what Encode writes
// would find it too, but cannot name it.
func TestParseMessages(t *testing.T) {
	root := testBody[strings.Index(testBody, "\n50000\n")+7 : strings.Index(testBody, "=\npolicy")+1]
	for _, tt := range []struct{ old, now, want string }{
		{"50000", "5x", `the size "5x"; expected a number`},
		{root, "?", `the root "?"; expected 32 bytes`},
		{root, "AAAA", `the root "AAAA"; expected 32 bytes`},
		{root, root + "A", `; expected 32 bytes`},
		{"policy 3", "Policy 3", `begins with "policy "`},
		{"signers ", "signed ", `begins with "signers "`},
		{"\ntip ", "\nhead ", `begins with "tip "`},
		{"policy 3", "policy x", `the policy "x"; expected a number`},
		{testTip + "\n", testTip + "\n" + testTip + "\n", `begins with "accepted " or "since "`},
		{testTip + "\n", testTip + "\nsince " + strings.Repeat("g", 40) + "\n", "expected an id of 40"},
		{testTip + "\n", testTip + "\naccepted " + testSigners + "\nsince " + testTip + "\nx\n",
			"9 lines; expected 6 to 8"},
		{testTip + "\n", testTip + "\naccepted " + testSigners, "6 lines; expected 6 to 8"},
	} {
		text := strings.Replace(testBody, tt.old, tt.now, 1)
		_, err := Parse([]byte(text), nil)
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", text, err, tt.want)
		}
	}
}

// TestSize checks a note of exactly maxBytes, and of one byte more, in memory and in a file.
func TestSize(t *testing.T) {
	signer, verifier := keys(t, "mirror.example.org")
	signed := must.Get(sample(t).Encode(signer))(t)
	const frame = len("\u2014  \n")
	rest := maxBytes - len(signed) - frame
	encoded := rest / 2 / 4 * 4
	largest := string(signed) + "\u2014 " + strings.Repeat("w", rest-encoded) + " " + strings.Repeat("A", encoded) +
		"\n"
	file := filepath.Join(t.TempDir(), "state")
	for text, ok := range map[string]bool{largest: true, strings.Replace(largest, "w", "ww", 1): false} {
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := Parse([]byte(text), verifier)
		_, errOfFile := Read(file, verifier)
		for _, err := range []error{err, errOfFile} {
			if (err == nil) != ok || err != nil && (!errors.Is(err, ErrMalformed) ||
				!strings.Contains(err.Error(), "at most 65536 are read")) {
				t.Errorf("%d bytes: %v", len(text), err)
			}
		}
	}
}

// mute is a signer that cannot sign.
type mute struct{ note.Signer }

func (mute) Sign([]byte) ([]byte, error) { return nil, errors.ErrUnsupported }

// TestFileErrors checks that each step of reading and writing a file reports its error.
func TestFileErrors(t *testing.T) {
	signer, _ := keys(t, "mirror.example.org")
	if _, err := sample(t).Encode(mute{signer}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a signer that cannot sign: %v", err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "state")
	must.OK(t, os.WriteFile(file, []byte("x"), 0o600))
	if c, err := Read(file, nil); c != nil || !errors.Is(err, ErrMalformed) {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := Read(dir, nil); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Signer(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no key: %v", err)
	}
	if runtime.GOOS == "linux" { // its first bytes are nobody's, so that reading fails
		if _, err := readFile("/proc/self/mem", 8); err == nil {
			t.Error("a file that cannot be read is read")
		}
		if _, err := Read("/proc", nil); err == nil || errors.Is(err, fs.ErrNotExist) { // a directory of 0 bytes
			t.Errorf("a directory of the system: %v", err)
		}
	}
}

func FuzzParse(f *testing.F) {
	signer, verifier := keys(f, "mirror.example.org")
	signed := must.Get(sample(f).Encode(signer))(f)
	f.Add(signed)
	f.Add([]byte(testBody))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := Parse(data, nil); err == nil && !bytes.HasPrefix(data, c.Body()) {
			t.Errorf("%q is read as %q", data, c.Body())
		} else if err == nil && !bytes.Contains(data, []byte("\n\n")) && len(data) != len(c.Body()) {
			t.Errorf("%q is read as %q", data, c.Body())
		}
		if c, err := Parse(data, verifier); err == nil && string(c.Body()) != testBody {
			t.Errorf("%q passes for signed", data)
		}
	})
}

// TestLogKeySignsNoCheckpoint refuses the key of a log: a witness that saw a checkpoint under it would refuse the log.
func TestLogKeySignsNoCheckpoint(t *testing.T) {
	private, _, err := note.GenerateKey(zeros{}, "registry.example.org/oap")
	must.OK(t, err)
	file := filepath.Join(t.TempDir(), "key")
	must.OK(t, os.WriteFile(file, []byte("oap-gate log key v1\n"+private+"\n"), 0o600))
	if _, err := Signer(file); err == nil || !strings.Contains(err.Error(), "the key of a log") {
		t.Errorf("a log key is accepted: %v", err)
	}
}
