package authorcmd_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/dnstest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

// fixRow breaks one thing in an honest world. Its fix, done to the letter, must leave neither error nor warning, and so
// must --fix if the row says that it does the same.
type fixRow struct {
	name  string
	nova  string // members of the newcomer, as in a description of a world
	set   func(t *testing.T, w *fixture.World)
	code  string // of the findings whose fix is applied
	text  string // what the message of each of them must match; may be empty
	fix   string // what each of them must be, as a regular expression
	apply func(t *testing.T, w *fixture.World, groups []string)
	fixes bool // --fix does it, too
	warns bool // the findings are warnings
}

const novaPath = "implementations/nova.json"

// The URLs of the newcomer's documents.
const (
	novaManifest = "https://nova.example/.well-known/oap-tool.json"
	novaDocument = "https://nova.example/.well-known/did.json"
	novaReceipt  = "https://nova.example/oap-conformance-receipt.json"
)

// editListing rewrites the listing on disk.
func editListing(t *testing.T, w *fixture.World, change func(text string) string) {
	t.Helper()
	file := filepath.Join(w.Repo.Dir, filepath.FromSlash(novaPath))
	was := must.Read(t, file)
	now := change(string(was))
	if now == string(was) {
		t.Fatal("the fix changes nothing")
	}
	must.OK(t, os.WriteFile(file, []byte(now), 0o644))
}

// replaceIn returns a fix that replaces the first group by the second in the listing.
func replaceIn(t *testing.T, w *fixture.World, groups []string) {
	t.Helper()
	editListing(t, w, func(text string) string { return strings.Replace(text, groups[1], groups[2], 1) })
}

// again publishes the newcomer's documents, honest ones unless members say otherwise.
func again(t *testing.T, w *fixture.World, members fixture.Implementation) {
	t.Helper()
	members.Slug = "nova"
	w.Add(members)
	if _, err := w.Publish("nova"); err != nil {
		t.Fatal(err)
	}
}

// servedAgain does "serve it": the honest documents are served.
func servedAgain(t *testing.T, w *fixture.World, _ []string) { again(t, w, fixture.Implementation{}) }

// signedAgain does "sign a new Receipt, publish it, then oap-gate check --worktree --fix".
func signedAgain(t *testing.T, w *fixture.World, groups []string) {
	t.Helper()
	servedAgain(t, w, nil)
	if command := groups[len(groups)-1]; command != "oap-gate check --worktree --fix" {
		t.Fatalf("the command is %q", command)
	}
	checked(t, w, 0, "--fix")
}

// editJSON changes a document that is served, or a text.
func editJSON(t *testing.T, text []byte, change func(root map[string]any)) []byte {
	t.Helper()
	var root map[string]any
	must.OK(t, json.Unmarshal(text, &root))
	change(root)
	now := must.Get(json.Marshal(root))(t)
	return now
}

// topLevelDID serves a Manifest with tool_did at its top level.
func topLevelDID(t *testing.T, w *fixture.World) {
	t.Helper()
	w.Web.Page(novaManifest, editJSON(t, w.Web.Body(novaManifest), func(root map[string]any) {
		root["tool_did"] = "did:web:nova.example"
		delete(root["tool"].(map[string]any), "did")
	}))
}

// setMember does "set MEMBER to VALUE".
func setMember(t *testing.T, w *fixture.World, groups []string) {
	editListing(t, w, func(text string) string {
		return regexp.MustCompile(`("`+groups[1]+`": )("[^"]*"|\[[^\]]*\])`).ReplaceAllString(text, "${1}"+groups[2])
	})
}

var fixTable = []fixRow{
	{name: "another DID", nova: `set: {/tool_did: "did:web:other.example"}`, code: "manifest-did-differs",
		fix: `^set (tool_did) to ("did:web:nova\.example"), as Manifest and Receipt say$`, apply: setMember, fixes: true},
	{name: "another DID, by the Receipt", nova: `set: {/tool_did: "did:web:other.example"}`, code: "receipt-did-differs",
		fix: `^set (tool_did) to ("did:web:nova\.example"), as Manifest and Receipt say$`, apply: setMember, fixes: true},
	{name: "another DID, by its document", nova: `set: {/tool_did: "did:web:other.example"}`, code: "http-status",
		fix: `^set (tool_did) to ("did:web:nova\.example"), as Manifest and Receipt say$`, apply: setMember, fixes: true},
	{name: "capitals in a host", nova: `set: {/tool_did: "did:web:Nova.example"}`, code: "did-spelling",
		fix: `^set (tool_did) to ("did:web:nova\.example")`, apply: setMember, fixes: true},
	{name: "http", nova: `set: {/manifest_uri: "http://nova.example/.well-known/oap-tool.json"}`, code: "scheme-not-https",
		fix: `^set (manifest_uri) to ("https://nova\.example/\.well-known/oap-tool\.json")$`, apply: setMember},
	{name: "a prefixed hash", nova: `pin: "sha256:$PIN"`, code: "schema-pattern",
		fix: `^set (conformance_receipt_sha256) to ("[0-9a-f]{64}")$`, apply: setMember, fixes: true},
	{name: "a text for a list", nova: `set: {/jurisdictions: "DE"}`, code: "schema-type",
		fix: `^set (jurisdictions) to (\["DE"\])$`, apply: setMember, fixes: true},
	{name: "a misspelled member", nova: `set: {/licence: "MIT"}, delete: [/license]`, code: "schema-additionalProperties",
		fix:   `^rename ("licence") to ("license")$`,
		apply: replaceIn},
	{name: "an unknown member", nova: `set: {/unheard: "MIT"}`, code: "schema-additionalProperties",
		fix: `^remove ("unheard")$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) {
			editListing(t, w, func(text string) string {
				return regexp.MustCompile(`,\s*`+groups[1]+`: "MIT"`).ReplaceAllString(text, "")
			})
		}},
	{name: "no manifest_uri", nova: `delete: [/manifest_uri]`, code: "schema-required",
		fix: `^add ("manifest_uri"): ("https://nova\.example/\.well-known/oap-tool\.json")$`, apply: addMember,
		fixes: true},
	{name: "no tool_did", nova: `delete: [/tool_did]`, code: "schema-required",
		fix: `^add ("tool_did"): ("did:web:nova\.example")$`, apply: addMember, fixes: true},
	{name: "a 404", nova: `level: L1`, set: answers(webtest.Behaviour{Status: 404}), code: "http-status",
		fix: `^serve (/\.well-known/oap-tool\.json) with status 200 \(it answers 404\); ` +
			`if the Manifest has another URL: oap-gate new SLUG URL$`, apply: servedAgain},
	{name: "over 1 MiB", nova: `level: L1`, set: answers(webtest.Behaviour{Header: map[string]string{
		"Content-Length": "1048577"}, Body: []byte(" "), Repeat: 1<<20 + 1}), code: "body-too-large",
		text: `the body has 1048577 bytes by its Content-Length; expected at most 1048576$`,
		fix:  `^serve at most 1 MiB$`, apply: servedAgain},
	{name: "a contact that is a URL", nova: `set: {/contact: "https://nova.example/contact"}`, code: "schema-format",
		fix: `^set (contact) to an e-mail address \(the schema's format is email\)$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) {
			setMember(t, w, append(groups, `"contact@nova.example"`))
		}},
	{name: "a name of one character", nova: `name: N`, code: "schema-minLength",
		fix: `^sign a Receipt whose implementation\.name has 2 to 80 characters, publish it, set name to it, ` +
			`then (oap-gate check --worktree --fix)$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) {
			setMember(t, w, []string{"", "name", `"Nova"`})
			signedAgain(t, w, groups)
		}},
	{name: "a merge conflict", nova: `level: L1`, code: "json-syntax", text: `line 2 is a merge conflict marker`,
		set: func(t *testing.T, w *fixture.World) {
			editListing(t, w, func(text string) string {
				return strings.Replace(text, "{\n", "{\n<<<<<<< HEAD\n=======\n>>>>>>> topic\n", 1)
			})
		},
		fix: `^resolve the conflict, then (git add implementations/nova\.json)$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) {
			replaceIn(t, w, []string{"", "<<<<<<< HEAD\n=======\n>>>>>>> topic\n", ""})
			shell(t, w.Repo.Dir, groups[1])
		}},
	{name: "a byte order mark", nova: `level: L1`, code: "byte-order-mark",
		set: func(t *testing.T, w *fixture.World) {
			editListing(t, w, func(text string) string { return "\ufeff" + text })
		},
		fix: `^oap-gate (check --worktree --fix)$`, apply: fixInWorktree, fixes: true},
	{name: "an executable bit", nova: `level: L1`, code: "file-mode",
		set: func(t *testing.T, w *fixture.World) { shell(t, w.Repo.Dir, "chmod +x implementations/nova.json") },
		fix: `^oap-gate (check --worktree --fix); if git ignores file modes here, ` +
			`git update-index --chmod=-x implementations/nova\.json$`, apply: fixInWorktree, fixes: true},
	{name: "a directory too deep", nova: `level: L1`, code: "misplaced-file",
		set: func(t *testing.T, w *fixture.World) {
			shell(t, w.Repo.Dir, "mkdir implementations/x && mv implementations/nova.json implementations/x/me.json")
		},
		fix:   `^oap-gate (check --worktree --fix), or name it implementations/nova\.json$`,
		apply: fixInWorktree, fixes: true},
	{name: "a window whose right end is past", code: "window-too-long",
		nova: `issued: "-100d", not_after: "+20d", set: {/expires_at: "2026-06-21T12:00:00Z"}`,
		fix: `^sign a new Receipt \(the latest expires_at of this one, 2026-05-22T12:00:00Z, is in the past\), ` +
			`publish it, then (.*)$`, apply: signedAgain},
	{name: "expired", nova: `issued: "-80d", not_after: "-10d"`, code: "expired",
		fix:   `^sign a new Receipt \(validity\.not_after after 2026-06-01T12:00:00Z\), publish it, then (.*)$`,
		apply: signedAgain},
	{name: "a clock an hour slow", nova: `issued: "+1h"`, code: "issued-in-future",
		fix: `^wait until (\S+), or set this machine's clock or --at \(the time is 2026-06-01T12:00:00Z\)$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) {
			var err error
			if w.Now, err = time.Parse(time.RFC3339, groups[1]); err != nil {
				t.Fatal(err)
			}
		}},
	{name: "by names an id that the document does not have", nova: `by: "did:web:nova.example#key-7"`, warns: true,
		code: "key-id-mismatch",
		fix: `^add the id (did:web:nova\.example#key-7) for this key to verificationMethod and assertionMethod of ` +
			`did\.json, or remove this signature and run oap-gate sign FILE --key-id ` +
			`'did:web:nova\.example#key-1'$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) {
			w.Web.Page(novaDocument, editJSON(t, w.Web.Body(novaDocument), func(root map[string]any) {
				methods := root["verificationMethod"].([]any)
				same := maps.Clone(methods[0].(map[string]any))
				same["id"] = groups[1]
				root["verificationMethod"] = append(methods, same)
				root["assertionMethod"] = append(root["assertionMethod"].([]any), groups[1])
			}))
		}},
	{name: "tool_did at the top level of the Manifest", nova: `level: L1`, set: topLevelDID,
		code: "manifest-did-differs", text: `^the Manifest has tool_did at the top level; expected tool\.did$`,
		fix: `^set tool\.did in the Manifest to "did:web:nova\.example"$`, apply: servedAgain},
}

// fixInWorktree does "oap-gate check --worktree --fix".
func fixInWorktree(t *testing.T, w *fixture.World, groups []string) {
	t.Helper()
	if groups[1] != "check --worktree --fix" {
		t.Fatalf("the command is %q", groups[1])
	}
	checked(t, w, 0, "--fix")
}

// addMember does "add MEMBER: VALUE".
func addMember(t *testing.T, w *fixture.World, groups []string) {
	t.Helper()
	editListing(t, w, func(text string) string {
		return strings.Replace(text, "{", "{\n  "+groups[1]+": "+groups[2]+",", 1)
	})
}

// answers has the newcomer's Manifest answered otherwise.
func answers(b webtest.Behaviour) func(*testing.T, *fixture.World) {
	return func(_ *testing.T, w *fixture.World) { w.Web.Set(novaManifest, b) }
}

// shell runs a command that a fix says.
func shell(t *testing.T, dir, command string) {
	t.Helper()
	needs.Program(t, "sh")
	c := exec.Command("sh", "-c", command)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// TestFixes applies each fix of the table mechanically.
func TestFixes(t *testing.T) {
	for _, row := range fixTable {
		t.Run(row.name, func(t *testing.T) {
			broken := func() *fixture.World {
				nova := strings.ReplaceAll(row.nova, "$PIN", strings.Repeat("A", 64))
				w := clitest.Build(t,
					"schemas: [listing]\nbase:\n  - {listing: ada}\nworktree:\n  - {listing: nova, "+nova+"}\n")
				if row.set != nil {
					row.set(t, w)
				}
				if strings.Contains(row.nova, "$PIN") { // the pin of what is served, in another spelling
					pin := must.Get(w.Pin("nova", 0))(t)
					sum := plain.SHA256(w.Web.Body(novaReceipt))
					editListing(t, w, func(text string) string {
						return strings.Replace(text, pin, "sha256:"+strings.ToUpper(sum), 1)
					})
				}
				return w
			}
			w := broken()
			status := 1
			if row.warns {
				status = 0
			}
			found := checked(t, w, status)[row.code]
			if len(found) == 0 {
				t.Fatalf("no finding %s", row.code)
			}
			for _, f := range found {
				if !regexp.MustCompile(row.text).MatchString(f.Message) ||
					!regexp.MustCompile(row.fix).MatchString(f.Fix) {
					t.Fatalf("the finding is %q, the fix is %q", f.Message, f.Fix)
				}
			}
			row.apply(t, w, regexp.MustCompile(row.fix).FindStringSubmatch(found[0].Fix))
			if left := checked(t, w, 0); len(left) > 0 {
				t.Errorf("after the fix: %v", left)
			}
			if !row.fixes {
				return
			}
			if left := checked(t, broken(), 0, "--fix"); len(left) > 0 {
				t.Errorf("after --fix: %v", left)
			}
		})
	}
}

// TestServersDate reads the Date header of the Receipt's server, honest and not, and replays each run.
func TestServersDate(t *testing.T) {
	w := clitest.Build(t, "schemas: [listing]\nworktree:\n  - {listing: nova, issued: \"+1h\"}\n")
	at := must.Get(url.Parse(novaReceipt))(t)
	page := w.Web.Answer(at)
	for date, says := range map[string]string{
		"":                              "",
		"Mon, 01 Jun 2026 12:00:00 GMT": "; the server's Date header 2026-06-01T12:00:00Z",
		"Mon, 01 Jun 2026 13:00:00 GMT": "; the server's Date header 2026-06-01T13:00:00Z",
		"Mon, 01 Jun 2026 13:00:00 GMT\u009b2J::error::x": "",
		strings.Repeat("9", 50_000):                       "",
		"Sat, 01 Jan 0000 00:00:00 GMT":                   "; the server's Date header 0000-01-01T00:00:00Z",
	} {
		if page.Header = nil; date != "" {
			page.Header = map[string]string{"Date": date}
		}
		w.Web.Set(novaReceipt, page)
		for until, args := range map[string][]string{
			"13:00:00Z": inClone("check", "--worktree")(w), "12:55:00Z": verifyNova(w),
		} {
			bundle := filepath.Join(t.TempDir(), "bundle.json")
			want := " fix: wait until 2026-06-01T" + until + ", or set this machine's clock or --at (the time is " +
				"2026-06-01T12:00:00Z" + says + ")\n"
			for _, args := range [][]string{
				append(args, "--record", bundle), {"replay", bundle, "--repo", w.Repo.Dir},
			} {
				if status, said := ran(nil, args...); status != 1 || strings.Count(said, want) != 1 {
					t.Errorf("%.60q: %s: exit status %d, want 1 and %s\n%s", date, args[0], status, want, said)
				}
			}
		}
	}
}

// fixed is a finding with its fix.
type fixed struct{ Severity, Code, Message, Fix string }

// checked runs check on the work tree, which must end with a status, and returns its errors and warnings by code.
func checked(t *testing.T, w *fixture.World, want int, flags ...string) map[string][]fixed {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.json")
	args := slices.Concat([]string{"check", "--worktree", "--report", "json=" + report, "--retry-wait", "1ms"},
		w.Args(), flags)
	if got, said := ran(nil, args...); got != want {
		t.Fatalf("exit status %d, want %d\n%s", got, want, said)
	}
	text := must.Read(t, report)
	var rep struct {
		Results []struct{ Findings []fixed }
	}
	must.OK(t, json.Unmarshal(text, &rep))
	all := map[string][]fixed{}
	for _, r := range rep.Results {
		for _, f := range r.Findings {
			if f.Severity == "error" || f.Severity == "warning" {
				all[f.Code] = append(all[f.Code], f)
			}
		}
	}
	return all
}

// ran runs the program, and returns its exit status and what it printed, stdout before stderr.
func ran(stdin io.Reader, args ...string) (int, string) {
	var out, said bytes.Buffer
	status := clitest.Main(args, frame.IO{Stdin: stdin, Stdout: &out, Stderr: &said, Getenv: clitest.NoEnvironment})
	return status, out.String() + said.String()
}

// commandRow is a command that fails in an honest world. Its fix, done to the letter, must let it pass.
type commandRow struct {
	name   string
	world  string // its description; empty: one merged listing, one proposed listing, and a newcomer's documents
	set    func(t *testing.T, w *fixture.World)
	args   func(w *fixture.World) []string
	status int
	text   string // what must be printed, as a regular expression; may be empty
	fix    string // the first fix that is printed, as a regular expression
	// apply does the fix, and returns the arguments of the command that must pass then; nil: the same.
	apply func(t *testing.T, w *fixture.World, groups []string) []string
}

// onWeb returns the arguments of a command that asks the world's web, and reads no clone.
func onWeb(args ...string) func(*fixture.World) []string {
	return func(w *fixture.World) []string { return slices.Concat(args, w.Args()[2:]) }
}

// inClone returns the arguments of a command that works in the world's clone.
func inClone(args ...string) func(*fixture.World) []string {
	return func(w *fixture.World) []string { return slices.Concat(args, w.Args()) }
}

// keyOf writes the private key of a name.
func keyOf(t *testing.T, name string) (file string) {
	t.Helper()
	der := must.Get(x509.MarshalPKCS8PrivateKey(fixture.Key(name)))(t)
	file = filepath.Join(t.TempDir(), name+".pem")
	must.OK(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	return file
}

var verifyNova = onWeb("verify", "https://nova.example", "--without-registry")

// novaTLS has the newcomer's host end its handshakes so.
func novaTLS(m webtest.TLSMode) func(*testing.T, *fixture.World) {
	return func(_ *testing.T, w *fixture.World) { w.Web.SetTLS("nova.example", m) }
}

// setNovaTLS is novaTLS as a fix.
func setNovaTLS(m webtest.TLSMode) func(*testing.T, *fixture.World, []string) []string {
	return func(t *testing.T, w *fixture.World, _ []string) []string { novaTLS(m)(t, w); return nil }
}

// commandTable has what one command prints on a line of its own. What a mirror refused, what .gitignore hides and what
// new prints in a fork are tried by TestMirrorRefusesRecords, worktree.txtar and first_day.txtar.
var commandTable = []commandRow{
	{name: "new of a DID with a port", args: inClone("new", "nova", "did:web:nova.example%3A8443"), status: 1,
		fix: `^use a did:web without a port; the listing schema does not allow one$`,
		apply: func(_ *testing.T, w *fixture.World, _ []string) []string {
			return inClone("new", "nova", "did:web:nova.example")(w)
		}},
	{name: "an unknown certificate authority", status: 1,
		args: func(w *fixture.World) []string {
			return slices.DeleteFunc(verifyNova(w), func(a string) bool {
				return a == "--ca-cert" || strings.HasSuffix(a, ".pem")
			})
		},
		fix:   `^install a certificate of a public authority; to try it locally add --ca-cert FILE$`,
		apply: func(_ *testing.T, w *fixture.World, _ []string) []string { return verifyNova(w) }},
	{name: "a certificate authority other than that of --ca-cert", args: verifyNova, status: 1,
		set: novaTLS(webtest.TLSUntrusted),
		fix: `^install a certificate of a public authority$`, apply: setNovaTLS("")},
	{name: "a certificate of another name", set: novaTLS(webtest.TLSWrongName), args: verifyNova, status: 1,
		fix: `^get a certificate for nova\.example; it has another\.example$`, apply: setNovaTLS("")},
	{name: "an expired certificate", set: novaTLS(webtest.TLSExpired), args: verifyNova, status: 1,
		fix: `^renew the certificate; it ended on \d{4}-\d\d-\d\d$`, apply: setNovaTLS("")},
	{name: "a certificate without the intermediate", set: novaTLS(webtest.TLSAlone), args: verifyNova, status: 1,
		fix:   `^serve the full chain \(fullchain\.pem\) instead of the certificate alone$`,
		apply: setNovaTLS(webtest.TLSChain)},
	{name: "no such host", status: 1,
		set: func(t *testing.T, _ *fixture.World) {
			dnstest.Use(t, map[string][]string{evidence.Control: {"192.0.2.1"}})
		},
		args: func(w *fixture.World) []string {
			return slices.DeleteFunc(verifyNova(w), func(a string) bool {
				return a == "--connect-to" || strings.HasPrefix(a, "*=")
			})
		},
		fix: `^create a DNS record for nova\.example, or correct manifest_uri$`,
		// The flag is the record.
		apply: func(_ *testing.T, w *fixture.World, _ []string) []string { return verifyNova(w) }},
	{name: "an expired Receipt", args: verifyNova, status: 1,
		set: func(t *testing.T, w *fixture.World) {
			again(t, w, fixture.Implementation{Issued: "-80d", NotAfter: "-1d"})
		},
		fix: `^sign a Receipt whose validity\.not_after is after 2026-06-01T12:00:00Z$`,
		apply: func(t *testing.T, w *fixture.World, _ []string) []string {
			again(t, w, fixture.Implementation{NotAfter: "+1d"})
			return nil
		}},
	{name: "verify of a host", args: onWeb("verify", "nova.example", "--without-registry"), status: 2,
		fix: `^did you mean (https://nova\.example)\?$`,
		apply: func(_ *testing.T, w *fixture.World, groups []string) []string {
			return onWeb("verify", groups[1], "--without-registry")(w)
		}},
	{name: "verify of a Manifest with tool_did at the top", set: topLevelDID, args: verifyNova, status: 1,
		text: `the Manifest has tool_did at the top level; expected tool\.did \[`,
		fix:  `^set tool\.did in the Manifest to the implementation's DID$`,
		apply: func(t *testing.T, w *fixture.World, _ []string) []string {
			servedAgain(t, w, nil)
			return nil
		}},
	{name: "a revocation by a key that was rotated out", status: 1,
		set: func(t *testing.T, w *fixture.World) {
			w.Add(fixture.Implementation{Slug: "ada", Key: "other"})
			if _, err := w.Publish("ada"); err != nil {
				t.Fatal(err)
			}
		},
		args: func(w *fixture.World) []string {
			return inClone("revoke", "ada", "--reason", "key_compromise", "--key", filepath.Join(w.Dir, "ada.pem"))(w)
		},
		fix: `^sign with a key that did\.json has now, or ask three L4 witnesses: oap-gate revoke SLUG --forced$`,
		apply: func(t *testing.T, w *fixture.World, _ []string) []string {
			return inClone("revoke", "ada", "--reason", "key_compromise", "--key", keyOf(t, "other"))(w)
		}},
	{name: "a renewal on a branch without the listing", status: 2, args: inClone("renew", "nova"),
		text: `error: the work tree has no implementations/nova\.json\n`,
		set: func(t *testing.T, w *fixture.World) {
			mergeNova(t, w)
			shell(t, w.Repo.Dir, "git switch -q -c renew-nova main~1")
		},
		fix: `^(git -C \S+ merge main)$`, apply: inTheRegistry},
	{name: "a renewal without the file", status: 2, args: inClone("renew", "nova"),
		set: func(t *testing.T, w *fixture.World) {
			mergeNova(t, w)
			shell(t, w.Repo.Dir, "git switch -q -c renew-nova main && rm implementations/nova.json")
		},
		fix: `^(git -C \S+ checkout [0-9a-f]{12} -- implementations/nova\.json)$`, apply: inTheRegistry},
	{name: "a shallow clone", status: 2, text: `error: this clone is shallow: `,
		set: func(t *testing.T, w *fixture.World) {
			shell(t, w.Dir, "git clone -q --depth 1 --no-single-branch \"file://$PWD/registry\" clone")
		},
		args: func(w *fixture.World) []string {
			return append(onWeb("check", "--base", "origin/main", "--head", "origin/pr")(w), "--repo",
				filepath.Join(w.Dir, "clone"))
		},
		fix: `^(git fetch --unshallow) \(in Actions: fetch-depth: 0\)$`, apply: inTheClone},
	{name: "a clone of one branch", status: 2,
		set: func(t *testing.T, w *fixture.World) {
			shell(t, w.Dir, "git -C registry checkout -q main")
			shell(t, w.Dir, "git clone -q --single-branch -b pr \"file://$PWD/registry\" clone")
		},
		args: func(w *fixture.World) []string {
			return append(onWeb("check")(w), "--repo", filepath.Join(w.Dir, "clone"))
		},
		fix: `^(git remote set-branches origin main && git fetch origin)$`, apply: inTheClone},
	{name: "a shallow clone of one branch", status: 2,
		set: func(t *testing.T, w *fixture.World) {
			shell(t, w.Dir, "git -C registry checkout -q main")
			shell(t, w.Dir, "git clone -q --depth 1 -b pr \"file://$PWD/registry\" clone")
		},
		args: func(w *fixture.World) []string {
			return append(onWeb("check")(w), "--repo", filepath.Join(w.Dir, "clone"))
		},
		fix: `^(git remote set-branches origin main && git fetch --unshallow origin)$`, apply: inTheClone},
	{name: "L4 without a clone", world: highWorld, args: onWeb("verify", "https://nova.example"), status: 3,
		text: `undecided: .*: name a clone with --registry DIR\n`,
		fix:  `^name a clone with (--registry) DIR$`,
		apply: func(_ *testing.T, w *fixture.World, groups []string) []string {
			return append(onWeb("verify", "https://nova.example")(w), groups[1], w.Repo.Dir)
		}},
	{name: "L4 with a proof", world: highWorld, status: 3,
		set: func(t *testing.T, w *fixture.World) {
			must.Get(clitest.WriteLog(w.Repo.Dir, filepath.Join(w.Dir, "log"), w.Now))(t)
			if status, said := ran(nil, "prove", "nova", "--repo", w.Repo.Dir, "--log", filepath.Join(w.Dir, "log"),
				"--out", filepath.Join(w.Dir, "proof"), "--at", w.Now.Format(time.RFC3339)); status != 0 {
				t.Fatalf("exit status %d\n%s", status, said)
			}
		},
		args: func(w *fixture.World) []string {
			return append(onWeb("verify", "https://nova.example")(w), "--proof", filepath.Join(w.Dir, "proof"),
				"--witness-policy", filepath.Join(w.Dir, "log", "policy"))
		},
		text: `undecided: .*: name a clone with --registry DIR\n`,
		fix:  `^name a clone with (--registry) DIR$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) []string {
			clone := append(onWeb("verify", "https://nova.example")(w), groups[1], w.Repo.Dir)
			status, said := ran(nil, append(slices.Clone(clone), "--proof", filepath.Join(w.Dir, "proof"))...)
			if status != 2 || !strings.Contains(said, "fix: leave --proof out\n") {
				t.Errorf("a clone and a proof: exit status %d\n%s", status, said)
			}
			return clone
		}},
	{name: "new of an unsigned Receipt", args: inClone("new", "nova", "https://nova.example"), status: 1, set: unsigned,
		fix: `^(oap-gate sign) FILE --key KEY, then publish it$`, apply: signAndPublish},
	{name: "verify of an unsigned Receipt", args: verifyNova, status: 1, set: unsigned,
		fix: `^(oap-gate sign) FILE --key KEY, then publish it$`, apply: signAndPublish},
	{name: "verify of a Receipt that was edited after it was signed", args: verifyNova, status: 1, set: edited,
		fix: `^(oap-gate sign) FILE --key KEY, then publish it$`, apply: signAndPublish},
	{name: "new of a local Receipt that is unsigned", status: 1, set: unsigned,
		args:  func(w *fixture.World) []string { return inClone("new", "nova", "https://nova.example", local(w))(w) },
		fix:   `^oap-gate (sign \S+/site/oap-conformance-receipt\.json --key KEY --local nova\.example=\S+ --in-place)$`,
		apply: signInPlace},
	{name: "verify of a local Receipt that was edited", status: 1, set: edited,
		args:  func(w *fixture.World) []string { return append(verifyNova(w), local(w)) },
		fix:   `^oap-gate (sign \S+/site/oap-conformance-receipt\.json --key KEY --local nova\.example=\S+ --in-place)$`,
		apply: signInPlace},
	{name: "a slug that was taken meanwhile", status: 1,
		args: inClone("check", "--base", "main", "--head", "list-nova"),
		set: func(t *testing.T, w *fixture.World) {
			shell(t, w.Repo.Dir, "git checkout -q -b list-nova main")
			if status, said := ran(nil, inClone("new", "nova", "https://nova.example")(w)...); status != 0 {
				t.Fatalf("exit status %d\n%s", status, said)
			}
			commitAll(t, w)
			again(t, w, fixture.Implementation{Host: "other.example"})
			shell(t, w.Repo.Dir, "git checkout -q main")
			if status, said := ran(nil, inClone("new", "nova", "https://other.example")(w)...); status != 0 {
				t.Fatalf("exit status %d\n%s", status, said)
			}
			commitAll(t, w)
			again(t, w, fixture.Implementation{Name: "Supernova"})
			shell(t, w.Repo.Dir, "git checkout -q list-nova")
		},
		fix: `^oap-gate new OTHER-SLUG (https://nova\.example), then (git rm implementations/nova\.json), and squash ` +
			`both into the commit that added it$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) []string {
			if status, said := ran(nil, inClone("new", "supernova", groups[1])(w)...); status != 0 {
				t.Fatalf("exit status %d\n%s", status, said)
			}
			shell(t, w.Repo.Dir, groups[2])
			commitAs(t, w, "--amend --no-edit")
			return nil
		}},
	{name: "witness of results that are not served", world: witnessedWorld, status: 3,
		set: func(t *testing.T, w *fixture.World) {
			must.OK(t, os.Rename(keyOf(t, "ada"), filepath.Join(w.Dir, "ada.pem")))
			w.Web.Set(novaResults, webtest.Behaviour{Status: 404})
		},
		args: witnessBy("ada"),
		text: `the results at https://nova\.example/results\.json are not available: answered 404`,
		fix:  `^have the candidate serve its results_uri$`,
		apply: func(_ *testing.T, w *fixture.World, _ []string) []string {
			w.Web.Page(novaResults, []byte(servedResults))
			return nil
		}},
	{name: "witness with a key that the document lacks", world: witnessedWorld, status: 1,
		set: func(t *testing.T, w *fixture.World) {
			for _, slug := range []string{"ada", "bob"} {
				must.OK(t, os.Rename(keyOf(t, slug), filepath.Join(w.Dir, slug+".pem")))
			}
			w.Web.Page(novaResults, []byte(servedResults))
		},
		args: witnessBy("bob"),
		fix: `^sign with the key (did:web:ada\.example)#key-1 that did\.json has, or publish what oap-gate key show ` +
			`\S+/bob\.pem --did did:web:ada\.example prints$`,
		apply: func(_ *testing.T, w *fixture.World, _ []string) []string { return witnessBy("ada")(w) }},
	{name: "a partial clone", status: 2, text: `not in this partial clone`,
		set: func(t *testing.T, w *fixture.World) {
			shell(t, w.Repo.Dir, "git config uploadpack.allowFilter true")
			shell(t, w.Dir, "git clone -q --filter=blob:none --no-checkout \"file://$PWD/registry\" clone")
		},
		args: func(w *fixture.World) []string {
			return append(onWeb("check", "--base", "origin/main", "--head", "origin/pr")(w), "--repo",
				filepath.Join(w.Dir, "clone"))
		},
		fix: `^(git fetch --refetch --no-filter origin)$`, apply: inTheClone},
	{name: "a sparse checkout without implementations/", status: 2, args: inClone("check", "--worktree"),
		set: func(t *testing.T, w *fixture.World) {
			shell(t, w.Repo.Dir, "git checkout -q -b list-nova main && git sparse-checkout set revocations")
			if status, said := ran(nil, inClone("new", "nova", "https://nova.example")(w)...); status != 0 ||
				!strings.Contains(said, " add -f --sparse implementations/nova.json\n") {
				t.Fatalf("exit status %d\n%s", status, said)
			}
		},
		fix:   `^(git add --sparse implementations/nova\.json)$`,
		apply: inTheWorktree},
	{name: "a key file with a byte order mark", status: 2,
		set: func(t *testing.T, w *fixture.World) { editFile(t, filepath.Join(w.Dir, "ada.pem"), "", "\ufeff") },
		args: func(w *fixture.World) []string {
			return onWeb("key", "show", filepath.Join(w.Dir, "ada.pem"), "--did", "did:web:ada.example")(w)
		},
		fix: `^save (\S+/ada\.pem) without byte order mark$`,
		apply: func(t *testing.T, _ *fixture.World, groups []string) []string {
			editFile(t, groups[1], "\ufeff", "")
			return nil
		}},
	{name: "a public key of SSH", status: 2,
		set: func(t *testing.T, w *fixture.World) {
			line := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGTHnRTGr5Q3Kl2ks2gGkW3hGAbqf1a0rfZkYHq2uZbE nova@host\n"
			must.OK(t, os.WriteFile(filepath.Join(w.Dir, "id.pub"), []byte(line), 0o600))
		},
		args: func(w *fixture.World) []string {
			return onWeb("key", "show", filepath.Join(w.Dir, "id.pub"), "--offline")(w)
		},
		text: `in the format of OpenSSH, which is not read`,
		fix:  `^make a key with: oap-gate (key new) FILE, and publish its public half in the DID Document$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) []string {
			file := filepath.Join(w.Dir, "new.pem")
			if status, said := ran(nil, append(strings.Fields(groups[1]), file)...); status != 0 {
				t.Fatalf("exit status %d\n%s", status, said)
			}
			return onWeb("key", "show", file, "--offline")(w)
		}},
	{name: "a key that the document lacks", status: 1, set: unsigned, args: signedBy("ada"),
		fix: `^sign with the key (did:web:nova\.example)#key-1 that did\.json has, or publish what oap-gate key show ` +
			`\S+/ada\.pem --did did:web:nova\.example prints$`,
		apply: func(t *testing.T, w *fixture.World, _ []string) []string {
			must.OK(t, os.Rename(keyOf(t, "nova"), filepath.Join(w.Dir, "nova.pem")))
			return signedBy("nova")(w)
		}},
	{name: "a disk that is full", status: 2,
		args: func(w *fixture.World) []string { return append(verifyNova(w), "--record", "/dev/full") },
		text: `no space left on device`,
		fix:  `^free space, or choose another file$`,
		apply: func(_ *testing.T, w *fixture.World, _ []string) []string {
			return append(verifyNova(w), "--record", filepath.Join(w.Dir, "another.json"))
		}},
	{name: "new with its arguments swapped", status: 2, args: inClone("new", "https://nova.example", "nova"),
		fix: `^oap-gate (new nova https://nova\.example)$`, apply: asArguments},
	{name: "a slug in capitals", status: 2, args: inClone("new", "Nova", "https://nova.example"),
		fix: `^did you mean (nova)\?$`, apply: asSlug},
	{name: "a slug with an underscore", status: 2, args: inClone("new", "no_va", "https://nova.example"),
		fix: `^did you mean (no-va)\?$`, apply: asSlug},
	{name: "a file for a slug", status: 2, args: inClone("new", "nova.json", "https://nova.example"),
		fix: `^did you mean (nova)\?$`, apply: asSlug},
	{name: "a target without TLS", status: 2, args: onWeb("verify", "http://nova.example", "--without-registry"),
		fix: `^did you mean (https://nova\.example)\?$`,
		apply: func(_ *testing.T, w *fixture.World, groups []string) []string {
			return onWeb("verify", groups[1], "--without-registry")(w)
		}},
	{name: "a host that asks to wait an hour", status: 3, args: inClone("new", "nova", "https://nova.example"),
		set: answers(webtest.Behaviour{Status: 503, Header: map[string]string{"Retry-After": "3600"}}),
		fix: `^try again after (2026-06-01T13:00:00Z)$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) []string {
			servedAgain(t, w, nil) // the hour has passed
			w.Now = w.Now.Add(time.Hour)
			return inClone("new", "nova", "https://nova.example")(w)
		}},
	{name: "a server that is not started", status: 3,
		args: func(w *fixture.World) []string {
			return append(verifyNova(w), "--connect-to", "nova.example=127.0.0.1:1")
		},
		fix:   `start the server at 127\.0\.0\.1:1, or correct --connect-to$`,
		apply: func(_ *testing.T, w *fixture.World, _ []string) []string { return verifyNova(w) }},
	{name: "a Manifest with a byte order mark", status: 1, args: verifyNova,
		set: func(_ *testing.T, w *fixture.World) {
			w.Web.Page(novaManifest, append([]byte("\ufeff"), w.Web.Body(novaManifest)...))
		},
		fix: `^save the file without byte order mark \(UTF-8, not "UTF-8 with BOM"\)$`,
		apply: func(t *testing.T, w *fixture.World, _ []string) []string {
			servedAgain(t, w, nil)
			return nil
		}},
	{name: "gzip without the header", status: 1, args: verifyNova,
		set: func(t *testing.T, w *fixture.World) {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			_, err := z.Write(w.Web.Body(novaManifest))
			must.OK(t, cmp.Or(err, z.Close()))
			w.Web.Page(novaManifest, packed.Bytes())
		},
		fix: `^send Content-Encoding: gzip, or serve the plain file$`,
		apply: func(t *testing.T, w *fixture.World, _ []string) []string {
			servedAgain(t, w, nil)
			w.Web.Set(novaManifest, webtest.Behaviour{Body: w.Web.Body(novaManifest), Gzip: true})
			return nil
		}},
	{name: "an old suite", status: 0, args: inClone("new", "nova", "https://nova.example", "--dry-run"),
		set: func(t *testing.T, w *fixture.World) {
			again(t, w, fixture.Implementation{Receipt: func(d *fixture.Doc) { d.Set("/suite/version", "0.9.0") }})
		},
		fix: `^attest again with a suite of 1\.x$`,
		apply: func(t *testing.T, w *fixture.World, _ []string) []string {
			servedAgain(t, w, nil)
			return nil
		}},
	{name: "verify of what the clone does not list", status: 0, args: inRegistry("verify", "https://nova.example"),
		fix: `^oap-gate (new) SLUG (https://nova\.example)$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) []string {
			shell(t, w.Repo.Dir, "git checkout -q main")
			if status, said := ran(nil, inClone(groups[1], "nova", groups[2])(w)...); status != 0 {
				t.Fatalf("exit status %d\n%s", status, said)
			}
			commitAll(t, w)
			return nil
		}},
	{name: "verify of a Receipt that the clone does not list", status: 0, set: mergeNova,
		args: inRegistry("verify", "https://nova.example"),
		fix:  `^oap-gate (renew nova)$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) []string {
			if status, said := ran(nil, inClone(strings.Fields(groups[1])...)(w)...); status != 0 {
				t.Fatalf("exit status %d\n%s", status, said)
			}
			commitAll(t, w)
			return nil
		}},
}

// highWorld lists the newcomer at L4.
// witnessedWorld has a newcomer at L4 whose Receipt names results that it does not serve.
const witnessedWorld = `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
pr:
  - {publish: nova, level: L4, receipt: {set: {/results_uri: "https://nova.example/results.json",
      /results_summary: {total: 3, passed: 3, failed: 0},
      /results_hash: "sha256:f6566da4f31ad86dc57fbc10ef2b909fbc11f95bf767be991fff5bb8eef72494"}}}
`

const (
	novaResults   = "https://nova.example/results.json"
	servedResults = `{"results":[{"passed":true},{"passed":true},{"passed":true}],` +
		`"summary":{"failed":0,"passed":3,"total":3}}`
)

const highWorld = "base:\n  - {listing: nova, level: L4, witness: [bob]}\n" +
	"  - {listing: bob, level: L4, witness: [nova]}\n"

// unsigned serves a Receipt that nobody signed.
func unsigned(t *testing.T, w *fixture.World) {
	t.Helper()
	again(t, w, fixture.Implementation{Tampered: func(d *fixture.Doc) { d.Delete("/signatures") }})
}

// edited serves a Receipt that was edited after it was signed.
func edited(t *testing.T, w *fixture.World) {
	t.Helper()
	again(t, w, fixture.Implementation{Tampered: func(d *fixture.Doc) { d.Set("/implementation/name", "Nova 2") }})
}

// local returns the flag by which a directory, which has what the newcomer serves, plays its host.
func local(w *fixture.World) string {
	dir := filepath.Join(w.Dir, "site")
	if _, err := os.Stat(dir); err != nil {
		if err := w.WriteSite("nova", dir); err != nil {
			panic(err)
		}
	}
	return "--local=nova.example=" + dir
}

// witnessBy returns the arguments of a witness's signature by the key of a slug.
func witnessBy(slug string) func(w *fixture.World) []string {
	return func(w *fixture.World) []string {
		return inClone("witness", "https://nova.example", "--did", "did:web:ada.example", "--key",
			filepath.Join(w.Dir, slug+".pem"), "--tests-executed", plain.SHA256(w.Web.Body(novaReceipt)))(w)
	}
}

// signedBy signs the newcomer's Receipt with a key.
func signedBy(name string) func(*fixture.World) []string {
	return func(w *fixture.World) []string {
		file := filepath.Join(w.Dir, "receipt.json")
		if err := os.WriteFile(file, w.Web.Body(novaReceipt), 0o600); err != nil {
			panic(err)
		}
		return onWeb("sign", file, "--key", filepath.Join(w.Dir, name+".pem"), "--in-place")(w)
	}
}

// signAndPublish does "sign FILE --key KEY, then publish it".
func signAndPublish(t *testing.T, w *fixture.World, _ []string) []string {
	t.Helper()
	must.OK(t, os.Rename(keyOf(t, "nova"), filepath.Join(w.Dir, "nova.pem")))
	args := signedBy("nova")(w)
	if status, said := ran(nil, args...); status != 0 {
		t.Fatalf("exit status %d\n%s", status, said)
	}
	text := must.Read(t, args[1])
	w.Web.Page(novaReceipt, text)
	return nil
}

// signInPlace does the command that signs a local Receipt.
func signInPlace(t *testing.T, w *fixture.World, groups []string) []string {
	t.Helper()
	args := strings.Fields(strings.Replace(groups[1], "KEY", keyOf(t, "nova"), 1))
	if status, said := ran(nil, onWeb(args...)(w)...); status != 0 {
		t.Fatalf("exit status %d\n%s", status, said)
	}
	return nil
}

// asArguments runs the command that a fix is, in the clone.
func asArguments(_ *testing.T, w *fixture.World, groups []string) []string {
	return inClone(strings.Fields(groups[1])...)(w)
}

// asSlug lists the newcomer under the slug that a fix names.
func asSlug(_ *testing.T, w *fixture.World, groups []string) []string {
	return inClone("new", groups[1], "https://nova.example")(w)
}

// inTheWorktree runs the command that a fix says in the world's clone.
func inTheWorktree(t *testing.T, w *fixture.World, groups []string) []string {
	t.Helper()
	shell(t, w.Repo.Dir, groups[1])
	return nil
}

// inRegistry returns the arguments of a command that reads the world's clone as --registry.
func inRegistry(args ...string) func(*fixture.World) []string {
	return func(w *fixture.World) []string { return append(onWeb(args...)(w), "--registry", w.Repo.Dir) }
}

// editFile replaces a text in a file; an empty one is its beginning.
func editFile(t *testing.T, file, was, now string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Replace(string(text), was, now, 1)), 0o600)
	}
	must.OK(t, err)
}

// commitAs commits what is in the work tree, within the world's time.
func commitAs(t *testing.T, w *fixture.World, flags string) {
	t.Helper()
	shell(t, w.Repo.Dir, "git add -A && GIT_COMMITTER_DATE=2026-06-01T11:00:00Z git -c user.name=M "+
		"-c user.email=m@registry.example commit -q "+flags)
}

// commitAll makes a commit of what is in the work tree.
func commitAll(t *testing.T, w *fixture.World) {
	t.Helper()
	commitAs(t, w, "-m 'List nova'")
}

// mergeNova merges a listing of the newcomer into main, and publishes a newer Receipt.
func mergeNova(t *testing.T, w *fixture.World) {
	t.Helper()
	shell(t, w.Repo.Dir, "git checkout -q main")
	if status, said := ran(nil, inClone("new", "nova", "https://nova.example")(w)...); status != 0 {
		t.Fatalf("exit status %d\n%s", status, said)
	}
	commitAll(t, w)
	again(t, w, fixture.Implementation{Issued: "-30m"})
}

// inTheRegistry runs the command that a fix says, which names the clone.
func inTheRegistry(t *testing.T, w *fixture.World, groups []string) []string {
	t.Helper()
	shell(t, w.Dir, groups[1])
	return nil
}

// inTheClone runs the command that a fix says in the clone that a row made.
func inTheClone(t *testing.T, w *fixture.World, groups []string) []string {
	t.Helper()
	shell(t, filepath.Join(w.Dir, "clone"), groups[1])
	return nil
}

var printedFix = regexp.MustCompile(`(?m)^ *fix: (.*)$`)

// TestCommandFixes applies the fix that each command of the table prints.
func TestCommandFixes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands of the fixes are those of a POSIX shell")
	}
	for _, row := range commandTable {
		t.Run(row.name, func(t *testing.T) {
			w := clitest.Build(t, cmp.Or(row.world,
				"base:\n  - {listing: ada}\npr:\n  - {listing: bob}\nworktree:\n  - {publish: nova}\n"))
			must.OK(t, os.Rename(keyOf(t, "ada"), filepath.Join(w.Dir, "ada.pem")))
			if row.set != nil {
				row.set(t, w)
			}
			args := append(row.args(w), "--retry-wait", "1ms")
			status, said := ran(nil, args...)
			if status != row.status || !regexp.MustCompile(row.text).MatchString(said) {
				t.Fatalf("exit status %d, want %d and %q\n%s", status, row.status, row.text, said)
			}
			printed := printedFix.FindStringSubmatch(said)
			if printed == nil || !regexp.MustCompile(row.fix).MatchString(printed[1]) {
				t.Fatalf("the fix is %q\n%s", printed, said)
			}
			if now := row.apply(t, w, regexp.MustCompile(row.fix).FindStringSubmatch(printed[1])); now != nil {
				args = append(now, "--retry-wait", "1ms")
			}
			if status, said := ran(nil, args...); status != 0 || strings.Contains(said, "fix: "+printed[1]+"\n") {
				t.Errorf("after the fix: exit status %d\n%s", status, said)
			}
		})
	}
}

// TestEncryptedKeyFix requires that the fix for an encrypted key is the command that was called, reading the key that
// openssl decrypts.
func TestEncryptedKeyFix(t *testing.T) {
	needs.Program(t, "openssl")
	file := filepath.Join(t.TempDir(), "a key.pem")
	shell(t, t.TempDir(), "openssl pkey -in "+plain.ShellWord(keyOf(t, "nova"))+" -aes256 -passout pass:secret -out "+
		plain.ShellWord(file))
	status, said := ran(nil, "key", "show", file, "--did", "did:web:nova.example", "--offline")
	want := "openssl pkey -in " + plain.ShellWord(file) + " | oap-gate key show - --did did:web:nova.example --offline"
	if fix := printedFix.FindStringSubmatch(said); status != 2 || fix == nil || fix[1] != want {
		t.Fatalf("exit status %d, the fix is %q, want %q", status, fix, want)
	}
	// A test has no terminal at which openssl could ask for the passphrase.
	decrypted := must.Get(exec.Command("openssl", "pkey", "-in", file, "-passin", "pass:secret").Output())(t)
	status, said = ran(bytes.NewReader(decrypted), "key", "show", "-", "--did", "did:web:nova.example", "--offline")
	if status != 0 {
		t.Errorf("exit status %d\n%s", status, said)
	}
}
