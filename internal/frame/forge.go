package frame

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Forge say which repository at which forge.
type Forge struct {
	repository, api string
	Network         // Bind defines only its flags for the route
}

// Bind defines the flags.
func (o *Forge) Bind(c *cobra.Command) {
	o.unbound()
	f := c.Flags()
	f.StringVar(&o.repository, "repository", "", "`OWNER/NAME` at the forge (default: GITHUB_REPOSITORY, else the "+
		"remote origin)")
	f.StringVar(&o.api, "api-url", "",
		"`URL` of the forge's API (default: GITHUB_API_URL, else https://api.github.com)")
	o.routeFlags.bind(f)
}

// Client returns a client of the forge with the token of GITHUB_TOKEN or GH_TOKEN. If nothing names the repository, it
// is that of the remote origin of the clone in dir.
func (o *Forge) Client(sys IO, dir string) (*forge.Client, error) {
	opts := forge.Options{BaseURL: cmp.Or(o.api, sys.Getenv("GITHUB_API_URL")),
		Repository: cmp.Or(o.repository, sys.Getenv("GITHUB_REPOSITORY")),
		Token:      cmp.Or(sys.Getenv("GITHUB_TOKEN"), sys.Getenv("GH_TOKEN")),
		UserAgent:  sys.program + "/" + Version().Version, RetryWait: time.Second / 4}
	if opts.Repository == "" {
		repo, err := registry.Open(dir)
		if err != nil {
			return nil, err
		}
		host, path := forge.ParseRemote(repo.Store().RemoteURL())
		repo.Close()
		if path == "" {
			return nil, remedy.Errorf("name it with --repository OWNER/NAME",
				"no repository: the clone has no remote origin at a forge")
		}
		if !forge.Serves(opts.BaseURL, host) {
			return nil, remedy.Errorf("name the repository with --repository OWNER/NAME, or the API of "+host+
				" with --api-url URL", "the remote origin is %q at %q, and %q is the API of another forge", path, host,
				cmp.Or(opts.BaseURL, forge.DefaultBaseURL))
		}
		opts.Repository = path
	}
	var err error
	if opts.Proxy, err = o.proxyURL(); err != nil {
		return nil, err
	}
	pem, err := o.authorities()
	if err != nil {
		return nil, err
	}
	if opts.Roots, err = live.Roots(pem); err != nil {
		return nil, remedy.With(err, "name a PEM file with --ca-cert")
	}
	return forge.New(opts)
}
