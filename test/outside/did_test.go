package outside

import (
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/mr-tron/base58"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
)

// The package checks neither that base58 has each character, nor how many bytes follow the prefix of a key.
var didKeys = &judge{name: "generated: did:key, npm did-method-key",
	of: func() string { return npmVersion("@digitalbazaar/did-method-key") }, random: true, cases: 1200, sound: true,
	needs: []string{"node", "npm"},
	explained: []explanation{{`1[01]\d\d .*`, stricter, "a text that is not base58btc, or not the prefix of " +
		"an Ed25519 key and 32 bytes; the package decodes it all the same", nil}},
	run: func(r *run) {
		rnd := random()
		var texts []string
		for i := range 1200 {
			of := make([]byte, ed25519.SeedSize)
			binary.LittleEndian.PutUint64(of, rnd.Uint64())
			codec := []byte{0xed, 0x01}
			if i >= 1100 { // other kinds of keys
				codec = [][]byte{{0xec, 0x01}, {0xe7, 0x01}, {0x80, 0x24}, {0xee, 0x01}, {0xed, 0x02}}[i%5]
			}
			key := ed25519.NewKeyFromSeed(of).Public().(ed25519.PublicKey)
			text := []byte("z" + base58.Encode(slices.Concat(codec, key)))
			if i >= 1000 && i < 1100 { // a character that base58 lacks, one that is missing, or one too many
				at := 1 + rnd.IntN(len(text)-1)
				switch i % 3 {
				case 0:
					text[at] = "0OIl+-_ "[rnd.IntN(8)]
				case 1:
					text = slices.Delete(text, at, at+1)
				case 2:
					text = slices.Insert(text, at, '1')
				}
			}
			texts = append(texts, "did:key:"+string(text))
		}
		var keys []*string
		node(r, `import { driver } from '@digitalbazaar/did-method-key'
import * as Ed25519Multikey from '@digitalbazaar/ed25519-multikey'
const keys = driver()
keys.use({ multibaseMultikeyHeader: 'z6Mk', fromMultibase: Ed25519Multikey.from })
const out = []
for (const did of input) try {
  const document = await keys.get({ did })
  const key = await Ed25519Multikey.from(document.verificationMethod[0])
  out.push(Buffer.from((await key.export({ publicKey: true, raw: true })).publicKey).toString('hex'))
} catch { out.push(null) }
print(out)`, texts, &keys)
		for i, key := range keys {
			want := answer{refuses: key == nil}
			if key != nil {
				want.value = *key
			}
			r.compare(fmt.Sprintf("%d %s", i, texts[i]), want, func() (string, error) {
				d, err := did.Parse(texts[i])
				if err != nil {
					return "", err
				}
				document, err := did.Local(d)
				if err != nil {
					return "", err
				}
				return hex.EncodeToString(document.Keys[0].Public), nil
			})
		}
	}}
