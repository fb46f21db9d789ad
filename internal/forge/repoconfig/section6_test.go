package repoconfig

import (
	"reflect"
	"testing"
)

func TestMissing(t *testing.T) {
	rows := []Row{{"Schema", []string{"layout", "schema"}}, {"No tampering", []string{"append-only", "reissue"}}}
	covered := map[string]bool{"layout": true, "schema": true, "append-only": true, "reissue": true}
	if got := Missing(rows, covered); got != nil {
		t.Errorf("missing with all ids covered: %v", got)
	}
	delete(covered, "reissue")
	if got, want := Missing(rows, covered), []Row{{"No tampering", []string{"reissue"}}}; !reflect.DeepEqual(got,
		want) {
		t.Errorf("without reissue: %v", got)
	}
}
