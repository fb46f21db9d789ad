package demo

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/replay"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// recorded holds the objects of a bare registry and of the pull requests, and the texts of a world. The test
// writes it with -update.
//
//go:embed recorded
var recorded embed.FS

// A world is what the demonstration knows of the web, by name: N.json, the bundle of a run of check on the pull request
// N; site/… and sites/HOST/…, what hosts serve; registry/…, files of the registry other than objects; and now, the time
// of it all. Nobody has the keys that signed it.
type world map[string]string

func load() (world, error) {
	packed, err := recorded.ReadFile("recorded/world.json.gz")
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	w := world{}
	return w, json.NewDecoder(z).Decode(&w)
}

// unpack writes the registry and the sites into a directory.
func (w world) unpack(dir string) error {
	for name, text := range w {
		if strings.Contains(name, "/") {
			if err := write(filepath.Join(dir, filepath.FromSlash(name)), []byte(text)); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"demo.idx", "demo.pack"} {
		data, err := recorded.ReadFile("recorded/" + name)
		if err == nil {
			err = write(filepath.Join(dir, "registry", "objects", "pack", "pack-"+name), data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func write(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// gate judges a pull request by what the web answered when it was recorded.
func (w world) gate(ctx context.Context, repo *registry.Repository, number int) (*verdict.Report, error) {
	name := fmt.Sprintf("%d.json", number)
	b, err := bundle.Decode(name, []byte(w[name]))
	if err != nil {
		return nil, err
	}
	return again(ctx, repo, b)
}

func again(ctx context.Context, repo *registry.Repository, b *bundle.Bundle) (*verdict.Report, error) {
	cfg, err := replay.Recall(b, verdict.IDs(checks.Rules()))
	if err != nil {
		return nil, err
	}
	cfg.Tool = frame.Version()
	return replay.Again(ctx, repo, b, b.Chosen(), cfg)
}
