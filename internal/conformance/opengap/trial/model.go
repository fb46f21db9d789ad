package trial

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// Limits of the model.
const (
	maxRequest  = 16 << 20 // bytes of a request
	maxRequests = 1000     // requests of a run that are kept
)

// A call is what the model asks a runtime to run.
type call struct {
	function  string
	arguments map[string]any
}

// A script is what the model says in one run.
type script struct {
	prompt string
	calls  []call            // one after another, of those that are offered
	next   func(n int) *call // instead of calls: after n results; nil: the answer
	silent time.Duration     // before it answers the first request
	answer string
}

// A request is one that reached the model.
type request struct {
	at      time.Time
	model   string
	tools   []string // names of the tools that are offered
	results []result // after the last user message with the prompt
	text    string   // what all messages say
	body    string
	blocks  bool // it is in the form of messages of blocks
}

// A result is what a call gave, as the model gets it.
type result struct {
	text  string
	error bool
}

// server plays the model.
type server struct {
	listener net.Listener
	http     http.Server
	models   []string

	mu       sync.Mutex
	script   script
	requests []request
	vain     []string // paths that the model does not serve
	calls    int
}

func startServer(models []string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{listener: l, models: models}
	s.http.Handler, s.http.ReadHeaderTimeout = s, 10*time.Second
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

func (s *server) url() string { return "http://" + s.listener.Addr().String() }

// begin forgets the last run.
func (s *server) begin(of script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.requests, s.vain = of, nil, nil
}

// seen returns what reached the model since begin.
func (s *server) seen() ([]request, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests), slices.Clone(s.vain)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return
	}
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		var all []any
		for _, m := range s.models {
			all = append(all, map[string]any{"id": m, "object": "model", "type": "model", "display_name": m})
		}
		answer(w, map[string]any{"object": "list", "data": all})
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/messages/count_tokens"):
		answer(w, map[string]any{"input_tokens": 10})
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/chat/completions"):
		s.complete(w, r, body, false)
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/v1/messages"):
		s.complete(w, r, body, true)
	default:
		s.mu.Lock()
		if len(s.vain) < 20 {
			s.vain = append(s.vain, plain.Cut(r.Method+" "+path, 200))
		}
		s.mu.Unlock()
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// complete answers a request for a message.
func (s *server) complete(w http.ResponseWriter, r *http.Request, body []byte, blocks bool) {
	var q struct {
		Model      string
		Messages   []message
		System     any
		Tools      []any
		ToolChoice any `json:"tool_choice"`
		Stream     bool
		Options    struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	of := s.script
	one := request{at: time.Now(), model: q.Model, body: string(body), text: textOf(q.System), blocks: blocks}
	if choice, _ := q.ToolChoice.(map[string]any); q.ToolChoice != "none" && choice["type"] != "none" {
		for _, tool := range q.Tools {
			t, _ := tool.(map[string]any)
			if f, ok := t["function"].(map[string]any); ok {
				t = f
			}
			if name, ok := t["name"].(string); ok {
				one.tools = append(one.tools, name)
			}
		}
	}
	for _, m := range q.Messages {
		said := textOf(m.Content)
		one.text += "\n" + said
		if m.Role == "user" && strings.Contains(said, of.prompt) {
			one.results = nil
		}
		one.results = append(one.results, m.results()...)
	}
	if len(s.requests) > 0 {
		of.silent = 0 // a plan and a summary take their time as well
	}
	if len(s.requests) < maxRequests {
		s.requests = append(s.requests, one)
	}
	s.calls++
	id := fmt.Sprintf("call_%d", s.calls)
	s.mu.Unlock()
	if of.silent > 0 {
		select {
		case <-time.After(of.silent):
		case <-r.Context().Done():
			return
		}
	}
	c, name := of.choose(&one)
	if blocks {
		sayBlocks(w, q.Model, q.Stream, of.answer, id, c, name)
	} else {
		sayChoices(w, q.Model, q.Stream, q.Options.Usage, of.answer, id, c, name)
	}
}

// choose returns the call that the model makes, and the name of the tool; nil: it answers.
func (of *script) choose(q *request) (*call, string) {
	n := len(q.results)
	if of.next != nil {
		c := of.next(n)
		if c == nil {
			return nil, ""
		}
		if name := q.offers(c.function); name != "" {
			return c, name
		}
		return nil, ""
	}
	for i := range of.calls {
		if name := q.offers(of.calls[i].function); name != "" {
			if n == 0 {
				return &of.calls[i], name
			}
			n--
		}
	}
	return nil, ""
}

// offers returns the tool that holds the name of a function; empty: none does.
func (q *request) offers(function string) string {
	for _, name := range q.tools {
		if strings.Contains(bare(name), bare(function)) {
			return name
		}
	}
	return ""
}

// bare returns the letters and digits of a name, in lower case.
func bare(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// message is one of a request, in either form.
type message struct {
	Role    string
	Content any
}

// results returns the results of calls that a message has.
func (m message) results() (all []result) {
	if m.Role == "tool" || m.Role == "function" {
		return []result{{text: textOf(m.Content)}}
	}
	blocks, _ := m.Content.([]any)
	for _, b := range blocks {
		if block, _ := b.(map[string]any); block["type"] == "tool_result" {
			all = append(all, result{textOf(block["content"]), block["is_error"] == true})
		}
	}
	return all
}

// textOf returns the text of a content, which is a text or blocks.
func textOf(content any) string {
	switch v := content.(type) {
	case string:
		return v
	case []any:
		var all []string
		for _, b := range v {
			all = append(all, textOf(b))
		}
		return strings.Join(all, "\n")
	case map[string]any:
		if text, ok := v["text"].(string); ok {
			return text
		}
		return textOf(v["content"])
	}
	return ""
}

var usage = map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}

// sayChoices answers in the form of chat completions.
func sayChoices(w http.ResponseWriter, model string, stream, counted bool, text, id string, c *call, name string) {
	said, finish := map[string]any{"role": "assistant", "content": text}, "stop"
	if c != nil {
		arguments, _ := json.Marshal(c.arguments)
		said["content"], finish = nil, "tool_calls"
		said["tool_calls"] = []any{map[string]any{"index": 0, "id": id, "type": "function",
			"function": map[string]any{"name": name, "arguments": string(arguments)}}}
	}
	chunk := func(kind string, choices []any, more map[string]any) map[string]any {
		v := map[string]any{"id": "chatcmpl-" + id, "object": kind, "created": time.Now().Unix(), "model": model,
			"choices": choices}
		for k, of := range more {
			v[k] = of
		}
		return v
	}
	if !stream {
		answer(w, chunk("chat.completion", []any{map[string]any{"index": 0, "message": said, "finish_reason": finish}},
			map[string]any{"usage": usage}))
		return
	}
	const kind = "chat.completion.chunk"
	chunks := []any{chunk(kind, []any{map[string]any{"index": 0, "delta": said, "finish_reason": nil}}, nil),
		chunk(kind, []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish}}, nil)}
	if counted {
		chunks = append(chunks, chunk(kind, []any{}, map[string]any{"usage": usage}))
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, c := range chunks {
		data, _ := json.Marshal(c)
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// sayBlocks answers in the form of messages of blocks.
func sayBlocks(w http.ResponseWriter, model string, stream bool, text, id string, c *call, name string) {
	counted := map[string]any{"input_tokens": 10, "output_tokens": 5}
	block, reason := map[string]any{"type": "text", "text": text}, "end_turn"
	arguments := []byte("{}")
	if c != nil {
		arguments, _ = json.Marshal(c.arguments)
		block, reason = map[string]any{"type": "tool_use", "id": "tool" + id, "name": name, "input": c.arguments},
			"tool_use"
	}
	m := map[string]any{"id": "msg_" + id, "type": "message", "role": "assistant", "model": model,
		"content": []any{block}, "stop_reason": reason, "stop_sequence": nil, "usage": counted}
	if !stream {
		answer(w, m)
		return
	}
	delta := map[string]any{"type": "text_delta", "text": text}
	begun := map[string]any{"type": "text", "text": ""}
	if c != nil {
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(arguments)}
		begun = map[string]any{"type": "tool_use", "id": "tool" + id, "name": name, "input": map[string]any{}}
	}
	m["content"], m["stop_reason"] = []any{}, nil
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []map[string]any{{"type": "message_start", "message": m},
		{"type": "content_block_start", "index": 0, "content_block": begun},
		{"type": "content_block_delta", "index": 0, "delta": delta}, {"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": reason, "stop_sequence": nil},
			"usage": map[string]any{"output_tokens": 5}}, {"type": "message_stop"}} {
		data, _ := json.Marshal(e)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], data)
	}
}
