package upkeep

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/sticky"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
)

// scene is a forge with much to do for one of the commands, and with what others wrote.
type scene struct {
	set  func(*ghtest.Server)
	plan func(*testing.T, *forge.Client) (Plan, error)
}

var scenes = map[string]scene{
	"remind": {
		set: func(s *ghtest.Server) {
			const mark = "<!-- oap-gate:remind:nova -->\n"
			s.AddPull(ghtest.Pull{Number: 1, State: "open", Base: "main"})
			s.AddIssue(ghtest.Issue{State: "open", Title: "of a user", Body: mark, Login: "mallory", Updated: now})
			s.AddIssue(ghtest.Issue{State: "open", Title: "of an app", Body: mark, Login: "x[bot]", App: 7,
				Updated: now})
			s.AddIssue(ghtest.Issue{State: "open", Title: "of a user called as we are", Body: mark,
				Login: "github-actions[bot]", Updated: now})
			for _, slug := range []string{"nova", "aurora", "gone"} {
				row := listed(now, slug, 12*day).Listings[0]
				s.AddIssue(ghtest.Issue{State: "open", Title: title(row), Body: body(row),
					Login: "github-actions[bot]", App: forge.ActionsApp, Updated: now.Add(-400 * day)})
			}
		},
		plan: func(t *testing.T, c *forge.Client) (Plan, error) {
			rows := listed(now, "nova", 9*day, "aurora", 80*day, "solis", 5*day, "luna", 2*day)
			return Remind(t.Context(), c, rows, 14*day, forge.ActionsApp)
		},
	},
	"rerun": {
		set: func(s *ghtest.Server) {
			s.SetTip(now.Add(-21 * day))
			for i, created := range []int{20, 22, 20} { // days ago: to be run again, outdated, passed meanwhile
				number, head := 7+i, strings.Repeat(fmt.Sprint(1+i), 40)
				s.AddPull(ghtest.Pull{Number: number, State: "open", Head: head, Base: "main"})
				said := sticky.Marker + "\n<!-- oap-gate:retry 2026-05-31T00:00:00Z 1 " + head + " -->\n\n" +
					"*May pass from 2026-05-31 on; it is run again by itself.*\n\nthe report\n"
				s.AddComment(ghtest.Comment{Pull: number, Login: "mallory", Body: said})
				s.AddComment(ghtest.Comment{Pull: number, Login: "github-actions[bot]", Bot: true, Body: said})
				s.AddComment(ghtest.Comment{Pull: number, Login: "x[bot]", Bot: true, App: 7, Body: said})
				s.AddComment(ghtest.Comment{Pull: number, Login: "mallory", Body: said})
				run := failed(nil)
				run.ID, run.Head, run.CreatedAt = int64(number), head, now.Add(-day*time.Duration(created))
				if i == 2 {
					run.Conclusion = "success"
				}
				s.AddRun(run)
			}
		},
		plan: func(t *testing.T, c *forge.Client) (Plan, error) {
			return Rerun(t.Context(), c, RerunOptions{Now: now, Workflow: ".github/workflows/check.yml", Branch: "main",
				App: forge.ActionsApp})
		},
	},
}

// state is all that may be changed at a forge, whatever the order in which it was made.
type state struct {
	issues   []ghtest.Issue
	comments []ghtest.Comment
	runs     []ghtest.Run
}

func stateOf(s *ghtest.Server) state {
	issues := s.Issues()
	slices.SortStableFunc(issues, func(a, b ghtest.Issue) int { return cmp.Compare(a.Title, b.Title) })
	for i := range issues {
		issues[i].Number = 0
	}
	return state{issues, s.Comments(), s.Runs()}
}

// ends runs a scene until nothing is left to do, and gives what the forge has then, and how many requests were made.
func (sc scene) ends(t *testing.T, wrong func(*ghtest.Server)) (state, int) {
	t.Helper()
	s, c := start(t)
	defer s.Close()
	sc.set(s)
	wrong(s)
	for range 5 {
		plan, err := sc.plan(t, c)
		if err == nil && len(plan.Changes) == 0 {
			writes := len(s.Writes())
			if err := Apply(t.Context(), c, plan.Changes, 0, nil); err != nil || len(s.Writes()) != writes {
				t.Errorf("nothing is left to do: %v", err)
			}
			return stateOf(s), len(s.Requests())
		}
		if err == nil {
			err = Apply(t.Context(), c, plan.Changes, 0, func(Change, error) {})
		}
		if _, ok := errors.AsType[*forge.Error](err); err != nil && !ok {
			t.Fatal(err)
		}
	}
	t.Fatal("no run is the last one")
	return state{}, 0
}

// Whichever request fails, and however it does, the next runs end where one without a failure does, and nothing that
// others wrote is touched.
func TestEachRequestFails(t *testing.T) {
	for name, sc := range scenes {
		t.Run(name, func(t *testing.T) {
			before, _ := start(t)
			sc.set(before)
			want, requests := sc.ends(t, func(*ghtest.Server) {})
			if requests < 10 || reflect.DeepEqual(want, stateOf(before)) {
				t.Fatalf("%d requests end in %+v", requests, want)
			}
			for _, of := range stateOf(before).issues {
				kept := func(i ghtest.Issue) bool { return reflect.DeepEqual(i, of) }
				if of.App != forge.ActionsApp && !slices.ContainsFunc(want.issues, kept) {
					t.Errorf("of others: %+v", of)
				}
			}
			for i, of := range stateOf(before).comments {
				if (!of.Bot || of.App != 0) && want.comments[i] != of {
					t.Errorf("of others: %+v", want.comments[i])
				}
			}
			fail := func(status int, message string, header ...string) func(*ghtest.Server, int) {
				f := ghtest.Failure{Status: status, Message: message, Header: map[string]string{}}
				for i := 0; i < len(header); i += 2 {
					f.Header[header[i]] = header[i+1]
				}
				return func(s *ghtest.Server, n int) { s.FailAt(n, f) }
			}
			for fault, wrong := range map[string]func(*ghtest.Server, int){
				"the reply is lost":   (*ghtest.Server).LoseReply,
				"the request is lost": (*ghtest.Server).LoseRequest,
				"forbidden":           fail(403, "Resource not accessible by integration"),
				"not found":           fail(404, "Not Found"),
				"conflict":            fail(409, "Conflict"),
				"unprocessable":       fail(422, "Validation Failed"),
				"too many requests":   fail(429, "slow down", "Retry-After", "0"),
				"secondary limit":     fail(403, "You have exceeded a secondary rate limit", "Retry-After", "0"),
				"broken":              fail(502, "Bad Gateway"),
			} {
				for n := range requests {
					got, _ := sc.ends(t, func(s *ghtest.Server) { wrong(s, n) })
					if !reflect.DeepEqual(got, want) {
						t.Errorf("request %d, %s:\n%+v\nwant\n%+v", n, fault, got, want)
					}
				}
			}
		})
	}
}
