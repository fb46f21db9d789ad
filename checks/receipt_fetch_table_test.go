package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

func TestReceiptFetch(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// the pin is of the Receipt without its white space: the message says so, and names the right pin
		{Name: "minified", PR: "{listing: nova, pin: minified}",
			Want: `implementations/nova.json:8:3: error: receipt-fetch: receipt-hash-mismatch`, Says: []string{
				`minified`,
				`fix: pin the exact bytes that are served: [0-9a-f]+$`,
			}},
		// not to be had for now
		{Name: "unsure",
			World: `pr: [{listing: nova}]
web: [{url: "https://nova.example/oap-conformance-receipt.json", status: 500}]
`,
			Want: `
implementations/nova.json:7:3: inconclusive: receipt-fetch: http-status
implementations/nova.json: inconclusive: receipt-claims
implementations/nova.json: inconclusive: receipt-signature
implementations/nova.json: inconclusive: receipt-validity`},
	})
}
