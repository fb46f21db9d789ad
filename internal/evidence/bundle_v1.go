package evidence

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
)

// version1 converts the flags of a bundle of version 1: texts by name, lists joined by a separator of each. Names that
// are not known were never refused.
func (r *bundleReader) version1(v any, b *Bundle) {
	object, ok := v.(map[string]any)
	if !ok {
		r.fail("/flags", "expected an object")
	}
	flags := make(map[string]string, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		flags[name] = r.text(object, "/flags", name)
	}
	list := func(name, separator string) []string {
		if flags[name] == "" {
			return nil
		}
		return slices.DeleteFunc(strings.Split(flags[name], separator), func(s string) bool { return s == "" })
	}
	file := func(name string) []byte {
		text, there := flags[name]
		if !there {
			return nil
		}
		data, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil {
			r.fail("/flags/"+name, "%v", err)
		}
		return data
	}
	b.Tool.Version, b.Tool.Commit = flags["version"], flags["commit"]
	b.Flags = Flags{
		Only: list("only", ","), Skip: list("skip", ","), Governance: flags["governance"],
		Sequence: flags["sequence"] == "true", Rewritten: flags["rewritten"] == "true",
		Chosen: flags["chosen"], Origin: flags["origin"],
		Uncommitted: list("uncommitted", "\x00"), Assumed: list("assumed", "\n"),
		Strict: flags["strict"] == "true", RequireSigned: flags["require-signed"] == "true",
		Archive: flags["archive"] == "true", Shard: flags["shard"],
		Keyring: file("keyring"), AllowedSigners: file("allowed-signers"),
	}
	if b.Mode == "audit" {
		b.Compared = &Compared{}
		if err := decodeKnown([]byte(flags["compared"]), b.Compared); err != nil {
			r.fail("/flags/compared", "what was compared: %v", err)
		}
	}
}
