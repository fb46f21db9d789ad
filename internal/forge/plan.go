package forge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
)

// State says what a Difference means.
type State string

// The states. A stricter setting is kept, never loosened.
const (
	Missing  State = "missing"  // the forge protects less than is wanted
	Unknown  State = "unknown"  // it may protect as wanted: the token cannot see all of it
	Stricter State = "stricter" // the forge protects more than is wanted
)

// Difference is one setting that is not at the forge as a repo-config wants it.
type Difference struct {
	Path  string // member of the repo-config, as "protection.approvals", or PathWorkflowToken
	State State
	Have  string
	Want  string
}

// Plan compares the present protections with the wanted ones: switches first, then approvals and required checks. A
// protection only counts if nobody may bypass it.
func Plan(standing *Standing, wanted repoconfig.Protection) []Difference {
	v := view{standing: standing}
	for _, l := range standing.Layers {
		switch {
		case len(l.Bypass) > 0:
			v.bypassed = append(v.bypassed, l)
		case l.Hidden:
			v.hidden = append(v.hidden, l)
		default:
			v.firm = join(v.firm, l.Protection)
		}
	}
	v.possible = v.firm
	for _, l := range v.hidden {
		v.possible = join(v.possible, l.Protection)
	}
	if standing.QueueRebases {
		v.firm.BlockRebaseMerging, v.possible.BlockRebaseMerging = false, false
	}
	if standing.QueueSkips {
		v.firm.MergeQueue, v.possible.MergeQueue = false, false
		v.firm.UpToDate, v.possible.UpToDate = false, false
	}

	firm, possible, want := v.firm.Switches(), v.possible.Switches(), wanted.Switches()
	for i, s := range want {
		have, may, path := *firm[i].On, *possible[i].On, "protection."+s.Name
		if s.Name == "up_to_date" && *s.On { // a merge queue judges each pull request on what it lands on
			have, may = have || v.firm.MergeQueue, may || v.possible.MergeQueue
		}
		shown := strconv.FormatBool(have)
		if standing.QueueSkips && (s.Name == "up_to_date" || s.Name == "merge_queue") {
			shown += "; the merge queue also lands what failed, if the last of its group passed (grouping_strategy " +
				"HEADGREEN)"
		}
		v.compare(path, shown, strconv.FormatBool(*s.On), order(have, *s.On), may,
			func(p *repoconfig.Protection) bool { return *p.Switches()[i].On })
	}
	v.compare("protection.approvals", strconv.Itoa(v.firm.Approvals), strconv.Itoa(wanted.Approvals),
		v.firm.Approvals-wanted.Approvals,
		v.possible.Approvals >= wanted.Approvals,
		func(p *repoconfig.Protection) bool { return p.Approvals >= wanted.Approvals })
	firmQueue := v.firm.Queue.Settings()
	for i, s := range wanted.Queue.Settings() {
		if *s.Value == nil {
			continue
		}
		holds := func(p *repoconfig.Protection) bool {
			have := *p.Queue.Settings()[i].Value
			return have != nil && *have == **s.Value
		}
		have, by := "not set", -1
		if one := *firmQueue[i].Value; one != nil {
			have = strconv.Itoa(*one)
		}
		if holds(&v.firm) {
			by = 0
		}
		v.compare("protection.queue."+s.Name, have, strconv.Itoa(**s.Value), by, holds(&v.possible), holds)
	}
	v.checks(wanted)
	return append(v.out, standing.Workflows.differences()...)
}

func order(have, want bool) int {
	switch {
	case have == want:
		return 0
	case have:
		return 1
	}
	return -1
}

// view is the present protections, sorted by the accounts that they bind.
type view struct {
	standing *Standing
	firm     repoconfig.Protection // nobody bypasses
	possible repoconfig.Protection // firm, and what may be bypassed by somebody that the token cannot see
	hidden   []Layer
	bypassed []Layer
	out      []Difference
}

// compare adds the difference of one setting; by is the firm value less the wanted one.
func (v *view) compare(path, have, want string, by int, possibly bool, holds func(*repoconfig.Protection) bool) {
	switch {
	case by == 0:
		return
	case by > 0:
		v.out = append(v.out, Difference{path, Stricter, have, want})
		return
	}
	state := Missing
	for _, l := range v.bypassed {
		if holds(&l.Protection) {
			have += fmt.Sprintf("; %s holds it, but can be bypassed by %s", l.Name, strings.Join(l.Bypass, ", "))
		}
	}
	if possibly {
		state = Unknown
		for _, l := range v.hidden {
			if holds(&l.Protection) {
				have += fmt.Sprintf("; %s holds it, and only administrators see who may bypass it", l.Name)
			}
		}
	} else if len(v.standing.Unread) > 0 {
		state = Unknown
		have += "; not all could be read"
	}
	v.out = append(v.out, Difference{path, state, have, want})
}

func (v *view) checks(wanted repoconfig.Protection) {
	path := func(context string) string { return "protection.required_checks[" + context + "]" }
	for _, c := range wanted.RequiredChecks {
		holds := func(p *repoconfig.Protection) bool { return requires(p.RequiredChecks, c) }
		by, have := 0, shownChecks(v.firm.RequiredChecks, c.Context)
		if !holds(&v.firm) {
			by = -1
		}
		v.compare(path(c.Context), have, shownCheck(c), by, holds(&v.possible), holds)
	}
	for _, c := range v.firm.RequiredChecks {
		if !requires(wanted.RequiredChecks, repoconfig.RequiredCheck{Context: c.Context}) {
			v.out = append(v.out, Difference{path(c.Context), Stricter, shownCheck(c), "not required"})
		}
	}
}

// requires reports whether the list demands at least c: the same context, from the same app where c names one.
func requires(list []repoconfig.RequiredCheck, c repoconfig.RequiredCheck) bool {
	return slices.ContainsFunc(list, func(one repoconfig.RequiredCheck) bool {
		return one.Context == c.Context && (c.AppID == 0 || one.AppID == c.AppID)
	})
}

func shownCheck(c repoconfig.RequiredCheck) string {
	if c.AppID == 0 {
		return "required, from any app"
	}
	return fmt.Sprintf("required, from app %d", c.AppID)
}

func shownChecks(list []repoconfig.RequiredCheck, context string) string {
	for _, c := range list {
		if c.Context == context {
			return shownCheck(c)
		}
	}
	return "not required"
}

// join returns what two sources of protections require together.
func join(a, b repoconfig.Protection) repoconfig.Protection {
	from := b.Switches()
	for i, s := range a.Switches() {
		*s.On = *s.On || *from[i].On
	}
	a.Approvals = max(a.Approvals, b.Approvals)
	settings := b.Queue.Settings()
	for i, s := range a.Queue.Settings() {
		*s.Value = cmp.Or(*s.Value, *settings[i].Value)
	}
	var checks []repoconfig.RequiredCheck
	for _, list := range [][]repoconfig.RequiredCheck{a.RequiredChecks, b.RequiredChecks} {
		for _, c := range list {
			if !requires(checks, c) {
				checks = append(checks, c)
			}
		}
	}
	a.RequiredChecks = checks
	return a
}
