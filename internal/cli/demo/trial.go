package demo

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/ed25519"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
)

// A trial is the recorded world, signed by new keys, by slug.
type trial struct {
	world
	keys map[string]ed25519.PrivateKey
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// The names of the documents below the directory of a site.
const (
	didDocument = ".well-known/did.json"
	manifest    = ".well-known/oap-tool.json"
	receiptFile = "oap-conformance-receipt.json"
)

// documents returns what an implementation serves, by name, and its Receipt, which is issued at a time.
func (t *trial) documents(slug string, issued time.Time) (map[string]string, *receipt.Receipt, error) {
	all := map[string]string{}
	for _, name := range []string{didDocument, manifest, receiptFile} {
		all[name] = t.world["sites/"+slug+".example/"+name]
	}
	was, err := receipt.Parse(slug, []byte(all[receiptFile]))
	if err != nil {
		return nil, nil, err
	}
	text := redated(all[receiptFile], issued.Sub(was.NotBefore.Time))
	text = strings.Replace(text, was.ID, fmt.Sprintf("urn:oap:conformance:%s-%d", slug, issued.Unix()), 1)
	r, err := receipt.Parse(slug, []byte(text))
	if err != nil {
		return nil, nil, err
	}
	message, err := r.SignedBytes()
	if err != nil {
		return nil, nil, err
	}
	text = strings.Replace(text, r.Signatures[0].Value, encoded(ed25519.Sign(t.keys[slug], message)), 1)
	if r, err = receipt.Parse(slug, []byte(text)); err != nil {
		return nil, nil, err
	}
	if message, err = r.WitnessedBytes(); err != nil {
		return nil, nil, err
	}
	for _, w := range r.PeerWitnesses {
		by := strings.TrimSuffix(strings.TrimPrefix(w.DID, "did:web:"), ".example")
		text = strings.Replace(text, w.Signature, encoded(ed25519.Sign(t.keys[by], message)), 1)
	}
	id, err := did.Parse(r.ImplementationDID)
	if err != nil {
		return nil, nil, err
	}
	doc, err := did.ParseDocument(didDocument, []byte(all[didDocument]), id, issued)
	if err != nil {
		return nil, nil, err
	}
	all[receiptFile] = text
	all[didDocument] = strings.Replace(all[didDocument], encoded(doc.Keys[0].Public),
		encoded(t.keys[slug].Public().(ed25519.PublicKey)), 1)
	r, err = receipt.Parse(slug, []byte(text))
	return all, r, err
}

// redated returns a text with each time in it that much later.
func redated(text string, later time.Duration) string {
	times := regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`)
	return times.ReplaceAllStringFunc(text, func(at string) string {
		was, err := time.Parse(`"`+time.RFC3339+`"`, at)
		if err != nil {
			return at
		}
		return was.Add(later).Format(`"` + time.RFC3339 + `"`)
	})
}

// listing returns the record that new would write.
func (t *trial) listing(slug string, r *receipt.Receipt, hash string) []byte {
	site := "https://" + slug + ".example/"
	return listing.Draft(listing.From{Slug: slug, ToolDID: r.ImplementationDID, ManifestURI: site + manifest,
		ReceiptURI: site + receiptFile, ReceiptSHA256: hash, Receipt: r,
		More: map[string]any{"license": "Apache-2.0", "contact": "contact@" + slug + ".example"}}).Document.Data
}

// commit makes a bare repository whose one commit has these listings.
func commit(dir string, listings map[string][]byte, when time.Time) error {
	s := store{dir: dir}
	empty := map[string][]byte{".gitkeep": nil}
	folders := map[string]map[string][]byte{"implementations": listings, "peer-witnesses": empty, "revocations": empty,
		"workflow-anchors": empty, "schemas": {
			"implementation.schema.json":  schemas.Text("listing"),
			"revocation.schema.json":      schemas.Text("revocation"),
			"workflow-anchor.schema.json": schemas.Text("workflow-anchor")}}
	var root bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		id := s.tree(folders[name])
		fmt.Fprintf(&root, "40000 %s\x00%s", name, id[:])
	}
	who := fmt.Sprintf("Registry <registry@example.org> %d +0000", when.Unix())
	tip := s.object("commit", fmt.Appendf(nil, "tree %x\nauthor %s\ncommitter %[2]s\n\nBegin\n",
		s.object("tree", root.Bytes()), who))
	s.write("HEAD", []byte("ref: refs/heads/main\n"))
	s.write("config", []byte("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"))
	s.write("refs/heads/main", fmt.Appendf(nil, "%x\n", tip))
	return s.err
}

// A store writes a Git repository. The first error remains.
type store struct {
	dir string
	err error
}

func (s *store) write(name string, data []byte) {
	s.err = cmp.Or(s.err, write(filepath.Join(s.dir, filepath.FromSlash(name)), data))
}

// object writes a loose object, and returns its id.
func (s *store) object(kind string, data []byte) [sha1.Size]byte {
	text := append(fmt.Appendf(nil, "%s %d\x00", kind, len(data)), data...)
	id := sha1.Sum(text)
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(text) // into memory, which does not fail
	z.Close()
	name := hex.EncodeToString(id[:])
	s.write("objects/"+name[:2]+"/"+name[2:], b.Bytes())
	return id
}

// tree writes a directory of files.
func (s *store) tree(files map[string][]byte) [sha1.Size]byte {
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		id := s.object("blob", files[name])
		fmt.Fprintf(&text, "100644 %s\x00%s", name, id[:])
	}
	return s.object("tree", text.Bytes())
}
