package checks

// Asks is what those who ask a run differ in. The zero value is that of a proposal.
type Asks struct {
	// AsIs says that each record is judged as the base tree has it: the run judges no change.
	AsIs bool
	// onMain says that main has what is judged: what is for a maintainer to judge was judged when it was merged.
	onMain bool
	// baseJudged says that another range judges the base of this one.
	baseJudged bool
	// documentsDiffer says that a record may be older than the documents that its witnesses serve: they may have
	// counted by others.
	documentsDiffer bool
}

// Those who ask, in addition to a proposal.
var (
	// OfHead asks about the records at the head of an audit.
	OfHead = Asks{AsIs: true, onMain: true, documentsDiffer: true}
	// OfNext is a proposal whose base is the head of another one of the run.
	OfNext = Asks{baseJudged: true}
	// ofCommit asks about a commit of the history.
	ofCommit = Asks{onMain: true, baseJudged: true}
)
