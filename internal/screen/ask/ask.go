// Package ask asks the user questions, one line at a time.
package ask

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"codeloops/internal/screen/term"
	"codeloops/internal/wording/hint"
)

// Within returns what read returns, or the cause of ctx if that comes first. A read from a terminal
// or a pipe cannot be cancelled, so it is then abandoned: the program is about to end.
func Within[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	ended := make(chan result, 1)
	go func() {
		value, err := read()
		ended <- result{value, err}
	}()
	select {
	case r := <-ended:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// ErrNone says that the user ended the input instead of answering.
var ErrNone = errors.New("there was no answer, and nothing was changed")

// Line asks a question on the terminal and returns the line that is typed. Ending the input
// (Ctrl+D) is no answer.
func Line(ctx context.Context, s *term.Streams, in *bufio.Reader, question string) (string, error) {
	if _, err := io.WriteString(s.Err, question); err != nil {
		return "", err
	}
	line, err := Within(ctx, func() (string, error) { return in.ReadString('\n') })
	switch {
	case err == nil, line != "": // or the last line, without a line break
		return strings.TrimSpace(line), nil
	case errors.Is(err, io.EOF):
		err = ErrNone
	default:
		err = fmt.Errorf("read the answer: %w", err)
	}
	_, _ = io.WriteString(s.Err, "\n") // the cursor is still on the question's line
	return "", err
}

// Confirm asks a yes/no question. It fails if the answer is no or nobody can be asked.
func Confirm(ctx context.Context, s *term.Streams, question string) error {
	if !s.CanAsk() {
		return hint.Errorf("say --yes", "there is no terminal to ask on: %s", question)
	}
	answer, err := Line(ctx, s, bufio.NewReader(s.In), question+" [y/N] ")
	if err != nil {
		return err
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}
