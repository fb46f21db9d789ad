package commitsig

import (
	"bytes"
	"cmp"
	"crypto"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// pgpKey is a key that may sign: a primary key or a subkey.
type pgpKey struct {
	public  *packet.PublicKey
	signer  string
	id      string    // fingerprint
	created time.Time // when the younger of primary key and subkey was created
	expires time.Time // when the first of the two expires; zero: never
	refused string    // why no signature by it counts
	revoked string    // what of it is revoked; empty: nothing
}

const (
	maxKeys  = 10_000
	pgpBegin = "-----BEGIN PGP "
)

// parseKeyring reads the primary keys and signing subkeys, by key id.
func parseKeyring(data []byte) (map[uint64][]*pgpKey, error) {
	if len(data) > MaxKeyring {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are read", ErrTooLarge, len(data), MaxKeyring)
	}
	binary, err := dearmorKeyring(data)
	if err != nil {
		return nil, err
	}
	keys := map[uint64][]*pgpKey{}
	seen := map[string]bool{}
	packets := packet.NewReader(bytes.NewReader(binary))
	for {
		e, err := openpgp.ReadEntity(packets)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("key %d in it: %w", len(seen)+1, err)
		}
		id := fmt.Sprintf("%X", e.PrimaryKey.Fingerprint)
		switch {
		case e.PrivateKey != nil:
			return nil, fmt.Errorf("key %s is a private key; expected public keys only", id)
		case seen[id]:
			// The copies can differ in what is revoked or expired.
			return nil, fmt.Errorf("key %s is twice in it: join the copies by `gpg --import` and `gpg --export`",
				id)
		case len(seen) == maxKeys:
			return nil, fmt.Errorf("%w: more than %d keys", ErrTooLarge, maxKeys)
		}
		seen[id] = true
		for _, k := range signingKeys(e) {
			keys[k.public.KeyId] = append(keys[k.public.KeyId], k)
		}
	}
	if len(seen) == 0 {
		return nil, errors.New("no OpenPGP public key in it")
	}
	return keys, nil
}

// dearmorKeyring joins the armored blocks of a keyring, as `cat` of several exported keys makes it.
func dearmorKeyring(data []byte) ([]byte, error) {
	rest := bytes.TrimSpace(data)
	if !bytes.HasPrefix(rest, []byte("-----BEGIN ")) {
		if len(rest) > 0 && data[0] < 0x80 {
			return nil, errors.New("neither binary, nor armored with -----BEGIN at its start")
		}
		return data, nil
	}
	var out []byte
	for len(rest) > 0 {
		next := bytes.Index(rest[1:], []byte("\n-----BEGIN "))
		one := rest
		if next >= 0 {
			one = rest[:next+2]
		}
		rest = rest[len(one):]
		block, err := armor.Decode(bytes.NewReader(one))
		if err != nil {
			return nil, fmt.Errorf("reading armor: %w", err)
		}
		if block.Type != openpgp.PublicKeyType {
			return nil, fmt.Errorf("a block %q; expected %q", block.Type, openpgp.PublicKeyType)
		}
		body, err := io.ReadAll(block.Body)
		if err != nil {
			return nil, fmt.Errorf("reading armor: %w", err)
		}
		out = append(out, body...)
	}
	return out, nil
}

// signingKeys lists the keys of e that may sign. A primary key without flags may, as in gpg; a subkey only
// with the flag, since only then has its own signature over the primary key been demanded.
func signingKeys(e *openpgp.Entity) []*pgpKey {
	self := selfSignature(e)
	if self == nil {
		return nil
	}
	primary := &pgpKey{public: e.PrimaryKey, signer: userID(e), id: fmt.Sprintf("%X", e.PrimaryKey.Fingerprint),
		created: e.PrimaryKey.CreationTime, refused: weakness(e.PrimaryKey)}
	primary.until(e.PrimaryKey.CreationTime, self.KeyLifetimeSecs)
	primary.until(self.CreationTime, self.SigLifetimeSecs)
	primary.heed(self)
	if len(e.Revocations) > 0 {
		primary.revoked = "the key is revoked"
	} else if !slices.ContainsFunc(identities(e), func(i *openpgp.Identity) bool { return len(i.Revocations) == 0 }) {
		primary.revoked = "every user id of the key is revoked"
	}
	var keys []*pgpKey
	if !self.FlagsValid || self.FlagSign {
		keys = append(keys, primary)
	}
	for _, sub := range e.Subkeys {
		if !sub.Sig.FlagsValid || !sub.Sig.FlagSign || sub.Sig.EmbeddedSignature == nil || !sub.PublicKey.CanSign() {
			continue
		}
		k := *primary
		k.public, k.id = sub.PublicKey, fmt.Sprintf("%X", sub.PublicKey.Fingerprint)
		if k.created.Before(sub.PublicKey.CreationTime) {
			k.created = sub.PublicKey.CreationTime
		}
		k.until(sub.PublicKey.CreationTime, sub.Sig.KeyLifetimeSecs)
		for _, s := range []*packet.Signature{sub.Sig, sub.Sig.EmbeddedSignature} {
			k.until(s.CreationTime, s.SigLifetimeSecs)
			k.heed(s)
		}
		switch weak := weakness(sub.PublicKey); {
		case len(sub.Revocations) > 0 && len(e.Revocations) == 0:
			k.revoked = "the subkey is revoked"
		case weak != "":
			k.refused = weak
		}
		keys = append(keys, &k)
	}
	return keys
}

// identities returns the user ids, sorted by their texts.
func identities(e *openpgp.Entity) []*openpgp.Identity {
	all := slices.Collect(maps.Values(e.Identities))
	slices.SortFunc(all, func(a, b *openpgp.Identity) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// selfSignature returns the newest signature by which the key describes itself, on a user id that is not revoked if
// there is one. openpgp.Entity.PrimarySelfSignature depends on map order if two signatures are of the same second.
func selfSignature(e *openpgp.Entity) *packet.Signature {
	newest := e.SelfSignature
	for _, revoked := range []bool{false, true} {
		for _, i := range identities(e) {
			s := i.SelfSignature
			if s != nil && (len(i.Revocations) > 0) == revoked &&
				(newest == nil || s.CreationTime.After(newest.CreationTime)) {
				newest = s
			}
		}
		if newest != nil {
			break
		}
	}
	return newest
}

// userID names the key's owner: the user id marked as primary, else the first.
func userID(e *openpgp.Entity) string {
	name := ""
	for _, i := range identities(e) {
		if len(i.Revocations) > 0 || i.SelfSignature == nil {
			continue
		}
		if p := i.SelfSignature.IsPrimaryId; p != nil && *p {
			return i.Name
		}
		name = cmp.Or(name, i.Name)
	}
	return name
}

// until makes the key expire so many seconds after from, unless it does so before.
func (k *pgpKey) until(from time.Time, seconds *uint32) {
	if seconds == nil || *seconds == 0 {
		return
	}
	if end := from.Add(time.Duration(*seconds) * time.Second); k.expires.IsZero() || end.Before(k.expires) {
		k.expires = end
	}
}

// heed refuses the key where a signature of its own says something that must be understood and is not.
func (k *pgpKey) heed(s *packet.Signature) {
	if k.refused == "" {
		k.refused = criticalNotation(s)
	}
}

func criticalNotation(s *packet.Signature) string {
	for _, n := range s.Notations {
		if n.IsCritical {
			return fmt.Sprintf("the critical notation %q is not known", n.Name)
		}
	}
	return ""
}

const minRSABits = 2048

func weakness(k *packet.PublicKey) string {
	switch k.PubKeyAlgo {
	case packet.PubKeyAlgoRSA, packet.PubKeyAlgoRSASignOnly:
		if bits, err := k.BitLength(); err != nil || bits < minRSABits {
			return fmt.Sprintf("an RSA key of %d bits; expected %d or more", bits, minRSABits)
		}
	case packet.PubKeyAlgoDSA:
		return "a DSA key; expected RSA, ECDSA or Ed25519"
	}
	return ""
}

var strongHashes = []crypto.Hash{crypto.SHA224, crypto.SHA256, crypto.SHA384, crypto.SHA512, crypto.SHA3_256,
	crypto.SHA3_512}

func (v *Verifier) verifyOpenPGP(payload, text []byte, at time.Time) Result {
	sig, err := decodeOpenPGP(text)
	if err != nil {
		return bad("reading the signature: %v", err)
	}
	if sig.Version != 4 || sig.IssuerKeyId == nil {
		return bad("the signature is not of version 4 with its key's id")
	}
	keyID := fmt.Sprintf("%016X", *sig.IssuerKeyId)
	keys := v.keys[*sig.IssuerKeyId]
	if len(keys) == 0 {
		return Result{Verdict: UnknownKey, Detail: "the key is not in the keyring, or may not sign"}.with("", keyID)
	}
	if !slices.Contains(strongHashes, sig.Hash) {
		return bad("the digest %s is too weak; expected SHA-256 or better", sig.Hash).with(keys[0].signer, keys[0].id)
	}
	if c := criticalNotation(sig); c != "" {
		return bad("%s", c).with(keys[0].signer, keys[0].id)
	}
	// Key ids have 64 bits: two keys can share one.
	var last error
	for _, k := range keys {
		if last = k.verify(payload, sig); last == nil {
			return k.judge(sig, at).with(k.signer, k.id)
		}
	}
	return bad("the signature does not fit the commit: %v", last).with(keys[0].signer, keys[0].id)
}

// decodeOpenPGP reads an armored signature: one block, in it one signature packet, and nothing else.
func decodeOpenPGP(text []byte) (*packet.Signature, error) {
	text = bytes.TrimSpace(text)
	if bytes.Count(text, []byte("-----BEGIN ")) != 1 || !bytes.HasPrefix(text, []byte(pgpBegin)) {
		return nil, errors.New("want one armored block")
	}
	block, err := armor.Decode(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading armor: %w", err)
	}
	if !bytes.HasSuffix(text, []byte("\n-----END "+block.Type+"-----")) {
		return nil, errors.New("text after the armored block")
	}
	data, err := io.ReadAll(block.Body)
	if err != nil {
		return nil, fmt.Errorf("reading armor: %w", err)
	}
	r := bytes.NewReader(data)
	p, err := packet.Read(r)
	if err != nil {
		return nil, err
	}
	sig, ok := p.(*packet.Signature)
	if !ok || r.Len() > 0 {
		return nil, errors.New("want one signature packet")
	}
	return sig, nil
}

func (k *pgpKey) verify(payload []byte, sig *packet.Signature) error {
	h, err := sig.PrepareVerify()
	if err != nil {
		return err
	}
	switch sig.SigType {
	case packet.SigTypeBinary:
		h.Write(payload)
	case packet.SigTypeText:
		openpgp.NewCanonicalTextHash(h).Write(payload)
	default:
		return fmt.Errorf("a signature of type %#x; expected one of a document", byte(sig.SigType))
	}
	return k.public.VerifySignature(h, sig)
}

// judge says what a signature that fits is worth.
func (k *pgpKey) judge(sig *packet.Signature, at time.Time) Result {
	signed := &pgpKey{}
	signed.until(sig.CreationTime, sig.SigLifetimeSecs)
	ended := func(what string, end time.Time) Result {
		return Result{Verdict: ExpiredKey, Detail: fmt.Sprintf("%s expired at %s; the commit landed at %s, and the "+
			"signature says %s", what, stamp(end), stamp(at), stamp(sig.CreationTime))}
	}
	switch {
	case k.revoked != "":
		return Result{Verdict: RevokedKey, Detail: k.revoked}
	case k.refused != "":
		return bad("%s", k.refused)
	case sig.CreationTime.Before(k.created):
		return bad("the signature is of %s, the key of %s", stamp(sig.CreationTime), stamp(k.created))
	case !k.expires.IsZero() && !(at.Before(k.expires) && sig.CreationTime.Before(k.expires)):
		return ended("the key", k.expires)
	case !signed.expires.IsZero() && !at.Before(signed.expires):
		return ended("the signature", signed.expires)
	}
	return Result{Verdict: Good}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
