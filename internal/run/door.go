package run

import (
	"context"
	"os"
	"time"

	"codeloops/internal/session/door"
	"codeloops/internal/session/standing"
)

// reachable is a run as seen from other processes.
type reachable struct {
	*Control
	*standing.Board
	now func() time.Time
}

// Watched implements [door.Run].
func (r reachable) Watched() { r.watched(r.now()) }

// open tracks where the run stands and makes it reachable. A run that cannot be reached goes on
// all the same.
func (r *running) open(ctx context.Context) {
	c := r.Config
	r.board = &standing.Board{State: &r.own.state, Known: standing.Standing{
		Session: r.ID(), PID: os.Getpid(), WorkTree: r.Root(), Log: r.Log(),
		Prompt: standing.Title(r.options.Prompt), Strategy: r.strategy().Name, Began: r.options.Host.Now(),
		Limits: standing.Limits{
			Iterations: c.MaxIterations, Tokens: int64(c.MaxTokens), CostUSD: c.MaxCost,
			DurationSecs: c.MaxDuration.Seconds(), TurnSecs: c.Actor.Timeout.Seconds(),
		},
	}}
	path, err := r.tree.Door()
	if path != "" && err == nil {
		r.door, err = door.Open(ctx, path, reachable{r.control, r.board, r.options.Host.Now})
	}
	if r.options.Debug == nil {
		return
	}
	switch {
	case err != nil:
		r.options.Debug("the run cannot be reached from elsewhere: " + err.Error())
	case r.door == nil:
		r.options.Debug("the run cannot be reached from elsewhere: there is no home directory")
	}
}
