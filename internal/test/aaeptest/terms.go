package aaeptest

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/jws"
)

const agent = "aaeptest"

func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // only members of this package
	}
	return data
}

// subscribe takes a subscription.request.
func (p *Peer) subscribe(w http.ResponseWriter, r *http.Request) {
	switch p.o.Fault {
	case "unavailable":
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case "switches":
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		w.WriteHeader(http.StatusSwitchingProtocols)
		_ = http.NewResponseController(w).Flush()
		p.hang(r)
		return
	}
	var request struct {
		Version      string `json:"aaep_version"`
		Capabilities map[string]any
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&request); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	unknown := !strings.HasPrefix(request.Version, "1.")
	if p.o.Fault == "deaf" || p.o.Fault == "deaf-version" && unknown {
		p.hang(r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	reason, version := "", "1.0.0"
	signs := request.Capabilities["accept_signed_manifests_only"] == true
	switch {
	case p.o.Fault == "any-version":
		version = request.Version
	case p.o.Fault == "rejects":
		reason = "rate_limit"
	case p.o.Fault != "other-version" && unknown:
		reason = "version_unsupported"
	}
	if reason == "" && signs && p.o.Sign == "" && p.o.Fault != "unsigned-accepted" {
		reason = "manifest_signature_required"
	}
	if reason != "" {
		if other := map[string]string{"odd-reason": "unknown", "no-reason": "because"}[p.o.Fault]; other != "" {
			reason = other
		}
		w.WriteHeader(http.StatusConflict)
		w.Write(rejection(reason))
		return
	}
	p.mu.Lock()
	s := p.newSubscriber(fmt.Sprintf("sub_%d", len(p.subscribers)+1))
	p.mu.Unlock()
	p.agree(s, request.Capabilities)
	location := p.o.Prefix + "/events?subscription_id=" + s.id
	if p.o.Fault == "elsewhere" {
		location = "http://127.0.0.2:1" + location
	}
	answer := p.acceptance(s, s.id, version, signs)
	w.Header().Set("Location", location)
	w.WriteHeader(cmp.Or(p.o.Status, http.StatusCreated))
	switch p.o.Fault {
	case "mute":
		return
	case "late-accepted":
		s.unasked = answer
		return
	case "unasked":
		s.unasked = []byte(strings.Replace(string(answer), `"en-US"`, `"en-us"`, 1))
	}
	w.Write(answer)
}

// hang does not answer a request.
func (p *Peer) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-p.done:
	}
}

func rejection(reason string) []byte {
	return marshal(map[string]any{"type": "subscription.rejected", "reason_code": reason, "reason_message": "No."})
}

// acceptance returns the subscription.accepted of a subscriber.
func (p *Peer) acceptance(s *subscriber, id, version string, signs bool) []byte {
	members := map[string]any{"type": "subscription.accepted", "subscription_id": id, "aaep_version": version,
		"producer": map[string]any{"agent_id": agent}, "honored_capabilities": s.honored,
		"manifest_uri": p.URL + "/.well-known/aaep-manifest.json"}
	if p.o.Fault == "nameless" {
		delete(members, "producer")
	}
	if signs && p.o.Fault != "unsigned-accepted" {
		members["signed_manifest"] = p.signed()
	}
	return marshal(members)
}

// newSubscriber makes a subscriber that gets every event. Its caller holds the lock.
func (p *Peer) newSubscriber(id string) *subscriber {
	s := &subscriber{id: id, out: make(chan []byte, 1000), replies: true, numbers: map[string]int{},
		honored: map[string]any{}}
	p.subscribers[id] = s
	return s
}

// agree has a subscriber served by its terms. What a renegotiation leaves out stays.
func (p *Peer) agree(s *subscriber, asked map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.honored = maps.Clone(s.honored)
	maps.Copy(s.honored, asked)
	if rate, ok := s.honored["max_events_per_second"].(float64); ok && p.o.Fault == "grants-more" {
		s.honored["max_events_per_second"] = rate * 10
	}
	before := s.rate
	s.rate, _ = s.honored["max_events_per_second"].(float64)
	if before > 0 && p.o.Fault == "ignores-terms" {
		s.rate = before
	}
	s.bucket, s.filled = s.rate, time.Now()
	s.replies = s.honored["supports_confirmation_reply"] != false
	texts := func(v any) (all []string) {
		list, _ := v.([]any)
		for _, v := range list {
			all = append(all, fmt.Sprint(v))
		}
		return all
	}
	filters, _ := s.honored["event_filters"].(map[string]any)
	s.include, s.exclude = texts(filters["include"]), texts(filters["exclude"])
	s.boundaries = texts(s.honored["coalesce_boundaries"])
}

// renegotiate takes a subscription.renegotiate.
func (p *Peer) renegotiate(w http.ResponseWriter, r *http.Request, id string, asked map[string]any) {
	p.mu.Lock()
	s := p.subscribers[id]
	p.mu.Unlock()
	if s == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if p.o.Fault == "deaf-renegotiate" {
		p.hang(r)
		return
	}
	var answer []byte
	switch p.o.Fault {
	case "mute-renegotiate":
		w.WriteHeader(http.StatusNoContent)
		return
	case "rejects-lower", "goes-on":
		answer = rejection("capabilities_incompatible")
	case "renames":
		p.agree(s, asked)
		answer = p.acceptance(s, "sub_other", "1.0.0", false)
	default:
		p.agree(s, asked)
		answer = p.acceptance(s, s.id, "1.0.0", false)
	}
	if p.o.InStream {
		s.out <- answer
		w.WriteHeader(http.StatusNoContent)
	} else {
		w.Write(answer)
	}
	if p.o.Fault == "rejects-lower" {
		p.close(id)
	}
}

// close takes a subscription.close: no event is sent any more, and questions that nobody else can answer have their
// default.
func (p *Peer) close(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.subscribers[id]
	if s == nil {
		return
	}
	s.replies = false
	if s.attached && p.o.Fault != "ignores-close" {
		s.attached = false
		s.out <- nil
	}
	if p.o.Fault == "keeps-question" {
		return
	}
	for _, other := range p.subscribers {
		if other.attached && other.replies {
			return
		}
	}
	for _, q := range p.open {
		if q.taken == 0 {
			q.taken++
			q.replies <- "closed"
		}
	}
}

// attach begins the stream of a subscription; without one it is of all events.
func (p *Peer) attach(id string) *subscriber {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.subscribers[id]
	if s == nil {
		s = p.newSubscriber(fmt.Sprintf("sub_%d", len(p.subscribers)+1))
	}
	s.attached = true
	return s
}

func (p *Peer) detach(s *subscriber) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.attached = false
}

// takes reports whether a subscriber gets an event.
func (p *Peer) takes(s *subscriber, kind string, critical bool) bool {
	matches := func(pattern string) bool {
		prefix, wild := strings.CutSuffix(pattern, "*")
		return kind == pattern || wild && strings.HasPrefix(kind, prefix)
	}
	switch {
	case !s.attached:
		return false
	case critical && p.o.Fault != "filters-critical", p.o.Fault == "no-filter":
		return true
	}
	return !slices.ContainsFunc(s.exclude, matches) && (s.include == nil || slices.ContainsFunc(s.include, matches))
}

// wait returns how long a subscriber has no token for an event.
func (s *subscriber) wait(now time.Time) time.Duration {
	if s.rate == 0 {
		return 0
	}
	s.bucket = min(s.rate, s.bucket+s.rate*now.Sub(s.filled).Seconds())
	s.filled = now
	if s.bucket >= 1-1e-9 {
		return 0
	}
	return time.Duration((1-s.bucket)/s.rate*float64(time.Second)) + time.Microsecond
}

// emit sends an event to each subscriber that gets it, once all of them have a token for it. The members that a
// subscriber gets are its own; nil: none are for it.
func (p *Peer) emit(session, kind string, of func(*subscriber) map[string]any) {
	kind = "aaep:agent." + kind
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		now, wait := time.Now(), time.Duration(0)
		to := map[*subscriber]map[string]any{}
		critical := false
		for _, s := range p.subscribers {
			members := of(s)
			critical = critical || members["urgency"] == "critical"
			if members == nil || !p.takes(s, kind, critical) {
				continue
			}
			to[s] = members
			if !critical && p.o.Fault != "no-rate" {
				wait = max(wait, s.wait(now))
			}
		}
		if wait == 0 {
			p.send(session, kind, to, critical)
			return
		}
		p.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-p.done:
		}
		p.mu.Lock()
		select {
		case <-p.done:
			return
		default:
		}
	}
}

// send sends an event. Its caller holds the lock.
func (p *Peer) send(session, kind string, to map[*subscriber]map[string]any, critical bool) {
	p.events++
	stamp := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	if critical && p.o.Fault == "holds-critical" {
		p.mu.Unlock()
		select {
		case <-time.After(3 * time.Second):
		case <-p.done:
		}
		p.mu.Lock()
	}
	for s, members := range to {
		event := map[string]any{"@context": "https://aaep-protocol.org/context/v1", "type": kind,
			"event_id": fmt.Sprintf("evt_%d", p.events), "session_id": session, "sequence_number": s.numbers[session],
			"timestamp": stamp, "producer": map[string]any{"agent_id": agent},
			"localization_hints": map[string]any{"primary_language": "en-US"}}
		if p.o.Fault == "other-language" {
			event["localization_hints"] = map[string]any{"primary_language": "fr"}
		}
		s.numbers[session]++
		maps.Copy(event, members)
		if !critical && s.rate > 0 {
			s.bucket--
		}
		for _, e := range p.edited(kind, event) {
			s.out <- marshal(e)
		}
		if s.unasked != nil {
			s.out <- s.unasked
			s.unasked = nil
		}
	}
}

// edited returns what a peer sends instead of an event.
func (p *Peer) edited(kind string, e event) []event {
	edit := edits[p.o.Fault]
	if edit == nil {
		return []event{e}
	}
	if p.o.Fault != "envelope/sequence" {
		delete(e, "sequence_number") // which would tell of events that are dropped or come twice
	}
	return edit(strings.TrimPrefix(kind, "aaep:agent."), e)
}

// say sends a chunk of the output, or keeps it until a boundary of the subscriber.
func (p *Peer) say(session, text, hint string, complete bool) {
	if p.o.Fault == "splits-words" && hint == "sentence" {
		text, hint = strings.TrimRight(text, ". "), "sentence"
	} else if p.o.Fault == "splits-words" && complete {
		text = "l" + text
	}
	p.mu.Lock()
	whole := map[*subscriber][2]any{}
	for _, s := range p.subscribers {
		s.text += text
		if complete || s.boundaries == nil || slices.Contains(s.boundaries, hint) || p.o.Fault == "no-coalesce" {
			whole[s] = [2]any{s.text, s.position}
			s.position += len(s.text)
			s.text = ""
		}
		if complete {
			s.position = 0
		}
	}
	p.mu.Unlock()
	p.emit(session, "output.streaming", func(s *subscriber) map[string]any {
		chunk, there := whole[s]
		if !there {
			return nil
		}
		return map[string]any{"chunk": chunk[0], "position": chunk[1], "complete": complete, "coalesce_hint": hint,
			"output_id": "out_1"}
	})
}

// cut ends the stream of all who listen.
func (p *Peer) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.subscribers {
		if s.attached {
			s.out <- nil
		}
	}
}

// manifest serves what the producer says about itself.
func (p *Peer) manifest(w http.ResponseWriter, _ *http.Request) {
	if p.o.Fault == "no-manifest" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(p.describe())
}

func (p *Peer) describe() []byte {
	members := map[string]any{"@context": "https://aaep-protocol.org/context/v1", "type": "aaep:producer.manifest",
		"agent_id": agent, "aaep_versions_supported": []string{"1.0.0"}, "conformance_levels_supported": []int{1, 2, 3}}
	switch p.o.Fault {
	case "manifest-short":
		delete(members, "conformance_levels_supported")
	case "manifest-odd":
		members["conformance_levels_supported"] = "1, 2, 3"
	case "manifest-agent", "jws-agent":
		members["agent_id"] = "somebody"
	case "manifest-level":
		members["conformance_levels_supported"] = []int{1, 2}
	}
	return marshal(members)
}

// makeKey makes the key by which the manifest is signed.
func (p *Peer) makeKey() (err error) {
	switch p.o.Sign {
	case "":
		return nil
	case "ES256":
		p.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "RS256", "PS256":
		p.key, err = rsa.GenerateKey(rand.Reader, 2048)
	case "EdDSA":
		_, p.key, err = ed25519.GenerateKey(rand.Reader)
	default:
		err = fmt.Errorf("%q is not an algorithm", p.o.Sign)
	}
	if err == nil {
		p.ManifestKey = p.key.Public()
	}
	return err
}

// signed returns the manifest as a compact JWS.
func (p *Peer) signed() string {
	alg := p.o.Sign
	if p.o.Fault == "jws-alg" {
		alg = "none"
	}
	sign := func(payload []byte) (head, signature string) {
		text, err := jws.Sign(p.key, alg, p.o.OwnKey, payload)
		if err != nil {
			panic(err) // only keys of makeKey
		}
		last := strings.LastIndexByte(text, '.')
		return text[:last], text[last:]
	}
	head, signature := sign(p.describe())
	switch p.o.Fault {
	case "jws-form":
		return head
	case "jws-signature":
		_, signature = sign(append(p.describe(), ' '))
	}
	return head + signature
}
