// Package listing makes the registry's records out of what documents say, in the one layout that they are written in.
package listing

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// From is what a listing is made of: documents, and the few things that no document says.
type From struct {
	Slug          string
	ToolDID       string // the Manifest's tool.did
	ManifestURI   string // where the Manifest was found
	ReceiptURI    string
	ReceiptSHA256 string // SHA-256 of the exact bytes that are served
	Receipt       *receipt.Receipt
	Level         level.Level // empty: Highest of those that the Receipt claims
	Provisional   bool
	// More are the members that no document says: open_source, license, contact, categories, jurisdictions.
	More map[string]any
}

// Draft returns the listing of these documents, as the record that it would be. It uses their values as they are: the
// file need not pass.
func Draft(f From) *registry.Record {
	path, root := registry.KindListing.Directory()+"/"+f.Slug+".json", f.members()
	return &registry.Record{Path: path, Kind: registry.KindListing, Entry: registry.Entry{Mode: registry.ModeFile},
		Document: &strict.Document{Path: path, Data: Text(registry.KindListing, root), Root: root}}
}

func (f From) members() map[string]any {
	r := f.Receipt
	l := cmp.Or(f.Level, Highest(r.ClaimedLevels))
	all := map[string]any{
		"slug": f.Slug, "name": r.ImplementationName, "tool_did": f.ToolDID, "manifest_uri": f.ManifestURI,
		"conformance_level": string(l), "conformance_receipt_uri": f.ReceiptURI,
		"conformance_receipt_sha256": f.ReceiptSHA256,
		"issued_at":                  r.NotBefore.Text, "expires_at": Expires(r),
	}
	maps.Copy(all, f.More)
	if l.NonCommercial() {
		all["non_commercial"] = true
	}
	if f.Provisional {
		all["provisional"] = true
	}
	return all
}

// Expires returns the expires_at that a Receipt signs: the text of its validity.not_after, or the end of the longest
// window after not_before if that is earlier.
func Expires(r *receipt.Receipt) string {
	if end := r.NotBefore.Add(checks.Window); !r.NotBefore.IsZero() && !r.NotAfter.IsZero() &&
		end.Before(r.NotAfter.Time) {
		return end.Truncate(time.Millisecond).Format("2006-01-02T15:04:05.999Z07:00")
	}
	return r.NotAfter.Text
}

// Highest returns the highest of the levels that a Receipt claims: of equal ones the one without a suffix, and a W or C
// only if no other is claimed, and then the first. It returns "" if none is claimed.
func Highest(claimed []level.Level) level.Level {
	var top level.Level
	for i, l := range claimed {
		if i == 0 || l.Base() > top.Base() || l.Base() == top.Base() && l.Base() >= 0 && len(l) < len(top) {
			top = l
		}
	}
	return top
}

// orders are the members of each kind of record, in the order of the registry's schemas.
var orders = map[registry.Kind][]string{
	registry.KindListing:     ofListing,
	registry.KindPeerWitness: ofListing,
	registry.KindRevocation: {"slug", "revoked_receipt_sha256", "reason", "evidence_uri", "revoked_at",
		"revoked_by_did", "signature", "peer_witness_signatures"},
	registry.KindWorkflowAnchor: {"slug", "workflow_id", "workflow_manifest_id", "workflow_type", "coordinator_did",
		"failover_coordinator_did", "cross_match_receipt_uri", "cross_match_receipt_sha256", "anchored_at",
		"merkle_root", "consistency_proof_to_prev", "jurisdictions", "is_high_stakes"},
}

var ofListing = []string{"slug", "name", "tool_did", "manifest_uri", "conformance_level", "conformance_receipt_uri",
	"conformance_receipt_sha256", "issued_at", "expires_at", "open_source", "license", "non_commercial", "provisional",
	"contact", "categories", "jurisdictions"}

// inner are the members of the objects that a member of a record holds.
var inner = map[string][]string{
	"signature":               {"alg", "value", "by"},
	"peer_witness_signatures": {"witness_did", "alg", "value", "by"},
}

// Text writes a record in its one layout: members in the order of the registry's schema, others after them by their
// names, indented by two blanks, with a final line break. Of foreign text, characters that control, turn or show
// nothing are written as escapes. Values are those of package strict.
func Text(k registry.Kind, root map[string]any) []byte {
	var b bytes.Buffer
	write(&b, root, orders[k])
	text := jsontext.Value(b.Bytes())
	if err := text.Indent(jsontext.WithIndent("  "), jsontext.PreserveRawStrings(true)); err != nil {
		panic(err) // write wrote no JSON
	}
	return append(text, '\n')
}

// write writes a value in one line. order is that of the members of an object, or of an array's objects, as far as it
// is known.
func write(b *bytes.Buffer, v any, order []string) {
	comma := func(i int) {
		if i > 0 {
			b.WriteByte(',')
		}
	}
	switch v := v.(type) {
	case map[string]any:
		names := slices.DeleteFunc(slices.Clone(order), func(name string) bool { _, has := v[name]; return !has })
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !slices.Contains(order, name) {
				names = append(names, name)
			}
		}
		b.WriteByte('{')
		for i, name := range names {
			comma(i)
			b.Write(append(Quote(name), ':'))
			write(b, v[name], inner[name])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			comma(i)
			write(b, e, order)
		}
		b.WriteByte(']')
	case string:
		b.Write(Quote(v))
	case json.Number:
		b.WriteString(v.String())
	case bool, nil:
		text, _ := json.Marshal(v)
		b.Write(text)
	default:
		panic(fmt.Sprintf("%T is not a value of a strict document", v))
	}
}
