package verify

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// The kinds of keys of a log and of a witness, by C2SP.
const (
	noteKey        = 1
	cosignatureKey = 4
)

// keyOf returns the name, a plus sign and the hash by which a signature names a key, and its bytes.
func keyOf(name string, kind byte) (hash, key []byte) {
	key = append([]byte{kind}, fixture.Key(name).Public().(ed25519.PublicKey)...)
	sum := sha256.Sum256(append([]byte(name+"\n"), key...))
	return sum[:4], key
}

func vkey(name string, kind byte) string {
	hash, key := keyOf(name, kind)
	return fmt.Sprintf("%s+%x+%s", name, hash, base64.StdEncoding.EncodeToString(key))
}

func signatureLine(name string, kind byte, text string, at time.Time) string {
	sig, _ := keyOf(name, kind)
	if kind == cosignatureKey {
		sig = binary.BigEndian.AppendUint64(sig, uint64(at.Unix()))
		text = fmt.Sprintf("cosignature/v1\ntime %d\n%s", at.Unix(), text)
	}
	sig = append(sig, ed25519.Sign(fixture.Key(name), []byte(text))...)
	return "— " + name + " " + base64.StdEncoding.EncodeToString(sig) + "\n"
}

const (
	logName     = "registry.example/log"
	witnessName = "witness.example"
)

var loggedCommit = strings.Repeat("c0ffee", 7)[:40]

// proveListing returns the proof of a slug in a log of the world's registry, cosigned by a witness an hour ago.
func proveListing(t *testing.T, w *builtWorld, slug string) []byte {
	t.Helper()
	state := proof.NewMap()
	var changes []proof.Change
	for _, path := range w.Repo.Paths() {
		text := must.Get(w.Repo.Read(path))(t)
		changes = append(changes, proof.NewChange(path, 0o100644, text))
	}
	state.Apply(changes)
	e := proof.Entry{Commit: loggedCommit, Time: w.Now.Unix(), Files: state.Root()}
	var log proof.Log
	must.OK(t, log.Add(e.Text()))
	root := must.Get(log.Root(1))(t)
	text := proof.Checkpoint{Origin: logName, Size: 1, Root: root}.Text()
	signed, err := proof.ParseSigned([]byte(text + "\n" + signatureLine(logName, noteKey, text, w.Now) +
		signatureLine(witnessName, cosignatureKey, text, w.Now.Add(-time.Hour))))
	must.OK(t, err)
	f := &proof.File{Signed: signed, Entry: e, Names: []proof.NameProof{*state.Prove(proof.ListingPath(slug))}}
	if f.Names[0].Value != nil {
		if f.Content, err = w.Repo.Read(proof.ListingPath(slug)); err != nil {
			t.Fatal(err)
		}
		pin := must.Get(w.Pin(slug, 0))(t)
		f.Names = append(f.Names, *state.Prove(proof.RevokedName(slug, pin)))
	}
	if f.Path, err = tlog.ProveRecord(1, 0, &log); err != nil {
		t.Fatal(err)
	}
	data := must.Get(f.Encode())(t)
	return data
}

// A proof shows an implementation up to L3; of L4 and L5 it leaves open what only a clone shows.
func TestProof(t *testing.T) {
	t.Parallel()
	const (
		byProof = "\nrevocation: warn; warning by-proof"
		listing = "base: [{listing: nova}, {listing: ada}]"
		l4      = "base: [{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}, "
		unread  = "\nmanifest..claims: skip, see registry-anchor"
		peers   = "\npeer-witnesses..external-audit: skip, see registry-anchor"
	)
	for _, c := range []struct {
		name, world string
		slug        string // of the proof; nova where it is empty
		text        string // the target; https://nova.example where it is empty
		edit        func([]byte) []byte
		options     func(*proof.Options)
		flags       bundle.VerifyFlags
		want        string
		says        string
	}{
		{name: "listed", world: listing, want: "pass L1" + byProof + "\nregistry-anchor: pass",
			says: `as of 2026-06-01T11:00:00Z;[^}]*"commit":"` + loggedCommit},
		{name: "the slug is the target", world: listing, text: "nova",
			want: "pass L1" + byProof + "\nregistry-anchor: pass", says: "as pinned"},
		{name: "the DID is the target", world: listing, text: "did:web:nova.example",
			want: "pass L1" + byProof + "\nregistry-anchor: pass"},
		{name: "a clone is required", world: listing, flags: bundle.VerifyFlags{Require: true},
			want: "inconclusive\nrevocation: inconclusive; inconclusive no-registry\n" +
				"registry-anchor: inconclusive; inconclusive no-registry"},
		{name: "as old as is allowed", world: listing, options: func(o *proof.Options) { o.MaxAge = time.Hour },
			want: "pass L1" + byProof + "\nregistry-anchor: pass"},
		{name: "a second older", world: listing, options: func(o *proof.Options) { o.MaxAge = time.Hour - time.Second },
			want: "inconclusive\nrevocation: inconclusive; inconclusive proof-old\n" +
				"registry-anchor: inconclusive; inconclusive proof-old"},
		{name: "changed", world: listing, edit: func(b []byte) []byte {
			return bytes.Replace(b, []byte("index 0"), []byte("index 7"), 1)
		}, want: "fail\nrevocation: fail; error proof-not-current\nregistry-anchor: fail; error proof-not-current"},
		{name: "changed, and the slug is the target", world: listing, text: "nova",
			edit: func(b []byte) []byte { return bytes.Replace(b, []byte("index 0"), []byte("index 7"), 1) },
			want: "fail" + unread + "\nrevocation: fail; error proof-not-current" + peers +
				"\nregistry-anchor: fail; error proof-not-current\nreverify: skip, see registry-anchor"},
		{name: "not a proof", world: listing, text: "nova", edit: func([]byte) []byte { return []byte("{}") },
			want: "fail" + unread + "\nrevocation: fail; error proof-malformed" + peers +
				"\nregistry-anchor: fail; error proof-malformed\nreverify: skip, see registry-anchor"},
		{name: "of another slug than the target", world: listing, text: "ada",
			want: "fail" + unread + "\nrevocation: fail; error proof-subject" + peers +
				"\nregistry-anchor: fail; error proof-subject\nreverify: skip, see registry-anchor"},
		{name: "of another implementation", world: listing, slug: "ada",
			want: "fail\nrevocation: fail; error proof-subject\nregistry-anchor: fail; error proof-subject"},
		{name: "of a slug that is not listed", world: listing, slug: "eve", text: "eve",
			want: "fail" + unread + "\nrevocation: fail; error not-listed" + peers +
				"\nregistry-anchor: fail; error not-listed\nreverify: skip, see registry-anchor"},
		{name: "the bytes are others", world: listing + web("edit: "+receiptURL, `replace: {"{": "{ "}`),
			want: "fail\nrevocation: fail; error proof-subject\nregistry-anchor: fail; error proof-subject"},
		{name: "of another implementation that pins the same bytes",
			world: "base: [{listing: nova}, {listing: ada, pin: $pin(nova)}]", slug: "ada",
			want: "fail\nrevocation: fail; error proof-subject\nregistry-anchor: fail; error proof-subject"},
		{name: "the Manifest is gone", world: listing + gone(manifestURL),
			want: "fail\nmanifest: fail; error http-status manifest#\n" +
				"receipt-discovery..registry-anchor: skip, see manifest"},
		{name: "the Receipt is gone", world: listing + gone(receiptURL),
			want: "fail\nreceipt-fetch: fail; error http-status receipt#\n" +
				"schema..registry-anchor: skip, see receipt-fetch"},
		{name: "revoked", world: "base: [{listing: nova}, {commit: List}, {revoke: nova}]",
			want: "fail\nrevocation: fail; error revoked\nregistry-anchor: fail; error revoked"},
		{name: "provisional", world: "base: [{listing: nova, provisional: true}]",
			want: "pass L1" + byProof + "\nregistry-anchor: warn; warning provisional"},
		{name: "listed at the level", world: "base: [{listing: nova, level: L3}]",
			want: "pass L3" + byProof + "\nregistry-anchor: pass"},
		{name: "listed at less", world: "base: [{listing: nova, receipt: {set: {/claimed_levels: [L1, L2]}}}]",
			want: "pass L1 L2" + byProof + "\nregistry-anchor: warn; warning not-anchored"},
		{name: "L4", world: l4 + "{listing: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}, " +
			"witness: [ada]}]", want: "inconclusive L1" + byProof +
			"\npeer-witnesses: inconclusive; inconclusive no-registry\nregistry-anchor: pass"},
		{name: "L4, and L1 is asked for", world: l4 + "{listing: nova, level: L4, " +
			"receipt: {set: {/claimed_levels: [L1, L4]}}, witness: [ada]}]", flags: bundle.VerifyFlags{Level: "L1"},
			want: "pass L1" + byProof +
				"\npeer-witnesses: inconclusive; inconclusive no-registry\nregistry-anchor: pass"},
		{name: "L4, and L4 is asked for", world: l4 + "{listing: nova, level: L4, " +
			"receipt: {set: {/claimed_levels: [L1, L4]}}, witness: [ada]}]", flags: bundle.VerifyFlags{Level: "L4"},
			want: "inconclusive L1" + byProof +
				"\npeer-witnesses: inconclusive; inconclusive no-registry\nregistry-anchor: pass"},
		{name: "dated by nobody", world: listing, options: func(o *proof.Options) { o.Policy = quorumNone(t) },
			want: "inconclusive\nrevocation: inconclusive; inconclusive proof-undated\n" +
				"registry-anchor: inconclusive; inconclusive proof-undated"},
		{name: "dated by nobody, and of any age", world: listing,
			options: func(o *proof.Options) { o.Policy, o.AnyAge = quorumNone(t), true },
			want:    "pass L1" + byProof + "\nregistry-anchor: pass", says: "as of an unknown time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := built(t, c.world)
			slug := c.slug
			if slug == "" {
				slug = "nova"
			}
			data := proveListing(t, w, slug)
			if c.edit != nil {
				data = c.edit(data)
			}
			policy, err := proof.ParsePolicy([]byte("log " + vkey(logName, noteKey) + "\nwitness w " +
				vkey(witnessName, cosignatureKey) + "\nquorum w\n"))
			must.OK(t, err)
			options := proof.Options{Policy: policy, Now: w.Now, MaxAge: 24 * time.Hour}
			if c.options != nil {
				c.options(&options)
			}
			run := &Run{Source: w.source(t), Now: w.Now, Jobs: 1}
			run.Config.Require = c.flags.Require
			if run.Config.Proof, err = ReadProof(data, options); err != nil {
				t.Fatal(err)
			}
			if c.flags.Targets = []string{c.text}; c.text == "" {
				c.flags.Targets = []string{"https://nova.example"}
			}
			must.OK(t, run.Heard(&c.flags))
			rep := only(t, run)
			consistent(t, rep)
			if got := summary(rep); got != c.want {
				t.Errorf("found\n%s\nwant\n%s", got, c.want)
			}
			if text := encoded(t, rep); !matches(c.says, text) {
				t.Errorf("the report does not match %q:\n%s", c.says, text)
			}
			shown, want := rep.Proof, run.Config.Proof.shown
			if (shown != nil) != (want.Entry.Commit != "") || shown != nil && (shown.Commit != loggedCommit ||
				shown.Cosigned != want.Cosigned || shown.Witnesses != want.Witnesses ||
				(shown.AsOf == nil) != want.AsOf.IsZero()) {
				t.Errorf("the report shows the proof %+v, want %+v", shown, want)
			}
		})
	}
}

func quorumNone(t *testing.T) *proof.Policy {
	policy := must.Get(proof.ParsePolicy([]byte("log " + vkey(logName, noteKey) + "\nquorum none\n")))(t)
	return policy
}
