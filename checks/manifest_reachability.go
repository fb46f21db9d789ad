package checks

import (
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var manifestReachability = &Check{
	ID:    "manifest-reachability",
	Title: "manifest_uri answers 200 within 10 seconds",
	Cite:  "RFC 0026 section 6",
	Row:   "Manifest reachability",
	Why:   "an implementation that cannot be reached cannot be used or judged",
	Fix:   "serve the Manifest as strict JSON with status 200 over https at manifest_uri",
	Kinds: []registry.Kind{registry.KindListing},
	Owns:  evidence.Manifest,
	reads: []string{"/manifest_uri"},
	After: wellFormed,
	Run:   runManifestReachability,
	Codes: slices.Concat(manifest.Codes, fetched),
}

func runManifestReachability(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	m := s.Facts.Manifest
	fix := documentFix("manifest_uri", s.Listing.ManifestURI, m, evidence.MaxManifest,
		"serve the Manifest as strict JSON with status 200 over https, at most 1 MiB, within 10 seconds")
	if m.Code == evidence.CodeHTTPStatus && m.State == evidence.Absent {
		fix += "; if the Manifest has another URL: oap-gate new SLUG URL"
	}
	if report(&out, s, "/manifest_uri", m, located(m), fix) == nil {
		out.Verified = "served with status 200"
	}
	return out.OrPass(), nil
}
