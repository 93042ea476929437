package tasks

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/queue/hub"
	"codeloops/internal/wording/hint"
)

func newHubCmd(q *Access, name string) *cobra.Command {
	var o hub.Options
	cmd := &cobra.Command{
		Use:         name,
		Annotations: command.ServeExits(),
		Short:       "Serve the queue to workers, and start no agents",
		Long: `Serve the queue of this user until stopped, so that workers and commands in other
terminals share it. Their results are merged here, into the repositories of this
user. ` + "`codeloops queue run`" + ` serves the queue by itself while it works.

Other machines connect to the address in --listen. This needs a certificate, and admits
only machines whose public keys are in a file:

  codeloops queue serve key              prints the key of the machine it runs on
  codeloops queue serve --listen :4222 --self-signed --authorized FILE
                                         prints the address for the others
  codeloops queue work --hub ADDRESS     works on another machine`,
		Example: `  codeloops queue serve
  codeloops queue serve --listen 0.0.0.0:4222 --tls-cert hub.pem --tls-key hub.key --authorized keys`,
		Args:    command.OwnCommands,
		PreRunE: q.UsersCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.hub != "" {
				return hint.Errorf("leave --hub and --nats out; workers take the address that is printed", "%s serves the queue of this machine", cmd.CommandPath())
			}
			if o.SelfSigned && o.Cert+o.Key != "" {
				return hint.Errorf("leave one of them out", "--self-signed and --tls-cert contradict each other")
			}
			if (o.Cert == "") != (o.Key == "") {
				return hint.Errorf("both are files in PEM", "--tls-cert and --tls-key go together")
			}
			home, err := hub.Open(q.Data("queue"))
			if err != nil {
				return err
			}
			o.Tell = q.Tell
			served, err := home.Serve(cmd.Context(), o)
			if err != nil {
				return err
			}
			fmt.Fprintf(q.Err, "the queue is served at %s\n", served.Address()) //nolint:errcheck // only information
			return errors.Join(q.tend(cmd.Context(), home, served), served.Close())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "", "listen on `HOST:PORT` (default: a free port, for this machine only)")
	f.StringVar(&o.Cert, "tls-cert", "", "use the certificate in `file`")
	f.StringVar(&o.Key, "tls-key", "", "use the key in `file` for that certificate")
	f.BoolVar(&o.SelfSigned, "self-signed", false, "make a certificate; the address then contains its digest")
	f.StringVar(&o.Authorized, "authorized", "", "admit the machines whose public keys are in `file`, one per line; changes take effect at once")
	manual.Group("Hub", f, "listen", "tls-cert", "tls-key", "self-signed", "authorized")
	cmd.AddCommand(newHubKeyCmd(q))
	return cmd
}

func newHubKeyCmd(q *Access) *cobra.Command {
	return &cobra.Command{
		Use:         "key",
		Annotations: command.Exits("the key was printed", ""),
		Short:       "Print the public key that identifies this machine to a hub",
		Long: `Print the public key of this user on this machine, as a line for the --authorized file
of a hub elsewhere. If there is no key yet, one is made; the private key never leaves
the machine.`,
		Example: `  codeloops queue serve key | ssh hub.example.com 'cat >>keys'`,
		Args:    command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			home, err := hub.Open(q.Data("queue"))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(q.Out, home.Introduction())
			return err
		},
	}
}

// memory is the soft memory limit of a hub, in bytes. Beyond it, cached messages are freed.
const memory = 48 << 20

// tend merges results for the repositories of this user until ctx is done.
func (q *Access) tend(ctx context.Context, home *hub.Home, served *hub.Hub) (err error) {
	link, err := served.Connect()
	if err != nil {
		return err
	}
	b, err := q.through(ctx, home, link, config.Queue{Replicas: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	s, err := b.begin(ctx, 0)
	if err != nil {
		return err
	}
	defer s.end()
	debug.SetMemoryLimit(memory)
	debug.FreeOSMemory() // used during the start
	return s.worker.Run(ctx)
}
