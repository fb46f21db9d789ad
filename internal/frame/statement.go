package frame

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// statement says who signs the statement of a run.
type statement struct {
	verifier, key, keyID string
	rules                func() string // what version --rules prints; nil: the command has no statement
	signer               *report.Signer
	private              *signing.Key
}

// Statements lets a command write the statement of its run with --report vsa=FILE. rules returns what version --rules
// prints.
func (o *Output) Statements(c *cobra.Command, rules func() string) {
	s := &o.statement
	s.rules = rules
	f := c.Flags()
	f.StringVar(&s.verifier, "verifier", "", "absolute `URI` of who runs the program, for --report vsa=FILE")
	f.StringVar(&s.key, "key", "",
		"`FILE` of the private key that signs; for --report vsa=FILE, the statement; - is stdin")
	f.StringVar(&s.keyID, "key-id", "", "`ID` of the key's verification method; in the statement (default: none)")
	f.Lookup("report").Usage += ". vsa=FILE is the signed statement of a run that passed"
}

// statementFiles returns the files of --report vsa=FILE.
func (o *Output) statementFiles() (files []string) {
	for _, r := range o.reports {
		if format, file, ok := o.target(r); ok && format == report.StatementFormat {
			files = append(files, file)
		}
	}
	return files
}

// placeStatement refuses what is not a regular file: a run that has no statement removes it.
func placeStatement(flag, file string) error {
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		return remedy.Errorf("name a file", "--report %q: %q is not a regular file", flag, file)
	}
	return nil
}

// withdraw removes what earlier runs stated: a run without a statement leaves none.
func (o *Output) withdraw() error {
	for _, file := range o.statementFiles() {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return remedy.Errorf("remove it, or name another file", "--report %s=%s: the file that is there cannot be "+
				"removed: %v", report.StatementFormat, file, err)
		}
	}
	return nil
}

// checkStatement reads the key of the statement, and refuses what no statement could be made by.
func (o *Output) checkStatement() error {
	s := &o.statement
	stated := len(o.statementFiles()) > 0
	switch {
	case !stated && s.verifier+s.key+s.keyID != "":
		return remedy.Errorf("add --report vsa=FILE, or leave them out",
			"--verifier, --key and --key-id are for --report vsa=FILE")
	case !stated || s.signer != nil:
		return nil
	case s.verifier == "":
		return remedy.Errorf("give the URI of who runs the program and holds the key, such as "+
			"https://mirror.example.org/oap-gate", "--report vsa=FILE requires --verifier URI")
	case !isURI(s.verifier):
		return remedy.Errorf("give an absolute URI, such as https://mirror.example.org/oap-gate",
			"--verifier %q is not an absolute URI", s.verifier)
	case s.key == "":
		return remedy.Errorf("give the file of a private Ed25519 key; make one with: oap-gate key new FILE",
			"--report vsa=FILE requires --key FILE")
	}
	key, warning, err := signing.Read(s.key, o.sys.Stdin)
	if err != nil {
		return o.sys.KeyFix(s.key, err)
	}
	if warning != "" {
		Warn(o.sys, "%s", warning)
	}
	s.private = key
	s.signer = &report.Signer{Verifier: s.verifier, KeyID: s.keyID,
		PolicySHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(s.rules()))),
		Sign: func(message []byte) ([]byte, error) {
			text, err := key.Sign(message)
			if err != nil {
				return nil, err
			}
			return base64.RawURLEncoding.DecodeString(text)
		}}
	return nil
}

// isURI reports whether a text is an absolute URI of printable ASCII, with a host or an opaque part and no user.
func isURI(text string) bool {
	u, err := url.Parse(text)
	plainText := !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
	return err == nil && plainText && u.IsAbs() && (u.Host != "" || u.Opaque != "") && u.User == nil
}

// state writes the statement of a run that has one, and else removes what is there and says why. complete reports
// whether everything else was written.
func (o *Output) state(rep *verdict.Report, complete bool) error {
	files := o.statementFiles()
	if len(files) == 0 {
		return nil
	}
	why := report.NoStatement(rep)
	if why == "" && !complete {
		why = "another report could not be written"
	}
	if why != "" {
		Warn(o.sys, "no statement was written to %s: %s", strings.Join(files, ", "), why)
		return o.withdraw()
	}
	text, err := o.statement.signer.Statement(rep)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := report.Save("statement "+file, file, o.Options().FormerOf(report.StatementFormat), text); err != nil {
			return err
		}
	}
	return nil
}
