package mirror

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/bulk"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// ErrMerge means that reports are not the parts of one audit.
var ErrMerge = errors.New("these reports are not the parts of one audit")

// maxApart is how far the shards of one audit may lie apart: a report left over from an earlier one shows a listing in
// date that has expired since.
const maxApart = 24 * time.Hour

// Part is the report of one shard. Its listings, results and evidence are not in it: Read gives them.
type Part struct {
	*verdict.Report
	Read func(verdict.Records) error
}

// Merge joins the reports of all shards of one audit. The results go where spool says. The error wraps ErrMerge where
// the parts are not those of one audit.
func Merge(parts []Part, spool bulk.Spool) (*verdict.Report, error) {
	refuse := func(format string, args ...any) (*verdict.Report, error) {
		return nil, fmt.Errorf("%w: %s", ErrMerge, fmt.Sprintf(format, args...))
	}
	if len(parts) == 0 {
		return refuse("no report is given")
	}
	whole := *parts[0].Report
	seen := map[int]bool{}
	of := 0
	first, last := whole.EvaluatedAt, whole.EvaluatedAt
	for _, p := range parts {
		farthest := first
		if last.Sub(p.EvaluatedAt) > p.EvaluatedAt.Sub(first) {
			farthest = last
		}
		if p.Mode != "audit" || p.Verdict == verdict.Errored {
			return refuse("one is of the mode %q with the verdict %q", p.Mode, p.Verdict)
		}
		part, err := ParseShard(p.Shard)
		i, n := part[0], part[1]
		if err != nil || n == 0 {
			return refuse("one is of the shard %q; expected I/N", p.Shard)
		}
		switch {
		case of != 0 && n != of:
			return refuse("one is of %d shards, another of %d", of, n)
		case seen[i]:
			return refuse("shard %s is there twice", p.Shard)
		case len(p.Omitted) > 0:
			return refuse("shard %s leaves out results, as --summary-only has it", p.Shard)
		case slices.Contains(p.Assumed, verdict.Interrupted):
			return refuse("shard %s was interrupted", p.Shard)
		case p.Head != whole.Head:
			return refuse("one is about %s, another about %s", whole.Head, p.Head)
		case p.EvaluatedAt.Sub(farthest).Abs() > maxApart:
			return refuse("one was evaluated at %s, another at %s, more than %s apart",
				farthest.Format(time.RFC3339), p.EvaluatedAt.Format(time.RFC3339), plain.Span(maxApart))
		case p.Tool != whole.Tool:
			return refuse("one was made by %s (%s), another by %s (%s)", whole.Tool.Version, whole.Tool.Commit,
				p.Tool.Version, p.Tool.Commit)
		case !slices.Equal(p.Assumed, whole.Assumed) || !slices.Equal(p.NotRun, whole.NotRun):
			return refuse("shard %s was run with other flags: %q, not %q", p.Shard, p.Assumed, whole.Assumed)
		case p.Strict != whole.Strict || p.RequireSigned != whole.RequireSigned:
			return refuse("shard %s was run with other flags: --strict %t and --require-signed %t, not %t and %t",
				p.Shard, p.Strict, p.RequireSigned, whole.Strict, whole.RequireSigned)
		case !reflect.DeepEqual(p.Accepted, whole.Accepted):
			return refuse("shard %s was judged with another file of --accepted", p.Shard)
		case !sameHistory(p.History, whole.History):
			return refuse("shard %s judged another part of the history, or by other keys", p.Shard)
		case !reflect.DeepEqual(p.PublicSuffixList, whole.PublicSuffixList):
			return refuse("shard %s was judged by another Public Suffix List", p.Shard)
		case p.Origin != whole.Origin:
			return refuse("one is of the registry %q, another of %q", whole.Origin, p.Origin)
		}
		of, seen[i] = n, true
		if p.EvaluatedAt.Before(first) {
			first = p.EvaluatedAt
		}
		if p.EvaluatedAt.After(last) {
			last = p.EvaluatedAt
		}
	}
	for i := 1; i <= of; i++ {
		if !seen[i] {
			return refuse("shard %d/%d is missing", i, of)
		}
	}
	whole.Shard, whole.Results, whole.Evidence, whole.Listings, whole.Counts = "", verdict.Results{},
		[]verdict.Evidence{}, nil, verdict.Counts{}
	whole.Commits, whole.EvaluatedAt = nil, last
	spool.For(&whole.Results, Catalogue())
	joined := judge.NewJoin(&whole)
	records := 0
	for _, p := range parts {
		records += min(max(p.Counts.Records, 0), maxRecords)
	}
	whole.Listings = make([]verdict.Listing, 0, min(records, maxRecords)) // one that grows is there twice while it does
	for _, p := range slices.SortedFunc(slices.Values(parts),
		func(a, b Part) int { return strings.Compare(a.Shard, b.Shard) }) {
		if err := addPart(&whole, joined, p, of); err != nil {
			return nil, err
		}
	}
	joined.Done()
	slices.SortFunc(whole.Commits, func(a, b verdict.Commit) int { return strings.Compare(a.ID, b.ID) })
	whole.Commits = slices.CompactFunc(whole.Commits, func(a, b verdict.Commit) bool { return a.ID == b.ID })
	whole.Commits = whole.Commits[:min(len(whole.Commits), judge.MaxCommits)]
	slices.SortStableFunc(whole.Listings, func(a, b verdict.Listing) int { return comparePaths(a.Slug, b.Slug) })
	slices.SortStableFunc(whole.Evidence, func(a, b verdict.Evidence) int {
		return cmp.Or(strings.Compare(a.URL, b.URL), strings.Compare(a.State, b.State), cmp.Compare(a.Status, b.Status),
			strings.Compare(a.SHA256, b.SHA256))
	})
	// A witness's documents are fetched in every shard that needs them.
	whole.Evidence = slices.CompactFunc(whole.Evidence, func(a, b verdict.Evidence) bool {
		return a.URL == b.URL && a.State == b.State && a.Status == b.Status && a.SHA256 == b.SHA256
	})
	whole.EvidenceSHA256 = evidence.Digest(whole.Evidence)
	whole.Settle(Catalogue())
	return &whole, whole.Results.Err()
}

// maxRecords is for how many records there is room from the start: what a tree may hold.
const maxRecords = 1 << 20

// comparePaths compares the paths of the listings of two slugs.
func comparePaths(a, b string) int {
	if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
		a, b = a+".json", b+".json"
	}
	return strings.Compare(a, b)
}

// addPart adds the report of a shard of so many to the whole.
func addPart(whole *verdict.Report, joined *judge.Join, p Part, of int) error {
	whole.Commits = append(whole.Commits, p.Commits...)
	places := map[string]int{}
	for i, rule := range Catalogue() {
		places[rule.ID] = i + 1
	}
	var last verdict.Result
	var counts verdict.Counts // counts what was read; the shard's own counts must equal it
	judged := &coverage{part: p, checks: map[string]bool{}, listed: map[string]bool{}, whole: map[string]bool{}}
	err := p.Read(verdict.Records{
		Listing: func(l verdict.Listing) error {
			judged.listings++
			judged.listed[l.Slug] = true
			whole.Listings = append(whole.Listings, l)
			return nil
		},
		Evidence: func(e verdict.Evidence) error {
			whole.Evidence = append(whole.Evidence, e)
			return nil
		},
		Result: func(r verdict.Result) error {
			if worst := r.Worst(); worst.Worse(r.Verdict) {
				return fmt.Errorf("%w: shard %s has a finding of %s on %q that makes it %s, and says %s", ErrMerge,
					p.Shard, r.Check, r.Subject, worst, r.Verdict)
			}
			counts.Add(r.Verdict)
			// Every shard judges the history and the registry as a whole; a record is of one.
			if r.Subject == checks.RegistrySubject || slices.ContainsFunc(own,
				func(e verdict.Entry[*audit]) bool { return e.ID == r.Check }) {
				judged.whole[r.Check] = true
				joined.Merge(r)
				return nil
			}
			if fmt.Sprintf("%d/%d", ShardOf(r.Subject, of), of) != p.Shard {
				return fmt.Errorf("%w: shard %s judged %q, which is of shard %d", ErrMerge, p.Shard, r.Subject,
					ShardOf(r.Subject, of))
			}
			if cmp.Or(strings.Compare(last.Subject, r.Subject), cmp.Compare(places[last.Check], places[r.Check])) >= 0 {
				return fmt.Errorf("%w: the results of shard %s are not in order, each once: %s on %q", ErrMerge,
					p.Shard, r.Check, r.Subject)
			}
			if last.Subject != r.Subject {
				counts.Records++
				if err := judged.complete(); err != nil {
					return err
				}
				judged.begin(r.Subject)
			}
			judged.checks[r.Check] = true
			last = r
			whole.Results.Add(r)
			return nil
		},
	})
	if err == nil {
		err = cmp.Or(judged.complete(), judged.every())
	}
	if err == nil && (counts != p.Counts || counts.Verdict() != p.Verdict) {
		err = fmt.Errorf("%w: shard %s says %s and counts %+v, its results give %s and %+v", ErrMerge, p.Shard,
			p.Verdict, p.Counts, counts.Verdict(), counts)
	}
	whole.Counts.Records += counts.Records
	return err
}

// coverage notes which checks the results of a shard hold of each record.
type coverage struct {
	part     Part
	record   string          // whose results are being read; empty: none
	checks   map[string]bool // that have a result of that record
	listings int             // that the shard lists
	judged   int             // listings that have results
	listed   map[string]bool // slugs of listings that have no results yet
	whole    map[string]bool // checks that have a result of the history or of the registry
}

// begin turns to the next record.
func (c *coverage) begin(record string) {
	c.record = record
	clear(c.checks)
	if registry.KindOf(record) == registry.KindListing {
		c.judged++
		delete(c.listed, listing.SlugOf(record))
	}
}

// complete returns an error if the record lacks a check that an audit has for its kind. An audit reports also the
// checks that it skips; a report in which --only or --skip explains why one is missing is complete too.
func (c *coverage) complete() error {
	if c.record == "" {
		return nil
	}
	for _, one := range checks.All {
		if one.Judges(registry.KindOf(c.record)) && !c.checks[one.ID] && !leftOut(c.part.Assumed, one.ID) {
			return c.lacks(one.ID, c.record)
		}
	}
	return nil
}

// every returns an error if the history, the registry as a whole or a listing has no results at all. The slug in a
// listing may differ from its file's name, so that the numbers decide.
func (c *coverage) every() error {
	ids := verdict.IDs(verdict.Rules(own))
	for _, one := range checks.All {
		if one.RunRegistry != nil && !one.PerCommit {
			ids = append(ids, one.ID)
		}
	}
	for _, id := range ids {
		if !c.whole[id] && !leftOut(c.part.Assumed, id) {
			return c.lacks(id, checks.RegistrySubject)
		}
	}
	if c.listings <= c.judged {
		return nil
	}
	if slugs := slices.Sorted(maps.Keys(c.listed)); len(slugs) > 0 {
		return c.lacks(checks.All[0].ID, registry.KindListing.Directory()+"/"+slugs[0]+".json")
	}
	return fmt.Errorf("%w: shard %s lists %d implementations and has results of %d", ErrMerge, c.part.Shard,
		c.listings, c.judged)
}

func (c *coverage) lacks(check, record string) error {
	return fmt.Errorf("%w: shard %s lacks the check %s of %q", ErrMerge, c.part.Shard, check, record)
}

// leftOut reports whether the flags that a run assumed leave a check out.
func leftOut(assumed []string, id string) bool {
	return slices.ContainsFunc(assumed, func(flag string) bool {
		name, ids, _ := strings.Cut(flag, " ")
		named := slices.Contains(strings.Split(ids, ","), id)
		return name == "--skip" && named || name == "--only" && !named
	})
}

// sameHistory checks that two shards walked the same commits by the same keys. Peers may have moved in between.
func sameHistory(a, b *verdict.History) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	x.Peers, y.Peers = nil, nil
	return reflect.DeepEqual(x, y)
}
