package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

var update = flag.Bool("update", false, "write NOTICE, and the table of modules in CONTRIBUTING")

// module is one whose code is in a program on some platform.
type module struct {
	path, version, dir string
	programs           []string // without "oap-"
	licence            string   // SPDX expression
	texts              []string
}

// TestNotice checks that NOTICE names each module in the programs of a release with its licence, that an archive
// and the image get the text of each, and that CONTRIBUTING names each direct dependency with its job and its programs.
func TestNotice(t *testing.T) {
	linked := map[string]*module{}
	for _, platform := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64",
		"windows/arm64"} {
		system, processor, _ := strings.Cut(platform, "/")
		c := exec.Command("go", "list", "-deps", "-json=ImportPath,Name,Module,Deps", "../...")
		c.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
		out, err := c.Output()
		if err != nil {
			t.Fatalf("listing the modules of %s: %v", platform, err)
		}
		of := map[string]*module{} // by package
		for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
			var p struct {
				ImportPath, Name string
				Module           struct {
					Path, Version, Dir string
					Main               bool
				}
				Deps []string
			}
			must.OK(t, d.Decode(&p))
			if p.Module.Path != "" && !p.Module.Main {
				of[p.ImportPath] = cmp.Or(linked[p.Module.Path],
					&module{path: p.Module.Path, version: p.Module.Version, dir: p.Module.Dir})
				linked[p.Module.Path] = of[p.ImportPath]
			}
			if program, found := strings.CutPrefix(path.Base(p.ImportPath), "oap-"); found && p.Name == "main" {
				for _, dep := range p.Deps { // listed before it
					if m := of[dep]; m != nil && !slices.Contains(m.programs, program) {
						m.programs = append(m.programs, program)
					}
				}
			}
		}
	}
	root := must.Get(exec.Command("go", "env", "GOROOT").Output())(t)
	modules := slices.SortedFunc(maps.Values(linked), func(a, b *module) int { return cmp.Compare(a.path, b.path) })
	modules = slices.Insert(modules, 0, &module{path: "the Go standard library", dir: strings.TrimSpace(string(root)),
		programs: []string{"conform", "gate", "spec"}})
	for _, m := range modules {
		slices.Sort(m.programs)
		if err := m.read(); err != nil {
			t.Errorf("%s: %v", m.path, err)
		}
	}
	follows(t, "../../NOTICE", func(string) string { return notice(modules) })
	follows(t, "../../CONTRIBUTING.md", func(text string) string { return dependencies(t, text, linked) })
	t.Run("texts", func(t *testing.T) {
		needs.Program(t, "sh")
		out, err := exec.Command("sh", "../../.ci/licence-texts").Output()
		if err != nil {
			t.Fatalf("%v, %s", err, err.(*exec.ExitError).Stderr)
		}
		for _, m := range modules {
			_, text, found := strings.Cut(string(out), strings.TrimSpace(m.path+" "+m.version)+", ")
			for _, want := range m.texts {
				if !found || !strings.Contains(text, want) {
					t.Errorf("a licence of %s is not among the texts", m.path)
				}
			}
		}
	})
}

// follows checks that a file is what made makes of it, or makes it so.
func follows(t *testing.T, file string, made func(text string) string) {
	t.Helper()
	have := must.Read(t, file)
	want := made(string(have))
	if *update && !t.Failed() {
		must.OK(t, os.WriteFile(file, []byte(want), 0o644))
	} else if string(have) != want {
		t.Errorf("%s is not what is linked: run go test ./cmd/oap-gate -run Notice -update", filepath.Base(file))
	}
}

// dependencies writes the table of the direct dependencies, whose jobs go.mod tells.
func dependencies(t *testing.T, text string, linked map[string]*module) string {
	t.Helper()
	mod := must.Read(t, "../../go.mod")
	var b strings.Builder
	for line := range strings.Lines(string(mod)) {
		required, job, found := strings.Cut(strings.TrimSpace(line), " // ")
		if name, _, _ := strings.Cut(required, " "); found && job != "indirect" {
			job, tests := strings.CutPrefix(job, "test: ")
			programs := "none: `go generate`"
			if tests {
				programs = "none: tests"
			} else if m := linked[name]; m != nil {
				programs = strings.Join(m.programs, ", ")
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", name, job, programs)
		}
	}
	const begin, end = "| module | job | linked into oap- |\n|---|---|---|\n", "<!-- end of modules -->"
	before, rest, found := strings.Cut(text, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("CONTRIBUTING has lost the marks %q and %q", begin, end)
	}
	return before + begin + b.String() + end + after
}

// read finds the licence texts of the module. Of the file NOTICE the Apache licence demands that it is passed on.
func (m *module) read() error {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return err
	}
	var licences []string
	for _, e := range entries {
		name := strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".md"), ".txt"))
		if e.IsDir() || !slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "UNLICENSE", "PATENTS", "NOTICE"},
			name) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
		if err != nil {
			return err
		}
		text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
		m.texts = append(m.texts, text)
		if name == "PATENTS" || name == "NOTICE" {
			continue
		}
		found := licencesIn(text)
		if len(found) == 0 {
			return fmt.Errorf("%s holds no licence that is known to go with Apache-2.0", e.Name())
		}
		licences = append(licences, found...)
	}
	if len(licences) == 0 {
		return fmt.Errorf("no licence in %s", m.dir)
	}
	slices.Sort(licences)
	m.licence = strings.Join(slices.Compact(licences), " AND ")
	return nil
}

// licencesIn names the licences in the text, by a phrase of each. All of them may be part of an Apache-2.0 work.
func licencesIn(text string) []string {
	text = strings.Join(strings.Fields(text), " ")
	has := func(phrase string) bool { return strings.Contains(text, phrase) }
	var found []string
	if has("Permission is hereby granted, free of charge, to any person obtaining a copy") {
		found = append(found, "MIT")
	}
	if has("Apache License") && has("Version 2.0") {
		found = append(found, "Apache-2.0")
	}
	if has("Redistribution and use in source and binary forms") {
		if has("used to endorse or promote products") {
			found = append(found, "BSD-3-Clause")
		} else {
			found = append(found, "BSD-2-Clause")
		}
	}
	if has("This is free and unencumbered software released into the public domain") {
		found = append(found, "Unlicense")
	}
	if has("Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee") ||
		has("Permission to use, copy, modify, and distribute this software for any purpose with or without fee") {
		found = append(found, "ISC")
	}
	for _, phrase := range []string{"GNU GENERAL PUBLIC", "GNU LESSER", "GNU AFFERO", "Server Side Public",
		"Business Source", "Commons Clause"} {
		if has(phrase) {
			return nil
		}
	}
	return found
}

const noticeHead = `oap-gate
Copyright 2026 the oap-gate authors

Licensed under the Apache License, Version 2.0: see LICENSE. The binaries and the image contain the work of others,
under licences that go with it. Their texts are in the file THIRD_PARTY_LICENSES of each archive and of the image;
.ci/licence-texts prints them.

Data:

  Public Suffix List, in github.com/weppos/publicsuffix-go  MPL-2.0
    its source: https://publicsuffix.org/list/public_suffix_list.dat
  CA certificates of Mozilla, as Debian's ca-certificates    MPL-2.0
  has them; in the image alone, /etc/ssl/certs
    their source: https://hg.mozilla.org/releases/mozilla-beta/file/tip/security/nss/lib/ckfw/builtins/certdata.txt
  Unicode Character Database, as tables in Go's standard     Unicode-3.0
  library and golang.org/x/text
    https://www.unicode.org/license.txt
  History of the specification up to b554a8b, reduced; a      CC-BY-4.0, its schemas Apache-2.0
  test's data in testdata/governance, in no binary or image
    its source: https://github.com/openagentprotocol-OAP/oap-spec

The Mozilla Public License 2.0 is at https://www.mozilla.org/MPL/2.0/; both files are used as they are.

Modules, those of some platforms alone included, with the programs oap-… that hold them:

`

func notice(modules []*module) string {
	var b strings.Builder
	b.WriteString(noticeHead)
	for _, m := range modules {
		fmt.Fprintf(&b, "  %-73s %-19s %s\n", strings.TrimSpace(m.path+" "+m.version), strings.Join(m.programs, ", "),
			m.licence)
	}
	return b.String()
}
