package proof

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// MaxPolicy is the size in bytes of the largest policy file.
const MaxPolicy = 64 << 10

// maxOfKind is the number of logs, of witnesses and of groups that a policy may have.
const maxOfKind = 32

// Policy is a C2SP tlog-policy: whose signatures make a log checkpoint one to rely on.
type Policy struct {
	Logs      []Peer
	Witnesses []Peer
	Warnings  []string // of witnesses whose cosignatures are not verified

	names      map[string]*member // of witnesses and groups
	groups     int
	quorum     *member // nil: none
	quorumLine int     // 0: not yet read
}

// Peer is a log or a witness of a policy.
type Peer struct {
	Key *Key
	URL string // empty: none
}

// member is a witness or a group.
type member struct {
	witness int // in Policy.Witnesses
	members []*member
	atLeast int // how many members of a group must cosign; 0: it is a witness
	grouped bool
}

// ParsePolicy reads a policy file, which must name a log. Errors have the line.
func ParsePolicy(text []byte) (*Policy, error) {
	if len(text) > MaxPolicy {
		return nil, fmt.Errorf("the policy exceeds %d bytes", MaxPolicy)
	}
	p := &Policy{names: map[string]*member{}}
	for i, line := range strings.Split(string(text), "\n") {
		if err := p.add(i+1, line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	switch {
	case len(p.Logs) == 0:
		return nil, errors.New("the policy has no line \"log\"")
	case p.quorumLine == 0:
		return nil, errors.New("the policy has no line \"quorum\"")
	}
	return p, nil
}

// PolicyOf returns the policy of one log and witnesses that must all cosign.
func PolicyOf(log string, witnesses []string) (*Policy, error) {
	p := &Policy{names: map[string]*member{}, quorumLine: 1}
	err := p.addLog([]string{log})
	all := &member{atLeast: len(witnesses)}
	for i := 0; i < len(witnesses) && err == nil; i++ {
		err = p.addWitness([]string{strconv.Itoa(i), witnesses[i]})
		all.members = append(all.members, &member{witness: i})
		p.quorum = all
	}
	return p, err
}

func (p *Policy) add(number int, line string) error {
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return errors.New("a policy has no control characters except tabs and line feeds")
	}
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 || words[0][0] == '#' {
		return nil
	}
	keyword, words := words[0], words[1:]
	switch keyword {
	case "log":
		return p.addLog(words)
	case "witness":
		return p.addWitness(words)
	case "group":
		return p.addGroup(words)
	case "quorum":
		return p.setQuorum(number, words)
	}
	return fmt.Errorf("the keyword %.40q is not known; expected log, witness, group or quorum", keyword)
}

func (p *Policy) addLog(words []string) error {
	if len(words) != 1 && len(words) != 2 || len(p.Logs) == maxOfKind {
		return fmt.Errorf("expected log VKEY [URL], at most %d times", maxOfKind)
	}
	peer, err := p.peer(words)
	if err == nil && peer.Key.kind != typeNote {
		err = fmt.Errorf("the key of log %.200q has the type %d; expected 1", peer.Key.name, peer.Key.kind)
	}
	if err == nil {
		p.Logs = append(p.Logs, peer)
	}
	return err
}

func (p *Policy) addWitness(words []string) error {
	if len(words) != 2 && len(words) != 3 || len(p.Witnesses) == maxOfKind {
		return fmt.Errorf("expected witness NAME VKEY [URL], at most %d times", maxOfKind)
	}
	peer, err := p.peer(words[1:])
	if err != nil {
		return err
	}
	switch peer.Key.kind {
	case typeNote:
		return fmt.Errorf("the key of witness %.200q has the type 1, of a log; expected 4", peer.Key.name)
	case typeMLDSA:
		p.Warnings = append(p.Warnings, fmt.Sprintf("cosignatures of witness %.200q are by ML-DSA-44 and are not "+
			"verified: it counts as not having cosigned", peer.Key.name))
	}
	p.Witnesses = append(p.Witnesses, peer)
	return p.define(words[0], &member{witness: len(p.Witnesses) - 1})
}

// peer reads a verifier key and a URL, and refuses a key that the policy has.
func (p *Policy) peer(words []string) (Peer, error) {
	key, err := ParseKey(words[0])
	if err != nil {
		return Peer{}, err
	}
	for _, known := range slices.Concat(p.Logs, p.Witnesses) {
		if string(known.Key.public) == string(key.public) {
			return Peer{}, fmt.Errorf("the public key of %.200q is in the policy twice", key.name)
		}
		if known.Key.name == key.name && known.Key.hash == key.hash {
			return Peer{}, fmt.Errorf("two keys of the name %.200q have the same hash", key.name)
		}
	}
	peer := Peer{Key: key}
	if len(words) == 2 {
		peer.URL = words[1]
		if u, err := url.Parse(peer.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return Peer{}, fmt.Errorf("%.200q is not an https URL", peer.URL)
		}
	}
	return peer, nil
}

func (p *Policy) define(name string, m *member) error {
	if p.names[name] != nil || name == "none" {
		return fmt.Errorf("the name %.200q is used twice", name)
	}
	p.names[name] = m
	return nil
}

func (p *Policy) addGroup(words []string) error {
	if p.groups++; len(words) < 3 || p.groups > maxOfKind {
		return fmt.Errorf("expected group NAME all|any|K MEMBER…, at most %d times", maxOfKind)
	}
	g := &member{}
	for _, name := range words[2:] {
		m := p.names[name]
		if m == nil {
			return fmt.Errorf("the name %.200q is not defined before this line", name)
		}
		if m.grouped {
			return fmt.Errorf("%.200q is already a member of a group", name)
		}
		m.grouped = true
		g.members = append(g.members, m)
	}
	switch words[1] {
	case "all":
		g.atLeast = len(g.members)
	case "any":
		g.atLeast = 1
	default:
		k, err := decimal(words[1])
		if err != nil || k < 1 || k > int64(len(g.members)) {
			return fmt.Errorf("%.40q of %d members; expected all, any or a number from 1 to %d", words[1],
				len(g.members), len(g.members))
		}
		g.atLeast = int(k)
	}
	return p.define(words[0], g)
}

func (p *Policy) setQuorum(number int, words []string) error {
	if len(words) != 1 || p.quorumLine != 0 {
		return errors.New("expected quorum NAME|none, once")
	}
	p.quorumLine = number
	if p.quorum = p.names[words[0]]; p.quorum == nil && words[0] != "none" {
		return fmt.Errorf("the name %.200q is not defined before this line", words[0])
	}
	return nil
}

// Missing returns how many more witnesses must cosign, at least, besides those for which cosigned is true, by number.
func (p *Policy) Missing(cosigned func(witness int) bool) int {
	if p.quorum == nil {
		return 0
	}
	return p.quorum.missing(cosigned)
}

func (m *member) missing(cosigned func(witness int) bool) (n int) {
	if m.atLeast == 0 && !cosigned(m.witness) {
		return 1
	}
	var each []int
	for _, of := range m.members {
		each = append(each, of.missing(cosigned))
	}
	slices.Sort(each)
	for _, k := range each[:m.atLeast] {
		n += k
	}
	return n
}

// OneHistory returns an error with the line of the quorum if two disjoint sets of witnesses meet it: they could cosign
// two histories. A quorum of none is not an error here.
func (p *Policy) OneHistory() error {
	if p.quorum == nil || !p.quorum.splits() {
		return nil
	}
	return fmt.Errorf("line %d: two sets of witnesses without a common member meet the quorum, and could cosign two "+
		"histories", p.quorumLine)
}

// splits reports whether two disjoint sets of witnesses meet a group: no member is in two groups.
func (m *member) splits() bool {
	if m.atLeast == 0 {
		return false
	}
	both := 0 // members that each of two sets can meet
	for _, of := range m.members {
		if of.splits() {
			both++
		}
	}
	return 2*m.atLeast <= len(m.members)+both
}
