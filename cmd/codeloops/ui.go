package main

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/proc"
	"codeloops/internal/ui"
	"codeloops/internal/wording/hint"
)

func newUICmd(a *app) *cobra.Command {
	var port int
	var open, readOnly bool
	l := a.Logs()
	cmd := &cobra.Command{
		Use:         "ui",
		Annotations: command.Exits("the page was closed with Ctrl+C", ""),
		Short:       "Show all sessions in a browser, as they go",
		Long: `Show the sessions of this machine in a browser: what needs you, what runs and
what is done, each with its prompt, its iterations, diffs, checks and verdicts.
A run that starts anywhere appears by itself, and can be stopped, paused and told
something.

The page answers on this machine only. The address that is printed has a token
in it, which buys a cookie: keep it to yourself.`,
		Example: `  codeloops ui
  codeloops ui --port 7777 --read-only`,
		Args:    command.NoArgs,
		PreRunE: a.UsersCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l.All = true
			return runUI(cmd.Context(), a, l, port, open, readOnly)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&port, "port", 0, "listen on port `n`; 0 is any that is free")
	f.BoolVar(&open, "open", false, "open the browser")
	f.BoolVar(&readOnly, "read-only", false, "show, and do nothing")
	f.StringVar(&l.Dir, "session-dir", "", "the sessions in `dir`")
	return cmd
}

func runUI(ctx context.Context, a *app, l *command.Logs, port int, open, readOnly bool) error {
	if port < 0 || port > 65535 {
		return hint.Errorf("give a number from 1 to 65535, or 0 for any that is free", "--port is %d", port)
	}
	if _, err := l.Store(); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return hint.Errorf("take another port, or --port 0", "listen on port %d: %w", port, err)
	}
	_, at, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return err
	}
	page, err := ui.New(l.Logs, a.Now, at, readOnly)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.Out, "%s\n", page.Address()); err != nil {
		return err
	}
	if a.ErrTTY {
		fmt.Fprintln(a.Err, "Ctrl+C closes the page; what runs goes on") //nolint:errcheck // a courtesy
	}
	if open {
		if err := browse(ctx, a, page.Address()); err != nil {
			a.Tell("there is no browser to open: " + err.Error())
		}
	}
	return page.Serve(ctx, listener)
}

// browse opens the user's browser.
func browse(ctx context.Context, a *app, address string) error {
	var tried error
	for _, program := range [][]string{{"xdg-open"}, {"open"}, {"rundll32", "url.dll,FileProtocolHandler"}} {
		_, err := proc.Output(ctx, proc.Call{Invocation: proc.Invocation{Argv: append(program, address), Dir: a.Dir, Env: a.Environ}})
		if err == nil {
			return nil
		}
		if tried == nil {
			tried = err
		}
	}
	return tried
}
