package cli

import (
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/span"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// options are the flags of check, as given.
type options struct {
	mode             string // check or audit
	repo, base, head string
	worktree         bool
	at               string
	only, skip       []string
	offline          bool
	format           string
	reports          []string
	record, replay   string
	timeout, budget  time.Duration
	retryWait        time.Duration
	jobs             int
	archive          string
	cache            string
	color            string
	connectTo        []string
	caCert           string
	rdapURL          string
	whoisServer      string
	proxy            string
	governance       string
	maxAnnotations   int
	summary          bool // append the job summary
	outputs          bool // write the step's outputs
	allowTarget      bool // pull_request_target is acknowledged
}

func (o *options) bind(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.repo, "repo", ".", "the clone: a work tree, a bare clone or a linked worktree")
	if o.mode != "audit" {
		f.StringVar(&o.base, "base", "", "commit that the range would land on (default: of the event, "+
			"else HEAD or main of the remote upstream, else of origin, else main)")
		f.StringVar(&o.head, "head", "", "commit that is proposed (default: of the event, else HEAD)")
		f.BoolVar(&o.worktree, "worktree", false, "the head is the files on disk, before the commit")
		f.StringVar(&o.governance, "governance", "review", "what governance files alone get: review (a warning) or deny (a failure)")
		f.BoolVar(&o.allowTarget, "allow-pull-request-target", false, "accept the event pull_request_target: only data of the pull request is read, nothing of it is run")
	}
	f.StringVar(&o.at, "at", "", "evaluate as of this RFC 3339 time (default: now)")
	f.StringSliceVar(&o.only, "only", nil, "run these checks only")
	f.StringSliceVar(&o.skip, "skip", nil, "leave these checks out")
	f.BoolVar(&o.offline, "offline", false, "no network: checks that need it are skipped")
	f.StringVar(&o.format, "format", "", "what goes to stdout: text, json or github (default text; github in a workflow)")
	f.StringArrayVar(&o.reports, "report", nil, "also write a report, `FORMAT=FILE`, FILE - being stdout; repeatable")
	f.StringVar(&o.record, "record", "", "save the evidence bundle in this file")
	f.StringVar(&o.replay, "replay", "", "use this evidence bundle in place of the network")
	durationVar(f, &o.timeout, "timeout", "10s", "per request, with its redirects and body")
	budget := "5m"
	if o.mode == "audit" {
		budget = "0"
	}
	durationVar(f, &o.budget, "budget", budget,
		"for the whole run, judging included; what it does not reach is inconclusive; 0: no end")
	durationVar(f, &o.retryWait, "retry-wait", "1s", "before the second attempt of a request; three times as long before the third")
	f.IntVar(&o.jobs, "jobs", 32, "requests in flight, at most 4 for one host")
	f.StringVar(&o.cache, "cache", "", "keep fetched documents in this folder and revalidate them")
	f.StringVar(&o.color, "color", "auto", "auto, always or never")
	f.StringArrayVar(&o.connectTo, "connect-to", nil, "dial ADDR (ip:port) for HOST, `HOST=ADDR`; '*' is every public DNS name; repeatable")
	f.StringVar(&o.caCert, "ca-cert", "", "PEM file of certificate authorities trusted beside the system's")
	f.StringVar(&o.rdapURL, "rdap-url", "", "RDAP service in place of the IANA bootstrap")
	f.StringVar(&o.whoisServer, "whois-server", "", "WHOIS server (host:port) in place of the referral")
	f.StringVar(&o.proxy, "proxy", "", "HTTP proxy; proxies of the environment are not used")
	f.IntVar(&o.maxAnnotations, "max-annotations", 9, "annotations of each severity in the github format, 0 to 9")
	f.BoolVar(&o.summary, "summary", false, "append the job summary to the file that GITHUB_STEP_SUMMARY names")
	for _, name := range []string{"only", "skip"} {
		_ = c.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return o.checkIDs(), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// checkIDs are the checks that the command knows.
func (o *options) checkIDs() []string {
	if o.mode == "audit" {
		return ids(catalogue())
	}
	return ids(checks.All)
}

func (o *options) unknownCheck(id string) error {
	if checks.ByID(id) != nil {
		return usagef("run oap-gate audit for it", "check %s is one of audit", id)
	}
	return usagef(didYouMean(id, o.checkIDs(), "the checks are "+strings.Join(o.checkIDs(), ", ")), "no check is called %q", id)
}

// check refuses what no run could use.
func (o *options) check() error {
	misplaced := o.placeReports()
	for _, ids := range [][]string{o.only, o.skip} {
		for i := range ids {
			ids[i] = strings.TrimSpace(ids[i])
		}
	}
	for _, id := range slices.Concat(o.only, o.skip) {
		if !slices.Contains(o.checkIDs(), id) {
			return o.unknownCheck(id)
		}
		if o.offline && slices.Contains(o.only, id) && checks.ByID(id).Online() {
			return usagef("drop --offline, or leave the check out of --only", "check %s needs the network, and --offline forbids it", id)
		}
	}
	if o.at != "" {
		if _, ok := strict.Time(o.at); !ok {
			return usagef("write it like 2026-05-04T12:00:00Z", "--at %q is no RFC 3339 time", o.at)
		}
	}
	if err := oneOf("--format", o.format, "", "text", "json", "github"); err != nil {
		return err
	}
	if err := oneOf("--color", o.color, "auto", "always", "never"); err != nil {
		return err
	}
	if o.mode == "audit" {
		o.governance = "review"
	}
	if err := oneOf("--governance", o.governance, "review", "deny"); err != nil {
		return err
	}
	for _, r := range o.reports {
		format, file, _ := strings.Cut(r, "=")
		if !slices.Contains(report.Formats, format) || file == "" {
			return usagef("write FORMAT=FILE; the formats are "+strings.Join(report.Formats, ", "), "--report %q is not FORMAT=FILE", r)
		}
	}
	switch {
	case o.timeout == 0:
		return usagef("give a duration such as 10s", "--timeout 0 leaves no time")
	case o.jobs < 1 || o.jobs > 1024:
		return usagef("give a number from 1 to 1024", "--jobs %d is out of range", o.jobs)
	case o.maxAnnotations < 0 || o.maxAnnotations > 9:
		return usagef("give a number from 0 to 9", "--max-annotations %d is out of range", o.maxAnnotations)
	case o.worktree && o.head != "":
		return usagef("give one of them", "--worktree and --head exclude one another")
	case o.offline && (o.record != "" || o.replay != ""):
		return usagef("give one of them", "--offline excludes --record and --replay")
	case o.replay != "" && (o.record != "" || o.cache != ""):
		return usagef("give one of them", "--replay excludes --record and --cache")
	}
	for _, c := range o.connectTo {
		if _, err := evidence.ParseConnectTo(c); err != nil {
			return usagef("write HOST=IP:PORT, such as '*=127.0.0.1:8443'", "--connect-to %q: %v", c, err)
		}
	}
	if u, err := url.Parse(o.rdapURL); o.rdapURL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return usagef("give an http or https URL", "--rdap-url %q is no URL", redacted(o.rdapURL))
	}
	if u, err := url.Parse(o.proxy); o.proxy != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return usagef("give an http or https URL", "--proxy %q is no URL", redacted(o.proxy))
	}
	if _, _, err := net.SplitHostPort(o.whoisServer); o.whoisServer != "" && err != nil {
		return usagef("give host:port, such as whois.example:43", "--whois-server %q is not host:port", o.whoisServer)
	}
	if misplaced != nil {
		return misplaced
	}
	return o.placeOutputs(output{"--record", o.record})
}

// writable mends a file that could not be written.
const writable = "name a file in a folder that can be written"

func oneOf(name, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return usagef("use one of "+strings.TrimPrefix(strings.Join(known, ", "), ", "), "%s %q is not known", name, value)
}

// selected tells whether a check is to run.
func (o *options) selected(id string) bool {
	return (len(o.only) == 0 || slices.Contains(o.only, id)) && !slices.Contains(o.skip, id)
}

// assumed names the flags in effect that leave a check out or replace network, clock or trust root.
func (o *options) assumed() []string {
	var out []string
	add := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				out = append(out, name+" "+v)
			}
		}
	}
	add("--archive", o.archive)
	add("--at", o.at)
	add("--ca-cert", o.caCert)
	add("--connect-to", o.connectTo...)
	if o.offline {
		out = append(out, "--offline")
	}
	add("--only", strings.Join(o.only, ","))
	add("--proxy", redacted(o.proxy))
	add("--rdap-url", redacted(o.rdapURL))
	add("--replay", o.replay)
	add("--skip", strings.Join(o.skip, ","))
	add("--whois-server", o.whoisServer)
	return out
}

// redacted is a URL without its password: what a report assumes is public.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(no URL)"
	}
	if _, secret := u.User.Password(); !secret {
		return text
	}
	return u.Redacted()
}

// now is the time by which dates are judged.
func (o *options) now() time.Time {
	if o.at != "" {
		t, _ := strict.Time(o.at)
		return t
	}
	return time.Now().UTC().Truncate(time.Millisecond)
}

// live is the source that asks the world.
func (o *options) live(progress func(done, total int)) (evidence.Source, error) {
	live := evidence.LiveOptions{Now: o.now(), Timeout: o.timeout, Budget: o.budget, Jobs: o.jobs, Proxy: o.proxy, RDAPURL: o.rdapURL,
		WHOISServer: o.whoisServer, CacheDir: o.cache, ArchiveDir: o.archive, RetryWait: max(o.retryWait, 1), UserAgent: "oap-gate/" + version().Version, Progress: progress}
	for _, c := range o.connectTo {
		to, err := evidence.ParseConnectTo(c)
		if err != nil {
			return nil, err
		}
		live.ConnectTo = append(live.ConnectTo, to)
	}
	if o.mode == "audit" {
		live.MaxTotal = 1 << 30 // every document of a registry, not of one pull request
	}
	if o.caCert != "" {
		pem, err := os.ReadFile(o.caCert)
		if err != nil {
			return nil, usagef("name a PEM file", "reading --ca-cert: %v", err)
		}
		live.CACert = pem
	}
	source, err := evidence.NewLive(live)
	return source, withFix(err, "name folders that can be written with --cache and --archive, and a PEM file with --ca-cert")
}

// durationFlag is a flag's duration, shown as it was given.
type durationFlag struct {
	to   *time.Duration
	text string
}

// durationVar defines a flag that [span.Parse] reads.
func durationVar(f *pflag.FlagSet, to *time.Duration, name, value, usage string) {
	d := &durationFlag{to: to}
	if err := d.Set(value); err != nil {
		panic(err)
	}
	f.Var(d, name, usage)
}

func (d *durationFlag) String() string { return d.text }
func (d *durationFlag) Type() string   { return "duration" }

func (d *durationFlag) Set(text string) (err error) {
	d.text = text
	if *d.to, err = span.Parse(text); err != nil {
		return usagef("give a duration such as 10s, 5m, 36h or 30d", "%v", err)
	}
	return nil
}

// parseBool reads a boolean input of the Action.
func parseBool(name, value string) (bool, error) {
	b, err := strconv.ParseBool(value)
	if err != nil {
		return false, usagef("use true or false", "input %s is %q", name, value)
	}
	return b, nil
}
