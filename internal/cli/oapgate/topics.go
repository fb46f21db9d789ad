package oapgate

// exits are the rows of the help topic exit-status about single commands.
const exits = `  init            1: a file that differs was kept, or could not be moved
  list            1: --did matches no listing
  forge protect   1: nothing was changed: the change would lock out, or the
                  forge does not know a code owner
  prove           1: the log or the proof differs; 3: the proof is too old
  list --since    1: the log differs; 2: SIZE exceeds the history`

// formats are the rows of the help topic of that name about the formats of single commands.
const formats = `  vsa          a signed Verification Summary Attestation, of check, audit,
               mirror and verify: only for --report
`

const targetsTopic = `A TARGET names one implementation:

  https://HOST[/PATH]     its Manifest is TARGET/.well-known/oap-tool.json
  https://HOST/FILE.json  the URL of its Manifest
  did:web:HOST[:A:B]      its Manifest is
                          https://HOST[/A/B]/.well-known/oap-tool.json, and
                          must name this DID
  SLUG                    a listing of the clone in --registry DIR

--targets FILE has one target per line; the text after # is a comment. FILE -
is stdin. A line that is not a target is reported with its number, and the
other targets are verified.

A program that passes a text of others writes -- before it:

  oap-gate verify --format json --registry DIR -- "$TARGET"

Documents in files need no TARGET: --receipt, --did-document and --manifest.`
