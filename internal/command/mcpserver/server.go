// Package mcpserver serves codeloops to other agents, as tools of the Model Context Protocol.
//
// Whatever a tool does beyond looking, a command of codeloops does in a process of its own: it follows the same rules
// and says the same as when a person types it. A run that is started here belongs to no client, and outlives them all.
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"codeloops/internal/cli/problem"
	"codeloops/internal/command"
	"codeloops/internal/git"
	"codeloops/internal/redact"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session/lookup"
	"codeloops/internal/wording/hint"
)

const instructions = `codeloops lets an actor, a coding agent, work in a git repository until a critic says that the task is done.
run_start starts such a run and returns at once; the run goes on whatever becomes of you. Call run_wait until running is false.
session_show tells what each iteration did and what the critic said, session_diff what has changed.
verdict has an independent critic judge the work tree as it is now: call it before you say that a task is done.`

// A server answers clients. It knows nothing of them beyond a call: all state is in the logs and locks of runs.
type server struct {
	console *command.Console
	self    string        // path of this program
	local   bool          // the client started this server, so its roots count
	most    time.Duration // of a call that waits

	mu       sync.Mutex
	verdicts map[string]*judging
	declined map[string]bool // questions to which the user said no
}

// newServer returns the tools, as this program offers them from the console's directory.
func newServer(c *command.Console, self string, local bool) (s *server, m *mcp.Server, err error) {
	s = &server{console: c, self: self, local: local, most: longestWait, verdicts: map[string]*judging{}, declined: map[string]bool{}}
	able := &mcp.ServerCapabilities{}
	able.AddExtension(tasksExtension, nil)
	m = mcp.NewServer(
		&mcp.Implementation{Name: "codeloops", Title: "codeloops", Version: command.Version()},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: able},
	)
	s.addRuns(m)
	s.addSessions(m)
	s.addCommands(m)
	return s, m, s.addTasks(m)
}

func (s *server) decline(question string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.declined[question] = true
}

func (s *server) isDeclined(question string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.declined[question]
}

// A place is the argument of every tool.
type place struct {
	Dir string `json:"dir,omitempty" jsonschema:"directory of the git repository, if it is not the root of the client; it must be inside of that"`
}

func (p place) dir() string { return p.Dir }

// A call is a request of a client, seen from the directory that it is about.
type call struct {
	*command.Console

	server *server
	here   *lookup.Place

	client *mcp.ServerSession
	token  any    // for progress; nil: the client does not want to know
	told   string // last
	steps  int
}

// add adds a tool.
func add[In interface{ dir() string }, Out any](s *server, m *mcp.Server, t *mcp.Tool, do func(context.Context, *call, In) (Out, error)) {
	mcp.AddTool(m, t, func(ctx context.Context, req *mcp.CallToolRequest, in In) (result *mcp.CallToolResult, out Out, err error) {
		roots, question, err := s.roots(req.Session, req.Params.InputResponses)
		if question != nil {
			return &mcp.CallToolResult{InputRequests: question}, out, nil
		}
		var c *call
		if err == nil {
			c, err = s.at(roots, in.dir())
		}
		if err == nil {
			c.client, c.token = req.Session, req.Params.GetProgressToken()
			out, err = do(ctx, c, in)
		}
		if err != nil {
			return nil, out, s.sentence(err)
		}
		return nil, out, clean(s.console.Secrets, &out)
	})
}

// rootsAsked is the key of the question for the roots of a client.
const rootsAsked = "roots"

// roots returns the directories that a client works in, or the question for them.
func (s *server) roots(client *mcp.ServerSession, answers mcp.InputResponseMap) (dirs []string, question mcp.InputRequestMap, err error) {
	says := client.InitializeParams()
	if !s.local || says == nil || says.Capabilities == nil || says.Capabilities.RootsV2 == nil {
		return []string{s.console.Dir}, nil, nil
	}
	answer, known := answers[rootsAsked].(*mcp.ListRootsResult)
	if !known {
		return nil, mcp.InputRequestMap{rootsAsked: &mcp.ListRootsParams{}}, nil
	}
	for _, root := range answer.Roots {
		if u, err := url.Parse(root.URI); err == nil && u.Scheme == "file" {
			dirs = append(dirs, localPath(u))
		}
	}
	if len(dirs) == 0 {
		return nil, nil, hint.Errorf("open a folder in it", "the client has no folder open")
	}
	return dirs, nil, nil
}

// localPath is the path in a URL. On Windows, it begins with a slash before the drive.
func localPath(u *url.URL) string {
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path)
}

// at returns a call about a directory, which must be inside of one of the roots; "" is the first of them.
func (s *server) at(roots []string, dir string) (*call, error) {
	if dir == "" {
		dir = roots[0]
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(roots[0], dir)
	}
	there, err := worktree.RealDir(dir)
	if err != nil {
		return nil, err
	}
	if !inside(there, roots) {
		return nil, hint.Errorf("leave dir out, or start the server there", "%s is outside of what this client works on: %s", dir, strings.Join(roots, ", "))
	}
	c := *s.console
	c.Dir = there
	at, err := git.Open(there, c.Environ)
	if err != nil {
		return nil, err
	}
	return &call{Console: &c, server: s, here: lookup.PlaceOf(at.WorkTree, at.Family)}, nil
}

// inside reports whether a resolved directory is one of the roots, or below one.
func inside(dir string, roots []string) bool {
	for _, root := range roots {
		root, err := filepath.EvalSymlinks(root)
		if err != nil {
			continue
		}
		if below, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(below) {
			return true
		}
	}
	return false
}

// tell sends the client a sentence on how far the call is, unless it has just been told so or there is nothing to tell.
func (c *call) tell(ctx context.Context, sentence string) {
	if c.token == nil || sentence == "" || sentence == c.told {
		return
	}
	c.told = sentence
	c.steps++
	_ = c.client.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // a client that is gone needs no progress
		ProgressToken: c.token, Progress: float64(c.steps), Message: c.Secrets.String(sentence),
	})
}

// sentence is an error as a client shows it.
func (s *server) sentence(err error) error {
	var all []string
	for _, p := range problem.Of(err) {
		text := p.Message
		if p.Hint != "" {
			text += " (" + p.Hint + ")"
		}
		all = append(all, text)
	}
	return errors.New(s.console.Secrets.String(strings.Join(all, "\n")))
}

// clean takes secrets out of a result.
func clean[Out any](secrets *redact.Redactor, out *Out) error {
	text, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if safe := secrets.String(string(text)); safe != string(text) {
		*out = *new(Out)
		return json.Unmarshal([]byte(safe), out)
	}
	return nil
}

// looks are the annotations of a tool that changes nothing.
func looks(title string) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, OpenWorldHint: new(false)}
}

// changes are the annotations of a tool that does something. harmful: it may undo or end something.
func changes(title string, harmful bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{Title: title, DestructiveHint: new(harmful), OpenWorldHint: new(false)}
}
