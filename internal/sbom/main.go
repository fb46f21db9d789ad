// Command sbom writes the software bill of materials of a Go binary as SPDX 2.3 JSON: the modules that the
// binary names, with their licences from NOTICE. The same binary, NOTICE and time give the same bytes.
//
//	go run ./internal/sbom -created 2026-06-01T12:00:00Z BINARY
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"
)

type document struct {
	Version       string         `json:"spdxVersion"`
	DataLicence   string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []pkg          `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type pkg struct {
	ID        string     `json:"SPDXID"`
	Name      string     `json:"name"`
	Version   string     `json:"versionInfo,omitempty"`
	Download  string     `json:"downloadLocation"`
	Analyzed  bool       `json:"filesAnalyzed"`
	Licence   string     `json:"licenseConcluded"`
	Declared  string     `json:"licenseDeclared"`
	Copyright string     `json:"copyrightText"`
	Checksums []checksum `json:"checksums,omitempty"`
	Refs      []ref      `json:"externalRefs,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type ref struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

func main() {
	created := flag.String("created", "", "RFC 3339 time of the document")
	notice := flag.String("notice", "NOTICE", "file that names the licences")
	flag.Parse()
	if err := run(os.Stdout, flag.Arg(0), *notice, *created); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, binary, notice, created string) error {
	if _, err := time.Parse(time.RFC3339, created); err != nil {
		return fmt.Errorf("reading -created: %w", err)
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("reading build information of %s: %w", binary, err)
	}
	licences, err := readLicences(notice)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(data)
	d, err := describe(filepath.Base(binary), hex.EncodeToString(digest[:]), info, licences, created)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	return err
}

// readLicences reads the table of NOTICE: module, version, licence.
func readLicences(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	licences := map[string]string{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if strings.HasPrefix(line, "  ") && len(f) >= 3 && strings.HasPrefix(f[1], "v") {
			licences[f[0]+"@"+f[1]] = strings.Join(f[2:], " ")
		}
		if strings.HasPrefix(line, "====") {
			return licences, nil
		}
	}
	return nil, fmt.Errorf("reading %s: no table of modules", path)
}

func describe(name, sha256 string, info *debug.BuildInfo, licences map[string]string,
	created string) (*document, error) {
	const none = "NOASSERTION"
	d := &document{Version: "SPDX-2.3", DataLicence: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name,
		Namespace: "https://github.com/openagentprotocol-OAP/oap-gate/spdx/" + sha256,
		Creation:  creation{created, []string{"Organization: oap-gate"}}}
	add := func(p pkg, relation string) {
		p.ID = fmt.Sprintf("SPDXRef-Package-%d", len(d.Packages))
		p.Copyright, p.Declared = none, p.Licence
		from := d.ID
		if len(d.Packages) > 0 {
			from = d.Packages[0].ID
		}
		d.Packages = append(d.Packages, p)
		d.Relationships = append(d.Relationships, relationship{from, relation, p.ID})
	}
	add(pkg{Name: name, Download: none, Licence: "Apache-2.0", Checksums: []checksum{{"SHA256", sha256}}}, "DESCRIBES")
	add(pkg{Name: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go"), Download: "https://go.dev/dl/",
		Licence: "BSD-3-Clause",
		Refs:    []ref{{"PACKAGE-MANAGER", "purl", "pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go")}}},
		"CONTAINS")
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("module %s is replaced by %s: a release has no replacements", m.Path, m.Replace.Path)
		}
		licence := licences[m.Path+"@"+m.Version]
		if licence == "" {
			return nil, fmt.Errorf("NOTICE does not name %s %s", m.Path, m.Version)
		}
		p := pkg{Name: m.Path, Version: m.Version, Download: "https://" + m.Path, Licence: licence,
			Refs: []ref{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version}}}
		if m.Sum != "" {
			// go.sum's hash of a module's files is no checksum that SPDX knows.
			p.Refs = append(p.Refs, ref{"OTHER", "go-sum", m.Sum})
		}
		add(p, "CONTAINS")
	}
	return d, nil
}
