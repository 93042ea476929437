// Package door lets people reach a run from other processes: the run opens a [Door], a socket
// that only its user can reach, and others ask through a [Client].
//
// A connection carries one question and one answer, each a JSON object on a line of its own.
// Malformed questions are refused, and silent connections time out, so that nothing on the
// socket holds up the run or another client. Agents and checks of a run are refused as well:
// on Linux they are recognized by their keeper process; elsewhere they cannot be told from the
// user.
package door

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/session/standing"
	"codeloops/internal/wording"
)

const (
	mostSaid   = 1 << 20            // bytes of a text for the actor
	mostAsked  = 2*mostSaid + 4<<10 // bytes of a question: a quote takes two in JSON
	mostAtOnce = 64                 // connections
	patience   = 2 * time.Second    // with a client that neither writes nor reads
	looking    = time.Minute        // for a look at the work tree
	mostDiff   = 4 << 20            // bytes of a diff in an answer
	pause      = 100 * time.Millisecond
)

// What can be asked besides the names of [loop.SteerKind].
const (
	askLook  = "look"
	askHurry = "hurry"
	askDiff  = "diff"
)

// A question is what somebody asks of a run.
type question struct {
	Ask     string `json:"ask"`
	Text    string `json:"text,omitempty"`
	Session string `json:"session,omitempty"` // the session that is meant; "": whichever runs
	Watched bool   `json:"watched,omitempty"` // the client shows people what changes
	Doing   bool   `json:"doing,omitempty"`   // tell what agents did since the event of a sequence number
	Since   int    `json:"since,omitempty"`
}

// An answer says where the run stands, or why the question is refused.
type answer struct {
	Standing *standing.Standing `json:"standing,omitempty"`
	Doing    []progress.Instant `json:"doing,omitempty"`
	Diff     string             `json:"diff,omitempty"`
	Refused  string             `json:"refused,omitempty"`
	Why      string             `json:"why,omitempty"`
}

// Why a question is refused, for machines, besides the names in refusals.
const (
	badQuestion  = "bad_question"
	otherSession = "other_session"
	stranger     = "stranger"
)

// refusals are the errors of the run that a client returns as they are, by their names.
func refusals() map[string]error {
	return map[string]error{"no_turn": loop.ErrNoTurn, "no_words": loop.ErrNoWords, "over": loop.ErrOver}
}

// ErrShut says that no run listens on the socket.
var ErrShut = errors.New("no run takes what is asked there")

// A RefusedError is the answer to a question that the run refuses.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

// A LongError says that a text for the actor has more bytes than a run accepts.
type LongError struct{ Bytes int }

func (e *LongError) Error() string {
	has, most := wording.Bytes(e.Bytes), wording.Bytes(mostSaid)
	if has == most {
		has, most = fmt.Sprintf("%d bytes", e.Bytes), strconv.Itoa(mostSaid)
	}
	return fmt.Sprintf("the text has %s, and a run takes at most %s at a time", has, most)
}

// refusal is the answer for an error of the run.
func refusal(err error) answer {
	a := answer{Refused: badQuestion, Why: err.Error()}
	for name, one := range refusals() {
		if errors.Is(err, one) {
			a.Refused = name
		}
	}
	return a
}

// err returns the error that an answer stands for.
func (a answer) err() error {
	if a.Refused == "" {
		return nil
	}
	return cmp.Or[error](refusals()[a.Refused], &RefusedError{Why: a.Why})
}
