package checks

import (
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var workflowAnchors = &Check{
	ID:      "workflow-anchors",
	Title:   "a workflow anchor pins a Cross Match Receipt that its coordinator serves",
	Cite:    "RFC 0035 section 4.6",
	Row:     "No tampering",
	Why:     "an anchor is the public promise that no later rewrite of that Receipt is possible",
	Fix:     "serve the pinned bytes in the coordinator's domain, under a workflow id that has no anchor yet",
	Domains: true,
	Kinds:   []registry.Kind{registry.KindWorkflowAnchor},
	Owns:    evidence.AnchorProof,
	reads: []string{"/workflow_id", "/coordinator_did", "/cross_match_receipt_uri", "/cross_match_receipt_sha256",
		"/anchored_at"},
	applies: func(s *Subject) string {
		if !s.Added() {
			return "no new anchor"
		}
		return ""
	},
	After:        wellFormed,
	Run:          runWorkflowAnchors,
	runRecovered: runAnchorRecovered,
	Codes: slices.Concat([]Code{
		policyUnreadable, evidence.SuffixListCode,
		{"workflow-anchored-twice", "the workflow id has an anchor already",
			"anchor another workflow; an anchor is never replaced"},
		{"anchored-in-future", "anchored_at is ahead of now, or of the commit that lands it",
			"set it to the time of anchoring"},
		{"anchor-host", "the Cross Match Receipt is on a host that is not shown to be the coordinator's",
			"serve it in the coordinator's domain"},
		{"no-cross-match-receipt", "the pinned JSON is not an object", "pin the Cross Match Receipt of the workflow"},
		{"workflow-id-differs", "the pinned bytes are of another workflow",
			"pin the Cross Match Receipt of this workflow"},
		{"coordinator-not-named", "the pinned bytes do not name the coordinator",
			"pin the Cross Match Receipt that names the coordinator"},
		{"failover-not-declared", "no pinned bytes of the coordinator name this failover coordinator",
			"serve the Receipt in the coordinator's own domain, or anchor there first with the failover named"},
		unreadableTime,
	}, did.Codes, fetched),
}

func runWorkflowAnchors(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	a := s.Anchor
	if a.WorkflowID == "" { // a base schema of the registry's own may not ask for it
		out.Errorf(s, "/workflow_id", "workflow-id-differs",
			"the anchor has no workflow_id that is a text; expected the one of the pinned bytes").
			WithFix("set workflow_id to that of the Cross Match Receipt")
	} else {
		onlyAnchor(&out, s)
	}
	if a.Anchored.IsZero() { // a base schema of the registry's own may not ask for it
		out.Errorf(s, "/anchored_at", "unreadable-time", "anchored_at is %q; expected an RFC 3339 time",
			plain.Cut(a.AnchoredAt, 60)).WithFix("write it like 2026-05-12T13:24:00Z")
	} else if err := notAhead(&out, s, "anchored_at", "anchored-in-future", a.Anchored); err != nil {
		return out, err
	}
	x := s.Facts.CrossMatch
	f := report(&out, s, "/cross_match_receipt_uri", x, located(x),
		"serve the pinned Cross Match Receipt with status 200 over https, at most 16 MiB")
	if f == nil {
		crossMatch(&out, s, x.Value)
	} else if x.Code != evidence.CodeScheme || strings.HasPrefix(a.ReceiptURI, "https:") {
		f.Rests(verdict.World)
	}
	coordinator(&out, s, "/coordinator_did", a.CoordinatorDID, s.Facts.DIDDocument)
	if a.FailoverDID != "" {
		coordinator(&out, s, "/failover_coordinator_did", a.FailoverDID, s.Facts.Failover)
	}
	err := whose(&out, s)
	return out.OrPass(), err
}

// crossMatch checks that the pinned bytes name this workflow and coordinator (RFC 0035 section 4.2). Without it any
// file of the coordinator's domain could take a workflow id permanently.
func crossMatch(o *verdict.Outcome, s *Subject, x evidence.CrossMatch) {
	const at = "/cross_match_receipt_sha256"
	const fix = "pin the Cross Match Receipt of this workflow, which names its workflow_id and its coordinator"
	switch a := s.Anchor; {
	case !x.Object:
		o.Errorf(s, at, "no-cross-match-receipt",
			"the pinned bytes are JSON but not an object; a Cross Match Receipt is one").Fix = fix
	case a.WorkflowID != "" && x.WorkflowID != a.WorkflowID:
		o.Errorf(s, at, "workflow-id-differs", "the pinned bytes' workflow_id is %q, the anchor's is %q",
			plain.Cut(x.WorkflowID, 60), a.WorkflowID).Fix = fix
	case !x.Coordinator:
		o.Errorf(s, at, "coordinator-not-named", "the pinned bytes nowhere name %q, the anchor's coordinator_did",
			plain.Cut(a.CoordinatorDID, 200)).Fix = fix
	}
}

// whose checks that the Cross Match Receipt is served by its coordinator's domain, or by that of the failover
// coordinator that the coordinator declared.
func whose(o *verdict.Outcome, s *Subject) error {
	const at = "/cross_match_receipt_uri"
	a, doc := s.Anchor, s.Facts.DIDDocument
	switch {
	case doc.Code == evidence.CodeDIDSyntax || doc.Code == evidence.CodeDIDMethod: // coordinator reports it
	case webHost(a.CoordinatorDID) == "":
		bound, err := keyHost(s, a.CoordinatorDID)
		if err != nil {
			return err
		}
		if bound == "" {
			o.Errorf(s, at, "anchor-host", "cross_match_receipt_uri is on host %q; no current listing of %q in the "+
				"base tree says whose that is", host(a.ReceiptURI), plain.Cut(a.CoordinatorDID, 200)).
				WithFix("list the coordinator first, or use a did:web for it")
		} else if host(a.ReceiptURI) != bound {
			o.Errorf(s, at, "anchor-host", "cross_match_receipt_uri is on host %q, the coordinator's listing has its "+
				"Manifest on %q",
				host(a.ReceiptURI), bound).WithFix("serve it on %s", bound)
		}
	case s.Run.InDomain(a.ReceiptURI, a.CoordinatorDID):
	case !s.Run.InDomain(a.ReceiptURI, a.FailoverDID):
		o.Errorf(s, at, "anchor-host", "cross_match_receipt_uri is on host %q, outside the domains of the coordinators",
			host(a.ReceiptURI)).
			WithFix("serve it in the registrable domain of the coordinator's did:web")
	default:
		declared(o, s, s.Facts.Declared)
	}
	return nil
}

// declared checks that the coordinator named its failover coordinator (RFC 0035 section 4.4), in bytes that the base
// tree pins. Nobody signed what an anchor says about itself.
func declared(o *verdict.Outcome, s *Subject, found evidence.Result[string]) {
	const at = "/failover_coordinator_did"
	failover := plain.Cut(s.Anchor.FailoverDID, 200)
	switch found.State {
	case evidence.Obtained:
	case evidence.Unavailable:
		o.Doubtf(s, at, found.Code, "whether the coordinator named %q could not be read in what it anchored: %s",
			failover, located(found)).
			WithFix("%s, or serve the Cross Match Receipt in the coordinator's domain",
				found.Retry(s.Run.Now).Fix).Rests(verdict.World)
	default:
		o.Errorf(s, at, "failover-not-declared", "no Cross Match Receipt that the base tree pins in the domain of %q "+
			"names %q as its failover_coordinator_did", plain.Cut(s.Anchor.CoordinatorDID, 200), failover).
			WithFix("have the coordinator first anchor one there that does, or serve this one in its domain")
	}
}

// keyHost returns the host to which a did:key's listing binds it: that of the manifest_uri, which manifest-did required
// to be the owner's. It returns "" if the base tree has no listing of the key that is current and not revoked.
func keyHost(s *Subject, id string) (string, error) {
	for _, l := range s.Run.Base.ByDID(id) {
		v, err := s.Run.asked(l, id, s.Merged)
		if err != nil {
			return "", err
		}
		if v == nil || !v.is.InForce() {
			continue
		}
		listing, err := v.by.Tree.Listing(s.Run.Context, l.Path)
		if err != nil || listing == nil {
			return "", err
		}
		return host(listing.ManifestURI), nil
	}
	return "", nil
}

// Declarations returns the anchors of the base tree in whose Cross Match Receipts the coordinator of this one may have
// named its failover coordinator: its own, pinned in its own domain, with those that name the failover coordinator
// first. It returns nil if nothing depends on it.
func (s *Subject) Declarations() ([]*registry.Anchor, error) {
	a := s.Anchor
	if s.Run.InDomain(a.ReceiptURI, a.CoordinatorDID) || !s.Run.InDomain(a.ReceiptURI, a.FailoverDID) {
		return nil, nil
	}
	var first, rest []*registry.Anchor
	standing, err := anchored(s.Run, a.CoordinatorDID)
	if err != nil {
		return nil, err
	}
	for _, o := range standing {
		list := &rest
		if o.failover == did.Spelling(a.FailoverDID) {
			list = &first
		}
		if len(*list) > evidence.MaxDeclarations {
			continue // they tell that there are more, and are not read
		}
		if _, stood, err := s.judge().Tree.Entry(o.path); err != nil {
			return nil, err
		} else if stood {
			*list = append(*list, &o.Anchor)
		}
	}
	return append(first, rest...), nil
}

// standingAnchor is an anchor of the base tree.
type standingAnchor struct {
	registry.Anchor
	path     string
	failover string // FailoverDID in its one spelling
}

// anchored returns the anchors of the base tree that a coordinator has in its own domain, in path order. All are read
// once, because few runs ask.
func anchored(r *Run, coordinator string) ([]*standingAnchor, error) {
	all, err := r.anchors.get(r.findAnchors)
	return all[did.Spelling(coordinator)], err
}

func (r *Run) findAnchors() (map[string][]*standingAnchor, error) {
	scan := func(rec *registry.Record) *standingAnchor {
		a := registry.ParseAnchor(rec)
		if !r.InDomain(a.ReceiptURI, a.CoordinatorDID) {
			return nil
		}
		return &standingAnchor{*a, rec.Path, did.Spelling(a.FailoverDID)}
	}
	all := map[string][]*standingAnchor{}
	for a, err := range registry.Scan(r.Context, r.Base.Tree, registry.KindWorkflowAnchor, scan) {
		if err != nil {
			return nil, err
		}
		if a != nil {
			by := did.Spelling(a.CoordinatorDID)
			all[by] = append(all[by], a)
		}
	}
	return all, nil
}

// coordinator checks that a DID resolves.
func coordinator(o *verdict.Outcome, s *Subject, pointer, text string, doc evidence.Result[*did.Document]) {
	switch doc.Code {
	case evidence.CodeDIDMethod:
		o.Errorf(s, pointer, doc.Code, "%s; nothing shows who it is", doc.Message).WithFix("use a did:web or a did:key")
		return
	case evidence.CodeDIDSyntax:
		o.Errorf(s, pointer, doc.Code, "%s", doc.Message).
			WithFix("use a did:web with a DNS name, or the did:key of an Ed25519 key")
		return
	}
	if f := report(o, s, pointer, doc, text+": "+located(doc),
		"serve its DID Document with status 200 over https"); f != nil {
		f.Rests(verdict.World)
	}
}

// runAnchorRecovered checks that no other anchor took the workflow of a recovered one while it could not be read.
func runAnchorRecovered(s *Subject) (out verdict.Outcome) {
	id := s.Anchor.WorkflowID
	if was := s.BaseRecord; was != nil && was.Document != nil && registry.ParseAnchor(was).WorkflowID == id {
		return out // the base tree has two already
	}
	if id != "" {
		onlyAnchor(&out, s)
	}
	return out
}

// onlyAnchor checks that a workflow has no other anchor.
func onlyAnchor(o *verdict.Outcome, s *Subject) {
	if path := otherAnchor(s); path != "" {
		o.Errorf(s, "/workflow_id", "workflow-anchored-twice", "workflow_id %q has the anchor %s already",
			s.Anchor.WorkflowID, path).
			WithFix("leave this anchor out: a workflow has one, which never changes")
	}
}

// otherAnchor returns the path of another anchor of the same workflow, present or proposed.
func otherAnchor(s *Subject) string {
	if path := s.Run.Base.anchors[s.Anchor.WorkflowID]; path != "" && path != s.Path {
		return path
	}
	if path := s.Run.Base.twins[s.Anchor.WorkflowID]; path != "" {
		return path
	}
	for _, path := range s.Run.landed().claims[workflowClaim(s.Anchor.WorkflowID)] {
		if path != s.Path {
			return path
		}
	}
	return ""
}
