package checks

// All are the checks in catalogue order, which is the order of the report. An id is public and never
// renamed.
var All []*Check

// The list is filled at start because Judge looks owners up in it, which Go's initialisation order refuses.
func init() {
	All = []*Check{
		layout,
		schema,
		appendOnly,
		reissue,
		nameSimilarity,
		didResolution,
		manifestReachability,
		manifestDID,
		receiptFetch,
		receiptClaims,
		receiptSignature,
		receiptValidity,
		peerWitnesses,
		externalAudit,
		domainAge,
		fallbackPolicy,
		revocations,
		workflowAnchors,
	}
}

// ByID is the check of that id, nil where there is none.
func ByID(id string) *Check {
	for _, c := range All {
		if c.ID == id {
			return c
		}
	}
	return nil
}
