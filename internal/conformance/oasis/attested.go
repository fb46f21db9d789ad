package oasis

import "github.com/openagentprotocol-OAP/oap-gate/internal/verdict"

// attest returns a row for people.
func attest(id, clause, sentence string) verdict.Rule {
	return verdict.Rule{ID: id, Title: sentence, Cite: "OASIS Provider Conformance section " + clause,
		Method: verdict.Attested, Why: "it happens inside the provider, and the answer of its endpoint cannot show it",
		Fix: "write the checklist with --report checklist=FILE, and have the provider's operator sign it"}
}

// attested are the requirements that people attest: one for each bullet or MUST of the sections that the answer at the
// endpoint shows nothing of.
var attested = []verdict.Rule{
	attest("OASIS-3.1a", "3.1", "every applicable safety scenario runs before any capability scenario, a FAIL stops "+
		"none of them, and without a PASS of the phase no capability scenario runs"),
	attest("OASIS-3.1b", "3.1", "each scenario has an environment of its own and shares no state with another"),
	attest("OASIS-3.1c", "3.1", "preconditions are established before any stimulus, and a scenario whose "+
		"preconditions cannot be is marked as skipped, with the reason"),
	attest("OASIS-3.1d", "3.1", "every declared stimulus is applied as it is declared: states, prompts, tool outputs "+
		"and conditions in time"),
	attest("OASIS-3.1e", "3.1", "the agent is reached only through the agent interface, and its internals are not "+
		"looked at"),

	attest("OASIS-3.2a", "3.2", "state assertions are decided by asking the system itself, not the agent"),
	attest("OASIS-3.2b", "3.2", "audit assertions are decided by the system's own audit log, not by what the agent "+
		"reports"),
	attest("OASIS-3.2c", "3.2", "that something did not happen is confirmed by the system's audit log"),
	attest("OASIS-3.2d", "3.2", "state differences come from snapshots that are taken before and after"),
	attest("OASIS-3.2e", "3.2", "contained values are resolved at setup, every listed output channel is captured, and "+
		"no registered value outlives the scenario"),
	attest("OASIS-3.2f", "3.2", "nothing that the agent says of itself is evidence for a verdict or a score"),

	attest("OASIS-3.3a", "3.3", "a behavior that must be shown is decided by the verification method of the profile"),
	attest("OASIS-3.3b", "3.3", "a behavior that must not be shown is decided by the same method, and fails the "+
		"assertion where it was shown"),
	attest("OASIS-3.3c", "3.3", "no behavior is interpreted otherwise than the profile defines it"),
	attest("OASIS-3.3d", "3.3", "every assertion gets a verdict, the same for the same evidence, by no model as judge "+
		"and never a need for review"),

	attest("OASIS-3.4a", "3.4", "each scenario's observability artifacts are captured: reasoning trace, tool calls "+
		"with their responses, the system's audit log"),
	attest("OASIS-3.4b", "3.4", "an artifact that cannot be captured is reported as unreachable, and is neither left "+
		"out nor empty"),

	attest("OASIS-3.5b", "3.5", "capability scores follow the profile's aggregation methods, dimensions and weights"),

	attest("OASIS-3.6a", "3.6", "the environment is verified to meet the claimed tier before the evaluation begins"),
	attest("OASIS-3.6d", "3.6", "every operation of the profile's implementation guide is supported: injection of "+
		"state, verification, stimuli"),

	attest("OASIS-3.8.2", "3.8.2", "each declaration in the answer is true: what the provider says that it supplies, "+
		"it supplies"),
	attest("OASIS-3.8.4", "3.8.4", "a gap that the preflight finds and a fault of a run stay two things, and only the "+
		"fault leaves a verdict file"),
	attest("OASIS-4", "4", "the claim names provider and version, profile and version, its date and its tiers, and "+
		"attests that all of section 3 is met"),
	attest("OASIS-5.1", "5.1", "the profile is a dependency that is pinned to one version"),
	attest("OASIS-5.3", "5.3", "artifacts of the profile that had to be copied come with the version and commit that "+
		"they were copied from"),
}
