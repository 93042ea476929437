package forge

import (
	"bytes"
	"context"
	"strings"
	"time"
)

// A Remark is something that was said about a request.
type Remark struct {
	Author string `json:"author"`
	// Trusted says that the server names the author as one who may write to the repository.
	Trusted bool      `json:"trusted"`
	At      time.Time `json:"at"`
	Path    string    `json:"path,omitempty"` // "": it is about no file
	Line    int       `json:"line,omitempty"` // 0: about all of it
	Text    string    `json:"text"`
}

// A Check is something that was checked automatically.
type Check struct {
	Name   string     `json:"name"`
	State  CheckState `json:"state"`
	URL    string     `json:"url"`
	Output string     `json:"output"` // of one that failed, as far as the server gives it
}

// A CheckState is what came of a check.
type CheckState string

// The states of a check.
const (
	Passed  CheckState = "passed"
	Failed  CheckState = "failed"
	Pending CheckState = "pending"
)

// mostLog is how much of the end of a log is kept, in bytes.
const mostLog = 4 << 10

// log gets the end of a job's log; "" if the server does not give it.
func (c *client) log(ctx context.Context, path string) string {
	text, _, err := c.text(ctx, "GET", path, nil)
	if err != nil {
		return "" // the check's name says what failed
	}
	text = bytes.TrimSpace(text)
	if cut := len(text) - mostLog; cut > 0 {
		text = text[cut:]
		if at := bytes.IndexByte(text, '\n'); at >= 0 {
			text = text[at+1:]
		}
	}
	return strings.ToValidUTF8(string(text), "")
}
