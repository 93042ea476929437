package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"codeloops/internal/cli/task"
	"codeloops/internal/command"
	"codeloops/internal/loop"
	"codeloops/internal/run"
	"codeloops/internal/screen/ask"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/session/lookup"
)

// An asker puts the questions of a run to the user.
type asker struct {
	*command.Console

	ref   string                                           // the session to resume, as typed
	yes   bool                                             // --yes
	lend  func() (back func())                             // releases the terminal from the live screen
	await func(context.Context) (answer string, err error) // from another process; nil: nobody waits for that
	typed *bufio.Reader                                    // the user's answers; nil until the first question
}

// ask asks a question. A script that names a session need not confirm its work tree.
func (a *asker) ask(ctx context.Context, q run.Question) (run.Answer, error) {
	if q.About == run.Elsewhere && (a.yes || !a.CanAsk()) {
		if lookup.IsLatest(a.ref) {
			return run.Answer{}, loop.ErrNobody
		}
		return run.Answer{Yes: true}, nil
	}
	if !a.CanAsk() && q.About == run.Strategy && a.await != nil {
		text, err := a.await(ctx)
		return answerOf(text, err)
	}
	if !a.CanAsk() {
		return run.Answer{}, loop.ErrNobody
	}
	defer a.lend()()
	if q.About == run.Strategy {
		return a.line(ctx, q.Text)
	}
	err := ask.Confirm(ctx, a.Streams, q.Text)
	return run.Answer{Yes: err == nil}, err
}

// line asks for a line of text. "no" and the end of the input are refusals.
func (a *asker) line(ctx context.Context, question string) (run.Answer, error) {
	if a.typed == nil {
		a.typed = bufio.NewReader(a.In) // shared by all questions, because it reads ahead
	}
	text, err := ask.Line(ctx, a.Streams, a.typed, "\n"+term.Clean(a.Secrets.String(question))+"\n> ")
	return answerOf(text, err)
}

func answerOf(text string, err error) (run.Answer, error) {
	if errors.Is(err, ask.ErrNone) || strings.EqualFold(text, "n") || strings.EqualFold(text, "no") {
		return run.Answer{}, loop.ErrRefused
	}
	return run.Answer{Text: text}, err
}

// confirmNever is the value of the key confirm that turns the question off.
const confirmNever = "never"

// fewWords is from how many words on a prompt needs no confirmation.
const fewWords = 4

// confirm shows a very short prompt with agents and limits, and waits for a key: agents may do
// anything, and cost money.
func (r *runCommand) confirm(ctx context.Context) error {
	a, p := r.app, r.plan
	typed := r.from == task.FromWords || r.from == task.FromFlag
	short := len(strings.Fields(r.prompt)) < fewWords
	if !typed || !short || r.opts.yes || p.Config.Confirm == confirmNever || !a.CanAsk() {
		return nil
	}
	keys, ok := a.ReadKeys(term.Listener{})
	if !ok {
		return nil
	}
	defer keys.Close()
	judge, who := render.Judges(p.Critic[0].Ref(), run.PanelOf(p.Config))
	fmt.Fprintf(a.Err, "%s\nin %s: actor %s, %s %s, %s\nrun it? [y/N] ", //nolint:errcheck // if it fails, no key will come either
		term.Line(a.Secrets.String(r.prompt)), p.Dir, render.Who(p.Actor[0].Ref()), judge, who, iterations(p.Config.MaxIterations))
	select {
	case key := <-keys.Pressed():
		fmt.Fprintln(a.Err, term.Line(key)) //nolint:errcheck // as above
		if strings.EqualFold(key, "y") {
			return nil
		}
		return errors.New("nothing was run")
	case <-ctx.Done():
		fmt.Fprintln(a.Err) //nolint:errcheck // as above
		return context.Cause(ctx)
	}
}

func iterations(most int) string {
	if most == 0 {
		return "no limit of iterations"
	}
	return fmt.Sprintf("at most %d iterations", most)
}
