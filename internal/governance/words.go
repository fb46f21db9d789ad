package governance

import (
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/page"
)

// The forms that an author or a reviewer writes.
var (
	additiveOnly  = page.NewForm("Additive only", false)
	exceptionForm = page.NewForm("Implementability Gate exception", false)
	clearedForm   = page.NewForm("Charter Review Gate cleared", true)
)

// minReason is how many words the reason of an exception has at least.
const minReason = 5

// Words are what a proposal says about itself.
type Words struct {
	Source string // such as "the pull request's body"
	text   string
	body   *page.Body
}

// NewWords reads a body in Markdown.
func NewWords(source, text string) (*Words, error) {
	body, err := page.ReadBody(text)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", source, err)
	}
	return &Words{source, text, body}, nil
}

// says returns how the words say a form. Nil words say nothing.
func (w *Words) says(form *page.Form) page.Statement {
	if w == nil {
		return page.Statement{}
	}
	return w.body.Says(form)
}

// instead returns, for a message, where the words are that do not say a form; empty if they are nowhere.
func instead(s page.Statement) string {
	if s.Said || s.Where == "" {
		return ""
	}
	return "; the words are there, but " + s.Where
}

// phrased reports whether a review says a form, and where else its words are.
func phrased(r Review, form *page.Form) (bool, string) {
	body, err := page.ReadBody(r.Body)
	if err != nil {
		return false, "; the review is " + page.ErrLimit.Error()
	}
	s := body.Says(form)
	return s.Said, instead(s)
}
