package run

import (
	"context"
	"errors"

	"codeloops/internal/loop"
)

// A User answers questions and gets messages, besides what the run itself shows. The zero value
// is nobody.
type User struct {
	// Ask asks the user a question. It returns [loop.ErrNobody] if there is nobody to ask, and
	// [loop.ErrRefused] if the user does not want the run to go on. Nil means that there never is
	// anybody.
	Ask func(context.Context, Question) (Answer, error)
	// Alone: nobody can answer a strategy's questions.
	Alone bool
	// Tell gets messages before the run, as sentences. May be nil.
	Tell func(sentence string)
	// Debug gets messages for debugging, as sentences. May be nil.
	Debug func(sentence string)
}

// A Subject is what a question is about.
type Subject string

// What a run asks about.
const (
	Elsewhere Subject = "elsewhere" // the session's work tree is not the current one
	Changed   Subject = "changed"   // the work tree is not as the session left it
	Strategy  Subject = "strategy"  // the strategy asks, and wants a text
)

// A Question wants yes or no, or a text.
type Question struct {
	About Subject
	Text  string
}

// An Answer is the user's answer to a question.
type Answer struct {
	Yes  bool
	Text string
}

// ask returns nil if the user says yes, and refusal if there is nobody to ask.
func (u *User) ask(ctx context.Context, q Question, refusal error) error {
	if u.Ask == nil {
		return refusal
	}
	answer, err := u.Ask(ctx, q)
	switch {
	case errors.Is(err, loop.ErrNobody):
		return refusal
	case err != nil:
		return err
	case !answer.Yes:
		return errors.New("nothing was changed")
	}
	return nil
}

// asked asks the user a strategy's question.
func (u *User) asked(ctx context.Context, question string) (string, error) {
	if u.Ask == nil {
		return "", loop.ErrNobody
	}
	answer, err := u.Ask(ctx, Question{About: Strategy, Text: question})
	return answer.Text, err
}
