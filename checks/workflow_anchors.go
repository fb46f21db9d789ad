package checks

import (
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var workflowAnchors = &Check{
	ID:    "workflow-anchors",
	Title: "a workflow anchor pins a Cross Match Receipt that its coordinator serves",
	Cite:  "RFC 0035 section 4.6",
	Why:   "an anchor is the public promise that no later rewrite of that Receipt is possible",
	Fix:   "serve the pinned bytes in the coordinator's domain, under a workflow id that has no anchor yet",
	Kinds: []registry.Kind{registry.KindWorkflowAnchor},
	Owns:  evidence.AnchorProof,
	Reads: []string{"/workflow_id", "/coordinator_did", "/cross_match_receipt_uri", "/cross_match_receipt_sha256", "/anchored_at"},
	Applies: func(s *Subject) string {
		if !s.Added() {
			return "no new anchor"
		}
		return ""
	},
	Codes: slices.Concat([]Code{
		{"workflow-anchored-twice", "the workflow id has an anchor already",
			"anchor another workflow; an anchor is never replaced"},
		{"anchored-in-future", "anchored_at is ahead of now", "set it to the time of anchoring"},
		{"anchor-host", "the Cross Match Receipt is on a host that is not shown to be the coordinator's",
			"serve it in the coordinator's domain"},
		unreadableTime,
	}, did.Codes, fetched),
}

func init() { workflowAnchors.Run = runWorkflowAnchors }

func runWorkflowAnchors(s *Subject) Outcome {
	var out Outcome
	a := s.Anchor
	if path := s.Run.otherAnchor(s); path != "" {
		out.errorf(s, "/workflow_id", "workflow-anchored-twice", "workflow_id %q has the anchor %s already", a.WorkflowID, path).
			fix("leave this anchor out: a workflow has one, which never changes")
	}
	if a.Anchored.IsZero() { // a base schema of the registry's own may not ask for it
		out.errorf(s, "/anchored_at", "unreadable-time", "anchored_at is %q, an RFC 3339 time is needed", cutRunes(a.AnchoredAt, 60)).fix("write it like 2026-05-12T13:24:00Z")
	} else if a.Anchored.After(s.judged().Add(Skew)) {
		out.errorf(s, "/anchored_at", "anchored-in-future", "anchored_at is %s, it is %s; at most %s ahead is allowed", stamp(a.Anchored), stamp(s.judged()), Skew).
			fix("set anchored_at to now")
	}
	x := s.Facts.CrossMatch
	out.report(s, "/cross_match_receipt_uri", x.State, x.Code, located(x.From, x.Message),
		"serve the pinned Cross Match Receipt with status 200 over https, at most 16 MiB")
	out.coordinator(s, "/coordinator_did", a.CoordinatorDID, s.Facts.DIDDocument)
	if a.FailoverDID != "" {
		out.coordinator(s, "/failover_coordinator_did", a.FailoverDID, s.Facts.Failover)
	}
	if web(a.CoordinatorDID) || web(a.FailoverDID) {
		if !inDomain(a.ReceiptURI, a.CoordinatorDID) && !inDomain(a.ReceiptURI, a.FailoverDID) {
			out.errorf(s, "/cross_match_receipt_uri", "anchor-host", "cross_match_receipt_uri is on host %q, outside the domains of the coordinators", host(a.ReceiptURI)).
				fix("serve it in the registrable domain of the coordinator's did:web")
		}
	} else {
		out.warnf(s, "/cross_match_receipt_uri", "anchor-host", "no coordinator is a did:web, so nothing shows whose host %q is", host(a.ReceiptURI)).
			fix("use a did:web for the coordinator")
	}
	return out
}

// coordinator holds that a DID resolves, where it is of a method that can be.
func (o *Outcome) coordinator(s *Subject, pointer, text string, doc evidence.Result[*did.Document]) {
	if doc.Code == evidence.CodeDIDMethod {
		o.warnf(s, pointer, doc.Code, "%s; nothing shows who it is", doc.Message).fix("use a did:web or a did:key")
		return
	}
	if doc.Code == evidence.CodeDIDSyntax {
		o.errorf(s, pointer, doc.Code, "%s", doc.Message).fix("use a did:web with a DNS name, or the did:key of an Ed25519 key")
		return
	}
	o.report(s, pointer, doc.State, doc.Code, text+": "+located(doc.From, doc.Message), "serve its DID Document with status 200 over https")
}

func web(text string) bool {
	d, err := did.Parse(text)
	return err == nil && d.Method == "web"
}

// otherAnchor is the path of another anchor of the same workflow, standing or proposed.
func (r *Run) otherAnchor(s *Subject) string {
	if path := r.Base.anchors[s.Anchor.WorkflowID]; path != "" && path != s.Path {
		return path
	}
	for _, t := range r.landing(registry.KindWorkflowAnchor) {
		if t != s && t.Anchor.WorkflowID == s.Anchor.WorkflowID {
			return t.Path
		}
	}
	return ""
}
