package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"codeloops/internal/cli/task"
	"codeloops/internal/run"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
)

// confirmNever is the value of the key confirm that is not the default.
const confirmNever = "never"

// fewWords is how many words a prompt has at least that needs no confirmation.
const fewWords = 4

// confirm shows a prompt of a few words, who would play and how long, and waits for
// a key: an agent may do anything, and has to be paid.
func (r *runCommand) confirm(ctx context.Context) error {
	a, p := r.app, r.plan
	typed := r.from == task.FromWords || r.from == task.FromFlag
	short := len(strings.Fields(r.prompt)) < fewWords
	if !typed || !short || r.opts.yes || p.Config.Confirm == confirmNever || !a.InTTY || !a.ErrTTY {
		return nil
	}
	keys, ok := a.ReadKeys(nil)
	if !ok {
		return nil
	}
	defer keys.Close()
	judge, who := render.Judges(p.Critic[0].Ref(), run.PanelOf(p.Config))
	fmt.Fprintf(a.Err, "%s\nin %s: actor %s, %s %s, %s\nrun it? [y/N] ", //nolint:errcheck // without a screen no key comes
		term.Line(r.prompt), p.Dir, render.Who(p.Actor[0].Ref()), judge, who, iterations(p.Config.MaxIterations))
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
