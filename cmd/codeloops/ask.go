package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// within returns what read returns, or the cause of ctx when that comes first: a
// read from a terminal or a pipe cannot be called off. It is left to itself
// then, as the program is about to end.
func within[T any](ctx context.Context, read func() (T, error)) (T, error) {
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

// answer asks a question on the terminal and returns the line that is typed. Who
// types the end of the input instead has not answered.
func (a *app) answer(ctx context.Context, in *bufio.Reader, question string) (string, error) {
	if _, err := io.WriteString(a.Err, question); err != nil {
		return "", err
	}
	line, err := within(ctx, func() (string, error) { return in.ReadString('\n') })
	switch {
	case err == nil, line != "": // or the last line, without its end
		return strings.TrimSpace(line), nil
	case errors.Is(err, io.EOF):
		err = errors.New("there was no answer, and nothing was changed")
	default:
		err = fmt.Errorf("read the answer: %w", err)
	}
	_, _ = io.WriteString(a.Err, "\n") // the cursor stands behind the question
	return "", err
}

// sure asks a question that wants a yes; where nobody can be asked it is no.
func (a *app) sure(ctx context.Context, question string) error {
	if !a.InTTY || !a.ErrTTY {
		return usagef("say --yes", "there is no terminal to ask on: %s", question)
	}
	answer, err := a.answer(ctx, bufio.NewReader(a.In), question+" [y/N] ")
	if err != nil {
		return err
	}
	if s := strings.ToLower(answer); s != "y" && s != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}
