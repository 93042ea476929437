package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/fence"
)

// New returns `codeloops mcp`.
func New(c *command.Console) *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:         "mcp",
		Annotations: command.ServeExits(),
		Short:       "Offer runs, verdicts and logs to other agents, as an MCP server",
		Long: `Serve the tools of codeloops over the Model Context Protocol (MCP) to an agent that
you already use, on standard input and output: the agent starts this command.
` + "`codeloops mcp install`" + ` tells it to.

  verdict       have a critic judge the work tree as it is now
  run_start     start a run, which goes on whatever becomes of the agent
  run_wait      wait for a run, at most 40 s a call, with progress
  run_say       add something to the task of a run
  run_stop      stop a run
  sessions, session_show, session_diff
                look back
  queue_add, queue_list
                the queue of this repository

No tool takes a command to run, or allows more than your configuration does. All of
them work in the folder that the agent has open, or below it.

--http serves the same at an address of this machine, to whoever has the token that is
printed. See docs/mcp.md.`,
		Example: `  codeloops mcp install claude
  codeloops mcp --http 127.0.0.1:8765`,
		Args: command.OwnCommands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program, to start runs with it: %w", err)
			}
			s, m, err := newServer(c, self, address == "")
			if err != nil {
				return err
			}
			defer s.close()
			if address != "" {
				return s.serveHTTP(cmd.Context(), m, address)
			}
			if c.CanAsk() {
				c.Tell("agents speak to this command on its standard input; `codeloops mcp install` tells them to start it")
			}
			err = m.Run(cmd.Context(), &mcp.IOTransport{Reader: io.NopCloser(c.In), Writer: shut{c.Out}})
			if errors.Is(err, io.EOF) { // the client has gone
				return nil
			}
			return err
		},
	}
	cmd.Flags().StringVar(&address, "http", "", "serve at `HOST:PORT` of this machine instead")
	cmd.AddCommand(newInstallCmd(c), newUninstallCmd(c), newStatusCmd(c))
	return cmd
}

// shut is standard output, which stays open.
type shut struct{ io.Writer }

// Close does nothing.
func (shut) Close() error { return nil }

// The limits of a server over HTTP.
const (
	path        = "/mcp"
	mostRequest = 4 << 20 // bytes
	idle        = time.Hour
)

// serveHTTP serves the tools until ctx is done.
func (s *server) serveHTTP(ctx context.Context, m *mcp.Server, address string) error {
	l, err := fence.Listen(ctx, address)
	if err != nil {
		return err
	}
	token := rand.Text()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return m }, &mcp.StreamableHTTPOptions{
		SessionTimeout: idle, MaxRequestBodyBytes: mostRequest,
	})
	web := &http.Server{
		Handler:           fence.Around(bearing(token, handler), fence.Names(l), mostRequest),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
	}
	if _, err := fmt.Fprintf(s.console.Err, "the tools are served at http://%s%s\nAuthorization: Bearer %s\n", l.Addr(), path, token); err != nil {
		return errors.Join(err, l.Close())
	}
	defer context.AfterFunc(ctx, func() { _ = web.Close() })()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return context.Cause(ctx)
}

// bearing lets only requests through that have the token.
func bearing(token string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !fence.Same(r.Header.Get("Authorization"), "Bearer "+token):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token that codeloops mcp has printed is missing or wrong", http.StatusUnauthorized)
		case r.URL.Path != path:
			http.NotFound(w, r)
		default:
			h.ServeHTTP(w, r)
		}
	})
}
