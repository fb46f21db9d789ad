package forge

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"path"
	"slices"
	"strings"
)

// PullRequest is one as the forge lists it.
type PullRequest struct {
	Number int     `json:"number"`
	State  string  `json:"state"`
	User   Account `json:"user"`
	Head   struct {
		SHA string `json:"sha"`
	} `json:"head"`
	Base struct {
		Ref  string `json:"ref"`
		Repo struct {
			FullName string `json:"full_name"`
		} `json:"repo"`
	} `json:"base"`
	Labels []Label `json:"labels"`
}

// Label is a label of the repository.
type Label struct {
	Name string `json:"name"`
}

// Account is a user or an app at the forge.
type Account struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

// Bot reports whether the account is an app's.
func (a Account) Bot() bool { return a.Type == "Bot" || strings.HasSuffix(a.Login, "[bot]") }

// ChangedFile is a file that a pull request changes, as the forge lists it. A fork cannot word that list.
type ChangedFile struct {
	Name     string `json:"filename"`
	Status   string `json:"status"` // as added, modified, removed or renamed
	Previous string `json:"previous_filename"`
}

// New reports whether the file is a new listing.
func (f ChangedFile) New() bool { return f.Status == "added" && f.in("implementations") }

// Renewal reports whether the file is a listing that changes and keeps its name.
func (f ChangedFile) Renewal() bool { return f.Status == "modified" && f.in("implementations") }

// Revocation reports whether the file is a new revocation.
func (f ChangedFile) Revocation() bool { return f.Status == "added" && f.in("revocations") }

// Governance reports whether the file is in none of the data directories, or was not.
func (f ChangedFile) Governance() bool {
	outside := func(name string) bool {
		top, _, below := strings.Cut(name, "/")
		return !below || !slices.Contains([]string{"implementations", "revocations", "peer-witnesses",
			"workflow-anchors"}, top)
	}
	return outside(f.Name) || f.Previous != "" && outside(f.Previous)
}

// in reports whether the file is directly in a directory, and named as a record is.
func (f ChangedFile) in(directory string) bool {
	return path.Dir(f.Name) == directory && strings.HasSuffix(f.Name, ".json")
}

// OpenPulls returns the open pull requests to the repository, the oldest first. The error is an *Error.
func (c *Client) OpenPulls(ctx context.Context) iter.Seq2[PullRequest, error] {
	return func(yield func(PullRequest, error) bool) {
		for p, err := range List[PullRequest](ctx, c, "listing the pull requests",
			"pulls?state=open&sort=created&direction=asc") {
			if (err != nil || p.open(c)) && !yield(p, err) {
				return
			}
		}
	}
}

func (p *PullRequest) open(c *Client) bool {
	return p.State == "open" && strings.EqualFold(p.Base.Repo.FullName, c.Repository)
}

// Pull returns the pull request with a number, and whether it is open. The error is an *Error.
func (c *Client) Pull(ctx context.Context, number int) (p PullRequest, open bool, err error) {
	at := fmt.Sprintf("pulls/%d", number)
	_, err = c.Call(ctx, fmt.Sprintf("reading pull request %d", number), http.MethodGet, at, nil, &p)
	return p, err == nil && p.open(c), err
}

// Files returns the files that a pull request changes. The error is an *Error.
func (c *Client) Files(ctx context.Context, number int) ([]ChangedFile, error) {
	return All[ChangedFile](ctx, c, fmt.Sprintf("listing the files of pull request %d", number),
		fmt.Sprintf("pulls/%d/files", number))
}
