package gitstore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitfsck"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// config is a Git configuration file: the last value of each key. A key is section.name or
// section.subsection.name, section and name in lower case. Include directives are not followed: they can name
// any file of the machine, and none of the keys read here belongs into one.
type config map[string]string

const maxConfig = 4 << 20

// parseConfig reads the syntax of git-config(1). It is strict: what git refuses it refuses.
func parseConfig(text string) (config, error) {
	c := config{}
	return c, EachSetting(text, func(key, value string) error {
		c[key] = value
		return nil
	})
}

// EachSetting calls f for each key of a configuration file and its value, in the order of the file. See config.
func EachSetting(text string, f func(key, value string) error) error {
	if len(text) > maxConfig {
		return fmt.Errorf("%w: %d bytes, at most %d are read", gitobject.ErrTooLarge, len(text), maxConfig)
	}
	all, failed := []byte(strings.TrimPrefix(text, "\ufeff")), errors.New("git cannot read it")
	rest, whole := gitfsck.ReadConfig(all, func(key string, value []byte, set bool) bool {
		if !set {
			value = []byte("true")
		}
		err := errors.New("a key before any section")
		if strings.Contains(key, ".") {
			err = f(key, string(value))
		}
		failed = cmp.Or(err, failed)
		return err == nil
	})
	if whole {
		return nil
	}
	read := bytes.TrimSuffix(all[:len(all)-len(rest)], []byte("\n"))
	return fmt.Errorf("line %d: %w", 1+bytes.Count(read, []byte("\n")), failed)
}

// bool returns the value of key as git reads it: absent is false.
func (c config) bool(key string) (bool, error) {
	v, ok := c[key]
	if !ok {
		return false, nil
	}
	switch strings.ToLower(v) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0", "":
		return false, nil
	}
	if n, err := strconv.Atoi(v); err == nil { // as git reads any number
		return n != 0, nil
	}
	return false, fmt.Errorf("%s is %q; expected true or false", key, v)
}
