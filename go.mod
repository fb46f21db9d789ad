module github.com/openagentprotocol-OAP/oap-gate

go 1.26.0

require (
	code.dny.dev/ssrf v0.3.0 // refuses connections to private addresses
	filippo.io/edwards25519 v1.2.0 // checks points of Ed25519 signatures and keys strictly
	github.com/ProtonMail/go-crypto v1.5.2 // verifies OpenPGP signatures of commits
	github.com/coder/websocket v1.8.15 // speaks WebSocket with producers and subscribers of AAEP
	github.com/fatih/color v1.19.0 // colors text in terminals
	github.com/go-git/go-billy/v5 v5.9.2 // test: opens a directory for go-git
	github.com/go-git/go-git/v5 v5.19.3 // speaks the Git protocol; reads no objects
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // reads and writes JSON strictly
	github.com/google/go-cmp v0.7.0 // test: shows how two values differ
	github.com/google/go-github/v60 v60.0.0 // speaks the REST API of the forge
	github.com/gowebpki/jcs v1.0.2 // canonicalizes JSON that is signed (RFC 8785)
	github.com/hiddeco/sshsig v0.2.0 // verifies SSH signatures of commits
	github.com/invopop/jsonschema v0.14.0 // writes docs/schemas, in its generator only
	github.com/klauspost/compress v1.20.3 // inflates Git objects
	github.com/likexian/whois-parser v1.24.21 // parses WHOIS answers
	github.com/mr-tron/base58 v1.3.0 // decodes keys in multibase
	github.com/openrdap/rdap v0.10.2 // asks RDAP servers
	github.com/pjbgf/sha1cd v0.7.0 // hashes Git objects and detects SHA-1 collisions
	github.com/rogpeppe/go-internal v1.16.0 // shows the lines that two texts differ in
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // validates JSON by JSON Schema
	github.com/sethvargo/go-githubactions v1.4.0 // writes workflow commands and step summaries
	github.com/spf13/cobra v1.10.2 // parses the command line
	github.com/spf13/pflag v1.0.9 // parses flags
	github.com/weppos/publicsuffix-go v0.50.3 // finds registrable domains by the public suffix list
	github.com/yuin/goldmark v1.8.7 // renders Markdown as the forge does
	go.yaml.in/yaml/v4 v4.0.0 // parses YAML
	golang.org/x/crypto v0.58.0 // parses SSH keys and OpenSSH private keys
	golang.org/x/mod v0.42.0 // signs and verifies notes of checkpoints, and compares versions
	golang.org/x/net v0.62.0 // encodes names of hosts, and limits the connections of a server
	golang.org/x/sync v0.24.0 // bounds groups of goroutines
	golang.org/x/sys v0.49.0 // calls the system to write and lock files safely
	golang.org/x/term v0.47.0 // recognizes terminals
	golang.org/x/text v0.43.0 // normalizes and folds Unicode text
)

require (
	github.com/bahlo/generic-list-go v0.2.0 // indirect
	github.com/buger/jsonparser v1.1.2 // indirect
	github.com/cloudflare/circl v1.6.3 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect
	github.com/cyphar/filepath-securejoin v0.6.1 // indirect
	github.com/go-git/gcfg v1.5.1-0.20230307220236-3a3c6141e376 // indirect
	github.com/golang/groupcache v0.0.0-20241129210726-2c02b8208cf8 // indirect
	github.com/google/go-querystring v1.1.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/jbenet/go-context v0.0.0-20150711004518-d14ea06fba99 // indirect
	github.com/likexian/gokit v0.25.16 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/mitchellh/go-homedir v1.1.0 // indirect
	github.com/pb33f/ordered-map/v2 v2.3.1 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/tools v0.51.0 // indirect
	gopkg.in/warnings.v0 v0.1.2 // indirect
)
