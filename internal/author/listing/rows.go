package listing

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
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
	Status        string     `json:"status" jsonschema:"enum=valid,enum=provisional,enum=expiring,enum=expired,enum=revoked,enum=refused,description=status at the time of the list"`
	Until         *time.Time `json:"until,omitempty" jsonschema:"description=expires_at\\, absent where that is no time"`
	ReceiptSHA256 string     `json:"receipt_sha256" jsonschema:"description=SHA-256 that the listing pins"`
	Commit        string     `json:"commit" jsonschema:"description=first-parent commit that gave the file its present content"`
	CommittedAt   time.Time  `json:"committed_at" jsonschema:"description=committer date of that commit"`

	ProvisionalUntil *time.Time `json:"provisional_until,omitempty" jsonschema:"description=when a listing whose file says provisional ends to be that: 30 days after the slug first listed the DID"`
	RefusedBy        string     `json:"refused_by,omitempty" jsonschema:"enum=unreadable,enum=layout,enum=schema,enum=window,enum=mirror,description=rule that refuses the listing"`
	RevokedBy        string     `json:"revoked_by,omitempty" jsonschema:"description=path of the revocation"`
}

// Statuses are the possible statuses of a row: those of an audit's page that need no document.
var Statuses = []string{verdict.StatusValid, verdict.StatusProvisional, verdict.StatusExpiring, verdict.StatusExpired,
	verdict.StatusRevoked, verdict.StatusRefused}

// refusedByMirror is the rule of a record that the mirror which keeps the clone refused: its own checks fail.
const refusedByMirror = "mirror"

// Read reads the listings of a commit, as of a time, one row for each file. Records that a mirror refused are named by
// their paths. Errors are of reading the repository.
func Read(ctx context.Context, repo *registry.Repository, commit string, at time.Time,
	refused []string) (*Rows, error) {
	tree, err := repo.Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	st, err := checks.NewStanding(ctx, tree, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	run := &checks.Run{Context: ctx, Repo: repo, Base: st, Now: at}
	none := make(map[string]bool, len(refused))
	for _, path := range refused {
		none[path] = true
	}
	rows := make([]Row, 0, st.Len()) // a list that grows is in memory twice meanwhile
	inForce := map[string]bool{}
	for l := range st.Listings() {
		is, err := run.State(l)
		if err != nil {
			return nil, err
		}
		r := Row{Slug: SlugOf(l.Path), ToolDID: l.ToolDID, Level: string(l.Level), ReceiptSHA256: l.ReceiptSHA256,
			Status: is.Status, RefusedBy: is.RefusedBy, RevokedBy: is.RevokedBy}
		if none[l.Path] && is.Status != verdict.StatusRevoked && is.RefusedBy == "" {
			r.Status, r.RefusedBy = verdict.StatusRefused, refusedByMirror
		}
		if !l.Expires.IsZero() {
			r.Until = &l.Expires
		}
		if !is.Until.IsZero() {
			r.ProvisionalUntil = &is.Until
		}
		if is.InForce() && r.RefusedBy == "" {
			inForce[r.Slug] = true
		}
		rows = append(rows, r)
	}
	for _, path := range st.Unreadable() {
		is := checks.Unreadable()
		rows = append(rows, Row{Slug: SlugOf(path), Status: is.Status, RefusedBy: is.RefusedBy})
	}
	if err := anchor(ctx, repo, commit, rows); err != nil {
		return nil, err
	}
	unread, err := run.Unreadable(inForce)
	if err != nil {
		return nil, err
	}
	if len(inForce) == 0 {
		unread = nil
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.Slug, b.Slug) })
	return &Rows{Version: 1, Commit: commit, At: at.UTC(), Listings: rows, Unread: unread}, nil
}

// SlugOf returns the slug that the path of a listing names.
func SlugOf(path string) string {
	return strings.TrimSuffix(strings.TrimPrefix(path, registry.KindListing.Directory()+"/"), ".json")
}

// anchor says about each row which first-parent commit gave its file its present content. What no commit after the root
// changed came with that.
func anchor(ctx context.Context, repo *registry.Repository, tip string, rows []Row) error {
	chain, err := repo.FirstParents(ctx, "", tip)
	if err != nil {
		return err
	}
	root, err := repo.Commit(ctx, chain[0])
	if err != nil {
		return err
	}
	last := map[string]*registry.Commit{}
	err = repo.Steps(ctx, root.ID, tip, func(step *registry.Step) error {
		for _, c := range step.Changes {
			if registry.KindOf(c.Path) == registry.KindListing {
				last[SlugOf(c.Path)] = step.Commit
			}
		}
		return nil
	})
	for i := range rows {
		c := cmp.Or(last[rows[i].Slug], root)
		rows[i].Commit, rows[i].CommittedAt = c.ID, c.When.UTC()
	}
	return err
}

// AtLeast reports whether a listing's level is at least the one that is asked for: its base level decides, whatever its
// suffix, but a suffix that is asked for must be its own.
func AtLeast(has, asked level.Level) bool {
	_, suffix, _ := strings.Cut(string(asked), "-")
	_, own, _ := strings.Cut(string(has), "-")
	return has.Base() >= asked.Base() && (suffix == "" || suffix == own)
}
