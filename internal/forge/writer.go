package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
)

// ActionsApp is the id of the app by whose token a workflow writes.
const ActionsApp = 15368

// Writer is whose token a client has. What it wrote is told from what others wrote by the author that the forge names,
// never by the text.
type Writer struct {
	login string // of a user's token
	app   int64  // of an app's token
}

// Author is who wrote an issue or a comment, as the forge shows it.
type Author struct {
	User struct {
		Login string `json:"login"`
	} `json:"user"`
	App *struct {
		ID int64 `json:"id"`
	} `json:"performed_via_github_app"`
}

// Writer asks whose the token is. An app's token cannot tell which app it is of: app is its id. The error is an *Error.
func (c *Client) Writer(ctx context.Context, app int64) (Writer, error) {
	var user struct {
		Login string `json:"login"`
	}
	_, err := c.Call(ctx, "asking whose the token is", http.MethodGet, "/user", nil, &user)
	if err != nil && !errors.Is(err, ErrForbidden) {
		return Writer{}, err
	}
	return Writer{login: user.Login, app: app}, nil
}

// Wrote reports whether a is w.
func (w Writer) Wrote(a Author) bool {
	if w.login != "" {
		return strings.EqualFold(a.User.Login, w.login)
	}
	return a.App != nil && a.App.ID == w.app
}

// Knows holds that a, who is named as the author of what w has just written, is w: what is not known again would be
// written anew each time.
func (w Writer) Knows(a Author) error {
	if w.Wrote(a) {
		return nil
	}
	if w.login != "" || a.App == nil {
		return remedy.Errorf("give the token of a user or of an app",
			"what was written with this token has the author %q, who is not known again", a.User.Login)
	}
	return remedy.Errorf(fmt.Sprintf("give --app-id %d", a.App.ID),
		"what was written with this token has the app %d for its author, %d was looked for", a.App.ID, w.app)
}
