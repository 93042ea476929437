package steering

import (
	"context"
	"fmt"

	"codeloops/internal/command"
)

// Welcome shows what runs here, or else the last session, and suggests what to do next.
func Welcome(ctx context.Context, c *command.Console) error {
	l := c.Logs()
	runs := l.Runs(ctx, 0)
	if err := show(l, runs); err != nil {
		return err
	}
	next := []struct{ command, does string }{
		{`codeloops "what to do"`, "begins a run"},
		{"codeloops demo", "shows one, without an agent and at no cost"},
		{"codeloops -h", "lists the commands"},
	}
	if len(runs) > 0 {
		next[0].command, next[0].does = "codeloops watch", "shows it, and its keys steer it"
		next[1].command, next[1].does = "codeloops stop", "ends it after this iteration"
	}
	for _, n := range next {
		if _, err := fmt.Fprintf(c.Out, "  %-22s  %s\n", n.command, n.does); err != nil {
			return err
		}
	}
	return nil
}
