package docs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

// TestUsesOfTheAction reads the workflow of README.md and the steps of action.md, which check out as the workflows do,
// and holds the image's build to the arguments that the Dockerfile takes.
func TestUsesOfTheAction(t *testing.T) {
	type step struct {
		Uses string
		With map[string]any
	}
	var workflow struct {
		On   map[string]any
		Jobs struct {
			Gate struct{ Steps []step } `yaml:"oap-gate"` // the check that repo-config.example.yml requires
		}
	}
	var steps []step
	indented := func(name, first string) []byte {
		text := regexp.MustCompile(`(?m)^    ` + first + `.*\n(?:    .*\n)*`).FindString(page(t, name))
		return []byte(strings.ReplaceAll("\n"+text, "\n    ", "\n"))
	}
	must.OK(t, errors.Join(yaml.Unmarshal(indented("../README.md", "on:"), &workflow),
		yaml.Unmarshal(indented("action.md", "- uses:"), &steps)))
	if len(workflow.On) != 2 {
		t.Errorf("README.md's workflow runs on %v", workflow.On)
	}
	for _, s := range [][]step{workflow.Jobs.Gate.Steps, steps} {
		if len(s) != 2 || !strings.Contains(page(t, "workflows/check.yml"), "uses: "+s[0].Uses+" #") ||
			s[0].With["fetch-depth"] != 0 || s[0].With["persist-credentials"] != false ||
			s[1].Uses != "openagentprotocol-OAP/oap-gate@<commit of a release>" {
			t.Errorf("the steps are %v", s)
		}
	}
	given := regexp.MustCompile(`--build-arg ([A-Z_]+)=`).FindAllStringSubmatch(page(t, "action.md"), -1)
	for _, m := range given {
		if !strings.Contains(page(t, "../Dockerfile"), "\nARG "+m[1]+"=") {
			t.Errorf("the Dockerfile takes no %s", m[1])
		}
	}
	if len(given) != 3 {
		t.Errorf("%d arguments", len(given))
	}
}

// A job that is run again is of the same run, in which the artifact of the time before stands: actions/upload-artifact
// fails on that name unless it may overwrite.
func TestUploadsMayBeRunAgain(t *testing.T) {
	workflows := must.Get(filepath.Glob("workflows/*.yml"))(t)
	texts := map[string]string{"matrix.yml": blocks(t)["matrix.yml"]}
	for _, name := range workflows {
		texts[name] = page(t, name)
	}
	uploads := 0
	for name, text := range texts {
		var w struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string
					With map[string]any
				}
			}
		}
		must.OK(t, yaml.Unmarshal([]byte(text), &w))
		for _, j := range w.Jobs {
			for _, s := range j.Steps {
				if strings.HasPrefix(s.Uses, "actions/upload-artifact@") {
					if uploads++; s.With["overwrite"] != true {
						t.Errorf("%s: %v", name, s.With)
					}
				}
			}
		}
	}
	if uploads < 7 {
		t.Errorf("%d uploads", uploads)
	}
}

// members are the paths of all scalars in a JSON or YAML value.
func members(path string, v any, all map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			members(path+"/"+name, one, all)
		}
	case []any:
		for i, one := range v {
			members(fmt.Sprintf("%s/%d", path, i), one, all)
		}
	default:
		all[path] = fmt.Sprint(v)
	}
}

// TestManifests has kubectl read the manifests by its own types, and write them again: what it does not know is gone
// then, and what has the wrong type is an error.
func TestManifests(t *testing.T) {
	needs.Program(t, "kubectl")
	for name, container := range map[string]string{"deployment.yaml": "mirror", "job.yaml": "audit"} {
		text := blocks(t)[name]
		c := exec.CommandContext(t.Context(), "kubectl", "set", "image", "--local", "-f", "-", container+"=x",
			"-o", "json")
		c.Stdin = strings.NewReader(text)
		c.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull, "HOME="+t.TempDir())
		var complaint bytes.Buffer
		c.Stderr = &complaint
		out, err := c.Output()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, &complaint)
			continue
		}
		var shown, read any
		must.OK(t, yaml.Unmarshal([]byte(text), &shown))
		must.OK(t, json.Unmarshal(out, &read))
		want, got := map[string]string{}, map[string]string{}
		members("", shown, want)
		members("", read, got)
		delete(want, "/spec/template/spec/containers/0/image")
		for path, value := range want {
			if got[path] != value {
				t.Errorf("%s: %s is %q, and %q once kubectl has read it", name, path, value, got[path])
			}
		}
		if len(want) < 15 {
			t.Errorf("%s has %d members", name, len(want))
		}
	}
}

// maxExposure is the exposure that systemd may see in a service, from 0 to 10.
const maxExposure = 2.0

// TestUnits has systemd read the units, judge the services' confinement, and enable what the page has enabled.
func TestUnits(t *testing.T) {
	needs.Program(t, "systemd-analyze", "systemctl")
	root := t.TempDir()
	dir := filepath.Join(root, "etc", "systemd", "system")
	must.OK(t, os.MkdirAll(dir, 0o755))
	args := []string{"verify", "--man=no"}
	for name, text := range blocks(t) {
		if ext := filepath.Ext(name); ext == ".service" || ext == ".timer" {
			text = strings.ReplaceAll(text, "ExecStart=/usr/local/bin/oap-", "ExecStart=/bin/true oap-")
			must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
			args = append(args, filepath.Join(dir, name))
		}
		if filepath.Ext(name) == ".service" {
			out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--no-pager",
				filepath.Join(dir, name)).CombinedOutput()
			found := regexp.MustCompile(`exposure level for \S+: ([\d.]+)`).FindSubmatch(out)
			if found == nil {
				t.Fatalf("%s: %v\n%s", name, err, out)
			}
			if exposure, err := strconv.ParseFloat(string(found[1]), 64); err != nil || exposure > maxExposure {
				t.Errorf("the exposure of %s is %s; expected at most %v\n%s", name, found[1], maxExposure, out)
			}
		}
	}
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", args...).CombinedOutput()
	if err != nil || len(args) != 5 || bytes.Contains(out, []byte(dir)) {
		t.Errorf("%d units: %v\n%s", len(args)-2, err, out)
	}

	enable := regexp.MustCompile("`systemctl enable --now ([a-z.-]+)`").FindStringSubmatch(page(t, "mirror.md"))
	out, err = exec.CommandContext(t.Context(), "systemctl", "--root="+root, "enable", enable[1]).CombinedOutput()
	if _, missing := os.Lstat(filepath.Join(dir, "timers.target.wants", enable[1])); err != nil || missing != nil {
		t.Errorf("%s is not enabled: %v, %v\n%s", enable[1], err, missing, out)
	}
}
