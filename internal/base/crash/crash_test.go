package crash

import (
	"sync"
	"testing"
)

func TestCarrier(t *testing.T) {
	var c Carrier
	c.Rethrow()
	var running sync.WaitGroup
	ended := make(chan bool, 2)
	for _, bad := range []bool{true, false} {
		running.Go(func() {
			defer c.Catch(func() { ended <- bad })
			if bad {
				panic("a bug")
			}
		})
	}
	running.Wait()
	if len(ended) != 1 || !<-ended {
		t.Error("what follows a panic was not called once")
	}
	defer func() {
		if r := recover(); r != "a bug" {
			t.Errorf("rethrown: %v", r)
		}
	}()
	c.Rethrow()
	t.Error("nothing was rethrown")
}
