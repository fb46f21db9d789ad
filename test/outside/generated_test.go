package outside

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zlib"

	"filippo.io/edwards25519"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/opengap/ignore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// The judges of this file are programs; their cases are generated from the seed.

func random() *rand.Rand { return rand.New(rand.NewPCG(*seed, 0)) }

// programVersion returns what a program prints of its version, from its nth word.
func programVersion(word int, name string, args ...string) func() string {
	return func() string {
		out, err := exec.Command(name, args...).Output()
		if f := strings.Fields(string(out)); err == nil && len(f) > word {
			return f[word]
		}
		return "missing"
	}
}

type signedCase struct{ Key, Message, Sig []byte }

// signedCases returns random signatures. Every second case has a changed bit in its key, message or signature.
func signedCases() (all []signedCase) {
	rnd := random()
	for i := range 1000 {
		var of [sha256.Size]byte
		binary.LittleEndian.PutUint64(of[:], rnd.Uint64())
		private := ed25519.NewKeyFromSeed(of[:])
		message := make([]byte, 1+rnd.IntN(200))
		for j := range message {
			message[j] = byte(rnd.Uint32())
		}
		c := signedCase{bytes.Clone(private.Public().(ed25519.PublicKey)), message, ed25519.Sign(private, message)}
		if i%2 == 1 {
			part := [][]byte{c.Key, c.Message, c.Sig}[rnd.IntN(3)]
			part[rnd.IntN(len(part))] ^= 1 << rnd.IntN(8)
		}
		all = append(all, c)
	}
	return all
}

func spki(key []byte) []byte { return slices.Concat(unhexed("302a300506032b6570032100"), key) }

func unhexed(s string) []byte {
	raw, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return raw
}

// askNode returns whether crypto.verify of Node.js accepts each signature.
func askNode(r *run, cases []signedCase) (accepted []bool) {
	var input []map[string]string
	for _, c := range cases {
		input = append(input, map[string]string{"k": hex.EncodeToString(spki(c.Key)),
			"m": hex.EncodeToString(c.Message), "s": hex.EncodeToString(c.Sig)})
	}
	node(r, `import { createPublicKey, verify } from 'node:crypto'
const hex = s => Buffer.from(s, 'hex')
print(input.map(c => { try {
  return verify(null, hex(c.m), createPublicKey({ key: hex(c.k), format: 'der', type: 'spki' }), hex(c.s))
} catch { return false } }))`, input, &accepted)
	return accepted
}

var nodeSignatures = &judge{name: "generated: Ed25519 signatures, Node.js crypto.verify",
	of: programVersion(0, "node", "--version"), random: true, cases: 1000, sound: true, needs: []string{"node"},
	run: func(r *run) {
		cases := signedCases()
		for i, ok := range askNode(r, cases) {
			c := cases[i]
			r.compare(fmt.Sprint(i), accept(ok), func() (string, error) {
				return "", verified(c.Key, c.Message, c.Sig)
			})
		}
	}}

// Under a point of small order a signature of S = 0 and that point as R verifies for many messages.
var smallOrder = &judge{name: "generated: Ed25519 points of small order, Node.js crypto.verify",
	of: programVersion(0, "node", "--version"), random: true, cases: 420, sound: true, needs: []string{"node"},
	explained: []explanation{{".*", stricter, "a key or R of small order, or in a second encoding, on which " +
		"verifiers disagree", nil}},
	run: func(r *run) {
		points, private := smallPoints(r), ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
		var cases []signedCase
		for _, key := range append(slices.Clone(points), private.Public().(ed25519.PublicKey)) {
			for _, point := range points {
				for _, s := range []string{
					strings.Repeat("00", 32),
					"edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010", // the order: S = 0 again
				} {
					cases = append(cases, signedCase{key, []byte("message"), slices.Concat(point, unhexed(s))})
				}
			}
		}
		for i, ok := range askNode(r, cases) {
			c := cases[i]
			r.compare(fmt.Sprint(i), accept(ok), func() (string, error) {
				return "", verified(c.Key, c.Message, c.Sig)
			})
		}
	}}

// smallPoints returns every encoding of the eight points of small order that the library reads.
func smallPoints(r *run) (all [][]byte) {
	for _, y := range []string{"00", "01", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", "ecffff", "edffff", "eeffff"} {
		raw := make([]byte, 32)
		copy(raw, unhexed(y))
		if len(y) == 6 { // p-1, p and p+1
			for i := 1; i < 31; i++ {
				raw[i] = 0xff
			}
			raw[31] = 0x7f
		}
		for _, sign := range []byte{0, 0x80} {
			raw := bytes.Clone(raw)
			raw[31] |= sign
			p, err := new(edwards25519.Point).SetBytes(raw)
			if err != nil || new(edwards25519.Point).MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) != 1 {
				r.Fatalf("%x is not a point of small order: %v", raw, err)
			}
			all = append(all, raw)
		}
	}
	return all
}

var opensslSignatures = &judge{name: "generated: Ed25519 signatures, openssl pkeyutl",
	of: programVersion(1, "openssl", "version"), random: true, cases: 1000, sound: true, needs: []string{"openssl"},
	run: func(r *run) {
		dir := r.TempDir()
		file := func(name string, text []byte) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				r.Fatal(err)
			}
			return path
		}
		for i, c := range signedCases() {
			key := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki(c.Key)})
			cmd := exec.Command("openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", file("key", key), "-in",
				file("message", c.Message), "-sigfile", file("sig", c.Sig))
			out, err := cmd.CombinedOutput()
			if err != nil && !bytes.Contains(out, []byte("Verification Failure")) &&
				!bytes.Contains(out, []byte("key")) {
				r.Fatalf("%v: %s", err, out)
			}
			r.compare(fmt.Sprint(i), accept(err == nil), func() (string, error) {
				return "", verified(c.Key, c.Message, c.Sig)
			})
		}
		if _, err := x509.ParsePKIXPublicKey(spki(make([]byte, 32))); err != nil {
			r.Errorf("what is asked about is not a key: %v", err)
		}
	}}

// randomJSON returns a text that is JSON, or nearly.
func randomJSON(rnd *rand.Rand) string {
	var value func(depth int) string
	str := func() string {
		var out strings.Builder
		for range rnd.IntN(4) {
			out.WriteString([]string{"a", "é", "😀", `\n`, `\u0061`, `\ud83d\ude00`, `\/`, "\u2028", `\"`, `\ud800`,
				"~", "\x7f", `\u0000`}[min(rnd.IntN(20), 12)])
		}
		return `"` + out.String() + `"`
	}
	value = func(depth int) string {
		kinds := 6
		if depth > 3 {
			kinds = 4
		}
		switch rnd.IntN(kinds) {
		case 0:
			return []string{"true", "false", "null"}[rnd.IntN(3)]
		case 1:
			return []string{"0", "-0", "1e21", "1e-7", "123.50", "1E+2", "9007199254740993", "5e-324", "0.1",
				"-1.5e300", "1e400", fmt.Sprint(rnd.NormFloat64())}[rnd.IntN(12)]
		case 2, 3:
			return str()
		case 4:
			var all []string
			for range rnd.IntN(4) {
				all = append(all, value(depth+1))
			}
			return "[" + strings.Join(all, ", ") + "]"
		}
		var all []string
		for range rnd.IntN(4) {
			all = append(all, str()+" :"+value(depth+1))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	text := []byte(value(0))
	if rnd.IntN(3) == 0 {
		text[rnd.IntN(len(text))] = " ,:{}[]\"\\0e-."[rnd.IntN(13)]
	}
	return strings.ToValidUTF8(string(text), "?")
}

var nodeJSON = &judge{name: "generated: JSON, JSON.parse and npm canonicalize", of: func() string {
	return programVersion(0, "node", "--version")() + ", " + npmVersion("canonicalize")
}, random: true, cases: 5000, sound: true, needs: []string{"node", "npm"},
	explained: []explanation{{".*", stricter, "what JSON.parse changes in silence: members of one name, half of a " +
		"surrogate pair, a number beyond the range of a double", nil}},
	run: func(r *run) {
		rnd := random()
		var texts []string
		for range 5000 {
			texts = append(texts, randomJSON(rnd))
		}
		var out []*string
		node(r, `import canonicalize from 'canonicalize'
print(input.map(t => { try { return canonicalize(JSON.parse(t)) } catch { return null } }))`, texts, &out)
		for i, theirs := range out {
			want := answer{refuses: theirs == nil}
			if theirs != nil {
				want.value = *theirs
			}
			r.compare(fmt.Sprint(i), want, func() (string, error) {
				doc, err := strict.Parse("u", []byte(texts[i]), strict.Remote(1<<20))
				if err != nil {
					return "", err
				}
				text, err := signature.Canonical(doc.Root)
				return string(text), err
			})
		}
	}}

// The letters are of the Unicode versions that every Node.js in use has.
var nodeHosts = &judge{name: "generated: hosts, URL of Node.js", of: programVersion(0, "node", "--version"),
	random: true, cases: 5000, sound: true, needs: []string{"node"},
	explained: []explanation{{".*", stricter, nameRule, nil}},
	run: func(r *run) {
		rnd := random()
		var hosts []string
		for range 5000 {
			var host []string
			for range 1 + rnd.IntN(12) {
				host = append(host, []string{"a", "b", "Z", "0", "1", "9", "x", "-", ".", ".", "é", "ß", "Ä", "。",
					"xn--", "mnchen-3ya", "_", "ａ", "\u00ad", "σ", "日", "%41", "%2e", "\u200d"}[rnd.IntN(24)])
			}
			hosts = append(hosts, strings.Join(host, "")+".example")
		}
		var out []*string
		node(r, `print(input.map(h => {
  try { return new URL('https://' + h + '/').hostname } catch { return null }
}))`, hosts, &out)
		for i, theirs := range out {
			want := answer{refuses: theirs == nil}
			if theirs != nil {
				want.value = *theirs
			}
			r.compare(fmt.Sprintf("%d %s", i, hosts[i]), want, func() (string, error) {
				return domainage.Host(hosts[i])
			})
		}
	}}

var refNames = &judge{name: "generated: ref names, git check-ref-format", of: programVersion(2, "git", "version"),
	random: true, cases: 1000, sound: true, needs: []string{"git"}, run: func(r *run) {
		rnd := random()
		for i := range 1000 {
			var name strings.Builder
			for range 1 + rnd.IntN(6) {
				name.WriteString([]string{"a", "/", ".", "@", "{", ".lock", "-", "~", "^", ":", "?", "*", "[", "\\",
					" ", "\x7f", "é", "\x01", "b", "HEAD"}[min(rnd.IntN(30), 19)])
			}
			full := "refs/heads/" + name.String()
			_, err := git(r, "", nil, "check-ref-format", full)
			r.compare(fmt.Sprintf("%d %q", i, full), accept(err == nil), func() (string, error) {
				return "", gitstore.CheckRefName(full)
			})
		}
	}}

var ignorePatterns = &judge{name: "generated: patterns, git check-ignore", of: programVersion(2, "git", "version"),
	random: true, cases: 12000, sound: true, needs: []string{"git"}, run: func(r *run) {
		rnd := random()
		text := func(most int, letters ...string) string {
			var out strings.Builder
			for range 1 + rnd.IntN(most) {
				out.WriteString(letters[rnd.IntN(len(letters))])
			}
			return out.String()
		}
		dir := r.TempDir()
		if _, err := git(r, dir, nil, "init", "-q"); err != nil {
			r.Fatal(err)
		}
		var patterns, paths []string
		for i := range 600 {
			pattern := text(6, "a", "A", "/", "*", "?", "[", "]", "!", "-", `\`, ".", "**", "**/", "[a-z]", "[!a]", " ")
			directory := filepath.Join(dir, fmt.Sprint(i))
			if err := os.Mkdir(directory, 0o700); err != nil {
				r.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(directory, ".gitignore"), []byte(pattern+"\n"), 0o600); err != nil {
				r.Fatal(err)
			}
			for len(paths) < 20*(i+1) {
				path := text(4, "a", "A", "b", "-", "!", "]", "a/b", "/", "a.a")
				if path[0] != '/' && !strings.HasSuffix(path, "/") && !strings.Contains(path, "//") {
					patterns, paths = append(patterns, pattern), append(paths, path)
				}
			}
		}
		var input bytes.Buffer
		for i, path := range paths {
			fmt.Fprintf(&input, "%d/%s\x00", i/20, path)
		}
		out, err := git(r, dir, input.Bytes(), "check-ignore", "--no-index", "--stdin", "-z")
		if err != nil {
			r.Fatal(err)
		}
		ignored := map[string]bool{}
		for path := range strings.SplitSeq(out, "\x00") {
			ignored[path] = true
		}
		for i, path := range paths {
			want := answer{value: fmt.Sprint(ignored[fmt.Sprintf("%d/%s", i/20, path)])}
			r.compare(fmt.Sprintf("%d %q %q", i, patterns[i], path), want, func() (string, error) {
				scopes := []ignore.Scope{{Patterns: ignore.Parse([]byte(patterns[i] + "\n"))}}
				ignored := func(at string, dir bool) bool { return ignore.Ignores(scopes, at, dir) }
				for j := range path { // git does not look below an ignored directory
					if path[j] == '/' && ignored(path[:j], true) {
						return "true", nil
					}
				}
				return fmt.Sprint(ignored(path, false)), nil
			})
		}
	}}

// packEntry is an object of a pack: its kind, what stands between its header and its data, and its data.
type packEntry struct {
	kind   byte
	before []byte
	data   string
}

// packOf writes a pack that says that it has so many objects, with the right checksum.
func packOf(count int, trailing string, entries ...packEntry) []byte {
	out := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(count))
	for _, e := range entries {
		size := len(e.data)
		first := e.kind<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			out = append(out, first|0x80)
			first = byte(size & 0x7f)
		}
		out = append(append(out, first), e.before...)
		var packed bytes.Buffer
		w := zlib.NewWriter(&packed)
		_, _ = w.Write([]byte(e.data))
		_ = w.Close()
		out = append(out, packed.Bytes()...)
	}
	return summed(append(out, trailing...))
}

func summed(pack []byte) []byte {
	sum := sha1.Sum(pack)
	return append(slices.Clip(pack), sum[:]...)
}

var hostilePacks = &judge{name: "generated: hostile packs, git index-pack", of: programVersion(2, "git", "version"),
	cases: 354, sound: true, needs: []string{"git"}, run: func(r *run) {
		const blob, offset, ref = 3, 6, 7
		id := func(kind, data string) []byte {
			sum := sha1.Sum([]byte(fmt.Sprintf("%s %d\x00%s", kind, len(data), data)))
			return sum[:]
		}
		zero := string(make([]byte, 20))
		hello := packEntry{blob, nil, "hello, world"}
		delta := func(base, result int, ops string) string { return string([]byte{byte(base), byte(result)}) + ops }
		whole := delta(12, 12, "\x90\x0c") // copies all twelve bytes of hello
		abc := delta(12, 3, "\x03abc")
		body := packOf(1, "", hello)
		body = body[:len(body)-20]
		named := map[string][]byte{
			"one blob":                packOf(1, "", hello),
			"no object":               packOf(0, ""),
			"fewer objects than said": packOf(2, "", hello),
			"more objects than said":  packOf(1, "", hello, packEntry{blob, nil, "more"}),
			"trailing bytes":          packOf(1, "more", hello),
			"an object twice":         packOf(2, "", hello, hello),
			"a delta":                 packOf(2, "", hello, packEntry{ref, id("blob", hello.data), abc}),
			"a delta to itself":       packOf(1, "", packEntry{ref, id("blob", hello.data), whole}),
			"the same by a delta":     packOf(2, "", hello, packEntry{ref, id("blob", hello.data), whole}),
			"a missing base":          packOf(1, "", packEntry{ref, []byte(zero), whole}),
			"a base before the pack":  packOf(1, "", packEntry{offset, []byte{0x7f}, whole}),
			"offset zero":             packOf(1, "", packEntry{offset, []byte{0}, whole}),
			"a wrong base size": packOf(2, "", hello, packEntry{ref, id("blob", hello.data),
				delta(11, 3, "\x03abc")}),
			"a wrong result size": packOf(2, "", hello, packEntry{ref, id("blob", hello.data),
				delta(12, 4, "\x03abc")}),
			"a copy beyond the base": packOf(2, "", hello, packEntry{ref, id("blob", hello.data),
				delta(12, 13, "\x90\x0d")}),
			"operation zero": packOf(2, "", hello, packEntry{ref, id("blob", hello.data), delta(12, 3, "\x00")}),
			"kind 0":         packOf(1, "", packEntry{0, nil, "x"}),
			"kind 5":         packOf(1, "", packEntry{5, nil, "x"}),
			"version 4":      summed(slices.Concat([]byte("PACK\x00\x00\x00\x04"), body[8:])),
			"another magic":  summed(slices.Concat([]byte("KCAP"), body[4:])),
			"a wrong sum":    append(slices.Clone(body), make([]byte, 20)...),
			"no sum":         body,
			"nothing":        {},
		}
		names := make([]string, 0, len(named))
		for name := range named {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			indexed(r, name, named[name])
		}
		// Each byte of two packs changed in turn, with the checksum of the result.
		for n, pack := range [][]byte{named["a delta"], packOf(3, "", hello, packEntry{offset, []byte{byte(22)}, whole},
			packEntry{blob, nil, strings.Repeat("ab", 40)})} {
			body := pack[:len(pack)-20]
			for i := range body {
				for _, bit := range []byte{1, 0x80} {
					if len(r.cases) == hostilePacksCases {
						return
					}
					changed := bytes.Clone(body)
					changed[i] ^= bit
					indexed(r, fmt.Sprintf("pack %d, byte %d, bit %#x", n, i, bit), summed(changed))
				}
			}
		}
	}}

const hostilePacksCases = 354
