// Package checks defines one requirement of the registry's gate per file. A check is pure: its outcome depends only on
// the registry, the evidence and the clock in its Subject.
//
// A new check is one file, one script under testdata/script in which only that check fails, and its line in [All]. Its
// further cases are rows of a table, NAME_table_test.go, which package checktest judges in this process. All texts
// about it are generated from its fields: explain, the reports, the table of the README, the row of RFC 0026 section 6
// in docs/install.md, the ten jobs of docs/workflows (go test ./internal/cli -run Readme -update).
//
// This one is complete except for its Codes:
//
//	var contact = &Check{
//		ID:    "contact",                          // public, never renamed
//		Title: "a listing names a contact",        // what it requires, one sentence
//		Cite:  "RFC 0026 section 4",               // the clause that requires it
//		Row:   "Schema",                           // of the table in section 6
//		Why:   "nobody can fix a listing that nobody answers for",
//		Fix:   `add "contact": "mailto:…" to the listing`,
//		Kinds: []registry.Kind{registry.KindListing},
//		After: wellFormed,                         // else it would judge what is not a listing
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
// A check that judges a document names the evidence in Needs: the gate fetches it first, and calls Run if it was
// obtained. A check that reports that a document is missing Owns it. Codes explains the code of each finding; a test
// finds one that is not explained. A finding says what it rests on ([verdict.Basis]) if that is not the files
// themselves.
//
// Only the names in testdata/api/checks.txt are promised to programs outside of this module.
package checks
