package checks

import (
	"time"
)

// stamp writes a time as the registry's files do: RFC 3339, UTC, milliseconds where there are any.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z07:00") }
