package outside

// One package of each module that ships a corpus, so that go mod tidy keeps its requirement.
import (
	_ "github.com/go-git/go-git-fixtures/v6"
	_ "github.com/google/jsonschema-go/jsonschema"
	_ "github.com/gowebpki/jcs"
	_ "github.com/likexian/whois-parser"
	_ "github.com/nlnwa/whatwg-url/url"
	_ "github.com/openrdap/rdap"
	_ "github.com/weppos/publicsuffix-go/publicsuffix"
)
