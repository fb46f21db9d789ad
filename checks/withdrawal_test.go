package checks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// What the history says against the Receipt that ada pins, whatever became of the revocation's file since.
func TestWithdrawn(t *testing.T) {
	const listed = "{listing: ada}, {listing: bob}, {commit: List}"
	const revoked = listed + ", {revoke: ada}, {commit: Revoke}"
	const renewed = listed + ", {reissue: ada}, {commit: Renew}"
	const revokedTwice = listed + `, {write: revocations/a.json, text: '{"slug": "ada", ` +
		`"revoked_receipt_sha256": "$pin(ada)"}'}, {revoke: ada}`
	const file = `"revocations/ada-$pin(ada).json"`
	for _, c := range []struct {
		name, world string
		number      int // of the Receipt; 0: the last
		want        string
	}{
		{"nothing", listed, 0, ""},
		{"another is revoked", listed + ", {revoke: bob}", 0, ""},
		{"revoked", revoked, 0, "listed, revoked ada-PIN1-ada.json"},
		{"revoked and removed", revoked + ", {remove: " + file + "}",
			0, "listed, revoked ada-PIN1-ada.json, removed ada-PIN1-ada.json"},
		{"revoked, removed and written again", revoked + ", {move: [" + file + ", a.md]}, {commit: Move}" +
			", {move: [a.md, " + file + "]}", 0, "listed, revoked ada-PIN1-ada.json"},
		{"revoked and edited", revoked + ", {edit: " + file + ", set: {/reason: key_compromise}}",
			0, "listed, revoked ada-PIN1-ada.json, removed ada-PIN1-ada.json"},
		{"revoked and edited to another slug", revoked + ", {edit: " + file + ", set: {/slug: bob}}",
			0, "listed, revoked ada-PIN1-ada.json, removed ada-PIN1-ada.json"},
		{"revoked and broken", revoked + ", {write: " + file + ", text: '{'}",
			0, "listed, revoked ada-PIN1-ada.json, unreadable ada-PIN1-ada.json, removed ada-PIN1-ada.json"},
		{"revoked and moved", revoked + ", {move: [" + file + ", revocations/a.json]}",
			0, "listed, revoked a.json, misplaced a.json"},
		{"revoked and moved to a directory below", revoked + ", {move: [" + file +
			`, "revocations/x/ada-$pin(ada).json"]}`,
			0, "listed, revoked x/ada-PIN1-ada.json, misplaced x/ada-PIN1-ada.json"},
		{"revoked and moved to a text", revoked + ", {move: [" + file + ", revocations/a.txt]}",
			0, "listed, revoked a.txt, misplaced a.txt"},
		{"revoked and moved to the name of bob's", revoked + ", {move: [" + file +
			`, "revocations/bob-$pin(bob).json"]}`,
			0, "listed, revoked bob-PIN1-bob.json, misplaced bob-PIN1-bob.json"},
		{"a name whose text never could be read", listed + ", {write: " + file + ", text: '{'}",
			0, "listed, revoked ada-PIN1-ada.json, unreadable ada-PIN1-ada.json"},
		{"a name whose text is bob's", listed + ", {write: " + file +
			`, text: '{"slug": "bob", "revoked_receipt_sha256": "$pin(bob)"}'}`,
			0, "listed, revoked ada-PIN1-ada.json"},
		{"a name whose text is bob's, removed", listed + ", {write: " + file +
			`, text: '{"slug": "bob", "revoked_receipt_sha256": "$pin(bob)"}'}, {commit: Revoke}, {remove: ` + file +
			"}", 0, "listed, revoked ada-PIN1-ada.json, removed ada-PIN1-ada.json"},
		{"a name whose text revoked nothing, that was right then and is removed", listed + ", {write: " + file +
			", text: '{}'}, {commit: Write}, {remove: " + file + "}, {revoke: ada}, {commit: Revoke}, {remove: " +
			file + "}", 0, "listed, revoked ada-PIN1-ada.json, removed ada-PIN1-ada.json"},
		{"revoked twice and removed twice", revoked + ", {move: [" + file + ", revocations/b.json]}, {commit: Move}" +
			", {move: [revocations/b.json, revocations/a.json]}, {commit: Move}, {remove: revocations/a.json}",
			0, "listed, revoked a.json, removed ada-PIN1-ada.json"},
		{"revoked, edited to bob's and removed", listed + ", {revoke: ada, path: revocations/a.json}" +
			", {commit: Revoke}, {edit: revocations/a.json, set: {/slug: bob}}, {commit: Edit}" +
			", {remove: revocations/a.json}", 0, "listed, revoked a.json, removed a.json"},
		{"edited twice", revoked + ", {edit: " + file + ", set: {/reason: key_compromise}}, {commit: Edit}, {edit: " +
			file + ", set: {/reason: voluntary_withdrawal}}",
			0, "listed, revoked ada-PIN1-ada.json, removed ada-PIN1-ada.json"},
		{"two files that cannot be read", listed + ", {write: revocations/b.json, text: '{'}" +
			", {write: implementations/ada.json, text: '{'}",
			0, "unreadable implementations/ada.json, unreadable b.json"},
		{"a listing of two versions that cannot be read", renewed + ", {write: implementations/ada.json, text: '{'}",
			0, "unreadable implementations/ada.json"},
		{"no directory of listings", revoked + ", {remove: implementations/ada.json}" +
			", {remove: implementations/bob.json}, {write: implementations, text: x}",
			0, "listed, revoked ada-PIN1-ada.json, unreadable implementations"},
		{"no directory of revocations", listed + ", {write: revocations, text: x}",
			0, "unreadable revocations"},
		{"a file that cannot be read", listed + ", {write: revocations/a.JSON, text: '{'}", 0, "unreadable a.JSON"},
		{"a file with ada's slug that cannot be read", listed +
			`, {write: "revocations/x/ada-$pin(bob).json", text: '{'}`,
			0, "listed, unreadable x/ada-PIN1-bob.json, misplaced x/ada-PIN1-bob.json"},
		{"a file with bob's slug that cannot be read", listed +
			`, {write: "revocations/x/bob-$pin(ada).json", text: '{'}`, 0, ""},
		{"a text that cannot be read", listed + ", {write: revocations/a.txt, text: '{'}", 0, ""},
		{"a JSON text that revokes nothing", listed + `, {write: revocations/a.json, text: '{"slug": "ada"}'}`,
			0, ""},
		{"a JSON text that revokes nothing by a slug", listed +
			", {move: [implementations/ada.json, implementations/.json]}" +
			`, {write: revocations/a.json, text: '{"revoked_receipt_sha256": "$pin(ada)"}'}`, 0, ""},
		{"bob's revocation, misplaced", listed + ", {move: [implementations/ada.json, implementations/.json]}" +
			`, {write: revocations/a.json, text: '{"slug": "bob", "revoked_receipt_sha256": "$pin(bob)"}'}`, 0, ""},
		{"a later one was revoked, and is no more", renewed + ", {revoke: ada, number: 1}" +
			`, {write: revocations/a.json, text: '{"slug": "ada", "revoked_receipt_sha256": "$pin(ada)"}'}` +
			", {commit: Revoke}, {remove: revocations/a.json}", 1, "listed, revoked a.json, removed a.json"},
		{"a Receipt that only a slug without revocations pinned", "{listing: ada}" +
			", {move: [implementations/ada.json, implementations/old.json]}, {commit: List}" +
			", {remove: implementations/old.json}" +
			`, {write: implementations/ada.json, text: '{"slug": "ada", "tool_did": "did:web:ada.example"}'}` +
			", {write: " + file + `, text: '{"slug": "ada", "revoked_receipt_sha256": "$pin(ada)"}'}`, 0, "listed"},
		{"a text that was a listing", listed + ", {move: [implementations/ada.json, implementations/ada.txt]}" +
			", {commit: Move}, {write: implementations/ada.txt, text: '{'}", 0, ""},
		{"a listing that cannot be read", revoked + ", {write: implementations/ada.json, text: '{'}",
			0, "listed, revoked ada-PIN1-ada.json, unreadable implementations/ada.json"},
		{"a listing of nothing that cannot be read", listed + ", {write: implementations/ada.json, text: '{'}",
			0, "unreadable implementations/ada.json"},
		{"another listing that cannot be read", listed + ", {write: implementations/bob.json, text: '{'}", 0, ""},
		{"a README that is JSON", listed + `, {write: revocations/README.md, text: '{"slug": "ada", ` +
			`"revoked_receipt_sha256": "$pin(ada)"}'}`, 0, ""},
		{"a file that is too large", listed + ", {write: " + file + ", text: ' ', repeat: 1048577}",
			0, "listed, revoked ada-PIN1-ada.json, unreadable ada-PIN1-ada.json"},
		{"a listing that is gone", revoked + ", {remove: implementations/ada.json}",
			0, "listed, revoked ada-PIN1-ada.json"},
		{"the former Receipt is revoked", renewed + ", {revoke: ada, number: 1}", 0, "listed"},
		{"the former of a revoked Receipt", renewed + ", {revoke: ada}", 1, "listed, revoked ada-PIN2-ada.json"},
		{"the former Receipt, which is revoked", renewed + ", {revoke: ada, number: 1}",
			1, "listed, revoked ada-PIN1-ada.json"},
		{"both are revoked", renewed + ", {revoke: ada, number: 1}, {revoke: ada}",
			0, "listed, revoked ada-PIN2-ada.json"},
		{"revoked by two files of one commit", renewed + ", {revoke: ada, number: 1}" +
			`, {write: revocations/a.json, text: '{"slug": "ada", "revoked_receipt_sha256": "$pin(ada)"}'}`,
			1, "listed, revoked a.json, misplaced a.json"},
		{"revoked by two files of one commit, of one pin", revokedTwice, 0, "listed, revoked a.json, misplaced a.json"},
		{"two misplaced files, and one of two pins", listed +
			`, {write: revocations/b.json, text: '{"slug": "ada", "revoked_receipt_sha256": "$pin(ada)"}'}` +
			", {commit: Revoke}" +
			`, {write: "revocations/a/ada-$pin(ada).json", text: '{"slug": "ada", "revoked_receipt_sha256": "$pin(bob)"}'}`,
			0, "listed, revoked a/ada-PIN1-ada.json, misplaced a/ada-PIN1-ada.json, misplaced b.json"},
		{"two that are removed", renewed +
			`, {write: revocations/b.json, text: '{"slug": "ada", "revoked_receipt_sha256": "$pin(ada)"}'}` +
			", {commit: Revoke}, {revoke: ada, number: 1, path: revocations/a.json}, {commit: Revoke}" +
			", {remove: revocations/a.json}, {remove: revocations/b.json}",
			0, "listed, revoked b.json, removed a.json, removed b.json"},
		{"ada's Receipt under bob's slug", listed +
			`, {write: "revocations/bob-$pin(ada).json", text: '{"slug": "bob", "revoked_receipt_sha256": "$pin(ada)"}'}`,
			0, ""},
		{"a revocation in capitals", listed +
			`, {write: revocations/a.json, text: '{"slug": "ADA", "revoked_receipt_sha256": "$pin(ada)"}'}`,
			0, "listed, revoked a.json, misplaced a.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := "base: [" + c.world + "]"
			if strings.HasPrefix(c.name, "no directory") {
				text += "\nbare: true"
			}
			w, repo := built(t, text)
			sum := must.Get(w.Pin("ada", c.number))(t)
			run := runOn(t, repo, w.Now)
			issued := w.Now
			for _, v := range history(t, run, "implementations/ada.json") {
				if v.ReceiptSHA256 == sum {
					issued = v.Issued
				}
			}
			for _, id := range []string{"did:web:ada.example", "did:web:ADA.example."} {
				found := must.Get(run.Withdrawn(id, sum, issued))(t)
				got := spell(found)
				for n := 1; n <= 2; n++ {
					for _, slug := range []string{"ada", "bob"} {
						if pin, err := w.Pin(slug, n); err == nil {
							got = strings.ReplaceAll(got, pin, fmt.Sprintf("PIN%d-%s", n, slug))
						}
					}
				}
				if got != c.want {
					t.Errorf("%s: %q; expected %q", id, got, c.want)
				}
				for _, r := range found.Removed {
					tree := must.Get(repo.Tree(t.Context(), r.Commit))(t)
					if text, err := tree.File(t.Context(), r.Path, 1<<16); !strings.Contains(r.Path, "/ada-") &&
						!strings.Contains(string(text), `"ada"`) {
						t.Errorf("%s: %s held %q, %v; expected ada's revocation", id, r.Commit, text, err)
					}
				}
			}
		})
	}
}

// TestWithdrawnReadsLittle reads the history of the listings that no revocation names for neither a state, nor a pinned
// Receipt, nor one that nothing is against. In an audit nothing lands.
func TestWithdrawnReadsLittle(t *testing.T) {
	w, repo := built(t, "base:\n  - {listing: ada}\n  - {listing: bob}\n  - {commit: List}\n  - {revoke: ada}\n")
	pinned := must.Get(w.Pin("ada", 0))(t)
	for sum, revoked := range map[string]bool{pinned: true, strings.Repeat("0", 64): false} {
		run := runOn(t, repo, w.Now)
		for l := range run.Base.Listings() {
			must.Get(run.State(l))(t)
		}
		found, err := run.Withdrawn("did:web:ada.example", sum, w.Now)
		if read := len(run.past().versions); err != nil || (found.Revoked != "") != revoked || read > 1 {
			t.Errorf("%s: %q, %v, read of %d listings", sum, spell(found), err, read)
		}
		run.Asks, run.Subjects = OfHead, []*Subject{{Run: run, Path: "implementations/ada.json"}}
		if p, err := run.landing(); p != run.past() || err != nil {
			t.Errorf("an audit's records land: %v, %v", p, err)
		}
		run.past().folders[registry.KindListing] = []registry.PathVersion{{Path: "implementations/zed.json",
			Version: registry.Version{Entry: lost(t)}}}
		found, err = run.Withdrawn("did:web:ada.example", strings.Repeat("1", 64), w.Now.AddDate(0, 0, -15))
		if err == nil {
			t.Errorf("another Receipt, and a version that is lost: %q; expected an error", spell(found))
		}
	}
}

// history returns the listings that a path held, newest first.
func history(t *testing.T, r *Run, path string) []*registry.Listing {
	versions := must.Get(r.past().history(r.Context, path))(t)
	var out []*registry.Listing
	for _, v := range slices.Backward(versions) {
		l := must.Get(r.listingIn(path, v.Entry))(t)
		if l != nil {
			out = append(out, l)
		}
	}
	return out
}

func spell(w *Withdrawal) string {
	var out []string
	if w.Listed {
		out = append(out, "listed")
	}
	if w.Revoked != "" {
		out = append(out, "revoked "+w.Revoked)
	}
	if w.Unclear != nil {
		out = append(out, "unclear "+w.Unclear.Path)
	}
	for _, u := range w.Unreadable {
		out = append(out, "unreadable "+u)
	}
	for _, m := range w.Misplaced {
		out = append(out, "misplaced "+m)
	}
	for _, r := range w.Removed {
		out = append(out, "removed "+r.Path)
		if len(r.Commit) != 40 || r.When.Equal(time.Time{}) {
			out = append(out, "without a commit")
		}
	}
	return strings.ReplaceAll(strings.Join(out, ", "), "revocations/", "")
}

// What is unclear is said about a Receipt that no present listing of its DID pins.
func TestUnclear(t *testing.T) {
	const listed = `{listing: ada, issued: -20d}, {listing: bob}, {commit: List}, {revoke: ada}, {revoke: bob}, ` +
		`{commit: Revoke}, {write: revocations/zed.json, text: '{"slug": "ada", "revoked_receipt_sha256": "$pin(ada)"}'}`
	for _, c := range []struct {
		name, world string
		number      int // of the Receipt; 0: another
		want        string
	}{
		{"another Receipt", listed, 0, "listed, unclear ada-FIRST.json, misplaced zed.json"},
		{"the pinned one", listed, 1, "listed, revoked zed.json, misplaced zed.json"},
		{"another Receipt, a former one revoked", listed + ", {reissue: ada}", 0,
			"listed, unclear ada-FIRST.json, misplaced zed.json"},
		{"the pinned one, a former one revoked", listed + ", {reissue: ada}", 2,
			"listed, misplaced zed.json"},
		{"another Receipt, a later one revoked", "{at: -20d}, {listing: ada, issued: -21d}, {commit: List}, " +
			"{at: -5d}, {reissue: ada, issued: -16d}, {commit: Renew}, {revoke: ada, path: revocations/zed.json}",
			0, "listed, unclear zed.json, misplaced zed.json"},
		{"another Receipt, revoked itself", "{listing: ada}, {commit: List}, {write: revocations/zed.json, text: '" +
			`{"slug": "ada", "revoked_receipt_sha256": "` + strings.Repeat("0", 64) + `"}'}`,
			0, "listed, revoked zed.json, misplaced zed.json"},
		{"another Receipt, and a third one revoked", "{listing: ada}, {commit: List}, {write: revocations/zed.json, " +
			`text: '{"slug": "ada", "revoked_receipt_sha256": "` + strings.Repeat("1", 64) + `"}'}`,
			0, "listed, misplaced zed.json"},
		{"another Receipt, and a listing that landed just now", "{at: +0s}, {listing: ada, issued: -20d}, " +
			"{commit: List}, {revoke: ada, path: revocations/zed.json}", 0, "listed, misplaced zed.json"},
		{"another Receipt, and a revocation by the slug's next owner", "{listing: ada, issued: -20d}, " +
			"{commit: List}, {edit: implementations/ada.json, set: {/tool_did: 'did:web:bob.example'}}, " +
			`{commit: Edit}, {write: revocations/zed.json, text: '{"slug": "ada", "revoked_receipt_sha256": "$pin(ada)", ` +
			`"revoked_by_did": "did:web:bob.example"}'}`, 0, "listed, misplaced zed.json"},
	} {
		w, repo := built(t, "base: ["+c.world+"]")
		first, err := w.Pin("ada", 1)
		must.OK(t, err)
		sum := strings.Repeat("0", 64)
		if c.number > 0 {
			if sum, err = w.Pin("ada", c.number); err != nil {
				t.Fatal(err)
			}
		}
		found := must.Get(runOn(t, repo, w.Now).Withdrawn("did:web:ada.example", sum, w.Now.AddDate(0, 0, -15)))(t)
		if got := strings.ReplaceAll(spell(found), first, "FIRST"); got != c.want {
			t.Errorf("%s: %q; expected %q", c.name, got, c.want)
		}
		if u := found.Unclear; u != nil && (len(u.Commit) != 40 || u.When.IsZero()) {
			t.Errorf("%s: by commit %q of %s", c.name, u.Commit, u.When)
		}
	}
}

// A listing makes a witness only at the path of its slug, once it is valid, and unless the history revokes it under any
// name.
func TestMayWitnessByState(t *testing.T) {
	const begin = "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}, {commit: List}"
	const shared = `, {edit: implementations/ada.json, set: {/tool_did: "did:web:a.example"}}, {listing: cyd, set: ` +
		`{/tool_did: "did:web:ada.example"%s}}, {commit: Share}, ` +
		`{edit: implementations/ada.json, set: {/tool_did: "did:web:ada.example"}}`
	unread := "revocations/a/ada-" + strings.Repeat("1", 64) + ".json"
	for _, c := range []struct{ name, then, code, why string }{
		{"in force", "", "", ""},
		{"revoked", ", {revoke: ada}", "witness-revoked", "revocations/ada-"},
		{"revoked under another name", ", {revoke: ada, path: revocations/a.json}",
			"witness-revoked", "its Receipt is revoked by revocations/a.json"},
		{"a file that cannot be read", ", {write: " + unread + ", text: '{'}",
			WitnessOpen, unread + " cannot be read"},
		{"a file that cannot be read, in capitals for another slug", ", {write: revocations/BOB-" +
			strings.Repeat("1", 64) + ".JSON, text: '{'}", "", ""},
		{"a file that can be read again", ", {write: " + unread + ", text: '{'}, {commit: Revoke}" +
			", {write: " + unread + ", text: '{}'}", "", ""},
		{"another path", ", {move: [implementations/ada.json, implementations/a.json]}",
			"witness-not-listed", "its listing implementations/a.json has the slug \"ada\""},
		{"no slug", ", {edit: implementations/ada.json, delete: [/slug]}",
			"witness-not-listed", "its listing implementations/ada.json has the slug \"\""},
		{"the path of its slug, in a directory",
			", {move: [implementations/ada.json, implementations/a/ada.json]}" +
				", {edit: implementations/a/ada.json, set: {/slug: a/ada}}",
			"witness-not-listed", "its listing implementations/a/ada.json has a name, slug or tool_did"},
		{"valid in five minutes", ", {edit: implementations/ada.json, set: {/issued_at: '2026-06-01T12:05:00Z'}}",
			"", ""},
		{"valid a second later",
			", {edit: implementations/ada.json, set: {/issued_at: '2026-06-01T12:05:01Z'}}",
			"witness-not-listed", "its listing implementations/ada.json is valid from 2026-06-01T12:05:01Z on"},
		{"another one had its DID first", fmt.Sprintf(shared, ""), "witness-not-listed", "cyd.json is at L1"},
		{"another one that is none had its DID first", fmt.Sprintf(shared, ", /contact: 7"), "", ""},
		{"no issued_at, which no schema refuses", ", {edit: implementations/ada.json, delete: [/issued_at]}" +
			`, {write: schemas/implementation.schema.json, text: '{"type": "object"}'}`,
			"witness-not-listed", "no dates that can be read"},
		{"no issued_at", ", {edit: implementations/ada.json, set: {/issued_at: x}}",
			"witness-not-listed", "its listing implementations/ada.json is not valid under the schema"},
	} {
		w, repo := built(t, "base: ["+begin+c.then+"]")
		run := runOn(t, repo, w.Now)
		l, code, why, err := run.MayWitness("did:web:ada.example")
		if err != nil || code != c.code || (l == nil) != (c.code != "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %v, %q, %q, %v; expected %q", c.name, l, code, why, err, c.code)
		}
		first := must.Get(repo.FirstParents(t.Context(), "", "main"))(t)[0]
		then := &Moment{Tree: must.Get(repo.Tree(t.Context(), first))(t), When: w.Now, number: 2}
		was := must.Get(NewStanding(t.Context(), then.Tree, anyPath))(t).BySlug("ada")
		if is, err := run.state(was, unjudged, run.past(), then); err != nil || !is.InForce() {
			t.Errorf("%s: before it was %+v, %v; expected a listing in force", c.name, is, err)
		}
	}
}

// runOn returns a run that changes nothing in main.
func runOn(t testing.TB, repo *registry.Repository, now time.Time) *Run {
	t.Helper()
	tree := must.Get(repo.Tree(t.Context(), "main"))(t)
	st := must.Get(NewStanding(t.Context(), tree, func(string) bool { return true }))(t)
	return &Run{Context: t.Context(), Repo: repo, Range: &registry.Range{Base: tree}, Base: st, Now: now}
}
