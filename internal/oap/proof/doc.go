// Package proof builds and verifies the log of a registry's history, and proofs of one listing in it.
//
// The log has one entry for each first-parent commit. An entry has the root of a map from the names of the commit's
// records, and of all revocations so far, to their SHA-256. A proof of a listing shows the newest entry, the listing
// and the absence of its revocation in that entry's map, and a log checkpoint with the signatures of the log and of
// witnesses. The formats of C2SP are followed: https://c2sp.org/tlog-checkpoint, https://c2sp.org/signed-note,
// https://c2sp.org/tlog-cosignature, https://c2sp.org/tlog-tiles, https://c2sp.org/tlog-proof and
// https://c2sp.org/tlog-policy.
//
// The package neither reads Git nor opens a connection.
package proof
