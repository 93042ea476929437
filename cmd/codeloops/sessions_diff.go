package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"codeloops/internal/browse"
	"codeloops/internal/loop"
	"codeloops/internal/render"
)

type diffOptions struct {
	viewOptions
	stat     bool
	nameOnly bool
	nul      bool
}

func newSessionsDiffCmd(l *logs) *cobra.Command {
	o := &diffOptions{}
	cmd := &cobra.Command{
		Use:   "diff [ID|FILE]",
		Short: "Print everything that a session changed",
		Long: `Print everything that had changed since the session began when its last whole
iteration, or the one you name, was over. Without an ID it is the latest session.

On a terminal the diff is coloured and goes through $PAGER (default: less).
Elsewhere it is exact, with the content of binary files, so that it can be
applied to the state that the session began with:

  codeloops sessions diff ID | git apply

` + refHelp + `

` + sessionsExit,
		Example: `  codeloops sessions diff --stat
  codeloops sessions diff latest~1 --iteration 2 > work.patch`,
		Args:              oneRef,
		ValidArgsFunction: l.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(cmd.Flags()); err != nil {
				return err
			}
			return runSessionsDiff(cmd.Context(), l, o, first(args))
		},
	}
	f := cmd.Flags()
	o.addFlags(f, "what had changed by the end of iteration `n`")
	f.BoolVar(&o.stat, "stat", false, "only how much changed in each file")
	f.BoolVar(&o.nameOnly, "name-only", false, "only the names of the files")
	f.BoolVarP(&o.nul, "null", "z", false, "with --name-only: names as they are, each ended by a zero byte")
	return cmd
}

func runSessionsDiff(ctx context.Context, l *logs, o *diffOptions, ref string) error {
	if o.stat && o.nameOnly {
		return usagef("give one of them", "--stat and --name-only are two ways to say it")
	}
	if o.nul && !o.nameOnly {
		return usagef("add --name-only", "--null is about names")
	}
	one, err := l.find(ref)
	if err != nil {
		return err
	}
	var change loop.Change
	err = l.read(ctx, one, func(entries browse.Entries) (err error) {
		change, err = browse.ChangeIn(one.ID, entries, o.iteration, l.tell)
		return err
	})
	if err != nil {
		return err
	}
	a := l.app
	if !a.OutTTY && !o.nameOnly && !o.stat {
		return unlessGone(a.exact(change))
	}
	return a.page(ctx, o.noPager, func(_ context.Context, w io.Writer) error {
		screen := a.screen()
		switch {
		case o.nameOnly:
			return browse.Names(w, change, o.nul)
		case o.stat:
			return browse.DiffStat(w, change, screen)
		}
		return browse.Patch(w, change, &screen)
	})
}

// exact prints a diff for git apply, every byte as the log has it.
func (a *app) exact(change loop.Change) error {
	if left := browse.Unappliable(change); len(left) > 0 {
		_, err := fmt.Fprintf(a.Err, "codeloops: git apply will refuse this diff: the log does not hold the content of %s\n",
			render.Count(len(left), "binary file", "binary files"))
		if err != nil {
			return err
		}
	}
	return browse.Patch(a.Out, change, nil)
}
