package registry

import "time"

// ProvisionalFor is how long a listing is provisional at most, whatever its file says: RFC 0026 section 6, "until the
// 30-day mark".
const ProvisionalFor = 30 * 24 * time.Hour

// A Tenure is a tool_did that a listing's file holds, and since when it has held it without a break. The zero Tenure is
// that of a file that is not there or is not a listing.
type Tenure struct {
	ToolDID string
	Since   time.Time // first-parent time
}

// Next returns the tenure after a commit of that first-parent time, with which the file has that tool_did.
func (t Tenure) Next(toolDID string, when time.Time) Tenure {
	if !t.Since.IsZero() && t.ToolDID == toolDID {
		return t
	}
	return Tenure{toolDID, when}
}

// Provisional reports whether a listing counts as provisional at a time, given what its file says and since when its
// file has held its tool_did (see Tenure). A zero time is not known.
func Provisional(flag bool, since, at time.Time) bool {
	return flag && (since.IsZero() || at.Before(since.Add(ProvisionalFor)))
}
