package commitsig

import (
	"bytes"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// kind says what kind of signature a commit has, by its first line.
type kind uint8

const (
	noSignature kind = iota
	byOpenPGP
	bySSH
	byX509
	otherKind         // of no kind that Git writes
	severalSignatures // more than one signature header: to be refused
)

// signed is a commit as the maker of its signature saw it.
type signed struct {
	kind      kind
	payload   []byte // the commit without its signature headers; nil unless there is exactly one signature
	signature []byte // its text, with line ends
}

// signatureOf splits a commit into signature and payload, as git's parse_signed_commit does. In a SHA-1 clone the
// signature is the header gpgsig, in a SHA-256 clone gpgsig-sha256; the other one is not part of the payload.
func signatureOf(c *gitstore.CommitObject) signed {
	own := "gpgsig"
	if c.Tree.Size() == 32 {
		own = "gpgsig-sha256"
	}
	headers := c.Data[:len(c.Data)-len(c.Message)]
	if !bytes.Contains(headers, []byte("\n"+own+" ")) {
		return signed{}
	}
	var signature []byte
	payload := make([]byte, 0, len(c.Data))
	count := 0
	inOwn, inOther := false, false
	for line := range bytes.Lines(headers) {
		if line[0] != ' ' {
			inOwn = bytes.HasPrefix(line, []byte(own+" "))
			inOther = !inOwn && bytes.HasPrefix(line, []byte("gpgsig"))
			if inOwn {
				count++
				line = line[len(own):]
			}
		}
		switch {
		case inOwn:
			signature = append(signature, line[1:]...)
		case !inOther:
			payload = append(payload, line...)
		}
	}
	if count > 1 {
		return signed{kind: severalSignatures}
	}
	return signed{kindOf(signature), append(payload, c.Message...), signature}
}

func kindOf(text []byte) kind {
	switch {
	case bytes.HasPrefix(text, []byte("-----BEGIN PGP SIGNATURE-----")),
		bytes.HasPrefix(text, []byte("-----BEGIN PGP MESSAGE-----")):
		return byOpenPGP
	case bytes.HasPrefix(text, []byte("-----BEGIN SSH SIGNATURE-----")):
		return bySSH
	case bytes.HasPrefix(text, []byte("-----BEGIN SIGNED MESSAGE-----")):
		return byX509
	}
	return otherKind
}
