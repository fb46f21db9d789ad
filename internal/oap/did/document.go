package did

import (
	"cmp"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Limits of a DID Document.
const (
	MaxBytes = 256 << 10
	// MaxKeys is how many verification methods, of whatever type, and entries of verification relationships a document
	// may have in all.
	MaxKeys = 200
)

// Codes of a DocumentError, in addition to those of package strict.
const (
	CodeShape       = "did-document-shape" // not an object, or verificationMethod is not an array of objects
	CodeID          = "did-id-differs"     // id is not the DID that was resolved
	CodePrivateKey  = "did-private-key"    // the document publishes a private key
	CodeWeakKey     = "did-weak-key"       // an Ed25519 point of small or mixed order, or in a second encoding
	CodePublished   = "did-published-key"  // an Ed25519 key whose private half everyone has
	CodeKeyID       = "did-key-ambiguous"  // one id names two keys
	CodeManyKeys    = "did-too-many-keys"  // more than MaxKeys
	CodeNoKey       = "did-no-key"         // no usable Ed25519 key
	CodeKeysOver    = "did-keys-over"      // no usable Ed25519 key: those in the document say that they have expired
	CodeDeactivated = "did-deactivated"    // the document says that the DID is no longer in use

	// CodePrefix is of a document whose one usable Ed25519 key would be one in multibase without its multicodec.
	CodePrefix = "multikey-prefix-missing"
)

// PublishedKey explains CodePublished.
var PublishedKey = strict.Code{ID: CodePublished, Meaning: "an Ed25519 key of the DID Document is published as an " +
	"example, so that anyone can sign in its owner's name",
	Fix: "make a new key with oap-gate key new FILE, and publish its public part instead"}

// Codes explains the codes of a DocumentError, except those of package strict.
var Codes = []strict.Code{
	{CodeShape, "the DID Document is not a JSON object, or its verificationMethod is not an array of objects",
		"serve a DID Document as DID Core describes it"},
	{CodeID, "the document's id is not the DID that was resolved", "set id to the DID, letter by letter"},
	{CodePrivateKey, "the document publishes a private key, so that anyone can sign in its owner's name",
		"make a new key, since this one is known to all; publish only its public part"},
	{CodeWeakKey, "an Ed25519 key is outside the subgroup of prime order or has a second encoding, so that forged " +
		"signatures verify or readers disagree on signatures",
		"make a new key with oap-gate key new FILE, and publish its public part"},
	PublishedKey,
	{CodeKeyID, "two different keys have one id", "give each verification method an id of its own"},
	{CodeManyKeys, "the document has more verification methods and entries of verification relationships than are read",
		"remove the keys that are no longer used"},
	{CodeNoKey, "the document has no Ed25519 key that can be used",
		"add an Ed25519 key as JsonWebKey2020, Multikey or Ed25519VerificationKey2020"},
	{CodePrefix, "an Ed25519 key in publicKeyMultibase lacks its prefix 0xed01, so that no reader can tell what it is",
		"set publicKeyMultibase to the value that the message names"},
	{CodeKeysOver, "every Ed25519 key of the document says that it is revoked or expired",
		"sign a new Receipt with a key that is in use, and publish that key"},
	{CodeDeactivated, "the document says that the DID is no longer in use",
		"list the implementation under a DID that is, and revoke the Receipts of this one"},
}

// DocumentError says why the gate cannot rely on a text as a DID Document, and where.
type DocumentError struct {
	Code    string
	Message string
	Pos     strict.Pos
	Fix     string // empty: the code's
}

func (e *DocumentError) Error() string { return e.Pos.String() + ": " + e.Message }

// Key is one Ed25519 key of a DID Document. Its controller does not matter: the document's subject says that it acts by
// this key, which is also what a controller of another name means.
type Key struct {
	ID        string // absolute: a relative reference is resolved against the DID
	Public    ed25519.PublicKey
	Assertion bool // it is in the document's assertionMethod
}

// Over is a key that is not usable, since its verification method says so.
type Over struct {
	Key
	Why string // the member and its value
}

// Document is a DID Document, as far as the gate needs it.
type Document struct {
	DID          string
	Keys         []Key    // that are usable: at least one; in the document's order
	Over         []Over   // that have expired or were revoked
	Material     []string // keys, usable or not, of any type: see Material
	HasAssertion bool     // the member assertionMethod is there, whatever is in it
	Unprefixed   []string // keys in multibase that would be usable with the prefix 0xed01, and their right values
}

// Key finds the key of an id, which may be only a fragment, such as #key-1.
func (d *Document) Key(id string) (Key, bool) {
	id = absolute(d.DID, id)
	for _, k := range d.Keys {
		if k.ID == id {
			return k, true
		}
	}
	return Key{}, false
}

func absolute(did, id string) string {
	if strings.HasPrefix(id, "#") {
		return did + id
	}
	return id
}

// ParseDocument reads the DID Document that was served at url for the DID want, as of a time. The error is always a
// *DocumentError.
//
// A verification method counts if its type and its key member go together: JsonWebKey2020 or JsonWebKey with
// publicKeyJwk, Ed25519VerificationKey2020 or Multikey with publicKeyMultibase, Ed25519VerificationKey2018 with
// publicKeyBase58 or publicKeyJwk, or both if they are the same key. ParseDocument skips methods of other types or
// other keys, a key that cannot be read, and a JWK whose use, key_ops or alg is for something else; but a weak key,
// a published one, or a private one anywhere makes the document invalid. A method has expired if its revoked or expires
// (https://www.w3.org/TR/cid-1.0/#verification-methods) is not after the time, or is not a time.
func ParseDocument(url string, data []byte, want DID, at time.Time) (*Document, error) {
	text, err := strict.Parse(url, data, strict.Remote(MaxBytes))
	if err != nil {
		e := err.(*strict.Error)
		return nil, &DocumentError{Code: e.Code, Message: e.Message, Pos: e.Pos}
	}
	r := &reader{text: text, at: at, assertions: map[string]bool{}, known: map[string]ed25519.PublicKey{},
		doc: &Document{DID: want.Text}}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.doc, nil
}

// reader is the state of one ParseDocument.
type reader struct {
	text       *strict.Document
	at         time.Time
	doc        *Document
	known      map[string]ed25519.PublicKey // by id, of usable keys and others
	entries    int                          // methods, and entries of relationships
	assertions map[string]bool              // ids in assertionMethod
	unusable   []string                     // each key that was skipped, and why
}

func (r *reader) fault(pointer, code, format string, args ...any) error {
	return &DocumentError{Code: code, Message: fmt.Sprintf(format, args...), Pos: r.text.Pos(pointer)}
}

func (r *reader) read() error {
	root, ok := r.text.Root.(map[string]any)
	if !ok {
		return r.fault("", CodeShape, "the document is not a JSON object")
	}
	if _, envelope := root["didDocument"].(map[string]any); envelope && root["id"] == nil {
		return &DocumentError{CodeID, "the document is a resolution result, with the DID Document in didDocument",
			r.text.Pos("/didDocument"), "serve the value of didDocument"}
	}
	if id, ok := root["id"].(string); !ok || id != r.doc.DID {
		return r.fault("/id", CodeID, "id is %s, it must be %q", shown(root["id"]), r.doc.DID)
	}
	if d := root["deactivated"]; d != nil && d != false {
		return r.fault("/deactivated", CodeDeactivated, "document says that the DID is deactivated; "+beforeRetiring)
	}
	if err := r.noPrivateKey("", root); err != nil {
		return err
	}
	if err := r.listed(root["verificationMethod"]); err != nil {
		return err
	}
	if err := r.agreement(root["keyAgreement"]); err != nil {
		return err
	}
	for _, relationship := range []string{"assertionMethod", "authentication", "capabilityInvocation",
		"capabilityDelegation"} {
		if err := r.relationship(relationship, root[relationship]); err != nil {
			return err
		}
	}
	r.retire()
	_, r.doc.HasAssertion = root["assertionMethod"]
	for i := range r.doc.Keys {
		r.doc.Keys[i].Assertion = r.assertions[r.doc.Keys[i].ID]
	}
	if len(r.doc.Keys) > 0 {
		return nil
	}
	return r.keyless()
}

// keyless returns the error for a document without a usable key: it names each key of the document and why it is not
// usable.
func (r *reader) keyless() error {
	const at = "/verificationMethod"
	var all []string
	for _, k := range r.doc.Over {
		all = append(all, fmt.Sprintf("key %.200q is no longer valid (%s)", k.ID, k.Why))
	}
	all = append(all, r.unusable...)
	const most = 800 // bytes: the document may have MaxKeys of them
	var named string
	for i, u := range all {
		if i > 0 && len(named)+len(u) > most {
			named += fmt.Sprintf("; and %d more", len(all)-i)
			break
		}
		if i > 0 {
			named += "; "
		}
		named += u
	}
	switch {
	case len(r.doc.Unprefixed) > 0:
		return r.fault(at, CodePrefix, "document has no usable Ed25519 key: %s", named)
	case len(r.doc.Over) > 0:
		return r.fault(at, CodeKeysOver, "document has no usable Ed25519 key: %s; %s", named, beforeRetiring)
	case named != "":
		return r.fault(at, CodeNoKey, "document has no usable Ed25519 key: %s", named)
	}
	if root, _ := r.text.Root.(map[string]any); root["publicKey"] != nil && root["verificationMethod"] == nil {
		return &DocumentError{CodeNoKey, "the document has publicKey, the name of before 2020, and no " +
			"verificationMethod",
			r.text.Pos("/publicKey"), "rename publicKey to verificationMethod"}
	}
	return r.fault(at, CodeNoKey, "document has no Ed25519 key; expected at least one")
}

// passOver notes that a key is skipped, and why.
func (r *reader) passOver(id, format string, args ...any) string {
	why := fmt.Sprintf("key %.200q: ", id) + fmt.Sprintf(format, args...)
	r.unusable = append(r.unusable, why)
	return why
}

// beforeRetiring says for people what keeps a listing alive.
const beforeRetiring = "sign a new Receipt, and revoke, before retiring the key or the DID"

// retire removes the expired keys from the usable ones: an id that one method says has expired has expired in all
// methods.
func (r *reader) retire() {
	r.doc.Keys = slices.DeleteFunc(r.doc.Keys, func(k Key) bool {
		return slices.ContainsFunc(r.doc.Over, func(o Over) bool { return o.ID == k.ID })
	})
}

// over says by which member a verification method is not usable at the reader's time; empty where it is.
func (r *reader) over(method map[string]any) string {
	for _, name := range []string{"revoked", "expires"} {
		v := method[name]
		if v == nil || v == false {
			continue
		}
		text, _ := v.(string)
		switch t, ok := strict.Time(text); {
		case !ok:
			return fmt.Sprintf("%s is %s, which is not an RFC 3339 time", name, shown(v))
		case !t.After(r.at):
			return fmt.Sprintf("%s is %s", name, text)
		}
	}
	return ""
}

func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "missing"
	case string:
		return fmt.Sprintf("%.200q", v)
	}
	return "no text"
}

// noPrivateKey walks the whole document except @context, in which the names of private members are terms.
func (r *reader) noPrivateKey(at string, v any) error {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["kty"].(string); ok {
			if err := r.publicJWK(at, v); err != nil {
				return err
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			pointer := at + "/" + strict.Escape(name)
			if name == "@context" {
				continue
			}
			if private(name) {
				return r.fault(pointer, CodePrivateKey, "document publishes a private key in %q; anyone who reads it "+
					"can sign in its owner's name", name)
			}
			if jwk, ok := v[name].(map[string]any); ok && name == "publicKeyJwk" {
				if err := r.publicJWK(pointer, jwk); err != nil {
					return err
				}
			}
			if err := r.noPrivateKey(pointer, v[name]); err != nil {
				return err
			}
		}
	case []any:
		for i, element := range v {
			if err := r.noPrivateKey(at+"/"+strconv.Itoa(i), element); err != nil {
				return err
			}
		}
	}
	return nil
}

// private reports whether a member's name is one that verification suites use for private keys: privateKeyJwk,
// privateKeyMultibase, privateKeyBase58, privateKeyHex, secretKeyMultibase and the like.
func private(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "privatekey") || strings.HasPrefix(name, "secretkey")
}

// publicJWK refuses the members that RFC 7518 section 6 and RFC 8037 section 2 keep for private keys.
func (r *reader) publicJWK(at string, jwk map[string]any) error {
	for _, member := range []string{"d", "k", "p", "q", "dp", "dq", "qi", "oth"} {
		if _, there := jwk[member]; there {
			return r.fault(at+"/"+member, CodePrivateKey,
				"document publishes a private key in %q of a JWK; anyone who reads it can sign in its owner's name",
				member)
		}
	}
	return nil
}

func (r *reader) listed(v any) error {
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		return r.fault("/verificationMethod", CodeShape, "verificationMethod is not an array")
	}
	for i, m := range list {
		pointer := "/verificationMethod/" + strconv.Itoa(i)
		method, ok := m.(map[string]any)
		if !ok {
			return r.fault(pointer, CodeShape, "the verification method is not an object")
		}
		if err := r.method(pointer, method); err != nil {
			return err
		}
	}
	return nil
}

// relationship reads a verification relationship: an array, or in careless documents a single value, of
// references and embedded methods.
func (r *reader) relationship(name string, v any) error {
	pointer := "/" + name
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	for i, m := range list {
		at := pointer
		if ok {
			at += "/" + strconv.Itoa(i)
		}
		id, _ := m.(string)
		if method, embedded := m.(map[string]any); embedded {
			if err := r.method(at, method); err != nil {
				return err
			}
			id = strict.String(method, "id")
		} else if err := r.count(at); err != nil {
			return err
		}
		if name == "assertionMethod" && id != "" {
			r.assertions[absolute(r.doc.DID, id)] = true
		}
	}
	return nil
}

// agreement reads the methods in keyAgreement, of which only whose they are matters: they encrypt, they sign nothing.
func (r *reader) agreement(v any) error {
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	for i, m := range list {
		at := "/keyAgreement"
		if ok {
			at += "/" + strconv.Itoa(i)
		}
		method, embedded := m.(map[string]any)
		if err := cmp.Or(r.count(at), r.material(at, method)); err != nil {
			return err
		}
		if embedded {
			r.passOver(absolute(r.doc.DID, strict.String(method, "id")), "it is for key agreement only")
		}
	}
	return nil
}

// count counts a verification method, or an entry of a verification relationship.
func (r *reader) count(at string) error {
	if r.entries++; r.entries > MaxKeys {
		return r.fault(at, CodeManyKeys, "document has more than %d verification methods and entries of verification "+
			"relationships", MaxKeys)
	}
	return nil
}

// material keeps the keys of a verification method. A published key is an error.
func (r *reader) material(at string, method map[string]any) error {
	keys := material(method)
	for _, m := range keys {
		if where := Published(m); where != "" {
			return r.fault(at, CodePublished, "key %.200q is published: its private half is in %s, so anyone can sign "+
				"in its owner's name", absolute(r.doc.DID, strict.String(method, "id")), where)
		}
	}
	r.doc.Material = append(r.doc.Material, keys...)
	return nil
}

// method keeps a verification method's key where it is an Ed25519 key.
func (r *reader) method(at string, method map[string]any) error {
	if err := cmp.Or(r.count(at), r.material(at, method)); err != nil {
		return err
	}
	id := absolute(r.doc.DID, strict.String(method, "id"))
	public, err := publicKey(method)
	switch {
	case errors.Is(err, errTwoKeys):
		return r.fault(at, CodeKeyID, "key %.200q is ambiguous: %v", id, err)
	case errors.Is(err, signature.ErrSmallOrder), errors.Is(err, signature.ErrMixedOrder),
		errors.Is(err, signature.ErrNonCanonical):
		return r.fault(at, CodeWeakKey, "key %.200q is unsound: %v", id, err)
	case err == nil && id == "":
		err = errors.New("the verification method has no id")
	}
	if err != nil {
		why := r.passOver(id, "%v", err)
		if _, is := errors.AsType[*prefixError](err); is {
			r.doc.Unprefixed = append(r.doc.Unprefixed, why)
		}
		return nil
	}
	return r.keep(at, Key{ID: strings.Clone(id), Public: public},
		r.over(method)) // not to keep the whole text for an id
}

func (r *reader) keep(at string, k Key, over string) error {
	known, found := r.known[k.ID]
	if found && !known.Equal(k.Public) {
		return r.fault(at, CodeKeyID, "id %.200q names two keys", k.ID)
	}
	r.known[k.ID] = k.Public
	switch {
	case over != "":
		r.doc.Over = append(r.doc.Over, Over{k, over})
	case !found:
		r.doc.Keys = append(r.doc.Keys, k)
	}
	return nil
}
