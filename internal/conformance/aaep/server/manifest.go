package server

import (
	"encoding/base64"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/jws"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// ofManifest returns what the play manifest came to, if it has no finding. Its caller holds the lock.
func (r *hosting) ofManifest() verdict.Outcome {
	switch n := r.withstood(); {
	case r.transport == "" && n == 0:
		return verdict.Skip("not run: %s", r.unplayed(aaep.SubManifest))
	case !r.requires:
		return verdict.Pass("the subscriber does not require signed manifests")
	case n == len(forgeries) && r.proven:
		return verdict.Pass("took none of %d manifests with a fault, and the one that is signed well", n)
	}
	var o verdict.Outcome
	o.Doubtf(verdict.At{Path: r.Path}, "", aaep.NotExercised,
		"the subscriber asked for %d of %d manifests with a fault; "+
			"it must ask again after each", r.withstood(), len(forgeries))
	return o
}

// forgeries are the manifests that a subscriber must not take.
var forgeries = []string{forgedPayload, forgedAgent, forgedNone}

const (
	forgedPayload = "a manifest that was changed after it was signed"
	forgedAgent   = "the manifest of another agent_id"
	forgedNone    = `a manifest with alg "none"`
)

// manifest returns the host's own manifest.
func (h *Host) manifest(agent string) []byte {
	members := aaep.Object{"@context": aaep.ContextURL, "type": aaep.ShortNamespace + aaep.ProducerManifest,
		"agent_id":                agent,
		"aaep_versions_supported": []string{aaep.Version}, "conformance_levels_supported": []int{1, 2, 3}}
	if len(h.Extensions) > 0 {
		members["extensions_supported"] = h.Extensions
	}
	return aaep.Marshaled(members)
}

// signManifest returns the manifest as a compact JWS, with a fault unless that is empty.
func (r *hosting) signManifest(fault string) string {
	agent, alg := agentID, ""
	if fault == forgedAgent {
		agent = "another-agent"
	}
	if fault == forgedNone {
		alg = "none"
	}
	text, err := jws.Sign(r.key, alg, r.Key == nil, r.manifest(agent))
	if err != nil {
		panic(err) // the key is one of jws.ParsePrivateKey
	}
	if fault == forgedPayload {
		parts := strings.Split(text, ".")
		parts[1] = base64.RawURLEncoding.EncodeToString(r.manifest(agentID + "-changed"))
		text = strings.Join(parts, ".")
	}
	return text
}

// agentID is that of the host.
const agentID = "oap-gate"
