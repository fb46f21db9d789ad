package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Accounts returns the logins of the people who may write to the repository and so may give a review that counts. The
// error is an *Error; it wraps ErrForbidden or ErrNotFound if the token may not see them.
func (c *Client) Accounts(ctx context.Context) ([]string, error) {
	type account struct {
		Account
		Permissions struct {
			Push bool `json:"push"`
		} `json:"permissions"`
	}
	var out []string
	for a, err := range List[account](ctx, c, "listing the accounts that may write", "collaborators?affiliation=all") {
		if err != nil {
			return nil, err
		}
		if a.Permissions.Push && (a.Type == "User" || a.Type == "") {
			out = append(out, a.Login)
		}
	}
	return out, nil
}

// Login returns the login of the token's user; empty for the token of an app.
func (c *Client) Login(ctx context.Context) (string, error) {
	w, err := c.Writer(ctx, 0)
	return w.login, err
}

// Owners returns the people that owners of a CODEOWNERS file name: users, and the members of teams. It reports false if
// the token may not see the members of a team, or if an owner is an e-mail address.
func (c *Client) Owners(ctx context.Context, owners []string) (people []string, all bool, err error) {
	all = true
	for _, owner := range owners {
		name, isLogin := strings.CutPrefix(owner, "@")
		organization, team, isTeam := strings.Cut(name, "/")
		switch {
		case !isLogin:
			all = false
		case !isTeam:
			people = append(people, name)
		default:
			path := fmt.Sprintf("/orgs/%s/teams/%s/members", url.PathEscape(organization), url.PathEscape(team))
			for m, err := range List[Account](ctx, c, "listing the members of the team "+owner, path) {
				if unreadable(err) {
					all = false
					break
				}
				if err != nil {
					return nil, false, err
				}
				people = append(people, m.Login)
			}
		}
	}
	slices.Sort(people)
	return slices.Compact(people), all, nil
}

// OwnerError is a line of CODEOWNERS that the forge ignores.
type OwnerError struct {
	Kind   string `json:"kind"` // as "Unknown owner"
	Source string `json:"source"`
}

// OwnerErrors returns the lines of the CODEOWNERS file of a commit that name an owner unknown to the forge. If the
// forge does not have the commit, it answers for the default branch; without such a file the result is empty.
func (c *Client) OwnerErrors(ctx context.Context, commit string) ([]OwnerError, error) {
	var err error
	var answer struct {
		Errors []OwnerError `json:"errors"`
	}
	for _, query := range []string{"?ref=" + url.QueryEscape(commit), ""} {
		if query == "?ref=" {
			continue
		}
		_, err = c.Call(ctx, "reading the errors of CODEOWNERS", http.MethodGet, "codeowners/errors"+query, nil,
			&answer)
		if err == nil || !unreadable(err) && !errors.Is(err, ErrRefused) {
			break
		}
	}
	if unreadable(err) {
		return nil, nil
	}
	return slices.DeleteFunc(answer.Errors, func(e OwnerError) bool {
		return !strings.Contains(strings.ToLower(e.Kind), "owner")
	}), err
}
