package aaep

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// statement is one sentence that claims conformance.
type statement struct {
	verdict.At
	text      string
	level     int // 0: none is named
	certified bool
	suite     bool   // a version of the suite is named
	date      string // date of the verification, as the text writes it; empty if the sentence has no date
	day       time.Time
	profile   bool // a profile is claimed
	version   bool // and its version
	uri       bool // and its URI
}

// These expressions match names of the suite and its parts, commands, addresses and file names, which claim nothing.
var (
	artifacts = plain.Pattern(`(?i)\b(?:conformance|compliance)[\s-]+(?:test(?:ing)?\s+)?(?:suites?|tests?|testing|` +
		`reports?|levels|claims?|requirements?|criteria|rules?|checks?|checker|checklists?|chapters?|` +
		`sections?|specs?|specifications?|docs?|documentation|guides?|process|procedures?|principles?|` +
		`disputes?|runners?|fixtures?|tools?|tooling|harness|package)\b|\bself-certification\b`)
	command = plain.Pattern(`\bconformance\s+aaep\b|[\w./-]*\baaep[-_](?:conformance|compliance)\b[\w./-]*|` +
		`[\w./-]*aaep[\w./-]*\.(?:txt|md|jsonl?|html?|ya?ml|py|go|[jt]s|svg|png|pdf)\b`)
	addresses = plain.Pattern(`(?i)\b(?:https?://|www\.|urn:)[^\s<>"]+`)
)

// levelNumber is a level's number; a list of them counts for its highest.
const levelNumber = `(?:\d+(?:\.\d+)*|one|two|three|four|five|i{1,3}|iv|v)`

var (
	protocol = plain.Pattern(`(?i)\bAAEP\b|\bAgent\s+Accessibility\s+Event\s+Protocol\b`)
	// nouns claim without a level, verbs with one.
	nouns = plain.Pattern(`(?i)\b(?:conformant|conforming|conform(?:s|ed)?|compliant|compl(?:y|ies|ied|ying)|` +
		`certified|conformance|compliance|certifications?|certificates?)\b`)
	verbs = plain.Pattern(`(?i)\b(?:pass(?:es|ed|ing)?|meets?|met|meeting|reach(?:es|ed|ing)?|achiev(?:es?|ed|ing)|` +
		`attain(?:s|ed|ing)?|satisf(?:y|ies|ied|ying)|fulfill?(?:s|ed|ing)?)\b`)
	levelOfAAEP = plain.Pattern(`(?i)\b(?:AAEP|Protocol)(?:'s)?[\s-]+(?:Levels?[\s-]*` + levelNumber +
		`|L\d+)\b|\b(?:Levels?[\s-]*` + levelNumber + `|L\d+)[\s-]+(?:of\s+)?(?:the\s+)?AAEP\b`)
	levelNamed = plain.Pattern(`(?i)\b(?:levels?[\s:#-]*(` + levelNumber + `)|L(\d+(?:\.\d+)*))\b`)
	levelList  = plain.Pattern(`(?i)\blevels?\s+` + levelNumber + `(?:(?:\s*,\s*(?:and\s+|or\s+)?|\s*[-–/&+]\s*|` +
		`\s+(?:and|or|to|through)\s+)(?:levels?\s+)?` + levelNumber + `\b)+`)
	// abbreviation is one of capitals, such as that of a standard, and its number, before a level.
	abbreviation = plain.Pattern(`\b([A-Z]{2,})(?:[\s-]+\d[\d.]*)?[\s-]+$`)
	eachNumber   = plain.Pattern(`(?i)\b` + levelNumber + `\b`)
)

// These expressions match words that only speak of conformance.
var (
	// anyOf is before conformant if it is said about no one: any AAEP compliant agent.
	anyOf = plain.Pattern(`(?i)\b(?:any|every|each|all|most|some|other|another)\s+(?:non-?)?$`)
	// spokenOf is before conformance if that is what a text is about, statedOf after it if it is the subject.
	spokenOf = plain.Pattern(`(?i)\b(?:about|regarding|(?:levels?|claims?|tests?|rules?|chapters?)\s+(?:of|for|on)|` +
		`see|read|(?:describ|explain|cover|document|discuss|concern|check|test|verif|measur|judg|requir|defin|` +
		`specif|evaluat|assess|understand|learn)(?:s|es|ed|e|y|ies|ied|ing|ying)?|claiming|maintaining)\s+` +
		`(?:(?:the|of|its|your)\s+)?$`)
	statedOf = plain.Pattern(`(?i)^(?:\s+(?:in|of|with|to|for)\s+\S+(?:\s+\S+)?)?\s+(?:(?:is|are)\s+` +
		`(?:graded|verifiable|defined|described|specified|explained|covered|tested|checked|measured|judged|` +
		`important|hard|easy|optional|required|about)|means|requires|rests|matters|covers|depends|consists)\b`)
	topicOnly = plain.Pattern(`(?i)^[\s*•>|-]*(?:AAEP\s+(?:conformance|compliance)|` +
		`(?:conformance|compliance)\s+(?:with|to|of|in)\s+AAEP)[\s|.]*$`)
	// andCertified ends a clause that leaves AAEP out: certified and AAEP conformant.
	andCertified = plain.Pattern(`(?:^\s*|[^A-Z\d\s]\s+)(?:[a-z]+\s+)?(?i:certified)\W*$`)
	// conforms claims only right before or after the name.
	conforms   = plain.Pattern(`(?i)^(?:conform(?:s|ed|ing)?|compl(?:y|ies|ied|ying))$`)
	nameBefore = plain.Pattern(`(?i)\b(?:AAEP|Protocol)(?:[\s-]+(?:Levels?[\s-]*|L)` + levelNumber +
		`)?[\s-]+(?:fully\s+)?$`)
	nameAfter = plain.Pattern(`(?i)^\s+(?:(?:fully|itself)\s+)?(?:to|with)\s+(?:\S+\s+){0,3}` +
		`(?:AAEP|Agent\s+Accessibility)\b`)
)

// These expressions match words that deny, plan or ask for conformance, and words that only seem to.
var (
	idioms = plain.Pattern(`(?i)\b(?:not\s+(?:only|just|merely|simply|surprisingly|to\s+mention|least)|or\s+not|` +
		`no\s+(?:wonder|surprise|secret|question|joke|kidding|problem|matter|less|fewer|sooner)|` +
		`nothing\s+(?:but|less|short)|none\s+other)\b`)
	negations = plain.Pattern(`(?i)\b(?:not|no|never|neither|nor|none|nobody|nothing|without|cannot|hardly|` +
		`[a-z]+n't|lack(?:s|ed|ing)?|fail(?:s|ed|ing)?\s+(?:to|at|the|its|all|AAEP)|den(?:y|ies|ied|ying)|` +
		`doubt(?:s|ed|ing)?)\b`)
	prefixed  = plain.Pattern(`(?i)\bnon[\s-]+$`)
	disclaims = plain.Pattern(`(?i)\b(?:not|never|no|neither|nor|without|cannot|nobody|nothing|[a-z]+n't)\s+` +
		`(?:(?:[a-z]+ly|ever|yet|also|to|be|been|make|makes|made|making|any|a|the|does|do|did|should|may)\s+){0,3}` +
		`(?:claim(?:s|ed|ing)?|say|says|said|saying|stat(?:es?|ed|ing)|impl(?:y|ies|ied|ying)|mean(?:s|t|ing)?)\b` +
		`(\s+(?:this|it|so|lightly|often|much|enough|more|what)\b)?`)
	// contrast begins a clause to which a disclaimer before it does not reach.
	contrast = plain.Pattern(`(?i)^\s*;|^[\s,:–—-]*(?:but|yet|however|still|nevertheless|nonetheless)\b`)
	plans    = plain.Pattern(`(?i)\b(?:aim(?:s|ed|ing)?|plan(?:s|ned|ning)?|intend(?:s|ed|ing)?|intentions?|` +
		`hop(?:es?|ed|ing)|expect(?:s|ed|ing|ations?)?|want(?:s|ed|ing)?|need(?:s|ed|ing)?|goals?|` +
		`roadmaps?|targets?|targeting|striv(?:es?|ing)|seek(?:s|ing)?|pursu(?:es?|ing)|work(?:s|ed|ing)?\s+towards?)\b`)
	asPlanned = plain.Pattern(`(?i)\bas\s+(?:[a-z]+\s+){0,3}$`)
	modals    = plain.Pattern(`(?i)\b(?:will|would|shall|should|must|can|could|may|might)\b|'ll\b`)
	// after is what a claim that is the subject of its clause is said to be: a plan, or not there.
	after = plain.Pattern(`(?i)^(?:\s+Level\s*\S+)?\s*(?:` +
		`(?:is|are|was|were|remains?)\s+(?:(?:still|also|now|only)\s+)?` +
		`(?:(?:on|in|our|a|an|the|their|its|my|next|long-term|main|final)\s+){0,3}` +
		`(?:goals?|aims?|plans?|planned|targets?|roadmap|intended|expected|wanted|needed)|` +
		`(?:planned|intended|expected)|` +
		`(?:(?:is|are|was|were|does|do|did|has|have|can)\s*(?:not|n't)|cannot)\s+(?:(?:yet|be|been)\s+){0,2}` +
		`(?:exist|offered|available|claimed|required|given|granted|possible|provided|issued|implied|reached|met))\b`)
	// label is what a claim that is a label or a cell of a table is followed by.
	label = plain.Pattern(`(?i)^(?:\s+Level\s*\S+)?\s*[:|–—-]+\s*(?:no|none|not|never|planned|pending|` +
		`in\s+progress|n/a|todo|tbd)\b`)
	infinitive = plain.Pattern(`(?i)^[\s,;:–—>*•#-]*(?:(?:but|and|which|in\s+order|so\s+as|how)\s+)*to\s+([a-z]+)\b`)
	notAVerb   = plain.Pattern(`(?i)^(?:our|my|your|his|her|their|its|the|a|an|this|that|these|those|date|all|` +
		`every[a-z]*|us|you|me|them|him|some|any|no|be?sides|aaep)$`)
	// finite is a verb that says something of a subject of its own.
	finite = plain.Pattern(`(?i)\b(?:is|are|was|were|am|has|had|remains?|became|becomes|got|gets|earned|received|` +
		`obtained|achieved|passes|passed|meets|met|reaches|reached|conforms|conformed|complies|complied|holds?)\b|` +
		`\b(?:we|they|you|i|who|that|which)\s+have\b`)
	factive = plain.Pattern(`(?i)^[\s"'(]*(?:did|do|have)\s+you\s+(?:know|hear|heard)\b`)
	tagged  = plain.Pattern(`(?i)^[\s,]*(?:[a-z]+n't\s+(?:it|they|we|he|she|that)|right|correct|no|yes|eh|ok)\W*$`)
	assent  = plain.Pattern(`(?i)^[\s"'(>*•-]*(?:yes|yep|yeah|yup|indeed|absolutely|certainly|definitely|of\s+course|` +
		`sure|correct|it\s+is|we\s+are|they\s+are)\b`)
	// otherStandard is another standard with its number, directly before a word that is about it.
	otherStandard = plain.Pattern(`\b([A-Z]{2,}(?:[/ -][A-Z]{2,})?)[\s-]+\d[\d.:-]*(?:\s+A{1,3})?[\s-]*$`)
	// ownNumber is what AAEP itself numbers, in a text in capitals: AAEP LEVEL 2 CONFORMANT.
	ownNumber = plain.Pattern(`(?i)\b(?:AAEP|protocol|levels?|version|profile|suite|spec(?:ification)?)$`)
	ofAAEP    = plain.Pattern(`(?i)^[\s-]+(?:(?:for|by|as|to|with|against|under|the|an|a)\s+){0,2}AAEP\b`)
)

// months are the names of months, and their abbreviations.
const months = `Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|` +
	`Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?`

// These expressions match the other parts of a claim.
var (
	suiteNamed = plain.Pattern(`(?i)\b(?:suite|oap-gate)[\s,(]*(?:version|ver\.?|release)?[\s:]*v?(\d+\.\d+\S*)`)
	dayNamed   = plain.Pattern(`(?i)\b(\d{4})-(\d{2})-(\d{2})(?:T[\d:.]+Z?)?\b|` +
		`\b(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(` + months + `)\.?,?\s+(\d{4})\b|` +
		`\b(` + months + `)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b`)
	verifiedBy = plain.Pattern(`(?i)\b(?:verif(?:y|ied|ication)|tested|suite|oap-gate)\b`)

	profileWord   = plain.Pattern(`(?i)\bprofiles?\b`)
	profileOfAAEP = plain.Pattern(`(?i)\bAAEP(?:'s)?\s+(?:[^\s,;:]+\s+){0,2}$`)
	profileByWord = plain.Pattern(`(?i)\b(?:with|to|for|under|against)\s+(?:[^\s,;:]+\s+){0,4}$`)
	versionAfter  = plain.Pattern(`(?i)^[\s,:(<]*(?:(?:https?://|urn:)\S+\s)?\s*` +
		`(?:version\s+|ver\.?\s+|v\.?\s*)?\d+(?:\.\d+)*\b`)
	versionBefore = plain.Pattern(`(?i)\b(?:version\s+|v)\d+(?:\.\d+)*\s+(?:[^\s,;:]+\s+){0,4}$`)
	versionInURI  = plain.Pattern(`(?i)/v?\d+(?:\.\d+)*/?$`)
	absoluteURI   = plain.Pattern(`(?i)\b(?:https?://|urn:)[^\s<>"')\]]+`)
)

// statements finds the sentences of a text that claim conformance.
func statements(path string, text []byte) []*statement {
	var all []*statement
	sentences := readProse(text).sentences()
	line, begin, counted := 1, 0, 0
	for i := 0; i < len(sentences); i++ {
		s := sentences[i]
		if !protocol().Match(s.text) {
			continue
		}
		if s.question && i+1 < len(sentences) && assent().Match(sentences[i+1].text) {
			i++ // a question that is answered by yes says what it asks
			s.prose, s.question = s.prose.with(sentences[i].prose), false
		}
		one, at := s.statement(text)
		if one == nil {
			continue
		}
		between := text[counted:at]
		line += bytes.Count(between, []byte("\n"))
		if last := bytes.LastIndexByte(between, '\n'); last >= 0 {
			begin = counted + last + 1
		}
		counted = at
		one.At = verdict.At{Path: path, Line: line, Column: at - begin + 1}
		all = append(all, one)
	}
	return all
}

// statement returns what a sentence claims, and where in the file the claim begins; nil: it claims nothing.
func (s sentence) statement(file []byte) (*statement, int) {
	one := &statement{text: string(s.text)}
	masked := sentence{prose: prose{bytes.Clone(s.text), s.at}, heading: s.heading}
	masked.foldLevels()
	for _, pattern := range []func() *regexp.Regexp{artifacts, command, addresses} {
		masked.blank(pattern())
	}
	main, asides := masked.clauses()
	asked := s.question && !factive().Match(s.text) && !tagged().Match(main[len(main)-1].text)
	uri := absoluteURI().Find(file[s.at[0] : s.at[len(s.at)-1]+1])
	at := -1 // where the claim begins
	// elsewhere is the level of the clauses that neither claim nor deny, also that of those that leave AAEP out.
	elsewhere, also := 0, 0
	disclaimed := false
	for i, c := range append(main, asides...) {
		if i == len(main) || contrast().Match(c.text) {
			disclaimed = false
		}
		found, certified := c.claim(masked.prose, s.heading)
		switch {
		case asked || disclaimed:
		case found >= 0:
			if at < 0 {
				at = int(c.at[found])
			}
			one.certified = one.certified || certified
			one.level = max(one.level, levelIn(c.text))
			one.profiles(s.prose, c, true, uri)
		case len(negationsIn(c.text)) == 0 && !plans().Match(c.text) && !modals().Match(c.text):
			if elsewhere = max(elsewhere, levelIn(c.text)); nouns().Match(c.text) { // and even Level 3 conformant
				also = max(also, levelIn(c.text))
			}
			one.certified = one.certified || andCertified().Match(c.text)
			one.profiles(s.prose, c, false, uri)
		}
		if m := disclaims().FindSubmatchIndex(c.text); m != nil && m[2] < 0 {
			disclaimed = true
		}
	}
	if at < 0 {
		return nil, 0
	}
	if one.level = max(one.level, also); one.level == 0 {
		one.level = elsewhere
	}
	one.suite = suiteNamed().Match(s.text)
	one.date, one.day = dayIn(string(s.text))
	return one, at
}

// claim returns where a clause of a sentence begins to claim conformance, -1 if it does not, and whether it says
// certified.
func (c prose) claim(whole prose, heading bool) (at int, certified bool) {
	at = -1
	names := protocol().FindAllIndex(c.text, -1)
	if len(names) == 0 {
		return at, false
	}
	words := nouns().FindAllIndex(c.text, -1)
	if levelOfAAEP().Match(c.text) {
		for _, w := range verbs().FindAllIndex(c.text, -1) {
			if w[0] < names[len(names)-1][0] || isPast(c.text[w[0]:w[1]]) { // Level 2 is met, and no meeting of Level 2
				words = append(words, w)
			}
		}
	}
	if len(words) == 0 {
		return at, false
	}
	around, level := c.surroundings(), levelIn(c.text)
	for _, w := range words {
		word := strings.ToLower(string(c.text[w[0]:w[1]]))
		certifies := strings.HasPrefix(word, "certif")
		if at >= 0 && (certified || !certifies) {
			continue
		}
		name := slices.MinFunc(names, func(a, b []int) int { return cmp.Compare(apart(a, w), apart(b, w)) })
		first, last := name, w
		if w[0] < name[0] {
			first, last = w, name
		}
		if around.excuse(first, last, w) || c.mentions(w, first, word, level, heading) ||
			label().Match(whole.after(c.at[last[1]-1])) {
			continue
		}
		if at < 0 {
			at = first[0]
		}
		certified = certified || certifies
	}
	return at, certified
}

// isPast reports whether a verb is one that a level is the subject of.
func isPast(word []byte) bool {
	return bytes.HasSuffix(word, []byte("ed")) || bytes.EqualFold(word, []byte("met"))
}

// mentions reports whether a word, of a claim that would begin at first, speaks of conformance without claiming it, or
// of conformance to another standard. level is that of the clause.
func (c prose) mentions(w, first []int, word string, level int, heading bool) bool {
	before, after := c.text[max(0, w[0]-100):w[0]], c.text[w[1]:min(w[1]+100, len(c.text))]
	begin := c.text[max(0, first[0]-60):first[0]]
	other := otherStandard().FindSubmatch(before)
	if other != nil && !ownNumber().Match(other[1]) && !ofAAEP().Match(after) {
		return true
	}
	topic := strings.HasSuffix(word, "ance")
	switch {
	case conforms().MatchString(word):
		return !nameBefore().Match(before) && !nameAfter().Match(after)
	case level > 0:
		return false
	case heading && (topic || strings.HasPrefix(word, "certificat")):
		return true
	case word == "conformant" || word == "compliant":
		return anyOf().Match(begin)
	}
	return topic && (topicOnly().Match(c.text) || spokenOf().Match(begin) || statedOf().Match(after))
}

// apart returns how far two places are from each other.
func apart(a, b []int) int { return max(b[0]-a[1], a[0]-b[1]) }

// surroundings are the words of a clause that may make its claims none.
type surroundings struct {
	text                       []byte
	negated, plans             [][]int
	modals, finite, infinitive [][]int
}

func (c prose) surroundings() surroundings {
	s := surroundings{text: c.text, negated: negationsIn(c.text), modals: modals().FindAllIndex(c.text, -1),
		finite: finite().FindAllIndex(c.text, -1)}
	for _, m := range plans().FindAllIndex(c.text, -1) {
		if !asPlanned().Match(c.text[:m[0]]) {
			s.plans = append(s.plans, m)
		}
	}
	if m := infinitive().FindSubmatchIndex(c.text); m != nil && !notAVerb().Match(c.text[m[2]:m[3]]) {
		s.infinitive = append(s.infinitive, m)
	}
	return s
}

// excuse reports whether what comes around a claim, from its first to its last part, makes it none: a negation, a plan,
// or an infinitive that opens the clause.
func (s surroundings) excuse(first, last, word []int) bool {
	ended := func(by int) func(m []int) bool { return func(m []int) bool { return m[1] > by } }
	// governs reports whether nothing between a word and the claim says something of another subject.
	governs := func(m []int) bool {
		return m[1] <= first[1] && !slices.ContainsFunc(s.finite, func(f []int) bool {
			return f[0] >= m[1] && f[1] <= first[0]
		})
	}
	n := len(s.negated)
	if i := slices.IndexFunc(s.negated, ended(last[0])); i >= 0 {
		n = i
	}
	if prefixed().Match(s.text[max(0, word[0]-8):word[0]]) || prefixed().Match(s.text[max(0, first[0]-8):first[0]]) {
		n++
	}
	modal := slices.IndexFunc(s.modals, ended(first[0])) - 1
	if modal == -2 {
		modal = len(s.modals) - 1
	}
	return n%2 == 1 || len(s.plans) > 0 && s.plans[0][1] <= last[0] || modal >= 0 && governs(s.modals[modal]) ||
		len(s.infinitive) > 0 && governs(s.infinitive[0]) || after().Match(s.text[last[1]:])
}

// negationsIn returns the negations of a text. A nor after another negation is a part of that.
func negationsIn(text []byte) [][]int {
	text = idioms().ReplaceAllFunc(text, func(idiom []byte) []byte { return bytes.Repeat([]byte(" "), len(idiom)) })
	var all [][]int
	for _, m := range negations().FindAllIndex(text, -1) {
		joined := m[1] < len(text) && text[m[1]] == '-' // no-code, not-for-profit
		if again := len(all) > 0 && strings.EqualFold(string(text[m[0]:m[1]]), "nor"); !joined && !again {
			all = append(all, m)
		}
	}
	return all
}

// foldLevels writes a list of levels, such as Levels 1 and 2, as its highest.
func (p prose) foldLevels() {
	for _, m := range levelList().FindAllIndex(p.text, -1) {
		highest := 0
		for _, n := range eachNumber().FindAll(p.text[m[0]:m[1]], -1) {
			highest = max(highest, levelOf(string(n)))
		}
		copy(p.text[m[0]:m[1]], fmt.Sprintf("level %-*d", m[1]-m[0]-len("level "), highest))
	}
}

// levelIn returns the highest level that a text names, those of other standards left out; 0: none.
func levelIn(text []byte) int {
	level, capitals := 0, bytes.Equal(bytes.ToUpper(text), text)
	for _, m := range levelNamed().FindAllSubmatchIndex(text, -1) {
		other := abbreviation().FindSubmatch(text[max(0, m[0]-20):m[0]])
		if other != nil && string(other[1]) != "AAEP" && !capitals {
			continue
		}
		level = max(level, levelOf(string(text[max(m[2], m[4]):max(m[3], m[5])])))
	}
	return level
}

// numerals are the numbers of levels that are written without digits.
var numerals = map[string]int{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "i": 1, "ii": 2, "iii": 3, "iv": 4,
	"v": 5}

// levelOf returns the level that a number names; 0: none.
func levelOf(text string) int {
	if n, known := numerals[strings.ToLower(text)]; known {
		return n
	}
	n, _ := strconv.Atoi(text) // 2.5 is 0, and what overflows is the largest
	return n
}

// dayIn returns the date of a sentence, as it is written and as a day: the first after the word of the verification,
// else the first. The day is zero if the calendar does not have it.
func dayIn(text string) (string, time.Time) {
	all := dayNamed().FindAllStringSubmatchIndex(text, -1)
	if len(all) == 0 {
		return "", time.Time{}
	}
	m := all[0]
	if word := verifiedBy().FindStringIndex(text); word != nil {
		if i := slices.IndexFunc(all, func(m []int) bool { return m[0] > word[0] }); i >= 0 {
			m = all[i]
		}
	}
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return text[m[2*i]:m[2*i+1]]
	}
	written := text[m[0]:m[1]]
	if group(1) != "" {
		day, _ := time.Parse(time.DateOnly, written[:len(time.DateOnly)])
		return written, day
	}
	month := cmp.Or(group(5), group(7))
	day, _ := time.Parse("2-Jan-2006", strings.TrimLeft(cmp.Or(group(4), group(8)), "0")+"-"+month[:3]+"-"+
		cmp.Or(group(6), group(9)))
	return written, day
}

// profiles reads the profiles of AAEP that a clause names. uri is that of the sentence, nil if it has none.
func (one *statement) profiles(whole, c prose, claims bool, uri []byte) {
	for _, m := range profileWord().FindAllIndex(c.text, -1) {
		before := c.text[max(0, m[0]-100):m[0]]
		if !profileOfAAEP().Match(before) && !(profileByWord().Match(before) && (claims || nouns().Match(before))) {
			continue
		}
		one.profile = true
		one.uri = uri != nil
		one.version = one.version || versionBefore().Match(before) || versionAfter().Match(whole.after(c.at[m[1]-1])) ||
			versionInURI().Match(uri)
	}
}
