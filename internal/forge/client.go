package forge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/wording/hint"
)

// An apiError is an answer that is none that was hoped for.
type apiError struct {
	Status  int
	Message string // the server's own words
}

func (e *apiError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s: %s", e.Status, http.StatusText(e.Status), e.Message))
}

// A client calls the API of a server. It may be used from any goroutine.
type client struct {
	place Place
	token token
	http  http.Client
	now   func() time.Time
}

const (
	mostAnswer  = 16 << 20
	longestCall = time.Minute
	mostTries   = 3
	longestWait = time.Minute // for a limit; a longer one is told
	mostPages   = 50
)

// call sends a request with a JSON body, unless in is nil, and decodes the answer into out, unless that is nil. next is
// the address of the next page, "" if there is none.
func (c *client) call(ctx context.Context, method, address string, in, out any) (next string, err error) {
	answer, next, err := c.text(ctx, method, address, in)
	if err == nil && out != nil {
		if e := json.Unmarshal(answer, out); e != nil {
			err = fmt.Errorf("%s has answered something that is not what its API says: %w", c.place.Host, e)
		}
	}
	return next, err
}

// text is call for an answer of any kind.
func (c *client) text(ctx context.Context, method, address string, in any) (answer []byte, next string, err error) {
	var body []byte
	if in != nil {
		if body, err = json.Marshal(in); err != nil {
			return nil, "", err
		}
	}
	if strings.HasPrefix(address, "/") {
		address = c.place.API + address
	}
	for try := 1; ; try++ {
		var again time.Duration
		answer, next, again, err = c.once(ctx, method, address, body)
		if err == nil || again <= 0 || again > longestWait || try == mostTries {
			return answer, next, err
		}
		select {
		case <-ctx.Done():
			return nil, "", context.Cause(ctx)
		case <-time.After(again):
		}
	}
}

// once is one try. again is how long the server asks to wait, 0 if it does not.
func (c *client) once(ctx context.Context, method, address string, body []byte) (answer []byte, next string, again time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, longestCall, fmt.Errorf("no answer within %v", longestCall))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, "", 0, err
	}
	req.Header.Set("User-Agent", "codeloops")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.place.Kind == GitHub {
		req.Header.Set("Accept", "application/vnd.github+json")
		req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	}
	req.Header.Set("Authorization", "Bearer "+c.token.value)
	res, err := c.http.Do(req)
	if err == nil {
		answer, err = io.ReadAll(io.LimitReader(res.Body, mostAnswer))
		err = errors.Join(err, res.Body.Close())
	}
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // its text has the whole address
		}
		return nil, "", 0, hint.Errorf("is the network there, and the name right?", "%s cannot be reached: %w", c.place.Host, cmp.Or(context.Cause(ctx), err))
	}
	if res.StatusCode/100 == 2 {
		return answer, nextPage(res.Header), 0, nil
	}
	again = c.wait(res)
	return nil, "", again, c.problem(res, again, answer)
}

// nextPage returns the address of the next page, as both servers give it.
func nextPage(h http.Header) string {
	for link := range strings.SplitSeq(h.Get("Link"), ",") {
		address, what, _ := strings.Cut(link, ";")
		if strings.Contains(what, `rel="next"`) {
			return strings.Trim(strings.TrimSpace(address), "<>")
		}
	}
	return ""
}

// wait returns how long the server asks to wait; 0: it does not.
func (c *client) wait(res *http.Response) time.Duration {
	h := res.Header
	if seconds, err := strconv.Atoi(h.Get("Retry-After")); err == nil && (res.StatusCode == http.StatusForbidden || res.StatusCode == http.StatusTooManyRequests) {
		return max(time.Second, time.Duration(seconds)*time.Second)
	}
	at, err := strconv.ParseInt(cmp.Or(h.Get("X-RateLimit-Reset"), h.Get("RateLimit-Reset")), 10, 64)
	if left := cmp.Or(h.Get("X-RateLimit-Remaining"), h.Get("RateLimit-Remaining")); left != "0" || err != nil {
		return 0
	}
	return max(time.Second, time.Unix(at, 0).Sub(c.now()))
}

// problem says what an answer means for a person.
func (c *client) problem(res *http.Response, again time.Duration, answer []byte) error {
	e := &apiError{res.StatusCode, said(answer)}
	who := "the token from " + c.token.from
	switch {
	case again > 0:
		return hint.Add(fmt.Errorf("%s takes no more requests with %s for now: %w", c.place.Host, who, e),
			"try again after "+c.now().Add(again).UTC().Format("15:04 MST"))
	case e.Status == http.StatusUnauthorized:
		return hint.Add(fmt.Errorf("%s does not accept %s: %w", c.place.Host, who, e), "it may have expired: make another one")
	case e.Status == http.StatusForbidden:
		need := "it needs write rights to contents and pull requests"
		if c.place.Kind == GitLab {
			need = "it needs the scope api, and its user the role Developer"
		}
		return hint.Add(fmt.Errorf("%s may not do that at %s: %w", who, c.place, e), need)
	case e.Status == http.StatusNotFound:
		return hint.Add(fmt.Errorf("%s has no such thing, or %s may not see it: %w", c.place, who, e), "is the remote right, and the token for it?")
	}
	return fmt.Errorf("%s says: %w", c.place.Host, e)
}

// said returns the words in the answer of either server.
func said(answer []byte) string {
	var one struct {
		Message any `json:"message"`
		Error   any `json:"error"`
		Errors  []any
	}
	if json.Unmarshal(answer, &one) != nil {
		return ""
	}
	var words []string
	for _, part := range append([]any{one.Message, one.Error}, one.Errors...) {
		switch part := part.(type) {
		case string:
			words = append(words, part)
		case map[string]any: // {"message": …} of GitHub
			if text, ok := part["message"].(string); ok {
				words = append(words, text)
			}
		case []any: // ["…"] of GitLab
			for _, text := range part {
				words = append(words, fmt.Sprint(text))
			}
		}
	}
	return strings.Join(words, "; ")
}

// list gets all pages of a list.
func list[T any](ctx context.Context, c *client, address string) (all []T, err error) {
	for range mostPages {
		var page []T
		if address, err = c.call(ctx, http.MethodGet, address, nil, &page); err != nil {
			return nil, err
		}
		if all = append(all, page...); address == "" {
			break
		}
	}
	return all, nil
}

// refuses reports whether an answer says that a request is wrong in itself, in the words of the server.
func refuses(err error, words string) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && (e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusConflict || e.Status == http.StatusBadRequest) &&
		strings.Contains(strings.ToLower(e.Message), words)
}
