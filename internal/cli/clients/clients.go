// Package clients enters this program in the settings of agents and editors, as an MCP server or as a hook, and takes it
// out again. The rest of a file stays as it is, byte by byte.
package clients

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"codeloops/internal/config/host"
	"codeloops/internal/proc"
	"codeloops/internal/wording/hint"
)

// Name is what the server is called in all settings.
const Name = "codeloops"

// A Server is how a client starts the server.
type Server struct {
	Type    string   `json:"type,omitempty" toml:"-"`
	Command string   `json:"command" toml:"command"`
	Args    []string `json:"args" toml:"args"`
}

// A Settings is a file in which a client looks for servers.
type Settings struct {
	text

	format format
	typed  string // the type that an entry names
	// through changes the file with the client's own command, because the client writes it all the time; nil: the
	// file is for people to write.
	through func(ctx context.Context, args ...string) error
}

// A format finds, sets and removes an entry in a text.
type format interface {
	find(text []byte) (Server, bool, error)
	set(text []byte, s Server) ([]byte, error)
	drop(text []byte) ([]byte, error)
}

// Program is how a client starts this program: in the settings of a project, by the name that it has for everybody. Some
// clients have another PATH, so that a user's settings have the path, and that of the link which an upgrade moves.
func Program(h *host.Host, project bool) (string, error) {
	const name = "codeloops"
	if project {
		return name, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program, to have it started: %w", err)
	}
	if found, err := proc.LookPath(name, h.Dir, h.Environ); err == nil && sameFile(found, self) {
		return found, nil
	}
	return self, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Names lists the clients.
func Names() []string { return []string{"claude", "codex", "cursor", "vscode"} }

// Of returns the settings of a client. root is the root of the project, "" for those of the user.
func Of(h *host.Host, client, root string) (Settings, error) {
	s := Settings{text: text{Client: client, Project: root != ""}, format: jsonFile("mcpServers")}
	home := h.Home()
	if home == "" && root == "" {
		return s, hint.Errorf("set HOME, or use --project", "the home directory is not known")
	}
	base := cmp.Or(root, home)
	switch client {
	case "claude":
		if s.Path = filepath.Join(root, ".mcp.json"); root == "" {
			s.Path = filepath.Join(cmp.Or(h.Getenv("CLAUDE_CONFIG_DIR"), home), ".claude.json")
			s.through = claude(h)
		}
	case "codex":
		s.format = tomlFile{}
		if s.Path = filepath.Join(base, ".codex", "config.toml"); root == "" && h.Getenv("CODEX_HOME") != "" {
			s.Path = filepath.Join(h.Getenv("CODEX_HOME"), "config.toml")
		}
	case "cursor":
		s.Path = filepath.Join(base, ".cursor", "mcp.json")
	case "vscode":
		s.format, s.typed = jsonFile("servers"), "stdio"
		if s.Path = filepath.Join(root, ".vscode", "mcp.json"); root == "" {
			s.Path = filepath.Join(userData(h), "Code", "User", "mcp.json")
		}
	default:
		return s, hint.Errorf("one of claude, codex, cursor, vscode; docs/mcp.md says what to write for others", "there is no client %q", client)
	}
	return s, nil
}

// userData is where VS Code has the user's settings.
func userData(h *host.Host) string {
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(h.Home(), "Library", "Application Support")
	case "windows":
		return h.Getenv("APPDATA")
	}
	return cmp.Or(h.Getenv("XDG_CONFIG_HOME"), filepath.Join(h.Home(), ".config"))
}

// Installed returns the entry of this program; ok is false if there is none.
func (s Settings) Installed() (entry Server, ok bool, err error) {
	text, err := s.read()
	if err == nil && len(text) > 0 {
		entry, ok, err = s.format.find(text)
	}
	return entry, ok, s.named(err)
}

// Install enters the server, or replaces its entry. It reports false if there is nothing to do.
func (s Settings) Install(ctx context.Context, entry Server) (changed bool, err error) {
	was, there, err := s.Installed()
	if err != nil || there && was.Command == entry.Command && slices.Equal(was.Args, entry.Args) {
		return false, err
	}
	if there {
		_, err = s.Uninstall(ctx)
	}
	if err == nil && s.through != nil {
		return true, s.through(ctx, append([]string{"add", "--scope", "user", Name, "--", entry.Command}, entry.Args...)...)
	}
	var text []byte
	if err == nil {
		text, err = s.read()
	}
	if err == nil {
		entry.Type = s.typed
		text, err = s.format.set(text, entry)
	}
	if err == nil {
		err = s.write(text)
	}
	return err == nil, s.named(err)
}

// Uninstall removes the entry. It reports false if there is none. A file with nothing else in it is removed.
func (s Settings) Uninstall(ctx context.Context) (changed bool, err error) {
	if _, there, err := s.Installed(); err != nil || !there {
		return false, err
	}
	if s.through != nil {
		return true, s.through(ctx, "remove", "--scope", "user", Name)
	}
	text, err := s.read()
	if err == nil {
		text, err = s.format.drop(text)
	}
	if err == nil {
		err = s.write(text)
	}
	return err == nil, s.named(err)
}

// claude changes the user's settings of Claude Code with its own command.
func claude(h *host.Host) func(context.Context, ...string) error {
	return func(ctx context.Context, args ...string) error {
		_, err := proc.Output(ctx, proc.Call{
			Invocation: proc.Invocation{Argv: append([]string{"claude", "mcp"}, args...), Dir: h.Dir, Env: h.Environ}, Either: true,
		})
		if errors.Is(err, proc.ErrNotFound) {
			return hint.Errorf("install it first, or take --project", "claude is not installed")
		}
		return err
	}
}
