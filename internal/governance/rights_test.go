package governance

import "testing"

// TestRightStems checks that a text with a word of a right has one of the stems without which it is not searched.
func TestRightStems(t *testing.T) {
	for _, text := range []string{"identity", "Identities", "memory", "MEMORIES", "reputations", "projection",
		"personas", "cooling-off", "cool_off", "coolOff", "escalates", "deletion", "replaceability", "pluralism",
		"explanations",
		"explained", "optimised", "optimizes", "personalisation", "personalize", "human path", "human-beings",
		"humanContact", "human.operator", "disappears", "forgotten", "erase", "erasure", "eraſe", "charter",
		"RFC 0016",
		"RFC-017", "rfc0018", "theMemoryKept", "ｍｅｍｏｒｙ", "me\u00admory", "userMe\u200bmory"} {
		if !ofRight(text, nil) {
			t.Errorf("%q has no word of a right", text)
		}
	}
	for _, text := range []string{"", "identical", "human", "cool", "cooler offer", "RFC 0015", "RFC 00161",
		"unforgotten", "memo", "plum", "mémoire"} {
		if ofRight(text, nil) {
			t.Errorf("%q has a word of a right", text)
		}
	}
}
