package schema

// The types of this file and of receipt.go are the built-in schemas; nothing is decoded into them. A test
// holds their structure against the schemas that the registry and the specification publish.

// listing is an entry of implementations/, RFC 0026 section 4.
type listing struct {
	Slug            string   `json:"slug" jsonschema:"pattern=^[a-z0-9][a-z0-9-]{1\\,63}$" jsonschema_description:"Name of the entry, equal to its file name without .json."`
	Name            string   `json:"name" jsonschema:"minLength=2,maxLength=80" jsonschema_description:"Name for people."`
	ToolDID         string   `json:"tool_did" jsonschema:"pattern=^did:(web|key):[a-zA-Z0-9._:-]+$" jsonschema_description:"DID of the implementation."`
	ManifestURI     string   `json:"manifest_uri" jsonschema:"format=uri" jsonschema_description:"Where the Manifest is served."`
	Level           string   `json:"conformance_level" jsonschema:"pattern=^L[0-5](-NC|-FINANCE|-ORG)?$" jsonschema_description:"Highest Conformance Level that the Receipt claims."`
	ReceiptURI      string   `json:"conformance_receipt_uri" jsonschema:"format=uri" jsonschema_description:"Where the Receipt is served."`
	ReceiptSHA256   string   `json:"conformance_receipt_sha256" jsonschema:"pattern=^[0-9a-f]{64}$" jsonschema_description:"SHA-256 of the served bytes of the Receipt, in lower-case hexadecimal."`
	IssuedAt        string   `json:"issued_at" jsonschema:"format=date-time" jsonschema_description:"When the Receipt begins to hold."`
	ExpiresAt       string   `json:"expires_at" jsonschema:"format=date-time" jsonschema_description:"When the Receipt ends to hold: at most 90 days later."`
	OpenSource      string   `json:"open_source,omitempty" jsonschema:"format=uri" jsonschema_description:"Where the source code is."`
	License         string   `json:"license,omitempty" jsonschema_description:"SPDX identifier of the source code's licence."`
	NonCommercial   bool     `json:"non_commercial,omitempty" jsonschema:"default=false" jsonschema_description:"Whether the level is of the Non-Commercial Profile."`
	Provisional     bool     `json:"provisional,omitempty" jsonschema:"default=false" jsonschema_description:"Whether the domain is too young, or of unknown age."`
	Contact         string   `json:"contact,omitempty" jsonschema:"format=email" jsonschema_description:"Address for people."`
	Categories      []string `json:"categories,omitempty" jsonschema_description:"What the implementation is for."`
	JurisdictionIDs []string `json:"jurisdictions,omitempty" jsonschema:"pattern=^[A-Z]{2}$" jsonschema_description:"Two-letter codes of countries and unions."`
}

// revocation is an entry of revocations/, RFC 0026 section 5.
type revocation struct {
	Slug          string              `json:"slug" jsonschema:"pattern=^[a-z0-9][a-z0-9-]{1\\,63}$" jsonschema_description:"Slug of the listing that pins or pinned the Receipt."`
	ReceiptSHA256 string              `json:"revoked_receipt_sha256" jsonschema:"pattern=^[0-9a-f]{64}$" jsonschema_description:"SHA-256 of the revoked Receipt, as the listing pins it."`
	Reason        string              `json:"reason" jsonschema:"enum=key_compromise,enum=manifest_non_conformance,enum=superseded,enum=voluntary_withdrawal,enum=dispute_resolved_against,enum=failed_safety_eval,enum=frontier_capability_misuse" jsonschema_description:"Why the Receipt no longer holds."`
	EvidenceURI   string              `json:"evidence_uri,omitempty" jsonschema:"format=uri" jsonschema_description:"A public account of the reason."`
	RevokedAt     string              `json:"revoked_at" jsonschema:"format=date-time" jsonschema_description:"From when on the Receipt is revoked."`
	RevokedByDID  string              `json:"revoked_by_did" jsonschema:"pattern=^did:(web|key):[a-zA-Z0-9._:-]+$" jsonschema_description:"Who revokes: the implementation itself, or one of its witnesses."`
	Signature     revocationSignature `json:"signature" jsonschema_description:"Signature of the implementation over the canonical JSON without this member and peer_witness_signatures."`
	Witnesses     []witnessSignature  `json:"peer_witness_signatures,omitempty" jsonschema_description:"Signatures of at least three independent witnesses, for a revocation that the implementation does not sign."`
}

type revocationSignature struct {
	Alg   string `json:"alg" jsonschema:"enum=EdDSA" jsonschema_description:"Algorithm of the signature."`
	Value string `json:"value" jsonschema:"minLength=1" jsonschema_description:"The signature as base64url or base64."`
	By    string `json:"by" jsonschema_description:"Verification method that signed."`
}

type witnessSignature struct {
	WitnessDID string `json:"witness_did" jsonschema:"pattern=^did:(web|key):[a-zA-Z0-9._:-]+$" jsonschema_description:"DID of the witness."`
	Alg        string `json:"alg" jsonschema:"enum=EdDSA" jsonschema_description:"Algorithm of the signature."`
	Value      string `json:"value" jsonschema:"minLength=1" jsonschema_description:"The signature as base64url or base64."`
	By         string `json:"by,omitempty" jsonschema_description:"Verification method that signed."`
}

// workflowAnchor is an entry of workflow-anchors/, RFC 0035 section 4.6.
type workflowAnchor struct {
	Slug            string   `json:"slug" jsonschema:"pattern=^[a-z0-9][a-z0-9-]{1\\,62}[a-z0-9]$" jsonschema_description:"Name of the entry, equal to its file name without .json."`
	WorkflowID      string   `json:"workflow_id" jsonschema:"pattern=^wf_[0-9A-HJKMNP-TV-Z]{26}$" jsonschema_description:"Identifier of the workflow, with a ULID."`
	ManifestID      string   `json:"workflow_manifest_id" jsonschema:"pattern=^wfm_[0-9A-HJKMNP-TV-Z]{26}$" jsonschema_description:"Identifier of the workflow's manifest, with a ULID."`
	Type            string   `json:"workflow_type" jsonschema_description:"Kind of the workflow."`
	CoordinatorDID  string   `json:"coordinator_did" jsonschema:"pattern=^did:" jsonschema_description:"DID of the coordinator."`
	FailoverDID     string   `json:"failover_coordinator_did,omitempty" jsonschema:"pattern=^did:" jsonschema_description:"DID of who stands in for the coordinator."`
	ReceiptURI      string   `json:"cross_match_receipt_uri" jsonschema:"format=uri" jsonschema_description:"Where the Cross Match Receipt is served."`
	ReceiptSHA256   string   `json:"cross_match_receipt_sha256" jsonschema:"pattern=^[0-9a-f]{64}$" jsonschema_description:"SHA-256 of its served bytes, in lower-case hexadecimal."`
	AnchoredAt      string   `json:"anchored_at" jsonschema:"format=date-time" jsonschema_description:"When the entry was made."`
	MerkleRoot      string   `json:"merkle_root" jsonschema:"pattern=^sha256:[0-9a-f]{64}$" jsonschema_description:"Merkle root of the meta registry at that time."`
	Consistency     string   `json:"consistency_proof_to_prev,omitempty" jsonschema_description:"Proof that the tree before is a part of this one."`
	JurisdictionIDs []string `json:"jurisdictions,omitempty" jsonschema:"pattern=^[A-Z]{2}$" jsonschema_description:"Two-letter codes of countries and unions."`
	HighStakes      bool     `json:"is_high_stakes,omitempty" jsonschema_description:"Whether the workflow must be anchored."`
}

// gatePolicy is .github/gate-policy.yml in a registry, for the bootstrap of RFC 0026 section 10.
type gatePolicy struct {
	Version         int             `json:"version" jsonschema:"enum=1" jsonschema_description:"Version of this format."`
	ReferenceServer referenceServer `json:"reference_server" jsonschema_description:"The one implementation that may claim L4 without a witness until 2027-05-04."`
	Maintainers     []string        `json:"maintainers" jsonschema:"minItems=1,maxItems=50,uniqueItems=true,pattern=^did:[a-z0-9]+:[a-zA-Z0-9._:%-]+$" jsonschema_description:"DIDs that must all have signed its Receipt."`
}

type referenceServer struct {
	ToolDID string `json:"tool_did" jsonschema:"pattern=^did:[a-z0-9]+:[a-zA-Z0-9._:%-]+$" jsonschema_description:"DID of the reference server."`
}
