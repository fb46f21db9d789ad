package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"

	"github.com/spf13/cobra"
	"golang.org/x/net/publicsuffix"
)

// release is the version of a released binary, set by -ldflags "-X …/internal/cli.release=v1.2.3".
var release string

// revision is the commit of a released binary, set likewise where the build has no VCS stamp.
var revision string

// version tells which build this is.
func version() verdict.Tool {
	t := verdict.Tool{Version: "devel", Commit: "unknown"}
	if release != "" {
		t.Version = release
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if release == "" && info.Main.Version != "" && info.Main.Version != "(devel)" {
			t.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				t.Commit = s.Value
			}
		}
	}
	if revision != "" {
		t.Commit = revision
	}
	return t
}

func newVersion(sys IO) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "version, commit, Go version, date of the public suffix list",
		Example: "  oap-gate version",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			t := version()
			fmt.Fprintf(sys.Stdout, "oap-gate %s\ncommit %s\n%s %s/%s\n%s\n",
				t.Version, t.Commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, publicsuffix.List)
			return nil
		},
	}
}
