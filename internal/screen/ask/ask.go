// Package ask asks the user, a line at a time.
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

// Within returns what read returns, or the cause of ctx when that comes first: a
// read from a terminal or a pipe cannot be called off. It is left to itself
// then, as the program is about to end.
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

// ErrNone says that whoever was asked has ended the input instead.
var ErrNone = errors.New("there was no answer, and nothing was changed")

// Line asks a question on the terminal and returns the line that is typed. Who
// types the end of the input instead has not answered.
func Line(ctx context.Context, s *term.Streams, in *bufio.Reader, question string) (string, error) {
	if _, err := io.WriteString(s.Err, question); err != nil {
		return "", err
	}
	line, err := Within(ctx, func() (string, error) { return in.ReadString('\n') })
	switch {
	case err == nil, line != "": // or the last line, without its end
		return strings.TrimSpace(line), nil
	case errors.Is(err, io.EOF):
		err = ErrNone
	default:
		err = fmt.Errorf("read the answer: %w", err)
	}
	_, _ = io.WriteString(s.Err, "\n") // the cursor stands behind the question
	return "", err
}

// Sure asks a question that wants a yes; where nobody can be asked it is no.
func Sure(ctx context.Context, s *term.Streams, question string) error {
	if !s.InTTY || !s.ErrTTY {
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
