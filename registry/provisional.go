package registry

import "time"

// ProvisionalFor is how long a listing is provisional at most, whatever its file says: RFC 0026 section 6, "until the
// 30-day mark".
const ProvisionalFor = 30 * 24 * time.Hour

// Provisional reports whether a listing counts as provisional at a time, given what its file says and the first-parent
// time of the commit from which on its slug has listed its tool_did without a break. A zero time is not known.
func Provisional(flag bool, since, at time.Time) bool {
	return flag && (since.IsZero() || at.Before(since.Add(ProvisionalFor)))
}
