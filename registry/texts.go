package registry

import (
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// KeepTexts keeps the text of each record that is read from now on for its next reader, as an audit needs after the
// history at the head, until the returned function is called. Once the texts take more than room bytes, none are kept:
// records are read again in the order in which they were read first, so each would have been evicted before its turn.
func (r *Repository) KeepTexts(room int) (drop func()) {
	set := func(kept map[gitobject.ID][]byte) {
		r.texts.mu.Lock()
		defer r.texts.mu.Unlock()
		r.texts.kept, r.texts.room = kept, room
	}
	set(map[gitobject.ID][]byte{})
	return func() { set(nil) }
}

// textOverhead is what a text takes in addition to its bytes.
const textOverhead = 128

// texts are those of blobs. Without a map none are kept.
type texts struct {
	mu   sync.Mutex
	kept map[gitobject.ID][]byte
	room int // bytes
}

// take is for the second who reads a text, which is kept no longer.
func (t *texts) take(id gitobject.ID) ([]byte, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, ok := t.kept[id]
	if ok {
		delete(t.kept, id)
		t.room += len(text) + textOverhead
	}
	return text, ok
}

func (t *texts) put(id gitobject.ID, text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil {
		return
	}
	if t.room -= len(text) + textOverhead; t.room < 0 {
		t.kept = nil
		return
	}
	t.kept[id] = text
}
