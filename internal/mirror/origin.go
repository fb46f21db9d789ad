package mirror

import (
	"errors"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/peer"
)

// Fixes of an origin that serves nothing.
const (
	tryLater       = "try again later; the mirror is as it was"
	damagedFix     = "try again; if it lasts, the origin or a proxy on the way damages what it serves"
	vanished       = "ask the maintainers, and keep the mirror: it has what was verified"
	refusedAddress = "name the origin by a public address, or the address itself with --connect-to HOST=ADDR"
)

// Unserved returns an error of a fetch with the code that says why the origin served nothing; others as they are.
func (d *Dir) Unserved(err error) error {
	verified, _ := d.Verified()
	switch {
	case err == nil || remedy.CodeOf(err) != "":
		return err
	case errors.Is(err, live.ErrForbidden):
		return remedy.Coded("address-refused", refusedAddress, "%w", err)
	case verified != "" && (errors.Is(err, peer.ErrBranch) || errors.Is(err, peer.ErrEmpty)):
		return remedy.Coded("origin-vanished", vanished,
			"%w: the origin no longer has the branch; expected it at %s or a descendant", err, verified)
	case errors.Is(err, peer.ErrHidden):
		return remedy.Coded("origin-unavailable", tryLater, "the origin no longer shows the registry: %w", err)
	case errors.Is(err, peer.ErrPack):
		return remedy.Coded("pack-corrupt", damagedFix, "%w", err)
	case errors.Is(err, peer.ErrFetch):
		return remedy.Coded("origin-unavailable", tryLater, "%w", err)
	}
	return err
}
