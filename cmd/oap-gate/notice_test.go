package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write NOTICE")

const noticeFile = "../../NOTICE"

// module is one whose code is in the binary of some platform.
type module struct {
	path, version, dir string
	licence            string // SPDX expression
	texts              []string
}

// TestNotice checks that NOTICE names each module in the binaries of a release, with its licence and its text.
func TestNotice(t *testing.T) {
	linked := map[string]module{}
	for _, platform := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64",
		"windows/arm64"} {
		system, processor, _ := strings.Cut(platform, "/")
		c := exec.Command("go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}", "../...")
		c.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
		out, err := c.Output()
		if err != nil {
			t.Fatalf("listing the modules of %s: %v", platform, err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			linked[f[0]] = module{path: f[0], version: f[1], dir: strings.Join(f[2:], " ")}
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := []module{{path: "the Go standard library", dir: strings.TrimSpace(string(root))}}
	for _, m := range linked {
		modules = append(modules, m)
	}
	slices.SortFunc(modules[1:], func(a, b module) int { return cmp.Compare(a.path, b.path) })
	for i := range modules {
		if err := modules[i].read(); err != nil {
			t.Errorf("%s: %v", modules[i].path, err)
		}
	}
	want := notice(modules)
	if *update && !t.Failed() {
		if err := os.WriteFile(noticeFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(noticeFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("NOTICE is not what is linked: run go test ./cmd/oap-gate -run Notice -update")
	}
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
under licences that go with it. The texts follow the table.

Data:

  Public Suffix List, in github.com/weppos/publicsuffix-go  MPL-2.0
    its source: https://publicsuffix.org/list/public_suffix_list.dat
  CA certificates of Mozilla, as Debian's ca-certificates    MPL-2.0
  has them; in the image alone, /etc/ssl/certs
    their source: https://hg.mozilla.org/releases/mozilla-beta/file/tip/security/nss/lib/ckfw/builtins/certdata.txt
  Unicode Character Database, as tables in Go's standard     Unicode-3.0
  library, golang.org/x/text and github.com/rivo/uniseg
    https://www.unicode.org/license.txt
  History of the specification up to b554a8b, reduced; a      CC-BY-4.0, its schemas Apache-2.0
  test's data in testdata/governance, in no binary or image
    its source: https://github.com/openagentprotocol-OAP/oap-spec

The Mozilla Public License 2.0 is at https://www.mozilla.org/MPL/2.0/; both files are used as they are.

Modules, those of some platforms alone included:

`

func notice(modules []module) []byte {
	var b bytes.Buffer
	b.WriteString(noticeHead)
	users := map[string][]string{}
	var texts []string
	for _, m := range modules {
		name := strings.TrimSpace(m.path + " " + m.version)
		fmt.Fprintf(&b, "  %-85s %s\n", name, m.licence)
		for _, text := range m.texts {
			if users[text] == nil {
				texts = append(texts, text)
			}
			users[text] = append(users[text], m.path)
		}
	}
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s:\n\n%s\n", strings.Repeat("=", 80), strings.Join(users[text], "\n"), text)
	}
	return b.Bytes()
}
