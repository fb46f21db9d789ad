// Package bundle keeps what a run saw and was asked to do, so that the run can be repeated.
package bundle

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Version is the version of the bundle's format that is written. Version 1 is read, too.
const Version = 2

// Caps of a bundle in bytes: the document, and one body in it after base64.
const (
	MaxBytes = 512 << 20
	MaxBody  = 64 << 20
)

// RecordAgain is the fix for a bundle that cannot be read.
const RecordAgain = "record it with oap-gate check --record, audit --record or verify --record"

// Bundle is all that a run learned and chose in addition to the registry's commits: with it and the same commits the
// run can be repeated, byte for byte.
type Bundle struct {
	Tool         verdict.Tool // the build that recorded it
	Mode         string       // "check", "audit" or "verify"
	Base         string       // commit; empty where the mode has none
	Head         string       // commit; empty for the files on disk
	MergeBase    string       // commit
	Now          time.Time    // by which dates were judged, UTC
	Flags        Flags
	Compared     *Compared           // nil for a check
	SuffixList   *verdict.SuffixList // by which the run found registrable domains; nil: none is named
	Observations []evidence.Observation
	// NotReached lists, sorted and by subject, the checks for which the run's budget left no time: COMMIT:PATH, or a
	// commit of the history. For a target, which has a budget of its own, these are steps, and the requests that had no
	// time to be answered.
	NotReached map[string][]string
}

// Flags are the flags of a run that affect its report, and what follows from them and the run's surroundings. The
// command line defines what a value means.
type Flags struct {
	Selection
	Governance  string   `json:"governance,omitempty" jsonschema:"description=effect of governance files: review or deny"`     // what governance files get: "review" or "deny"
	Sequence    bool     `json:"sequence,omitempty" jsonschema:"description=each first-parent commit was judged by itself"`    // each first-parent commit was judged as a pull request of its own
	Rewritten   bool     `json:"rewritten,omitempty" jsonschema:"description=the base is not in the history of the head"`      // the base was no longer in the history of the head
	Chosen      string   `json:"chosen,omitempty" jsonschema:"description=how base and head were chosen"`                      // how base and head came to be chosen
	Origin      string   `json:"origin,omitempty" jsonschema:"description=name of the registry"`                               // name of the registry
	Staged      bool     `json:"staged,omitempty" jsonschema:"description=without a head: the index was judged"`               // without a head: the index was judged, not the files on disk
	Uncommitted []string `json:"uncommitted,omitempty" jsonschema:"description=paths of records on disk that were not judged"` // paths of records on disk that were not judged
	Assumed     []string `json:"assumed,omitempty" jsonschema:"description=as in the report"`                                  // as the report says it

	Landing *choose.LandingFlags `json:"landing,omitempty" jsonschema:"description=event by which the commits land"` // the event by which the commits land; nil: they do not
	Verify  *VerifyFlags         `json:"verify,omitempty" jsonschema:"description=flags of verify"`                  // only of verify

	// Flags of an audit.
	Strict        bool   `json:"strict,omitempty" jsonschema:"description=expired and revoked listings are failures"`
	RequireSigned bool   `json:"require_signed,omitempty" jsonschema:"description=every commit must be signed"`
	Archive       bool   `json:"archive,omitempty" jsonschema:"description=an archive was used"`                        // an archive was at hand
	Shard         string `json:"shard,omitempty" jsonschema:"description=I/N: the part of the records that was judged"` // I/N; empty: all
	// What the files of keys that may sign commits hold; nil where none was named, which an empty file is not.
	Keyring        []byte `json:"keyring,omitzero" jsonschema:"description=text of --keyring in base64"`
	AllowedSigners []byte `json:"allowed_signers,omitzero" jsonschema:"description=text of --allowed-signers in base64"`
	// The content of the file of accepted findings, in the same form, and the commit since which signatures are
	// required.
	Accepted    []byte `json:"accepted,omitzero" jsonschema:"description=text of --accepted in base64"`
	SignedSince string `json:"signed_since,omitempty" jsonschema:"description=commit from which on signatures are required"`
	// How many commits of the history the run was asked to end before; an earlier build says nothing of them.
	Unwalked int `json:"unwalked,omitempty" jsonschema:"description=commits that an interrupted audit did not judge"`
}

// Selection says which checks run, by their ids: all, where both are empty.
type Selection struct {
	Only []string `json:"only,omitempty" jsonschema:"description=ids of the only checks that ran"`
	Skip []string `json:"skip,omitempty" jsonschema:"description=ids of the checks that were skipped"`
}

// Selected reports whether a check is to run.
func (s Selection) Selected(id string) bool {
	return (len(s.Only) == 0 || slices.Contains(s.Only, id)) && !slices.Contains(s.Skip, id)
}

// Check refuses ids that are not known, and a selection that leaves no check to run. others are the fixes for ids of
// checks that the command cannot select.
func (s Selection) Check(known []string, others map[string]string) error {
	for _, id := range slices.Concat(s.Only, s.Skip) {
		switch {
		case slices.Contains(known, id):
		case others[id] != "":
			return remedy.Errorf(others[id], "the check %q cannot be selected here", id)
		default:
			return remedy.Errorf(typed.DidYouMean(id, known, "the checks are "+strings.Join(known, ", ")),
				"no check is called %q", id)
		}
	}
	if !slices.ContainsFunc(known, s.Selected) {
		return remedy.Errorf("leave fewer of them out", "--only and --skip leave no check to run")
	}
	return nil
}

// Assumed names the flags in effect that leave a check out.
func (s Selection) Assumed() []string {
	var out []string
	if only := strings.Join(s.Only, ","); only != "" {
		out = append(out, "--only "+only)
	}
	if skip := strings.Join(s.Skip, ","); skip != "" {
		out = append(out, "--skip "+skip)
	}
	return out
}

// Chosen returns the commits that the bundle names.
func (b *Bundle) Chosen() choose.Chosen {
	return choose.Chosen{Base: b.Base, Head: b.Head, Sequence: b.Flags.Sequence, Rewritten: b.Flags.Rewritten,
		How: b.Flags.Chosen, Landing: b.Flags.Landing, Staged: b.Flags.Staged}
}

// VerifyFlags are the flags of a run of verify.
type VerifyFlags struct {
	Targets   []string `json:"targets,omitempty" jsonschema:"description=targets as given\\, in order"`                      // as they were given, in their order
	AtHand    bool     `json:"at_hand,omitempty" jsonschema:"description=documents were files; there are no targets"`        // the documents were files, and there are no targets
	Suites    string   `json:"suites,omitempty" jsonschema:"description=trusted versions of the suite; absent: the default"` // versions that were trusted; empty: the default
	Level     string   `json:"level,omitempty" jsonschema:"description=level of --level"`
	MaxAge    int64    `json:"max_age,omitempty" jsonschema:"description=seconds of --max-age"`         // seconds
	Require   bool     `json:"require,omitempty" jsonschema:"description=--require-registry was given"` // --require-registry was given
	Without   bool     `json:"without,omitempty" jsonschema:"description=--without-registry was given"` // --without-registry was given
	Canonical bool     `json:"canonical,omitempty" jsonschema:"description=--canonical was given"`
	Local     []string `json:"local,omitempty" jsonschema:"description=HOST=DIR of each --local"` // HOST=DIR of the hosts that a directory played
	// Places are the lines of the list, FILE:LINE, that Targets come from: as many, empty for an argument; nil without
	// a list.
	Places []string `json:"places,omitempty" jsonschema:"description=directories that the run read"`
	// For a clone: when it last saw the commit as its remote's head, RFC 3339, and the arguments of the git fetch that
	// updates it. For a mirror: when it last verified what the origin served, the records that it refused, why it shows
	// nothing newer, and the commits whose time is that of the run that first saw them.
	Fetched string   `json:"fetched,omitempty" jsonschema:"description=time of the last fetch of the clone"`
	Fetch   []string `json:"fetch,omitempty" jsonschema:"description=command that fetches the clone"`
	Mirror  bool     `json:"mirror,omitempty" jsonschema:"description=the clone is a mirror"`
	Refused []string `json:"refused,omitempty" jsonschema:"description=records that the mirror refused"`
	Frozen  string   `json:"frozen,omitempty" jsonschema:"description=why the mirror counts as frozen"`

	Seen map[string]time.Time `json:"seen,omitempty" jsonschema:"description=time at which the mirror first saw a commit"`
}

// Compared is what an audit learned from the checkpoint and from other copies: they are not in a bundle's commits,
// so that a replay believes what it says about them.
type Compared struct {
	Verified   string            `json:"verified" jsonschema:"description=commit from which on the history was judged; empty: from the root"` // commit from which history needed judging; empty: from its root
	Size       int               `json:"size" jsonschema:"description=first-parent commits up to it"`                                         // first-parent commits up to it
	Checkpoint string            `json:"checkpoint" jsonschema:"description=last verified commit"`                                            // the last verified tip
	Findings   []verdict.Finding `json:"findings,omitempty" jsonschema:"description=findings of the comparison"`
	Peers      []verdict.Peer    `json:"peers,omitempty" jsonschema:"description=other copies of the registry"`

	File *verdict.CheckpointFile `json:"checkpoint_file,omitempty" jsonschema:"description=what became of the file of --checkpoint"` // what happened to it
}

// JSON is a bundle as it is written, with its members in this order.
type JSON struct {
	Version   int          `json:"version" jsonschema:"enum=2,description=version of this format"`
	Tool      verdict.Tool `json:"tool" jsonschema:"description=the program that recorded the bundle"`
	Mode      string       `json:"mode" jsonschema:"description=mode of the report"`
	Base      string       `json:"base" jsonschema:"description=base commit; empty if there is none"`
	Head      string       `json:"head" jsonschema:"description=head commit; empty for the files on disk"`
	MergeBase string       `json:"merge_base" jsonschema:"description=newest commit that base and head have in common"`
	Now       string       `json:"now" jsonschema:"description=time by which dates were judged"`
	Flags     Flags        `json:"flags" jsonschema:"description=flags that affect the verdict"`
	Compared  *Compared    `json:"compared,omitempty" jsonschema:"description=what an audit compared outside the clone"`

	PublicSuffixList *verdict.SuffixList `json:"public_suffix_list,omitempty" jsonschema:"description=list by which registrable domains were found"`

	Observations []observationJSON   `json:"observations" jsonschema:"description=answers\\, sorted by request"`
	NotReached   map[string][]string `json:"not_reached,omitempty" jsonschema:"description=documents that the budget left out\\, by target"`
}

type observationJSON struct {
	Protocol     evidence.Protocol `json:"protocol" jsonschema:"description=how the request was made"`
	Target       string            `json:"target" jsonschema:"description=URL\\, domain\\, name of a file\\, or SHA-256"`
	MaxBytes     int64             `json:"max_bytes" jsonschema:"description=most bytes that were read"`
	State        string            `json:"state" jsonschema:"description=how the request ended"`
	Code         string            `json:"code,omitempty" jsonschema:"description=why nothing was obtained"`
	Message      string            `json:"message,omitempty" jsonschema:"description=the same in words"`
	Fix          string            `json:"fix,omitempty" jsonschema:"description=what helps"`
	Status       int               `json:"status" jsonschema:"description=HTTP status of the last response\\, 0 without one"`
	FinalURL     string            `json:"final_url,omitempty" jsonschema:"description=URL after redirects"`
	Address      string            `json:"address,omitempty" jsonschema:"description=IP address that answered"`
	Attempts     int               `json:"attempts" jsonschema:"description=number of attempts"`
	Milliseconds int64             `json:"milliseconds" jsonschema:"description=duration of all attempts"`
	RetryAfter   int64             `json:"retry_after,omitempty" jsonschema:"description=seconds that the server asks to wait"`
	CachedAt     string            `json:"cached_at,omitempty" jsonschema:"description=when the cached bytes were fetched"`
	Date         string            `json:"date,omitempty" jsonschema:"description=Date header of the last response"`
	SHA256       string            `json:"sha256,omitempty" jsonschema:"description=SHA-256 of the body"`
	Bytes        int               `json:"bytes" jsonschema:"description=size of the body"`
	Body         string            `json:"body,omitempty" jsonschema:"description=the body in base64"`
}

// Encode returns the bundle's text, which is the same for the same bundle; observations are sorted by request.
func (b *Bundle) Encode() []byte {
	out := JSON{Version, b.Tool, b.Mode, b.Base, b.Head, b.MergeBase, b.Now.UTC().Format(time.RFC3339Nano),
		b.Flags, b.Compared, b.SuffixList, make([]observationJSON, 0, len(b.Observations)), b.NotReached}
	for _, o := range sources.Sorted(b.Observations) {
		written := observationJSON{o.Protocol, o.Target, o.MaxBytes, o.State.String(), o.Code, o.Message, o.Fix,
			o.Status,
			o.FinalURL, o.Address, o.Attempts, o.Milliseconds, o.RetryAfter, timeText(o.CachedAt), timeText(o.Date),
			o.SHA256,
			len(o.Body), base64.StdEncoding.EncodeToString(o.Body)}
		out.Observations = append(out.Observations, written)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(out); err != nil {
		panic(err) // strings, integers, and times of four-digit years
	}
	return text.Bytes()
}

// timeText returns a time as a bundle has it, or "" for the zero time.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Former reports whether a file that begins with head is a bundle.
func Former(head []byte) bool {
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte("\n \"observations\": ["))
}

// Read reads a file of at most MaxBytes bytes.
func Read(path string) (*Bundle, error) {
	data, err := capped.ReadFile(path, MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("reading bundle %s: %w", path, err)
	}
	return Decode(path, data)
}

// Decode reads a bundle's text strictly; errors name path. Each body must have the size and the hash that the
// text gives for it, only an obtained observation has a body, and no request occurs twice.
func Decode(path string, data []byte) (*Bundle, error) {
	// Encode writes more than 20 bytes for a value; a text with shorter values would take more memory than its size
	// suggests.
	doc, err := strict.Parse(path, data, strict.Limits{Bytes: MaxBytes, Depth: 4, Number: 20, Values: 1000 +
		len(data)/8})
	if err != nil {
		return nil, fmt.Errorf("reading bundle: %w", err)
	}
	r := &reader{doc: doc}
	b := r.bundle()
	if r.err != nil {
		return nil, fmt.Errorf("reading bundle: %w", r.err)
	}
	return b, nil
}

// reader decodes the values of a bundle and keeps the first error.
type reader struct {
	doc *strict.Document
	err error
}

func (r *reader) fail(pointer, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %q: %s", r.doc.Pos(pointer), pointer, fmt.Sprintf(format, args...))
	}
}

// members returns an object, and refuses members other than these.
func (r *reader) members(v any, pointer string, names ...string) map[string]any {
	object, ok := v.(map[string]any)
	if !ok {
		r.fail(pointer, "expected an object")
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(names, name) {
			r.fail(pointer, "member %q is not known", name)
		}
	}
	return object
}

func (r *reader) text(object map[string]any, pointer, name string) string {
	v, there := object[name]
	s, ok := v.(string)
	if there && !ok {
		r.fail(pointer+"/"+name, "expected a string")
	}
	return s
}

func (r *reader) number(object map[string]any, pointer, name string, most int64) int64 {
	token, _ := object[name].(json.Number)
	n, err := strconv.ParseInt(token.String(), 10, 64)
	if err != nil || n < 0 || n > most {
		r.fail(pointer+"/"+name, "expected an integer from 0 to %d", most)
	}
	return n
}

func (r *reader) time(object map[string]any, pointer, name string) time.Time {
	text := r.text(object, pointer, name)
	t, ok := strict.Time(text)
	if !ok || t.Format(time.RFC3339Nano) != text {
		r.fail(pointer+"/"+name, "%q is not a UTC time", text)
	}
	return t
}

// decode reads a value into what to points at, whose JSON it must be in that very spelling: encoding/json takes other
// letter cases and other base64, and fills what is not there.
func (r *reader) decode(v any, pointer, what string, to any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = decodeKnown(text, to)
	}
	var again any
	if err == nil {
		written, _ := json.Marshal(to)
		d := json.NewDecoder(bytes.NewReader(written))
		d.UseNumber()
		err = d.Decode(&again)
	}
	if err == nil && !reflect.DeepEqual(v, again) {
		err = errors.New("some member is missing, or spelled otherwise than it is written")
	}
	if err != nil {
		r.fail(pointer, "%s: %v", what, err)
	}
}

// decodeKnown decodes JSON whose members are all known.
func decodeKnown(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

func (r *reader) bundle() *Bundle {
	names := []string{"version", "mode", "base", "head", "merge_base", "now", "flags", "observations", "not_reached"}
	root, _ := r.doc.Root.(map[string]any)
	version := root["version"]
	if version == json.Number("2") {
		names = append(names, "tool", "compared", "public_suffix_list")
	}
	object := r.members(r.doc.Root, "", names...)
	if r.err != nil {
		return nil
	}
	b := &Bundle{
		Mode: r.text(object, "", "mode"), Base: r.text(object, "", "base"), Head: r.text(object, "", "head"),
		MergeBase: r.text(object, "", "merge_base"), Now: r.time(object, "", "now"),
	}
	switch version {
	case json.Number("1"):
		r.version1(object["flags"], b)
	case json.Number("2"):
		r.decode(object["tool"], "/tool", "the build that recorded it", &b.Tool)
		r.decode(object["flags"], "/flags", "the flags of the run", &b.Flags)
		if v, there := object["compared"]; there {
			b.Compared = &Compared{}
			r.decode(v, "/compared", "what was compared", b.Compared)
		}
		if v, there := object["public_suffix_list"]; there {
			b.SuffixList = &verdict.SuffixList{}
			r.decode(v, "/public_suffix_list", "the Public Suffix List", b.SuffixList)
		}
	default:
		r.fail("/version", "expected %d, or 1", Version)
	}
	if r.err != nil {
		return nil
	}
	if v, there := object["not_reached"]; there {
		b.NotReached = r.notReached(v)
	}
	list, ok := object["observations"].([]any)
	if !ok {
		r.fail("/observations", "expected an array")
	}
	seen := make(map[evidence.Request]bool, len(list))
	for i, v := range list {
		pointer := "/observations/" + strconv.Itoa(i)
		o := r.observation(v, pointer)
		if r.err == nil && seen[o.Request] {
			r.fail(pointer, "a second observation of %s", o.Request)
		}
		if r.err != nil {
			return nil
		}
		seen[o.Request] = true
		b.Observations = append(b.Observations, o)
	}
	return b
}

// notReached reads lists that are neither empty nor in another order than Encode writes.
func (r *reader) notReached(v any) map[string][]string {
	subjects, ok := v.(map[string]any)
	if !ok || len(subjects) == 0 {
		r.fail("/not_reached", "expected an object that is not empty")
	}
	out := make(map[string][]string, len(subjects))
	for _, subject := range slices.Sorted(maps.Keys(subjects)) {
		list, _ := subjects[subject].([]any)
		for _, v := range list {
			id, _ := v.(string)
			if ids := out[subject]; id == "" || len(ids) > 0 && id <= ids[len(ids)-1] {
				list = nil
				break
			}
			out[subject] = append(out[subject], id)
		}
		if len(list) == 0 {
			r.fail("/not_reached/"+strict.Escape(subject), "expected the ids of checks, sorted")
		}
	}
	return out
}

func (r *reader) observation(v any, at string) evidence.Observation {
	object := r.members(v, at, "protocol", "target", "max_bytes", "state", "code", "message", "fix", "status",
		"final_url",
		"address", "attempts", "milliseconds", "retry_after", "cached_at", "date", "sha256", "bytes", "body")
	if r.err != nil {
		return evidence.Observation{}
	}
	o := evidence.Observation{
		Request: evidence.Request{Protocol: evidence.Protocol(r.text(object, at, "protocol")),
			Target: r.text(object, at, "target"), MaxBytes: r.number(object, at, "max_bytes", MaxBody)},
		Code: r.text(object, at, "code"), Message: r.text(object, at, "message"), Fix: r.text(object, at, "fix"),
		Status: int(r.number(object, at, "status", 999)), FinalURL: r.text(object, at, "final_url"),
		Address: r.text(object, at, "address"), Attempts: int(r.number(object, at, "attempts", 1<<31-1)),
		Milliseconds: r.number(object, at, "milliseconds", 1<<53),
	}
	if _, there := object["retry_after"]; there {
		o.RetryAfter = r.number(object, at, "retry_after", 1<<31)
	}
	if _, there := object["cached_at"]; there {
		o.CachedAt = r.time(object, at, "cached_at")
	}
	if _, there := object["date"]; there {
		o.Date = r.time(object, at, "date")
	}
	if !slices.Contains([]evidence.Protocol{evidence.HTTPS, evidence.RDAP, evidence.WHOIS, evidence.Archive,
		evidence.Named, evidence.File, evidence.DNS}, o.Protocol) {
		r.fail(at+"/protocol", "%q is not known", o.Protocol)
	}
	if canonical := sources.Canonical(o.Request); canonical != o.Request {
		r.fail(at+"/target", "expected the spelling %q", canonical.Target)
	}
	var known bool
	o.State, known = parseState(r.text(object, at, "state"))
	if !known && (r.text(object, at, "state") != evidence.Unsought.String() || o.Code != evidence.CodeLocal) {
		r.fail(at+"/state", "not a state that can be recorded")
	}
	r.body(&o, object, at)
	return o
}

// parseState reads a state that an observation can end in.
func parseState(word string) (evidence.State, bool) {
	for _, s := range []evidence.State{evidence.Obtained, evidence.Absent, evidence.Invalid, evidence.Unavailable} {
		if s.String() == word {
			return s, true
		}
	}
	return evidence.Unsought, false
}

func (r *reader) body(o *evidence.Observation, object map[string]any, at string) {
	text := r.text(object, at, "body")
	size := r.number(object, at, "bytes", MaxBody)
	o.SHA256 = r.text(object, at, "sha256")
	body, err := base64.StdEncoding.Strict().DecodeString(text)
	switch {
	case err != nil || strings.ContainsAny(text, "\r\n"): // which the decoder skips
		r.fail(at+"/body", "expected base64 with padding")
	case o.State != evidence.Obtained && (len(body) > 0 || o.SHA256 != "" || o.Code == ""):
		r.fail(at, "the state %q needs a code and has no body", o.State)
	case o.State == evidence.Obtained && (o.Code != "" || o.Message != ""):
		r.fail(at, "the state %q has no code", o.State)
	case o.State == evidence.Obtained && o.Protocol == evidence.HTTPS && o.Status != http.StatusOK:
		r.fail(at+"/status", "expected %d with the state %q", http.StatusOK, o.State)
	case int64(len(body)) != size || size > o.MaxBytes:
		r.fail(at+"/body", "%d bytes, expected %d and at most %d", len(body), size, o.MaxBytes)
	case o.State == evidence.Obtained:
		if sum := plain.SHA256(body); sum != o.SHA256 {
			r.fail(at+"/sha256", "the body has sha256 %s, expected %q", sum, o.SHA256)
		}
		o.Body = body
	}
}

// version1 converts the flags of a bundle of version 1: texts by name, lists joined by a separator of each. Names that
// are not known were never refused.
func (r *reader) version1(v any, b *Bundle) {
	object, ok := v.(map[string]any)
	if !ok {
		r.fail("/flags", "expected an object")
	}
	flags := make(map[string]string, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		flags[name] = r.text(object, "/flags", name)
	}
	list := func(name, separator string) []string {
		if flags[name] == "" {
			return nil
		}
		return slices.DeleteFunc(strings.Split(flags[name], separator), func(s string) bool { return s == "" })
	}
	file := func(name string) []byte {
		text, there := flags[name]
		if !there {
			return nil
		}
		data, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil {
			r.fail("/flags/"+name, "%v", err)
		}
		return data
	}
	b.Tool.Version, b.Tool.Commit = flags["version"], flags["commit"]
	b.Flags = Flags{
		Selection:  Selection{Only: list("only", ","), Skip: list("skip", ",")},
		Governance: flags["governance"],
		Sequence:   flags["sequence"] == "true", Rewritten: flags["rewritten"] == "true",
		Chosen: flags["chosen"], Origin: flags["origin"],
		Uncommitted: list("uncommitted", "\x00"), Assumed: list("assumed", "\n"),
		Strict: flags["strict"] == "true", RequireSigned: flags["require-signed"] == "true",
		Archive: flags["archive"] == "true", Shard: flags["shard"],
		Keyring: file("keyring"), AllowedSigners: file("allowed-signers"),
	}
	if b.Mode == "audit" {
		b.Compared = &Compared{}
		if err := decodeKnown([]byte(flags["compared"]), b.Compared); err != nil {
			r.fail("/flags/compared", "what was compared: %v", err)
		}
	}
}
