package verdict

import "fmt"

// Entry is a rule of a catalogue, and how it judges a subject. What a catalogue needs beyond that wraps Judge.
type Entry[S any] struct {
	Rule
	Judge func(S) (Outcome, error)
}

// Judgement is what a rule makes of a subject.
type Judgement struct {
	*Rule
	Outcome
}

// Entries returns the catalogue of rules that are all judged by one function.
func Entries[S any](rules []Rule, judge func(Rule, S) (Outcome, error)) []Entry[S] {
	var out []Entry[S]
	for _, rule := range rules {
		out = append(out, Entry[S]{rule, func(s S) (Outcome, error) { return judge(rule, s) }})
	}
	return out
}

// Rules returns the rules of a catalogue, in its order.
func Rules[S any](catalogue []Entry[S]) []Rule {
	var out []Rule
	for _, e := range catalogue {
		out = append(out, e.Rule)
	}
	return out
}

// IDs returns the ids of rules, in their order.
func IDs(of []Rule) []string {
	var out []string
	for _, r := range of {
		out = append(out, r.ID)
	}
	return out
}

// Run judges s by the entries of the selected ids, in the order of the catalogue; a nil selected selects all. name is
// what results call s. An error ends the run. It is that of the entry, or wraps ErrUnsaid and names the entry's id.
func Run[S any](catalogue []Entry[S], selected func(id string) bool, s S, name string) ([]Judgement, error) {
	var out []Judgement
	for i := range catalogue {
		e := &catalogue[i]
		if selected != nil && !selected(e.ID) {
			continue
		}
		o, err := e.Judge(s)
		if err != nil {
			return nil, err
		}
		if _, err := o.Verdict(); err != nil {
			return nil, fmt.Errorf("check %s %w of %s", e.ID, err, name)
		}
		out = append(out, Judgement{&e.Rule, o})
	}
	return out, nil
}

// Judge returns what Run finds as results of a report, whose subject is name.
func Judge[S any](catalogue []Entry[S], selected func(id string) bool, s S, name string) ([]Result, error) {
	judged, err := Run(catalogue, selected, s, name)
	var out []Result
	for _, j := range judged {
		r, err := j.Result(*j.Rule, name)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, err
}
