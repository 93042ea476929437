package main

import (
	"context"
	"io"
	"path/filepath"

	"codeloops/internal/command/sessions"
	"codeloops/internal/forge"
)

// asked is the pull request of a run with --pr.
type asked struct {
	restorer *sessions.Restorer
	target   *forge.Target // as it was before the run
	done     sessions.Requested
}

// aim finds where the request is to be opened, so that what is wrong there is told before the run costs anything.
func (r *runCommand) aim(ctx context.Context) (err error) {
	if !r.opts.pr {
		return nil
	}
	if err := r.app.RequireUser(map[string]bool{"--pr": true}); err != nil {
		return err
	}
	r.asked = &asked{restorer: &sessions.Restorer{Console: r.app.Console}}
	r.asked.target, err = r.asked.restorer.Target(ctx, r.plan.Dir)
	return err
}

// request opens the request, if there is to be one.
func (r *runCommand) request(ctx context.Context) (err error) {
	if r.asked == nil {
		return nil
	}
	r.plan.Release()
	l := r.app.Logs()
	l.Dir = filepath.Dir(r.plan.Log())
	if r.asked.done, err = r.asked.restorer.Request(ctx, l, r.plan.ID(), sessions.RequestOptions{Draft: r.opts.draft}, r.asked.target); err != nil {
		return err
	}
	out := r.app.Out
	if r.opts.jsonOutput {
		out = r.app.Err
	}
	_, _ = io.WriteString(out, r.asked.done.Text()) // the document has it as well
	return nil
}
