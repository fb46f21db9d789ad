package evidence

import "github.com/openagentprotocol-OAP/oap-gate/internal/schema"

// BundleSchema is the JSON Schema of a bundle's text.
func BundleSchema() []byte {
	return schema.Reflect(bundleJSON{}, "https://github.com/openagentprotocol-OAP/oap-gate/schemas/bundle.v2.json",
		"oap-gate evidence bundle")
}
