package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// StatementFormat is the name of the statement among the values of --report. It is not one of Formats: only runs that
// passed have one, and only with a key.
const StatementFormat = "vsa"

// MaxStated is the largest number of records that the statement of a check names.
const MaxStated = 1000

const (
	payloadType = "application/vnd.in-toto+json"
	mediaType   = "application/vnd.dev.sigstore.bundle.v0.3+json"
	toolTree    = "https://github.com/openagentprotocol-OAP/oap-gate/tree/"
)

// A Signer signs the statements of runs.
type Signer struct {
	Verifier     string // URI of who runs the program and holds the key
	KeyID        string // may be empty
	PolicySHA256 string // SHA-256 of what version --rules prints
	// Sign returns the Ed25519 signature of a message.
	Sign func(message []byte) ([]byte, error)
}

// The types below are an in-toto Statement with the predicate of a SLSA Verification Summary, in a DSSE envelope in a
// Sigstore bundle. Their members are in the order in which they are written.
type (
	statement struct {
		Type          string     `json:"_type"`
		Subject       []resource `json:"subject"`
		PredicateType string     `json:"predicateType"`
		Predicate     summary    `json:"predicate"`
	}
	// resource is a ResourceDescriptor of in-toto.
	resource struct {
		Name        string            `json:"name,omitempty"`
		URI         string            `json:"uri,omitempty"`
		Digest      map[string]string `json:"digest,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	summary struct {
		Verifier struct {
			ID      string            `json:"id"`
			Version map[string]string `json:"version"`
		} `json:"verifier"`
		TimeVerified       string     `json:"timeVerified"`
		ResourceURI        string     `json:"resourceUri"`
		Policy             resource   `json:"policy"`
		InputAttestations  []resource `json:"inputAttestations"`
		VerificationResult string     `json:"verificationResult"`
		VerifiedLevels     []string   `json:"verifiedLevels"`
		SLSAVersion        string     `json:"slsaVersion"`
	}
	envelope struct {
		MediaType            string `json:"mediaType"`
		VerificationMaterial struct {
			PublicKey struct {
				Hint string `json:"hint"`
			} `json:"publicKey"`
			TLogEntries []string `json:"tlogEntries"`
		} `json:"verificationMaterial"`
		Envelope struct {
			Payload     []byte          `json:"payload"`
			PayloadType string          `json:"payloadType"`
			Signatures  []dsseSignature `json:"signatures"`
		} `json:"dsseEnvelope"`
	}
	dsseSignature struct {
		Sig   []byte `json:"sig"`
		KeyID string `json:"keyid"`
	}
)

// NoStatement returns why a run has no statement, or "" if it has one. A consumer may take any valid signature for a
// pass, so only a full, live run that passed is ever signed.
func NoStatement(r *verdict.Report) string {
	switch {
	case r.Verdict != verdict.Passed:
		return "the verdict is " + string(r.Verdict)
	case len(r.Assumed) > 0:
		return "the run assumed " + strings.Join(r.Assumed, ", ")
	case r.Shard != "":
		return "the run judged only the part " + r.Shard + " of the records"
	}
	switch r.Mode {
	case "check":
		switch {
		case r.Base == r.Head:
			return "base and head are the same commit"
		case r.Counts.Records == 0:
			return "the run judged no record"
		case r.Counts.Records > MaxStated:
			return fmt.Sprintf("the run judged %d records; a statement names at most %d", r.Counts.Records, MaxStated)
		case len(r.Judged) == 0:
			return "head has none of the records that the run judged"
		}
	case "audit":
	case "verify":
		if r.Verified == nil || r.Head == "" {
			return "the run read no clone of the registry"
		}
		return ""
	default:
		return "a run of the mode " + r.Mode + " has none"
	}
	if r.Origin == "" {
		return "the clone has no remote that names the registry"
	}
	return ""
}

// Statement returns the signed statement of a run as a Sigstore bundle in JSON. It returns an error if NoStatement
// names a reason.
func (s *Signer) Statement(r *verdict.Report) ([]byte, error) {
	if why := NoStatement(r); why != "" {
		return nil, fmt.Errorf("no statement is made: %s", why)
	}
	payload, err := compact(s.state(r))
	if err != nil {
		return nil, err
	}
	signature, err := s.Sign(fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload),
		payload))
	if err != nil {
		return nil, err
	}
	b := envelope{MediaType: mediaType}
	b.VerificationMaterial.PublicKey.Hint = s.KeyID
	b.VerificationMaterial.TLogEntries = []string{}
	b.Envelope.Payload, b.Envelope.PayloadType = payload, payloadType
	b.Envelope.Signatures = []dsseSignature{{Sig: signature, KeyID: s.KeyID}}
	text, err := compact(b)
	return append(text, '\n'), err
}

// state returns what is said about a run that has a statement.
func (s *Signer) state(r *verdict.Report) statement {
	out := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/verification_summary/v1"}
	p := &out.Predicate
	p.Verifier.ID, p.Verifier.Version = s.Verifier, map[string]string{"oap-gate": r.Tool.Version}
	p.TimeVerified = r.EvaluatedAt.UTC().Format("2006-01-02T15:04:05Z")
	p.Policy = resource{URI: toolTree + builtFrom(r.Tool), Digest: map[string]string{"sha256": s.PolicySHA256}}
	p.VerificationResult, p.SLSAVersion = "PASSED", "1.1"
	p.InputAttestations = []resource{{URI: "urn:oap-gate:evidence",
		Digest: map[string]string{"sha256": r.EvidenceSHA256}}}
	for _, d := range r.Judged {
		out.Subject = append(out.Subject, resource{Name: d.Name, Digest: map[string]string{"sha256": d.SHA256}})
	}
	commit := func(name, id string) {
		if id != "" {
			p.InputAttestations = append(p.InputAttestations,
				resource{URI: "urn:oap-gate:" + name, Digest: map[string]string{"gitCommit": id}})
		}
	}
	p.ResourceURI = "git+https://" + r.Origin
	switch r.Mode {
	case "check":
		p.VerifiedLevels = []string{"OAP_PROPOSED"}
		commit("base", r.Base)
		commit("merge-base", r.MergeBase)
		commit("head", r.Head)
	case "audit":
		p.VerifiedLevels = []string{"OAP_AUDIT"}
		out.Subject = []resource{{Name: "git commit", Digest: map[string]string{"gitCommit": r.Head}}}
	case "verify":
		p.ResourceURI = r.Verified.DID
		for _, level := range r.Verified.Levels {
			p.VerifiedLevels = append(p.VerifiedLevels, "OAP_"+level)
		}
		commit("clone", r.Head)
		if at := r.Verified.AsOf; !at.IsZero() {
			p.InputAttestations[1].Annotations = map[string]string{"time": at.UTC().Format(time.RFC3339)}
		}
	}
	return out
}

// builtFrom returns the tag that a build is of, or the commit if it is of no tag.
func builtFrom(t verdict.Tool) string {
	if t.Version == "devel" && t.Commit != "unknown" {
		return t.Commit
	}
	return t.Version
}

// compact returns v as JSON on one line, with HTML as it is.
func compact(v any) ([]byte, error) {
	text, err := json.Marshal(v, oneLine)
	if err != nil {
		return nil, fmt.Errorf("encoding statement: %w", err)
	}
	return text, nil
}
