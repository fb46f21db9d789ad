package schema

import "github.com/invopop/jsonschema"

// receipt is a Conformance Receipt, RFC 0019 section 6. Its objects are open.
type receipt struct {
	ID             string         `json:"receipt_id" jsonschema:"pattern=^urn:oap:conformance:[A-Za-z0-9_-]+$" jsonschema_description:"Identifier of the Receipt."`
	Type           string         `json:"type" jsonschema_extras:"const=conformance"`
	Timestamp      string         `json:"timestamp" jsonschema:"format=date-time" jsonschema_description:"When the suite ran."`
	Implementation implementation `json:"implementation" jsonschema_description:"What was tested."`
	Suite          suite          `json:"suite" jsonschema_description:"What it was tested with."`
	Target         target         `json:"target" jsonschema_description:"Where it was tested."`
	ClaimedLevels  []string       `json:"claimed_levels" jsonschema:"minItems=1,pattern=^(L[0-5](-NC)?|W[1-3]|C[1-3])$" jsonschema_description:"Conformance Levels that the run is to prove."`
	Profile        string         `json:"profile,omitempty" jsonschema:"enum=standard,enum=non-commercial,default=standard" jsonschema_description:"Profile of the levels; non-commercial for those that end in -NC."`
	Results        results        `json:"results_summary" jsonschema_description:"Numbers of tests."`
	ResultsURI     string         `json:"results_uri,omitempty" jsonschema:"format=uri" jsonschema_description:"Where all results are served."`
	FixturesHash   string         `json:"fixtures_hash" jsonschema:"pattern=^sha256:[0-9a-f]{64}$" jsonschema_description:"SHA-256 of the fixtures."`
	ResultsHash    string         `json:"results_hash" jsonschema:"pattern=^sha256:[0-9a-f]{64}$" jsonschema_description:"SHA-256 of the canonical JSON of all results."`
	Attestor       attestor       `json:"attestor,omitempty" jsonschema_description:"Who saw the run."`
	Validity       validity       `json:"validity,omitempty" jsonschema_description:"When the Receipt holds."`
	PreviousHash   string         `json:"previous_receipt_hash,omitempty" jsonschema_description:"Hash of the Receipt before, or genesis."`
	Signatures     []signature    `json:"signatures" jsonschema:"minItems=1" jsonschema_description:"Signatures over the canonical JSON without signatures and peer_witnesses."`
	PeerWitnesses  []peerWitness  `json:"peer_witnesses,omitempty" jsonschema_description:"Signatures of witnesses over the canonical JSON without this member: one at L4, three at L5."`
	RegistryAnchor registryAnchor `json:"registry_anchor,omitempty" jsonschema_description:"Where a registry lists the Receipt."`
	Revenue        revenue        `json:"revenue,omitempty" jsonschema_description:"What pays for an implementation of the Non-Commercial Profile."`
}

type implementation struct {
	DID           string `json:"did" jsonschema_description:"DID of the implementation."`
	Name          string `json:"name"`
	Version       string `json:"version"`
	BuildHash     string `json:"build_hash,omitempty" jsonschema_description:"Commit or image that was tested."`
	DeploymentURI string `json:"deployment_uri,omitempty" jsonschema:"format=uri" jsonschema_description:"Where it can be reached."`
}

type suite struct {
	Name        string `json:"name" jsonschema_extras:"const=oap-conformance-test-suite"`
	Version     string `json:"version" jsonschema_description:"Version of the suite."`
	SpecVersion string `json:"spec_version" jsonschema_description:"Version of the specification that it tests."`
	Repo        string `json:"suite_repo,omitempty" jsonschema:"format=uri"`
	Commit      string `json:"suite_commit,omitempty" jsonschema_description:"Commit of the suite."`
}

type target struct {
	URI          string `json:"uri" jsonschema:"format=uri"`
	ManifestHash string `json:"manifest_hash,omitempty" jsonschema_description:"SHA-256 of the Manifest that was served."`
}

type results struct {
	Total   int `json:"total" jsonschema:"minimum=0"`
	Passed  int `json:"passed" jsonschema:"minimum=0"`
	Failed  int `json:"failed" jsonschema:"minimum=0"`
	Skipped int `json:"skipped,omitempty" jsonschema:"minimum=0"`
}

type attestor struct {
	DID    string `json:"did,omitempty"`
	Name   string `json:"name,omitempty"`
	Method string `json:"method,omitempty" jsonschema:"enum=self,enum=third_party_replay,enum=live_witness,enum=registry"`
}

type validity struct {
	NotBefore string `json:"not_before,omitempty" jsonschema:"format=date-time"`
	NotAfter  string `json:"not_after,omitempty" jsonschema:"format=date-time" jsonschema_description:"At most 90 days later."`
}

type signature struct {
	By    string `json:"by"`
	Alg   string `json:"alg" jsonschema:"enum=EdDSA,enum=ES256,enum=ES384,enum=RS256,enum=PQ-Dilithium3"`
	Value string `json:"value" jsonschema_description:"The signature as base64url or base64; no placeholder (RFC 0019 section 7.3)."`
}

// JSONSchemaExtend adds what no struct tag can say.
func (signature) JSONSchemaExtend(s *jsonschema.Schema) { forbidPlaceholder(s, "value") }

type peerWitness struct {
	DID           string `json:"witness_did" jsonschema_description:"DID of the witness."`
	ReceiptURI    string `json:"witness_receipt_uri" jsonschema:"format=uri" jsonschema_description:"Where the witness's own Receipt is served."`
	Alg           string `json:"alg" jsonschema:"enum=EdDSA,enum=ES256,enum=ES384,enum=RS256,enum=PQ-Dilithium3"`
	Signature     string `json:"signature" jsonschema_description:"The signature as base64url or base64; no placeholder."`
	WitnessedAt   string `json:"witnessed_at" jsonschema:"format=date-time"`
	ControllerOrg string `json:"controller_org,omitempty" jsonschema_description:"Organisation behind the witness, as it says."`
}

// JSONSchemaExtend adds what no struct tag can say.
func (peerWitness) JSONSchemaExtend(s *jsonschema.Schema) { forbidPlaceholder(s, "signature") }

type registryAnchor struct {
	RepoURL     string `json:"repo_url" jsonschema:"format=uri" jsonschema_description:"The registry."`
	CommitSHA   string `json:"commit_sha" jsonschema:"pattern=^[0-9a-f]{40}$" jsonschema_description:"The commit that lists the Receipt."`
	FilePath    string `json:"file_path" jsonschema_description:"The listing's path."`
	MerkleProof string `json:"merkle_proof,omitempty" jsonschema_description:"Proof against a published root."`
}

type revenue struct {
	Source string `json:"source" jsonschema:"enum=byok,enum=self-hosted,enum=grant,enum=donation,enum=sponsorship"`
	Note   string `json:"note,omitempty"`
}

// forbidPlaceholder keeps out of a member what stands for a signature in development (RFC 0019 section 7.3).
func forbidPlaceholder(s *jsonschema.Schema, member string) {
	property, _ := s.Properties.Get(member)
	property.Not = &jsonschema.Schema{Pattern: "^(PLACEHOLDER_NOT_FOR_PRODUCTION|unsigned-reference|placeholder:)"}
}
