package sticky

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
)

// labels are the only labels that the function label sets and removes.
var labels = []struct {
	name string
	of   func(forge.ChangedFile) bool
}{
	{"new-listing", forge.ChangedFile.New},
	{"renewal", forge.ChangedFile.Renewal},
	{"revocation", forge.ChangedFile.Revocation},
	{"governance", forge.ChangedFile.Governance},
}

// label gives a pull request those labels that the repository has and its files call for. It removes the others of the
// four. The error is a *forge.Error.
func label(ctx context.Context, c *forge.Client, p forge.PullRequest, files []forge.ChangedFile) error {
	at := "issues/" + strconv.Itoa(p.Number) + "/labels"
	for _, l := range labels {
		has := slices.ContainsFunc(p.Labels, func(have forge.Label) bool { return have.Name == l.name })
		var err error
		switch fits := slices.ContainsFunc(files, l.of); {
		case fits && !has:
			if _, err = c.Call(ctx, "reading the label "+l.name, http.MethodGet, "labels/"+l.name, nil,
				&forge.Label{}); err == nil {
				_, err = c.Call(ctx, "adding the label "+l.name, http.MethodPost, at,
					map[string][]string{"labels": {l.name}}, nil)
			}
		case has && !fits:
			_, err = c.Call(ctx, "removing the label "+l.name, http.MethodDelete, at+"/"+l.name, nil, nil)
		}
		if err != nil && !errors.Is(err, forge.ErrNotFound) { // which the repository, or by now the pull request, lacks
			return err
		}
	}
	return nil
}

// maxMentions is how many people one comment mentions.
const maxMentions = 5

// loginForm is the form of a login. It has no character that Markdown reads otherwise.
var loginForm = plain.Pattern(`^[A-Za-z0-9-]{1,39}$`)

// mentions returns a line for each listing that the files change or revoke, which mentions the person who changed it
// last. A person who opened the pull request, or a bot, is not mentioned.
func mentions(ctx context.Context, c *forge.Client, p forge.PullRequest,
	files []forge.ChangedFile) (lines string, err error) {
	verbs := map[string]string{}
	for _, f := range files {
		for _, name := range []string{f.Name, f.Previous} {
			if slug, found := strings.CutSuffix(path.Base(name), ".json"); found &&
				path.Dir(name) == "implementations" && !f.New() {
				verbs[slug] = "changes"
			}
		}
		if slug := revocation.Read(f.Name, nil).Named.Slug; f.Revocation() && verbs[slug] == "" {
			verbs[slug] = "revokes"
		}
	}
	for _, slug := range slices.Sorted(maps.Keys(verbs)) {
		if strings.Count(lines, "\n") == maxMentions {
			break
		}
		if !revocation.IsSlug(slug) {
			continue
		}
		name := "implementations/" + slug + ".json"
		var newest []struct {
			Author *forge.Account `json:"author"` // null if the forge knows no account of the commit's author
		}
		if _, err := c.Call(ctx, "reading the newest commit of "+name, http.MethodGet, "commits?per_page=1&path="+
			url.QueryEscape(name), nil, &newest); err != nil {
			return "", err
		}
		if len(newest) == 0 || newest[0].Author == nil {
			continue
		}
		by := *newest[0].Author
		if by.Bot() || by.ID == p.User.ID || !loginForm().MatchString(by.Login) {
			continue
		}
		lines += fmt.Sprintf("@%s: this pull request %s %s, which you changed last\n", by.Login, verbs[slug], name)
	}
	if lines != "" {
		lines += "\n"
	}
	return lines, nil
}
