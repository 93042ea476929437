package forge

import (
	"context"
	"net/http"
	"time"
)

// A State is whether a request can still be merged.
type State string

// The states.
const (
	Open   State = "open"
	Closed State = "closed"
	Merged State = "merged"
)

// A Request asks to take a branch into another one of the same repository.
type Request struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
	Title  string `json:"title"`
	Body   string `json:"-"`
	Head   string `json:"branch"`
	Base   string `json:"base"`
	State  State  `json:"state"`
	Draft  bool   `json:"draft"`
	Commit string `json:"commit"` // the head's
}

// A Server keeps the requests of one repository.
type Server interface {
	// Default returns the repository's default branch.
	Default(ctx context.Context) (string, error)
	// From returns all requests from a branch, the newest first.
	From(ctx context.Context, branch string) ([]Request, error)
	// Get returns one request.
	Get(ctx context.Context, number int) (Request, error)
	// Create opens a request. What the server says if there is nothing between the branches is an error.
	Create(ctx context.Context, r Request) (Request, error)
	// Edit sets title, text and base of a request.
	Edit(ctx context.Context, r Request) (Request, error)
	// Committed returns when a commit was made.
	Committed(ctx context.Context, commit string) (time.Time, error)
	// Said returns what people have said about a request.
	Said(ctx context.Context, r Request) ([]Remark, error)
	// Checks returns what has been checked automatically at the request's commit.
	Checks(ctx context.Context, r Request) ([]Check, error)
}

// server returns the API of a place.
func (c *client) server() Server {
	if c.place.Kind == GitLab {
		return gitlab{c}
	}
	return github{c}
}

// sent sends a request in the server's own form, and reads the answer.
func sent[T interface{ request() Request }](ctx context.Context, c *client, method, path string, body any) (Request, error) {
	var answer T
	_, err := c.call(ctx, method, path, body, &answer)
	if err != nil {
		return Request{}, err
	}
	return answer.request(), nil
}

// listed gets a list of requests.
func listed[T interface{ request() Request }](ctx context.Context, c *client, path string) ([]Request, error) {
	all, err := list[T](ctx, c, path)
	requests := make([]Request, len(all))
	for i, one := range all {
		requests[i] = one.request()
	}
	return requests, err
}

// got gets one value.
func got[T any](ctx context.Context, c *client, path string) (value T, err error) {
	_, err = c.call(ctx, http.MethodGet, path, nil, &value)
	return value, err
}
