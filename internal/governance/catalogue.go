package governance

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// gates are in the order of the report.
var gates = []verdict.Entry[*Judgement]{
	gate(implementability, (*Proposal).implementability),
	gate(backwardCompatibility, (*Proposal).backwardCompatibility),
	gate(charterReview, (*Proposal).charterReview),
	gate(changelog, (*Proposal).changelog),
}

// Rules returns the rules of the gates.
func Rules() []verdict.Rule { return verdict.Rules(gates) }

var implementability = verdict.Rule{
	ID: "implementability", Title: "a normative change comes with a test or with code", Cite: "RFC 0019 section 3",
	Why: "no concept enters the protocol before code shows that it can be built and checked",
	Fix: "add a test under test-suite/ or the behavior under reference/ in the same pull request",
	Codes: append([]strict.Code{
		{"no-evidence", "a normative artifact changes, and nothing under test-suite/ or reference/ does",
			"add a test under test-suite/ or the behavior under reference/ in the same pull request, or move the " +
				"text to papers/"},
		{"not-a-file", "a normative path is added or changed, and is a link or a submodule, whose text could change " +
			"where no gate looks", "write the text into the file"},
		{"outside-the-paths", "a text below rfcs/, schemas/ or spec/ changes its key words at a path where no gate " +
			"looks",
			"move a requirement to rfcs/RFC-… or spec/v1.0/"},
		{"evidence-does-not-count", "no file of code under test-suite/ or reference/ has a line that is neither a " +
			"comment nor in the base already",
			"write a test of the new rule under test-suite/, or its code under reference/: the first such line counts"},
		{"formatting-only", "the body claims an exception, and only formatting differs", "nothing to do"},
		{"exception-granted", "two thirds of the Maintainers approve the head, and the body claims an exception",
			"compare the changed blocks in the row for people"},
		{"exception-not-editorial", "the body claims an exception, and key words of a text or a schema differ",
			"bring a test or code: exceptions are for editorial, typographical and non-normative changes"},
		{"exception-unjustified", "the body claims an exception with a reason of less than five words",
			"write the reason behind the words Implementability Gate exception, or in the next paragraph or list"},
		{"exception-unknown",
			"the key words of the texts are as they were, and whether an exception is claimed is not " +
				"known", "give the body with --pr or --body"},
		{"two-thirds", "the body claims an exception, and fewer than two thirds of the Maintainers approve the head",
			"ask the others for reviews of the head, or bring a test or code"},
	}, approving...),
}

// approving are the codes of each check that counts approvals.
var approving = []strict.Code{
	{"roster-empty", "the table under Current Maintainers of the base names nobody by @handle, so that no " +
		"approval can count",
		"in a pull request of its own, give each Maintainer a row `| @handle | organisation | term | yes or empty " +
			"|`, merge it, update the branch, and ask for approvals"},
	{"reviews-unknown", "the reviews are not known",
		"give the forge's list with --reviews FILE, or ask with --forge and a token"},
	{"roster-row", "a row of the roster has no handle in its first cell, or a mark that is neither a yes nor " +
		"nothing",
		"in a pull request of its own, write the row as `| @handle | organisation | term | yes or empty |`"},
	{"authors-unknown", "the forge does not list all authors of the range, so that a Maintainer's own approval " +
		"may be among those that count",
		"try again, or split a pull request of more commits than the forge lists"},
	{"authors-from-git", "the forge was not asked for the authors of the range; the opener and e-mail addresses " +
		"that name a login are known",
		"ask with --forge and a token"},
	{"login-without-role", "a login of the roster has no role in the repository: a freed login can be taken by " +
		"another",
		"let the Maintainer be a member or a collaborator"},
	{"own-approval", "a Maintainer approves a change of their own",
		"ask another Maintainer"},
	{"bot-approval", "a bot approves, which counts for nothing",
		"ask a Maintainer"},
	{"stale-approval", "a Maintainer approved another commit than the head",
		"ask for a review of the head"},
}

const nextVersion = "leave the published schema as it is, and publish the change under the next version with a new $id"

var backwardCompatibility = verdict.Rule{
	ID: "backward-compatibility", Title: "a published schema means what it meant", Cite: "RFC 0019 section 4",
	Why: "an implementation must not lose its attestation because a schema that it passed was edited",
	Fix: "publish the change under the next version with a new $id, or declare new optional fields as additive only",
	Codes: []strict.Code{
		{"schema-removed", "a published schema is deleted or moved", "leave it where it is: it remains at its " +
			"path permanently"},
		{"mode-changed", "a published schema is no longer a file of the same mode",
			"make it the plain file that it was"},
		{"schema-unreadable", "a schema is not strict JSON, or does not compile under its $schema", "fix the text"},
		{"schema-id", "an added schema has no $id, an added or changed file claims another file's $id at any depth, " +
			"or its own does not name its path",
			"give it an $id of its own whose path ends in the file's path from schemas/ on"},
		{"schema-id-twice",
			"two published schemas of the base have one $id, so that nothing that refers to it can be " +
				"compared", "let the Maintainers correct the base by hand"},
		{"additive-undeclared", "a published schema changes, and no line of the pull request's " +
			"body begins with Additive only", "add the line `Additive only: WHAT` to the pull request's body"},
		{"declaration-unknown", "a published schema changes, and whether the change is declared is not known",
			"give the body with --pr or --body"},
		{"annotations", "only annotations or formatting differ", "nothing to do"},
		{"description-differs", "the description or the title of what existed differs, and none of its key words does",
			"compare the two texts, and restore the old one if the meaning differs"},
		{"new-version", "a schema of a later version appears next to that of an earlier one", "nothing to do"},
		{"additive", "a new optional field where nothing governed that name", "declare the change additive only"},
		{"loosened", "the new schema accepts all that the old one did, and more", nextVersion},
		{"tightened", "the new schema may refuse what the old one accepted", nextVersion},
		{"enum", "the value range of an enumeration differs", nextVersion},
		{"removed", "a field or a definition is gone", nextVersion},
		{"identity", "an identifier differs, or a reference leads to another one", nextVersion},
		{"meaning", "a default, readOnly, writeOnly, a content keyword or a requirement in a title or description " +
			"differs", nextVersion},
		{"changed", "the difference cannot be shown to keep the meaning", nextVersion},
	},
}

var charterReview = verdict.Rule{
	ID: "charter-review", Title: "a change that touches user rights has the stricter quorum",
	Cite: "RFC 0019 section 5",
	Why:  "what touches a user's right is reviewed by people whose interest is to defend it",
	Fix: "four approvals by Maintainers of four organisations, a User Advocate among them, with the words Charter " +
		"Review Gate cleared",
	Codes: append([]strict.Code{
		{"no-user-advocate", "governance/MAINTAINERS.md of the base names no User Advocate, so that no approval can " +
			"clear the gate",
			"in a pull request of its own, mark a Maintainer with yes in the column User Advocate of " +
				"governance/MAINTAINERS.md"},
		{"default-quorum",
			"a normative change that touches no right has fewer than three approvals that count, or of " +
				"fewer than three organisations",
			"ask Maintainers of other organisations for reviews of the head"},
		{"roster-changed", "a row of the roster differs; it counts once it is merged",
			"let the Maintainers confirm the rows"},
		{"labels-unknown", "the labels of issues that the body closes are not known", "try again"},
		{"objection", "a Maintainer asks for changes", "settle it with the reviewer"},
		{"quorum", "fewer than four Maintainers approve, or they are of fewer than four organisations",
			"ask those who are missing for a review with the words Charter Review Gate cleared"},
		{"user-advocate-missing", "no User Advocate is among those who approve", "ask a User " +
			"Advocate for a review with the words Charter Review Gate cleared"},
		{"phrase-missing", "a Maintainer's approval does not hold the words that RFC 0019 section 5 requires",
			"ask for a review with the words Charter Review Gate cleared"},
	}, approving...),
}

var changelog = verdict.Rule{
	ID: "changelog", Title: "a normative change has an entry in CHANGELOG.md",
	Why: "readers of the specification learn there what changed",
	Fix: "add an entry under [Unreleased]",
	Codes: []strict.Code{
		{"no-changelog", "a normative change, and CHANGELOG.md is as it was", "add an entry under [Unreleased]"},
	},
}
