package gate

import (
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// What one range may bring, since all its records are held at once: a Git object of a few bytes can stand under any
// number of names. A listing has some twenty values in a kilobyte; a value takes some 120 bytes of memory.
const (
	maxRecords = 10_000
	maxText    = 32 << 20 // bytes
	maxValues  = 1 << 19
)

// budget counts what the records of a range take.
type budget struct{ records, text, values int }

// take counts a record's texts; the error says that the range has too many.
func (m *budget) take(s *checks.Subject) error {
	for _, r := range []*registry.Record{s.Record, s.BaseRecord} {
		if r != nil && r.Document != nil {
			m.text += len(r.Document.Data)
			m.values += values(r.Document.Root)
		}
	}
	return m.full()
}

func (m *budget) full() error {
	problem := ""
	switch {
	case m.records > maxRecords:
		problem = fmt.Sprintf("more than %d records", maxRecords)
	case m.text > maxText:
		problem = fmt.Sprintf("records of more than %d MiB", maxText>>20)
	case m.values > maxValues:
		problem = fmt.Sprintf("records of more than %d JSON values", maxValues)
	default:
		return nil
	}
	return remedy.Errorf("split the change",
		"reading the records that the range changes: %w: %s", registry.ErrLimit, problem)
}

func values(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, m := range v {
			n += values(m)
		}
	case []any:
		for _, e := range v {
			n += values(e)
		}
	}
	return n
}
