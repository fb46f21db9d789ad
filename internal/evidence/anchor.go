package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// MaxDeclarations is how many pinned Cross Match Receipts are searched for one that names a failover coordinator.
const MaxDeclarations = 8

// CrossMatch is what the pinned bytes of a Cross Match Receipt (RFC 0035 section 4.2) say about themselves.
type CrossMatch struct {
	Object      bool   // the text is a JSON object
	WorkflowID  string // its workflow_id, empty if that is not a text
	Coordinator bool   // the anchor's coordinator occurs in it as a text, at any depth
	FailoverDID string // its failover_coordinator_did, empty if that is not a text
}

// Size returns how much memory m takes, in bytes.
func (m CrossMatch) Size() int { return len(m.WorkflowID) + len(m.FailoverDID) }

func (c *Collector) anchor(f *Facts, a *registry.Anchor, w Wanted) {
	c.start(func() { f.CrossMatch = c.crossMatch(a) })
	c.start(func() { f.DIDDocument, f.DIDFallback = c.DIDDocument(a.CoordinatorDID, w.Judged) })
	c.Seek(a.FailoverDID != "", func() { f.Failover, _ = c.DIDDocument(a.FailoverDID, w.Judged) })
	c.Seek(len(w.Declarations) > 0, func() { f.Declared = c.declared(a.FailoverDID, w.Declarations) })
}

// crossMatch reads the Cross Match Receipt that an anchor pins. Only what it says is kept: many are held at once.
func (c *Collector) crossMatch(a *registry.Anchor) Result[CrossMatch] {
	text := c.pinned(Request{HTTPS, a.ReceiptURI, MaxCrossMatchReceipt}, a.ReceiptSHA256)
	coordinator := did.Spelling(a.CoordinatorDID)
	of := document{"Cross Match Receipt of " + coordinator, a.ReceiptURI, text.Value.SHA256}
	return decodedText(c, of, text, func() (CrossMatch, error) {
		limits := strict.Remote(MaxCrossMatchReceipt)
		limits.Values = 1 << 20
		d, err := strict.Parse(a.ReceiptURI, text.Value.Body, limits)
		if err != nil {
			return CrossMatch{}, err
		}
		_, object := d.Root.(map[string]any)
		return CrossMatch{
			Object:      object,
			WorkflowID:  strict.Copy(d.Root, "workflow_id"),
			Coordinator: holds(d.Root, coordinator),
			FailoverDID: strict.Copy(d.Root, "failover_coordinator_did"),
		}, nil
	})
}

// declared looks for a Cross Match Receipt that names the failover coordinator, in the order of the anchors that pin
// them. Obtained means that one names it; Absent means that all were read and none names it.
func (c *Collector) declared(failover string, anchors []*registry.Anchor) Result[string] {
	open := Result[string]{State: Absent}
	for _, a := range anchors[:min(len(anchors), MaxDeclarations)] {
		switch got := c.crossMatch(a); {
		case got.State == Obtained && did.Same(got.Value.FailoverDID, failover):
			return Result[string]{State: Obtained, Value: a.ReceiptURI, From: got.From}
		case got.State != Obtained:
			open = Result[string]{State: Unavailable, Code: got.Code, Message: got.Message, From: got.From}
		}
	}
	if len(anchors) > MaxDeclarations && open.State == Absent {
		open = Result[string]{State: Unavailable, Code: "too-many-anchors",
			Message: fmt.Sprintf("the first %d that were read do not name it, and there are more", MaxDeclarations)}
	}
	return open
}

// holds reports whether a DID, given in its one spelling, occurs in a JSON value as a text of its own.
func holds(v any, spelt string) bool {
	switch v := v.(type) {
	case string:
		return strings.HasPrefix(v, "did:") && did.Spelling(v) == spelt
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return holds(e, spelt) })
	case map[string]any:
		for _, e := range v {
			if holds(e, spelt) {
				return true
			}
		}
	}
	return false
}
