package checks

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var receiptFetch = &Check{
	ID:    "receipt-fetch",
	Title: "conformance_receipt_uri serves the pinned Receipt",
	Cite:  "RFC 0026 section 6",
	Row:   "Receipt fetch",
	Why:   "the pin makes the claim immutable: other bytes are another claim",
	Fix:   "pin the SHA-256 of the exact bytes that are served, or publish the Receipt that was pinned",
	Kinds: []registry.Kind{registry.KindListing},
	Owns:  evidence.ReceiptText,
	reads: []string{"/conformance_receipt_uri", "/conformance_receipt_sha256"},
	After: wellFormed,
	Run:   runReceiptFetch,
	Codes: slices.Concat([]Code{
		{"receipt-hash-mismatch", "the served Receipt has another SHA-256 than the listing pins",
			"pin the SHA-256 of the exact bytes that are served, or publish the Receipt that was pinned"},
		{"receipt-archived", "the origin no longer serves the Receipt; the archive holds the pinned bytes",
			"serve it again at the same URL"},
	}, fetched),
}

func runReceiptFetch(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	text := s.Facts.ReceiptText
	if text.Code == evidence.CodeHashMismatch {
		got, want := text.Value.SHA256, s.Listing.ReceiptSHA256
		f := out.Errorf(s, "/conformance_receipt_sha256", "receipt-hash-mismatch",
			"the served Receipt has SHA-256 %s; the listing pins %s", got, cmp.Or(want, "none"))
		f.WithFix("pin the served bytes: %s; or publish the Receipt that was pinned", got)
		if slices.Contains(text.Value.Minified, want) {
			f.Message += ", which is the hash of the same Receipt minified"
			f.WithFix("pin the exact bytes that are served: %s", got)
		}
		if lf := bytes.ReplaceAll(text.Value.Body, []byte("\r\n"), []byte("\n")); plain.SHA256(lf) == want {
			f.Message += "; only the line ends differ"
			f.WithFix("serve the file with LF, or oap-gate renew %s", s.Listing.Slug)
		}
		return out, nil
	}
	if gone := text.Value.Gone; text.State == evidence.Obtained && gone != "" {
		out.Warnf(s, "/conformance_receipt_uri", "receipt-archived", "%s: %s; the archive holds the pinned bytes",
			s.Listing.ReceiptURI, gone).
			WithFix("tell the owner that the Receipt is no longer served")
		return out, nil
	}
	fix := documentFix("conformance_receipt_uri", s.Listing.ReceiptURI, text, evidence.MaxReceipt,
		"serve the Receipt with status 200 over https, at most 1 MiB, within 10 seconds")
	if report(&out, s, "/conformance_receipt_uri", text, located(text), fix) == nil {
		out.Verified = "sha256 matches"
	}
	return out.OrPass(), nil
}
