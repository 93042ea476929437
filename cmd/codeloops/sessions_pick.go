package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"codeloops/internal/browse"
	"codeloops/internal/loop"
	"codeloops/internal/picker"
	"codeloops/internal/session"
)

// interactive reports whether there is a person to ask, at a terminal that can
// show a list.
func (a *app) interactive() bool {
	term := a.getenv("TERM")
	return a.InTTY && a.OutTTY && a.ErrTTY && term != "" && term != "dumb" && a.getenv("CI") == ""
}

// pick lets the user choose one of the sessions that can be read.
func (l *logs) pick(ctx context.Context, what string) (session.Overview, error) {
	all, err := l.survey()
	if err != nil {
		return session.Overview{}, err
	}
	all = slices.DeleteFunc(all, func(o session.Overview) bool { return o.Err != nil })
	if len(all) > 0 {
		return l.app.choose(ctx, all, what)
	}
	store, err := l.store()
	if err != nil {
		return session.Overview{}, err
	}
	if _, err = store.Latest(nil); err == nil { // it says that there is none
		return session.Overview{}, &hintedError{
			fmt.Errorf("%w: %s holds none but demonstrations", session.ErrNotFound, store.Dir()), "--all offers them as well",
		}
	}
	return session.Overview{}, explain(err, "")
}

// choose lets the user choose one of some sessions; a single one needs no
// choice.
func (a *app) choose(ctx context.Context, some []session.Overview, what string) (session.Overview, error) {
	if len(some) == 1 {
		return some[0], nil
	}
	zone := a.now().Location()
	screen := browse.Screen{Style: a.ErrRenderer()}
	var steps sync.Map // of those that were looked at
	list := picker.List{
		Count:  len(some),
		Search: func(i int) string { return browse.Haystack(some[i]) },
		Line:   func(i, width int) string { return screen.Wide(width).PickLine(some[i], zone) },
		Preview: func(i, width int) []string {
			known, _ := steps.Load(i)
			read, _ := known.([]browse.Step)
			return screen.Wide(width).Preview(some[i], read, zone)
		},
		Load: func(ctx context.Context, i int) {
			if _, known := steps.Load(i); known {
				return
			}
			// What cannot be read is not shown here.
			if read, _ := browse.ReadSteps(ctx, some[i].Path); read != nil {
				steps.Store(i, read)
			}
		},
	}
	in, _ := a.In.(*os.File) // a terminal: there is somebody to ask
	at, err := picker.Pick(ctx, list, picker.Options{In: in, Out: a.Err, Env: a.env, Jobs: &a.Jobs, Style: screen.Style, Title: what})
	if errors.Is(err, picker.ErrCancelled) {
		// The user knows: there is nothing to be said.
		return session.Overview{}, &endedError{result: loop.Interrupted}
	}
	if err != nil {
		return session.Overview{}, err
	}
	return some[at], nil
}
