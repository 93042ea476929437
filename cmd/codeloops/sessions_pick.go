package main

import (
	"context"
	"errors"

	"codeloops/internal/loop"
	"codeloops/internal/screen/picker"
	"codeloops/internal/screen/sessionpicker"
	"codeloops/internal/session"
)

// interactive reports whether there is a person to ask, at a terminal that can
// show a list.
func (a *app) interactive() bool {
	term := a.Getenv("TERM")
	return a.InTTY && a.OutTTY && a.ErrTTY && term != "" && term != "dumb" && a.Getenv("CI") == ""
}

// pick lets the user choose one of the sessions that can be read.
func (l *logs) pick(ctx context.Context, what string) (session.Overview, error) {
	some, err := l.Some()
	if err != nil {
		return session.Overview{}, err
	}
	return l.app.choose(ctx, some, what)
}

// choose lets the user choose one of some sessions; a single one needs no
// choice.
func (a *app) choose(ctx context.Context, some []session.Overview, what string) (session.Overview, error) {
	one, err := sessionpicker.Choose(ctx, a.Streams, &a.Host, some, what)
	if errors.Is(err, picker.ErrCancelled) {
		// The user knows: there is nothing to be said.
		err = &endedError{result: loop.Interrupted}
	}
	return one, err
}
