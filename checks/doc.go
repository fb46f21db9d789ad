// Package checks holds one requirement of the registry's gate per file. A check is pure: its outcome depends
// on the registry, the evidence and the clock in its Subject alone.
//
// A new check is one file, one script under testdata/script in which it alone fails, and its line in [All]. Its further
// cases are rows of a table, NAME_table_test.go, which package checktest judges in this process. What else there is to
// say of it follows from its fields: explain, the reports, the table of the README, the row of RFC 0026 section 6 in
// docs/install.md, the ten jobs of docs/workflows (go test ./internal/cli -run Readme -update).
//
// This one is whole but for its Codes:
//
//	var contact = &Check{
//		ID:    "contact",                          // public, never renamed
//		Title: "a listing says whom to ask",       // what holds, one sentence
//		Cite:  "RFC 0026 section 4",               // who demands it
//		Row:   "Schema",                           // of the table in section 6
//		Why:   "a listing that nobody answers for cannot be mended",
//		Fix:   `add "contact": "mailto:…" to the listing`,
//		Kinds: []registry.Kind{registry.KindListing},
//		After: wellFormed,                         // else it would judge what is no listing
//		Run: func(s *Subject) (verdict.Outcome, error) {
//			if text, _ := strict.Member(s.Record.Document.Root, "contact").(string); text != "" {
//				return verdict.Pass("contact is %q", plain.Cut(text, 60)), nil
//			}
//			var out verdict.Outcome
//			out.Errorf(s, "", "no-contact", "the listing names no contact").WithFix(`add "contact": "mailto:…"`)
//			return out, nil
//		},
//	}
//
// A check that judges a document names the evidence in Needs: it is fetched before, and Run is called where it was
// obtained. A check that reports that a document is missing Owns it. Each finding's code is explained in Codes; a test
// finds one that is not. A finding says what it rests on ([verdict.Basis]) where that is not the files themselves.
//
// Only the names in testdata/api/checks.txt are promised to programs outside of this module.
package checks
