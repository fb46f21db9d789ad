package verdict

// IDs returns the ids of rules, in their order.
func IDs(of []Rule) []string {
	var out []string
	for _, r := range of {
		out = append(out, r.ID)
	}
	return out
}
