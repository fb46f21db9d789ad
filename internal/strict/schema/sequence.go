package schema

// Most patterns of a registry are one anchored sequence of ASCII classes, such as ^[0-9a-f]{64}$, or a few of them. A
// loop over bytes matches these instead of package regexp, which takes several times as long.

// maxSequences caps the alternatives of a pattern that is matched so, and maxRuns the runs of one.
const (
	maxSequences = 16
	maxRuns      = 64
)

// ascii is a set of ASCII characters.
type ascii [2]uint64

func (a *ascii) has(c byte) bool { return c < 128 && a[c>>6]>>(c&63)&1 != 0 }

// run is min to max characters of one set; max < 0: no bound.
type run struct {
	set      ascii
	min, max int
}

// sequence matches from the start of a text: fixed runs, then at most one run of any length, then fixed runs.
type sequence struct {
	head, tail []run
	body       run
	tailLength int
	toEnd      bool // the text ends with the sequence
}

// sequences returns an equivalent set of sequences, or nil if no such set exists.
func sequences(e *expr) []sequence {
	if e.op != opConcat || len(e.sub) == 0 || e.sub[0].op != opBegin {
		return nil
	}
	terms := e.sub[1:]
	toEnd := len(terms) > 0 && terms[len(terms)-1].op == opEnd
	if toEnd {
		terms = terms[:len(terms)-1]
	}
	all, ok := expand(&expr{op: opConcat, sub: terms})
	if !ok {
		return nil
	}
	out := make([]sequence, 0, len(all))
	for _, runs := range all {
		s, ok := newSequence(runs, toEnd)
		if !ok {
			return nil
		}
		out = append(out, s)
	}
	return out
}

func newSequence(runs []run, toEnd bool) (sequence, bool) {
	s := sequence{toEnd: toEnd}
	for i, r := range runs {
		if r.min == r.max {
			continue
		}
		s.head, s.body, s.tail = runs[:i:i], r, runs[i+1:]
		for _, t := range s.tail {
			if t.min != t.max {
				return s, false
			}
			s.tailLength += t.min
		}
		return s, toEnd || len(s.tail) == 0
	}
	s.head = runs
	return s, true
}

// expand gives every alternative of e as a list of runs.
func expand(e *expr) ([][]run, bool) {
	switch e.op {
	case opSet:
		set, ok := e.set.ascii()
		return [][]run{{{set, 1, 1}}}, ok
	case opRepeat:
		return expandRepeat(e)
	case opAlternate:
		var out [][]run
		for _, s := range e.sub {
			all, ok := expand(s)
			if out = append(out, all...); !ok || len(out) > maxSequences {
				return nil, false
			}
		}
		return out, true
	case opConcat:
		return expandConcat(e)
	}
	return nil, false
}

func expandRepeat(e *expr) ([][]run, bool) {
	if e.sub[0].op == opSet {
		set, ok := e.sub[0].set.ascii()
		return [][]run{{{set, e.min, e.max}}}, ok
	}
	all, ok := expand(e.sub[0])
	return append(all, nil), ok && e.min == 0 && e.max == 1
}

func expandConcat(e *expr) ([][]run, bool) {
	out := [][]run{nil}
	for _, s := range e.sub {
		all, ok := expand(s)
		if !ok || len(out)*len(all) > maxSequences {
			return nil, false
		}
		var longer [][]run
		for _, front := range out {
			for _, back := range all {
				if len(front)+len(back) > maxRuns {
					return nil, false
				}
				longer = append(longer, append(front[:len(front):len(front)], back...))
			}
		}
		out = longer
	}
	return out, true
}

// ascii returns the set if it only has ASCII characters.
func (s *set) ascii() (ascii, bool) {
	var a ascii
	if s.negated || len(s.properties) > 0 {
		return a, false
	}
	for _, r := range s.spans {
		if r.hi > 127 {
			return a, false
		}
		for c := r.lo; c <= r.hi; c++ {
			a[c>>6] |= 1 << (c & 63)
		}
	}
	return a, true
}

func (s *sequence) match(text string) bool {
	text, ok := cutRuns(text, s.head)
	if !ok {
		return false
	}
	if !s.toEnd { // the body is last, and its least length is enough
		return len(text) >= s.body.min && s.body.set.all(text[:s.body.min])
	}
	n := len(text) - s.tailLength
	if n < s.body.min || s.body.max >= 0 && n > s.body.max || !s.body.set.all(text[:n]) {
		return false
	}
	_, ok = cutRuns(text[n:], s.tail)
	return ok
}

// cutRuns takes runs of fixed length from the front of text.
func cutRuns(text string, runs []run) (string, bool) {
	for i := range runs {
		r := &runs[i]
		if len(text) < r.min || !r.set.all(text[:r.min]) {
			return text, false
		}
		text = text[r.min:]
	}
	return text, true
}

func (a *ascii) all(text string) bool {
	for i := range len(text) {
		if !a.has(text[i]) {
			return false
		}
	}
	return true
}
