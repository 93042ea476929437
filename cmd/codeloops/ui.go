package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/command/prompts"
	"codeloops/internal/draft"
	"codeloops/internal/fence"
	"codeloops/internal/proc"
	"codeloops/internal/screen/term"
	"codeloops/internal/ui"
	"codeloops/internal/wording/hint"
)

func newUICmd(a *app) *cobra.Command {
	var o uiOptions
	l := a.Logs()
	cmd := &cobra.Command{
		Use:         "ui",
		Annotations: command.Exits("the page was closed with Ctrl+C", ""),
		Short:       "Show all sessions in a browser, as they go",
		Long: `Show the sessions of this machine in a browser: what needs you, what runs and
what is done, each with its prompt, its iterations, diffs, checks and verdicts.
A run that starts anywhere appears by itself, and can be stopped, paused and told
something.

The page answers on this machine only, or with --lan in your network, over TLS. The
address that is printed has a token in it, which buys a cookie: keep it to yourself.`,
		Example: `  codeloops ui
  codeloops ui --port 7777 --read-only`,
		Args:    command.NoArgs,
		PreRunE: a.UsersCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l.All = true
			return runUI(cmd.Context(), a, l, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.port, "port", 0, "listen on port `n`; 0 is any that is free")
	f.BoolVar(&o.open, "open", false, "open the browser")
	f.BoolVar(&o.readOnly, "read-only", false, "show, and do nothing")
	f.BoolVar(&o.lan, "lan", false, "let other machines of your network ask, such as a phone, over TLS; on a terminal the address is a QR code, too")
	f.StringVar(&l.Dir, "session-dir", "", "the sessions in `dir`")
	return cmd
}

// uiOptions are the flags of `codeloops ui`.
type uiOptions struct {
	port                int
	open, readOnly, lan bool
}

func runUI(ctx context.Context, a *app, l *command.Logs, o uiOptions) error {
	if o.port < 0 || o.port > 65535 {
		return hint.Errorf("give a number from 1 to 65535, or 0 for any that is free", "--port is %d", o.port)
	}
	if _, err := l.Store(); err != nil {
		return err
	}
	listener, certificate, err := o.listen(ctx, a)
	if err != nil {
		return err
	}
	page, err := ui.New(l.Logs, a.Now, fence.Names(listener), o.readOnly)
	if err != nil {
		return err
	}
	if page.Secure = o.lan; page.Secure {
		a.Tell("your browser does not know the certificate of this machine, and asks; its SHA-256 is " + certificate)
	}
	if page.Program, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program, to start runs with it: %w", err)
	}
	page.Ask = func(ctx context.Context, dir, agent string, k draft.Kind, said []draft.Said) (draft.Answer, error) {
		return prompts.Ask(ctx, a.Console, dir, prompts.Asked{Kind: k, Agent: agent, Said: said})
	}
	page.Reads = func(dir, task string) (string, error) { return prompts.Reads(a.Console, dir, task) }
	if _, err := fmt.Fprintf(a.Out, "%s\n", page.Address()); err != nil {
		return err
	}
	if a.ErrTTY {
		if o.lan {
			err = term.QR(a.Err, page.Address())
		}
		fmt.Fprintln(a.Err, "Ctrl+C closes the page; what runs goes on") //nolint:errcheck // a courtesy
	}
	if err != nil {
		return err
	}
	if o.open {
		if err := browse(ctx, a, page.Address()); err != nil {
			a.Tell("there is no browser to open: " + err.Error())
		}
	}
	return page.Serve(ctx, listener)
}

// listen opens the port. The certificate is that for other machines, "" if they cannot ask.
func (o uiOptions) listen(ctx context.Context, a *app) (l net.Listener, certificate string, err error) {
	if o.lan {
		dir := a.Data("ui")
		if dir == "" {
			return nil, "", errors.New("there is no home directory to keep a certificate in")
		}
		return fence.LAN(ctx, o.port, dir, a.Now())
	}
	l, err = fence.Listen(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(o.port)))
	return l, "", err
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
