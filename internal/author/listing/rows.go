package listing

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Rows are what a commit lists; only Git is read for them.
type Rows struct {
	Version  int       `json:"version" jsonschema:"enum=1,description=version of this format"`
	Commit   string    `json:"commit" jsonschema:"description=that was read"`
	At       time.Time `json:"at" jsonschema:"description=time by which was judged"`
	Listings []Row     `json:"listings" jsonschema:"description=by slug"`

	// Unread are the files that cannot be read and may revoke a listing that the rows do not show as revoked, sorted.
	Unread []string `json:"-"`
}

// Row is one listing. Texts are as the file has them.
type Row struct {
	Slug          string     `json:"slug" jsonschema:"description=file name without .json"`
	ToolDID       string     `json:"tool_did" jsonschema:"description=DID of the implementation"`
	Level         string     `json:"level" jsonschema:"description=conformance level"`
	Status        string     `json:"status" jsonschema:"enum=valid,enum=provisional,enum=expiring,enum=expired,enum=revoked,enum=refused,enum=invalid,description=status at the time of the list"`
	Until         *time.Time `json:"until,omitempty" jsonschema:"description=expires_at\\, absent where that is no time"`
	ReceiptSHA256 string     `json:"receipt_sha256" jsonschema:"description=SHA-256 that the listing pins"`
	Commit        string     `json:"commit" jsonschema:"description=first-parent commit that gave the file its present content"`
	CommittedAt   time.Time  `json:"committed_at" jsonschema:"description=committer date of that commit"`

	ProvisionalUntil *time.Time `json:"provisional_until,omitempty" jsonschema:"description=when a listing whose file says provisional ends to be that: 30 days after the slug first listed the DID"`

	issued  time.Time
	flagged bool            // the file says provisional
	tenure  registry.Tenure // only for a row that is flagged
}

// StatusRefused is that of a record which the mirror that keeps the clone refused: its own checks fail.
const StatusRefused = "refused"

// Statuses are the possible statuses of a row: those of an audit's page that need no document. A record that is not a
// listing is invalid.
var Statuses = []string{verdict.StatusValid, verdict.StatusProvisional, verdict.StatusExpiring, verdict.StatusExpired,
	verdict.StatusRevoked, StatusRefused, verdict.StatusInvalid}

// Read reads the listings of a commit, as of a time. Records that were refused, by their paths, are ignored.
// Errors are of reading the repository.
func Read(ctx context.Context, repo *registry.Repository, commit string, at time.Time,
	refused []string) (*Rows, error) {
	tree, err := repo.Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	none := make(map[string]bool, len(refused))
	for _, path := range refused {
		none[path] = true
	}
	n := 0
	for _, err := range tree.Entries(registry.KindListing) {
		if err != nil {
			return nil, err
		}
		n++
	}
	rows := make([]Row, 0, n) // a list that grows is in memory twice meanwhile
	scan := func(rec *registry.Record) Row { return row(rec, at) }
	for r, err := range registry.Scan(ctx, tree, registry.KindListing, scan) {
		if err != nil {
			return nil, err
		}
		if none[registry.KindListing.Directory()+"/"+r.Slug+".json"] {
			r.Status = StatusRefused
		}
		rows = append(rows, r)
	}
	if err := anchor(ctx, repo, commit, at, rows); err != nil {
		return nil, err
	}
	registered := checks.EmptyStanding() // whose listings are not asked for
	registered.Tree = tree
	run := &checks.Run{Context: ctx, Repo: repo, Base: registered, Now: at}
	unread := map[string]bool{}
	for i := range rows {
		found, err := run.Withdrawn(rows[i].ToolDID, rows[i].ReceiptSHA256, rows[i].issued)
		if err != nil {
			return nil, err
		}
		rows[i].settle(at, found.Revoked != "")
		if rows[i].current() {
			for _, path := range found.Unreadable {
				unread[path] = true
			}
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.Slug, b.Slug) })
	return &Rows{Version: 1, Commit: commit, At: at.UTC(), Listings: rows,
		Unread: slices.Sorted(maps.Keys(unread))}, nil
}

// row copies what it keeps: the strings of a listing are parts of its text.
func row(rec *registry.Record, at time.Time) Row {
	slug := SlugOf(rec.Path)
	l := registry.ParseListing(rec)
	r := Row{Slug: slug, ToolDID: strings.Clone(l.ToolDID), Level: strings.Clone(string(l.Level)),
		ReceiptSHA256: strings.Clone(l.ReceiptSHA256), Status: verdict.StatusValid, issued: l.Issued,
		flagged: l.Provisional}
	if !l.Expires.IsZero() {
		r.Until = &l.Expires
	}
	_, err := did.Parse(l.ToolDID)
	issued := checks.Listed{Issued: l.Issued}
	switch {
	case rec.Document == nil || l.Slug != slug || err != nil || l.Level.Base() < 0 || l.Expires.IsZero() ||
		issued.NotYet(at) != "" ||
		len(l.ReceiptSHA256) != 64 || strings.Trim(l.ReceiptSHA256, "0123456789abcdef") != "":
		r.Status = verdict.StatusInvalid
	case !at.Before(l.Expires):
		r.Status = verdict.StatusExpired
	}
	return r
}

// settle distinguishes what counts as valid, once it is known since when the slug has listed the DID and whether the
// history revokes the Receipt, as verify says. A revocation is never refused.
func (r *Row) settle(at time.Time, revoked bool) {
	switch {
	case revoked && r.Status != verdict.StatusInvalid && r.Status != StatusRefused:
		r.Status = verdict.StatusRevoked
	case r.Status != verdict.StatusValid:
	case registry.Provisional(r.flagged, r.tenure.Since, at):
		r.Status = verdict.StatusProvisional
	case r.Until.Sub(at) < verdict.Soon:
		r.Status = verdict.StatusExpiring
	}
}

// current reports whether the row shows a listing that is in force.
func (r *Row) current() bool {
	return r.Status == verdict.StatusValid || r.Status == verdict.StatusProvisional ||
		r.Status == verdict.StatusExpiring
}

// SlugOf returns the slug that the path of a listing names.
func SlugOf(path string) string {
	return strings.TrimSuffix(strings.TrimPrefix(path, registry.KindListing.Directory()+"/"), ".json")
}

// anchor says about each row which first-parent commit gave its file its present content, and of one whose file says
// provisional until when it counts as that by the clock at. What no commit after the root changed came with that.
func anchor(ctx context.Context, repo *registry.Repository, tip string, at time.Time, rows []Row) error {
	chain, err := repo.FirstParents(ctx, "", tip)
	if err != nil {
		return err
	}
	root, err := repo.Commit(ctx, chain[0])
	if err != nil {
		return err
	}
	t := tenures{repo: repo, at: at, tenure: map[string]registry.Tenure{}, flagged: map[string]bool{}}
	if err := t.begin(ctx, root.ID, rows); err != nil {
		return err
	}
	last := map[string]*registry.Commit{}
	err = repo.Steps(ctx, root.ID, tip, func(step *registry.Step) error {
		for _, c := range step.Changes {
			if registry.KindOf(c.Path) != registry.KindListing {
				continue
			}
			last[SlugOf(c.Path)] = step.Commit
			if err := t.change(ctx, step.Commit.ID, c); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range rows {
		c := cmp.Or(last[rows[i].Slug], root)
		rows[i].Commit, rows[i].CommittedAt = c.ID, c.When.UTC()
		if rows[i].tenure = t.tenure[rows[i].Slug]; !rows[i].tenure.Since.IsZero() {
			until := rows[i].tenure.Since.Add(registry.ProvisionalFor)
			rows[i].ProvisionalUntil = &until
		}
	}
	return err
}

// tenures follows since when the slugs whose file says provisional have listed their DIDs without a break.
type tenures struct {
	repo    *registry.Repository
	at      time.Time
	flagged map[string]bool
	tenure  map[string]registry.Tenure // by slug
}

// begin reads what the root commit lists.
func (t *tenures) begin(ctx context.Context, root string, rows []Row) error {
	tree, err := t.repo.Tree(ctx, root)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if !r.flagged {
			continue
		}
		t.flagged[r.Slug] = true
		path := registry.KindListing.Directory() + "/" + r.Slug + ".json"
		e, err := tree.Leaf(path)
		if err != nil {
			return err
		}
		if err := t.change(ctx, root, registry.Change{Path: path, Head: e}); err != nil {
			return err
		}
	}
	return nil
}

// change follows a commit that changes a listing.
func (t *tenures) change(ctx context.Context, commit string, c registry.Change) error {
	slug := SlugOf(c.Path)
	if !t.flagged[slug] {
		return nil
	}
	old := t.tenure[slug]
	delete(t.tenure, slug)
	if c.Head == nil {
		return nil
	}
	rec, err := t.repo.Record(ctx, c.Path, *c.Head)
	if err != nil || rec.Document == nil {
		return err
	}
	when, err := t.repo.FirstParentTime(ctx, commit, t.at)
	t.tenure[slug] = old.Next(strings.Clone(registry.ParseListing(rec).ToolDID), when)
	return err
}

// AtLeast reports whether a listing's level is at least the one that is asked for: its base level decides, whatever its
// suffix, but a suffix that is asked for must be its own.
func AtLeast(has, asked level.Level) bool {
	_, suffix, _ := strings.Cut(string(asked), "-")
	_, own, _ := strings.Cut(string(has), "-")
	return has.Base() >= asked.Base() && (suffix == "" || suffix == own)
}
