package frame

import (
	"context"
	"errors"
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
)

// describe splits an error into what happened and what would fix it, which is empty if the error has no fix.
func describe(err error) (message, fix string) {
	e, ok := errors.AsType[remedy.Fixer](err)
	switch {
	case errors.Is(err, context.Canceled): // by a signal: nothing else ends the context of a run
		return "interrupted, before there was a verdict", "run it again"
	case ok:
		fix = e.Fix()
	}
	if code := remedy.CodeOf(err); code != "" {
		return fmt.Sprintf("%s [%s]", err, code), fix
	}
	return err.Error(), fix
}
