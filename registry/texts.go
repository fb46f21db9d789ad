package registry

import (
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// KeepTexts has the text of each record that is read from now on kept for the one who reads it next, as an audit does
// after the history at the head, until the function that it gives is called. Once they take more than so many bytes,
// none are kept: of those that are read again in the order in which they were read, each would have been pushed out.
func (r *Repository) KeepTexts(room int) (drop func()) {
	set := func(kept map[gitstore.ID][]byte) {
		r.texts.mu.Lock()
		defer r.texts.mu.Unlock()
		r.texts.kept, r.texts.room = kept, room
	}
	set(map[gitstore.ID][]byte{})
	return func() { set(nil) }
}

// textOverhead is what a text takes beside its bytes.
const textOverhead = 128

// texts are those of blobs. Without a map none are kept.
type texts struct {
	mu   sync.Mutex
	kept map[gitstore.ID][]byte
	room int // bytes
}

// take is for the second who reads a text, which is kept no longer.
func (t *texts) take(id gitstore.ID) ([]byte, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, ok := t.kept[id]
	if ok {
		delete(t.kept, id)
		t.room += len(text) + textOverhead
	}
	return text, ok
}

func (t *texts) put(id gitstore.ID, text []byte) {
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
