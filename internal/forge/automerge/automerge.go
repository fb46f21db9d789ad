// Package automerge lets the forge merge a pull request that is routine, as soon as the forge's own rules are
// fulfilled. It never approves, and it never merges.
package automerge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/sticky"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// maxFiles is how many files a routine pull request changes at most.
const maxFiles = 300

// Codes are those of the errors of Settle.
var Codes = []strict.Code{
	{ID: "review-not-required", Meaning: "the branch does not require a review, or keeps one after a push, so that " +
		"auto-merge would merge what nobody reviewed",
		Fix: "run oap-gate forge protect --apply, with approvals of at least 1 and dismiss_stale_reviews"},
	{ID: "token-cannot-queue", Meaning: "the branch has a merge queue, and the forge starts no merge_group run for " +
		"the job's own token",
		Fix: "set the secret OAP_GATE_MERGE_TOKEN to a token of an app, or a fine-grained one, that bypasses no rule"},
}

// Options are what Settle needs in addition to the report.
type Options struct {
	Head     string // SHA of the pull request's head
	Run      int64  // id of the run that made the report; 0: the newest
	Workflow string // path of the gate's workflow
	Apply    bool   // make the change; else only say it
	// Read reads a report. It refuses one that contradicts itself.
	Read func([]byte) (*verdict.Report, error)
}

// Settle asks the forge to merge the pull request with a head later, if the pull request is routine. If it is not, it
// takes back what the token's account had asked before. It returns what it did and why, one line. The error has a code
// of Codes, or is a *forge.Error.
func Settle(ctx context.Context, c *forge.Client, report []byte, o Options) (string, error) {
	branch, err := c.DefaultBranch(ctx)
	if err != nil {
		return "", err
	}
	runs, err := c.Runs(ctx, o.Workflow, o.Head, "")
	if err != nil {
		return "", err
	}
	newest := forge.NewestRun(runs)
	if newest != nil && newest.Status != "completed" {
		return "left alone: the newest run of " + o.Workflow + " for this head has not ended", nil
	}
	var pulls []forge.PullRequest
	for p, err := range c.OpenPulls(ctx) {
		if err != nil {
			return "", err
		}
		if p.Head.SHA == o.Head {
			pulls = append(pulls, p)
		}
	}
	var lines []string
	for _, p := range pulls {
		line, err := settle(ctx, c, report, o, p, len(pulls), branch, newest)
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("pull request %d: %s", p.Number, line))
	}
	return cmp.Or(strings.Join(lines, "; "), "no open pull request has this head"), nil
}

// settle does it for one of the pull requests with the head.
func settle(ctx context.Context, c *forge.Client, report []byte, o Options, p forge.PullRequest, count int,
	branch string, newest *forge.Run) (string, error) {
	files, err := c.Files(ctx, p.Number)
	if err != nil {
		return "", err
	}
	if p.User.Bot() && !slices.ContainsFunc(files, ofRegistry) {
		return "left alone: it is a bot's, and touches no record", nil
	}
	why := ""
	switch {
	case count > 1:
		why = fmt.Sprintf("%d open pull requests have this head", count)
	case p.Base.Ref != branch:
		why = "it does not go to the default branch"
	default:
		if why = o.ofRun(newest); why == "" {
			why = ofFiles(files)
		}
	}
	if why == "" {
		if why, err = o.ofReport(ctx, c, report, branch, files); err != nil {
			return "", err
		}
	}
	var refusal error
	rules, err := c.InForce(ctx, branch)
	if err != nil {
		return "", err
	}
	if rules.Approvals < 1 || !rules.DismissStaleReviews {
		refusal = remedy.Coded("review-not-required", Codes[0].Fix,
			"the branch %q requires %d approvals, dismiss_stale_reviews is %t", branch, rules.Approvals,
			rules.DismissStaleReviews)
	}
	st, err := read(ctx, c, p.Number)
	if err != nil {
		return "", err
	}
	if refusal == nil && rules.MergeQueue && st.viewer == "github-actions" {
		refusal = remedy.Coded("token-cannot-queue", Codes[1].Fix,
			"the branch %q has a merge queue, and the token is the job's own", branch)
	}
	if why == "" && st.head != o.Head {
		why = "the head has moved"
	}
	wanted := why == "" && refusal == nil
	switch own := st.enabled && strings.EqualFold(st.by, st.viewer); {
	case st.enabled && !own:
		return "left alone: another account enabled auto-merge", refusal
	case wanted && own:
		return "auto-merge is enabled already", nil
	case wanted && !o.Apply:
		return "auto-merge would be enabled", nil
	case wanted:
		return enable(ctx, c, st, o.Head)
	case own && o.Apply:
		if err := change(ctx, c, st, o.Head, false); err != nil {
			return "", err
		}
		return "auto-merge was taken back: " + why, refusal
	case own:
		return "auto-merge would be taken back: " + why, refusal
	}
	return "not merged by itself: " + why, refusal
}

// ofRegistry reports whether a file is, or was, a listing or a revocation.
func ofRegistry(f forge.ChangedFile) bool {
	return slices.ContainsFunc([]string{f.Name, f.Previous}, func(name string) bool {
		return strings.HasPrefix(name, "implementations/") || strings.HasPrefix(name, "revocations/")
	})
}

// ofRun returns why the newest run of the gate does not vouch for the report, or "".
func (o Options) ofRun(newest *forge.Run) string {
	switch {
	case newest == nil:
		return "no run of " + o.Workflow + " has this head"
	case o.Run != 0 && newest.ID != o.Run:
		return "a newer run of " + o.Workflow + " has this head"
	case newest.Event != "pull_request":
		return "the newest run was not started by pull_request"
	case newest.Conclusion != "success":
		return "the newest run did not succeed"
	}
	return ""
}

// ofFiles returns why the files are not those of a routine change, or "". If .github/ did not change, the run used
// the workflow of the base, and its report can be trusted.
func ofFiles(files []forge.ChangedFile) string {
	switch {
	case len(files) == 0 || len(files) > maxFiles:
		return fmt.Sprintf("it changes %d files; expected 1 to %d", len(files), maxFiles)
	case slices.ContainsFunc(files, func(f forge.ChangedFile) bool { return !f.Renewal() && !f.Revocation() }):
		return "it changes more than listings, and adds more than revocations"
	}
	return ""
}

// ofReport returns why the report does not say that the change is routine, or "".
func (o Options) ofReport(ctx context.Context, c *forge.Client, data []byte, branch string,
	files []forge.ChangedFile) (string, error) {
	r, err := sticky.Read(data, o.Head, o.Read)
	if err != nil {
		return err.Error(), nil
	}
	switch _, err := sticky.PullHead(ctx, c, r.Head, o.Head); {
	case errors.Is(err, sticky.ErrReport):
		return err.Error(), nil
	case err != nil:
		return "", err
	case r.Routine == nil || !*r.Routine:
		return "its report does not say that it is routine", nil
	case len(r.Omitted) > 0:
		return "its report leaves results out", nil
	}
	judged, changed := map[string]bool{}, map[string]bool{}
	for one := range r.Results.All() {
		if one.Subject != "registry" {
			judged[one.Subject] = true
		}
	}
	for _, f := range files {
		changed[f.Name] = true
	}
	if !maps.Equal(judged, changed) {
		return "its report is about other files", nil
	}
	return ofBase(ctx, c, r.Base, branch)
}

// ofBase returns why the branch does not continue the base of the report, or "". The author of a pull request may open
// it against another branch, which has another workflow, and choose the default branch after the run.
func ofBase(ctx context.Context, c *forge.Client, base, branch string) (string, error) {
	if len(base) != 40 || !plain.IsHex(base) {
		return "its report does not name the commit of its base", nil
	}
	var compared struct {
		Status string `json:"status"`
	}
	_, err := c.Call(ctx, "comparing the report's base with the branch "+branch, http.MethodGet,
		"compare/"+base+"..."+url.PathEscape(branch)+"?per_page=1", nil, &compared)
	switch {
	case errors.Is(err, forge.ErrNotFound), errors.Is(err, forge.ErrRefused):
		return "the forge does not know the base of its report", nil
	case err == nil && compared.Status != "ahead" && compared.Status != "identical":
		return "its report judged it on another branch", nil
	}
	return "", err
}

// The two documents that are sent. Their variables are JSON.
const (
	readDocument = `query($owner:String!,$name:String!,$number:Int!){viewer{login} ` +
		`repository(owner:$owner,name:$name){squashMergeAllowed pullRequest(number:$number){id headRefOid ` +
		`autoMergeRequest{enabledBy{login}}}}}`
	changeDocument = `mutation($id:ID!,$head:GitObjectID!,$method:PullRequestMergeMethod!,$on:Boolean!){` +
		`enablePullRequestAutoMerge(input:{pullRequestId:$id,expectedHeadOid:$head,mergeMethod:$method}) ` +
		`@include(if:$on){clientMutationId} ` +
		`disablePullRequestAutoMerge(input:{pullRequestId:$id}) @skip(if:$on){clientMutationId}}`
)

// state is what the forge says of a pull request's auto-merge.
type state struct {
	id, head, method string
	viewer, by       string // logins of the token and of who enabled it, without [bot]
	enabled          bool
}

func read(ctx context.Context, c *forge.Client, number int) (state, error) {
	var answer struct {
		Viewer     forge.Account `json:"viewer"`
		Repository struct {
			Squash bool `json:"squashMergeAllowed"`
			Pull   struct {
				ID      string `json:"id"`
				Head    string `json:"headRefOid"`
				Request *struct {
					By *forge.Account `json:"enabledBy"`
				} `json:"autoMergeRequest"`
			} `json:"pullRequest"`
		} `json:"repository"`
	}
	owner, name, _ := strings.Cut(c.Repository, "/")
	err := c.GraphQL(ctx, fmt.Sprintf("reading the auto-merge of pull request %d", number), readDocument,
		map[string]any{"owner": owner, "name": name, "number": number}, &answer)
	pull := answer.Repository.Pull
	st := state{id: pull.ID, head: pull.Head, method: "MERGE", viewer: plainLogin(answer.Viewer.Login)}
	if answer.Repository.Squash {
		st.method = "SQUASH"
	}
	if st.enabled = pull.Request != nil; st.enabled && pull.Request.By != nil {
		st.by = plainLogin(pull.Request.By.Login)
	}
	if err == nil && (st.id == "" || st.viewer == "") {
		err = &forge.Error{Op: "reading the auto-merge", Kind: forge.ErrUnavailable,
			Err: errors.New("the answer names no pull request or no account")}
	}
	return st, err
}

func plainLogin(login string) string { return strings.TrimSuffix(login, "[bot]") }

func change(ctx context.Context, c *forge.Client, st state, head string, on bool) error {
	return c.GraphQL(ctx, "changing the auto-merge", changeDocument, map[string]any{"id": st.id, "head": head,
		"method": st.method, "on": on}, &struct{}{})
}

// enable asks for the merge. The forge refuses what could be merged at once: that is left to a person.
func enable(ctx context.Context, c *forge.Client, st state, head string) (string, error) {
	err := change(ctx, c, st, head, true)
	if e, failed := errors.AsType[*forge.Error](err); failed && errors.Is(err, forge.ErrRefused) &&
		e.Says("clean status") {
		return "all requirements are met; merge it", nil
	}
	return "auto-merge was enabled", err
}
