package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"codeloops/internal/render"
	"codeloops/internal/term"
)

// The values of the key confirm.
const (
	confirmShort = "short"
	confirmNever = "never"
)

// fewWords is how many words a prompt has at least that needs no confirmation.
const fewWords = 4

// confirm shows a prompt of a few words, who would play and how long, and waits for
// a key: an agent may do anything, and has to be paid.
func (p *plan) confirm(ctx context.Context) error {
	a := p.app
	typed := p.promptFrom == promptWords || p.promptFrom == promptFlag
	short := len(strings.Fields(p.prompt)) < fewWords
	if !typed || !short || p.opts.yes || p.cfg.Confirm == confirmNever || !a.InTTY || !a.ErrTTY {
		return nil
	}
	keys, ok := a.ReadKeys()
	if !ok {
		return nil
	}
	defer keys.Close()
	fmt.Fprintf(a.Err, "%s\nin %s: actor %s, critic %s, %s\nrun it? [y/N] ", //nolint:errcheck // without a screen no key comes
		term.Line(p.prompt), p.dir, render.Who(p.actor[0].ref()), render.Who(p.critic[0].ref()), iterations(p.cfg.MaxIterations))
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
