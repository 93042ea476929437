package run

import (
	"context"
	"errors"

	"codeloops/internal/loop"
)

// A User is who is asked and told beside what the run itself shows. The zero value is nobody.
type User struct {
	// Ask puts a question to the user. It returns [ErrNobody] when there is nobody to
	// ask; nil: there never is.
	Ask func(context.Context, Question) (Answer, error)
	// Alone: there is nobody who could answer what a strategy asks.
	Alone bool
	// Tell is told, in sentences, what there is to know before the run. May be nil.
	Tell func(sentence string)
	// Debug is told, in sentences, what is of use to whoever looks for a fault. May be nil.
	Debug func(sentence string)
}

// A Subject is what a question is about.
type Subject string

// What a run asks about.
const (
	Elsewhere Subject = "elsewhere" // the session works in another tree than the user stands in
	Changed   Subject = "changed"   // the work tree is not as the session left it
	Strategy  Subject = "strategy"  // the strategy has a question of its own, and wants a text
)

// A Question wants a yes or a no, or a text.
type Question struct {
	About Subject
	Text  string
}

// An Answer is what the user said to it.
type Answer struct {
	Yes  bool
	Text string
}

// ErrNobody says that there is nobody to ask.
var ErrNobody = loop.ErrNobody

// ErrRefused is the answer of a user who does not want the run to go on.
var ErrRefused = loop.ErrRefused

// ask asks, and returns nil after a yes; refusal, where there is nobody to ask.
func (u *User) ask(ctx context.Context, q Question, refusal error) error {
	if u.Ask == nil {
		return refusal
	}
	answer, err := u.Ask(ctx, q)
	switch {
	case errors.Is(err, ErrNobody):
		return refusal
	case err != nil:
		return err
	case !answer.Yes:
		return errors.New("nothing was changed")
	}
	return nil
}

// asked puts a strategy's question to the user.
func (u *User) asked(ctx context.Context, question string) (string, error) {
	if u.Ask == nil {
		return "", loop.ErrNobody
	}
	answer, err := u.Ask(ctx, Question{About: Strategy, Text: question})
	return answer.Text, err
}
