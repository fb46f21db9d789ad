module github.com/openagentprotocol-OAP/oap-gate/test/outside

go 1.26.4

replace github.com/openagentprotocol-OAP/oap-gate => ../..

require (
	filippo.io/edwards25519 v1.2.0
	github.com/c2sp/wycheproof v0.0.0-20260902155932-3fa63dd0344a
	github.com/go-git/go-git-fixtures/v6 v6.0.0-alpha.1
	github.com/google/jsonschema-go v0.4.3
	github.com/gowebpki/jcs v1.0.2
	github.com/klauspost/compress v1.20.3
	github.com/likexian/whois-parser v1.24.21
	github.com/mr-tron/base58 v1.3.0
	github.com/nlnwa/whatwg-url v0.6.2
	github.com/openagentprotocol-OAP/oap-gate v0.0.0-00010101000000-000000000000
	github.com/openrdap/rdap v0.10.2
	github.com/prometheus/client_golang v1.25.0
	github.com/weppos/publicsuffix-go v0.50.3
)

require (
	code.dny.dev/ssrf v0.3.0 // indirect
	github.com/alecthomas/kingpin/v2 v2.4.0 // indirect
	github.com/alecthomas/units v0.0.0-20240927000941-0f3dac36c52b // indirect
	github.com/bits-and-blooms/bitset v1.20.0 // indirect
	github.com/fatih/color v1.19.0 // indirect
	github.com/go-git/go-billy/v6 v6.0.0-alpha.1 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/likexian/gokit v0.25.16 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/mitchellh/go-homedir v1.1.0 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/pjbgf/sha1cd v0.7.0 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	github.com/sethvargo/go-githubactions v1.4.0 // indirect
	github.com/xhit/go-str2duration/v2 v2.1.0 // indirect
	github.com/yuin/goldmark v1.8.7 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)
