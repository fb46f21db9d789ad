package cli

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/commitsig"
)

// signatures reads the keys that may sign commits; nil where none were given.
func (o *auditOptions) signatures() (*commitsig.Verifier, error) {
	if o.keyring == "" && o.allowedSigners == "" {
		if o.requireSigned {
			return nil, usagef("give --keyring FILE or --allowed-signers FILE",
				"--require-signed needs the keys that may sign")
		}
		return nil, nil
	}
	read := func(path string, most int64) ([]byte, error) {
		if path == "" {
			return nil, nil
		}
		return readCapped(path, most)
	}
	var err error
	if o.keys.keyring, err = read(o.keyring, commitsig.MaxKeyring); err != nil {
		return nil, usagef("name a file of OpenPGP public keys", "reading --keyring: %v", err)
	}
	if o.keys.signers, err = read(o.allowedSigners, commitsig.MaxAllowedSigners); err != nil {
		return nil, usagef("name an allowed signers file, as ssh-keygen(1) describes it",
			"reading --allowed-signers: %v", err)
	}
	keys, err := commitsig.New(o.keys.keyring, o.keys.signers)
	return keys,
		withFix(err, "name a file of OpenPGP public keys with --keyring, an allowed signers file with "+
			"--allowed-signers")
}
