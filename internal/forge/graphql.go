package forge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// kindsOf are the kinds of the errors of a GraphQL answer, by their type.
var kindsOf = map[string]error{"FORBIDDEN": ErrForbidden, "INSUFFICIENT_SCOPES": ErrForbidden, "NOT_FOUND": ErrNotFound,
	"UNPROCESSABLE": ErrRefused, "RATE_LIMITED": ErrLimited}

// GraphQL sends a fixed document with variables, and decodes the data of the answer. Its error is an *Error.
func (c *Client) GraphQL(ctx context.Context, op, document string, variables map[string]any, into any) error {
	at := "/graphql"
	if strings.HasSuffix(c.github.BaseURL.Path, "/api/v3/") { // the API is an Enterprise Server's
		at = "/../graphql"
	}
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	if _, err := c.Call(ctx, op, http.MethodPost, at, map[string]any{"query": document, "variables": variables},
		&answer); err != nil {
		return err
	}
	e := &Error{Op: op, Kind: ErrUnavailable}
	if len(answer.Errors) > 0 {
		first := answer.Errors[0]
		if kind := kindsOf[first.Type]; kind != nil {
			e.Kind = kind
		}
		e.Err, e.message = errors.New(strconv.Quote(first.Message)), first.Message
		e.hide(c.token)
		return e
	}
	if e.Err = json.Unmarshal(answer.Data, into); e.Err != nil {
		e.unreadable = true
		return e
	}
	return nil
}

// Says reports whether the forge's own words hold a text, in lower case.
func (e *Error) Says(text string) bool { return strings.Contains(strings.ToLower(e.message), text) }
