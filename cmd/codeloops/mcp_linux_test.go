package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"codeloops/internal/queue/git/gittest"
)

// mcpAgent plays both roles. An actor waits for the file that its round is named after; a critic wants two rounds.
const mcpAgent = `cat >"$STAGE/prompt.$CODELOOPS_ROLE.$CODELOOPS_ITERATION"
if [ "$CODELOOPS_ROLE" = actor ]; then
	touch "$STAGE/at.$CODELOOPS_ITERATION"
	until [ -e "$STAGE/go.$CODELOOPS_ITERATION" ]; do sleep 0.02; done
	echo "round $CODELOOPS_ITERATION" >>done.txt
	echo "I did it"
elif [ "$CODELOOPS_ROLE" = planner ]; then
	printf 'PLAN:\n1. make it\n'
elif [ "$CODELOOPS_ITERATION" = 1 ] && ! [ -e "$STAGE/approve" ]; then
	printf 'DECISION: CONTINUE\nFEEDBACK: once more\n'
else
	printf 'DECISION: DONE\nSUMMARY: it is there\nCONFIDENCE: 0.9\n'
fi
`

// An mcpStage is a repository, a home, and an agent of the user's.
type mcpStage struct {
	*testing.T

	dir, root string
	env       []string
}

func newMCPStage(t *testing.T) *mcpStage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &mcpStage{T: t, dir: dir, root: filepath.Join(dir, "work")}
	home := filepath.Join(dir, "home")
	s.put("agent", mcpAgent)
	s.put("home/config/codeloops/config.toml", "agent = \"own\"\nmax_iterations = 5\n[agents.own]\ncommand = [\"sh\", \""+filepath.Join(dir, "agent")+"\"]\n"+
		"[agents.spent]\noutput = \"claude-stream-json\"\ncommand = [\"sh\", \""+filepath.Join(dir, "spent")+"\"]\n")
	s.put("work/sub/README", "hello\n")
	s.env = append(gittest.Environ(home), "XDG_DATA_HOME="+filepath.Join(home, "data"), "XDG_CONFIG_HOME="+filepath.Join(home, "config"),
		"STAGE="+dir, "NO_COLOR=1", "GIT_TEST_FSYNC=0", "GORACE=atexit_sleep_ms=0", "API_TOKEN=sesame-open-wide", playCodeloops+"=1")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "start"}} {
		git := exec.Command("git", args...)
		git.Dir, git.Env = s.root, s.env
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return s
}

func (s *mcpStage) put(name, text string) {
	s.Helper()
	path := filepath.Join(s.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// command returns a command that has not been started.
func (s *mcpStage) command(args ...string) *exec.Cmd {
	s.Helper()
	self, err := os.Executable()
	if err != nil {
		s.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.root, s.env, os.Stderr
	return cmd
}

func (s *mcpStage) await(what string, there func() bool) {
	s.Helper()
	for end := time.Now().Add(liveness); !there(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("waited in vain for %s", what)
		}
	}
}

func (s *mcpStage) awaitFile(name string) {
	s.Helper()
	s.await(name, func() bool { _, err := os.Stat(filepath.Join(s.dir, name)); return err == nil })
}

// An mcpClient is an agent with the server that it has started.
type mcpClient struct {
	*mcpStage
	*mcp.ClientSession

	server *exec.Cmd
	mu     sync.Mutex
	told   []string // progress
}

// client starts a server as an agent does. The agent has the roots open.
func (s *mcpStage) client(roots ...string) *mcpClient {
	s.Helper()
	c := &mcpClient{mcpStage: s, server: s.command("mcp")}
	able := &mcp.ClientCapabilities{}
	if len(roots) > 0 {
		able.RootsV2 = &mcp.RootCapabilities{}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		Capabilities: able,
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.told = append(c.told, r.Params.Message)
		},
	})
	for _, root := range roots {
		client.AddRoots(&mcp.Root{URI: (&url.URL{Scheme: "file", Path: root}).String()})
	}
	session, err := client.Connect(s.Context(), &mcp.CommandTransport{Command: c.server}, nil)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = session.Close() })
	c.ClientSession = session
	return c
}

// call calls a tool, and returns its result as a map, or the sentence of its error.
func (c *mcpClient) call(tool string, args map[string]any) (result map[string]any, sentence string) {
	c.Helper()
	params := &mcp.CallToolParams{Name: tool, Arguments: args}
	params.SetProgressToken(tool)
	r, err := c.CallTool(c.Context(), params)
	if err != nil {
		c.Fatalf("%s: %v", tool, err)
	}
	if text := r.Content[0].(*mcp.TextContent).Text; r.IsError {
		return nil, text
	} else if err := json.Unmarshal([]byte(text), &result); err != nil {
		c.Fatalf("%s: %v\n%s", tool, err, text)
	}
	return result, ""
}

// get is [mcpClient.call] for a call that succeeds.
func (c *mcpClient) get(tool string, args map[string]any) map[string]any {
	c.Helper()
	result, sentence := c.call(tool, args)
	if sentence != "" {
		c.Fatalf("%s: %s", tool, sentence)
	}
	return result
}

// has is [mcpClient.get], which also checks fields of the result: a text need only be part of its field.
func (c *mcpClient) has(tool string, args, want map[string]any) map[string]any {
	c.Helper()
	result := c.get(tool, args)
	for name, value := range want {
		text, isText := value.(string)
		got, _ := result[name].(string)
		if isText && !strings.Contains(got, text) || !isText && result[name] != value {
			c.Errorf("%s %v: %s is %v, want %v", tool, args, name, result[name], value)
		}
	}
	return result
}

// sentence is the error of a call.
func (c *mcpClient) sentence(tool string, args map[string]any, want string) {
	c.Helper()
	if _, sentence := c.call(tool, args); !strings.Contains(sentence, want) {
		c.Errorf("%s %v: %q, want %q", tool, args, sentence, want)
	}
}

// TestMCPRun: a run that a client starts goes on when the client is killed. Another one finds it, waits for it in
// pieces, speaks to it, and gets its verdict, its change and its log.
func TestMCPRun(t *testing.T) {
	t.Parallel()
	s := newMCPStage(t)
	first := s.client()
	began := first.has("run_start", map[string]any{"prompt": "make it\nwith care", "max_iterations": 4}, map[string]any{"running": true})
	id := began["session"].(string)
	s.awaitFile("at.1")
	first.sentence("run_start", map[string]any{"prompt": "another"}, "is already at work in "+s.root)
	if err := first.server.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.await("the end of the client", func() bool { return first.Ping(t.Context(), nil) != nil })

	c := s.client()
	if got := c.get("sessions", map[string]any{"outcome": "running"}); len(got["sessions"].([]any)) != 1 {
		t.Errorf("running: %v", got)
	}
	start := time.Now()
	c.has("run_wait", map[string]any{"seconds": 0.5}, map[string]any{"running": true, "session": id, "now": "iteration 1 of 4 · actor"})
	c.mu.Lock()
	if time.Since(start) < 500*time.Millisecond || len(c.told) == 0 || !strings.Contains(c.told[0], "iteration 1 of 4 · actor") {
		t.Errorf("after %v told %q", time.Since(start), c.told)
	}
	c.mu.Unlock()
	c.has("run_say", map[string]any{"session": id, "text": "in blue"}, map[string]any{"message": "will be told in its next turn"})
	s.put("go.1", "")
	s.awaitFile("at.2")
	if text, err := os.ReadFile(filepath.Join(s.dir, "prompt.actor.2")); err != nil || !strings.Contains(string(text), "in blue") {
		t.Errorf("the second turn got %v\n%s", err, text)
	}
	c.has("session_diff", nil, map[string]any{"diff": "+round 1"})
	s.put("go.2", "")
	c.has("run_wait", map[string]any{"session": id}, map[string]any{
		"outcome": "success", "stop_reason": "done", "summary": "it is there", "confidence": 0.9, "files_changed": 1.0, "iterations": 2.0,
	})
	c.looksBack(id)
	c.sentence("run_say", map[string]any{"text": "too late"}, "nothing runs whose id begins with")
}

// looksBack checks what is told of a session of two rounds.
func (c *mcpClient) looksBack(id string) {
	c.Helper()
	rounds, _ := c.has("session_show", nil, map[string]any{"prompt": "make it\nwith care"})["rounds"].([]any)
	if len(rounds) != 2 || rounds[0].(map[string]any)["critic"] != "once more" || rounds[0].(map[string]any)["actor"] != "I did it" {
		c.Errorf("%v", rounds)
	}
	diff := c.has("session_diff", map[string]any{"session": id}, map[string]any{"diff": "+round 1\n+round 2\n"})
	if only := c.get("session_diff", map[string]any{"session": id, "iteration": 2}); strings.Contains(only["diff"].(string), "+round 1") {
		c.Errorf("%v", only)
	}
	for uri, want := range map[string]string{diff["resource"].(string): "+round 2", "codeloops://session/" + id + "/log": `"type":"session_end"`} {
		r, err := c.ReadResource(c.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || !strings.Contains(r.Contents[0].Text, want) {
			c.Errorf("%s: %v, %+v", uri, err, r)
		}
	}
}

// TestMCPStop: a run stops after its iteration, or at once.
func TestMCPStop(t *testing.T) {
	t.Parallel()
	s := newMCPStage(t)
	c := s.client()
	c.get("run_start", map[string]any{"prompt": "make it"})
	s.awaitFile("at.1")
	c.has("run_stop", nil, map[string]any{"message": "stops when iteration 1 is over"})
	c.has("run_stop", map[string]any{"off": true}, map[string]any{"message": "goes on"})
	c.get("run_stop", nil)
	s.put("go.1", "")
	c.has("run_wait", nil, map[string]any{"outcome": "interrupted", "feedback": "once more", "next": "codeloops resume"})
	_ = os.Remove(filepath.Join(s.dir, "at.1"))
	_ = os.Remove(filepath.Join(s.dir, "go.1"))
	c.get("run_start", map[string]any{"prompt": "make another"})
	s.awaitFile("at.1")
	c.get("run_stop", map[string]any{"now": true})
	over := c.has("run_wait", nil, map[string]any{"outcome": "interrupted", "iterations": 0.0})
	uri := fmt.Sprintf("codeloops://session/%s/diff", over["session"])
	if r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err != nil || r.Contents[0].Blob == nil || len(r.Contents[0].Blob) > 0 {
		t.Errorf("a diff of nothing: %v, %+v", err, r)
	}
}

// TestMCPVerdict: a critic judges what has changed since a commit, also without a run.
func TestMCPVerdict(t *testing.T) {
	t.Parallel()
	s := newMCPStage(t)
	c := s.client()
	s.put("work/new.txt", "by hand\n")
	c.has("verdict", map[string]any{"task": "add a file", "since": "HEAD"}, map[string]any{"done": false, "feedback": "once more"})
	if text, err := os.ReadFile(filepath.Join(s.dir, "prompt.critic.1")); err != nil || !strings.Contains(string(text), "+by hand") || !strings.Contains(string(text), "add a file") {
		t.Errorf("%v\n%s", err, text)
	}
	s.put("approve", "")
	c.has("verdict", nil, map[string]any{"done": true, "outcome": "success", "summary": "it is there", "confidence": 0.9, "session_id": "_"})
	c.sentence("verdict", map[string]any{"task": "x", "since": "nowhere"}, "nowhere")
}

// TestMCPRefused: what cannot be done is said in a sentence, with what to do instead.
func TestMCPRefused(t *testing.T) {
	t.Parallel()
	s := newMCPStage(t)
	s.put("other/x", "")
	s.put("work/sub/codeloops.toml", "checks = [\"true\"]\n")
	c := s.client()
	for _, test := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"session_show", map[string]any{"session": "2020"}, "no such session"},
		{"session_show", map[string]any{"session": "../x.jsonl"}, `"../x.jsonl" is not the id of a session`},
		{"session_diff", map[string]any{"session": "--all"}, `"--all" is not the id of a session`},
		{"run_wait", nil, "no such session"},
		{"sessions", map[string]any{"dir": s.dir}, "is outside of what this client works on"},
		{"run_start", map[string]any{"prompt": "x", "dir": "../other"}, "is outside of what this client works on"},
		{"run_start", map[string]any{"prompt": "x", "dir": "missing"}, "no such file"},
		{"run_start", map[string]any{"prompt": "  "}, "empty"},
		{"run_start", map[string]any{"prompt": "x", "agent": "cluade"}, `cluade`},
		{"run_start", map[string]any{"prompt": "x", "max_iterations": 6}, "max_iterations can be at most 5 here, not 6"},
		{"run_start", map[string]any{"prompt": "x", "checks": []string{"true"}}, "checks"},
		{"run_start", map[string]any{"prompt": "a long enough task", "dir": "sub"}, "codeloops config trust"},
		{"run_start", map[string]any{}, "prompt"},
		{"sessions", map[string]any{"outcome": "sucess"}, "did you mean success?"},
	} {
		c.sentence(test.tool, test.args, test.want)
	}
	s.client(filepath.Join(s.dir, "other")).sentence("sessions", nil, "not a git repository")
	if list := s.client(s.root).get("sessions", map[string]any{"dir": filepath.Join(s.root, "sub")}); len(list["sessions"].([]any)) != 0 {
		t.Errorf("%v", list)
	}
}

// TestMCPInTurn: an agent of a run looks at what it likes, but starts and steers nothing.
func TestMCPInTurn(t *testing.T) {
	t.Parallel()
	s := newMCPStage(t)
	s.env = append(s.env, "CODELOOPS_SESSION=2026-01-27T15-30-45Z_abcdef")
	c := s.client()
	c.get("sessions", nil)
	const refused = "is for the user alone, and this is a turn of a running session"
	c.sentence("run_start", map[string]any{"prompt": "make it"}, refused)
	c.sentence("queue_add", map[string]any{"prompt": "make it"}, refused)
}

// TestMCPQueue: tasks of the queue, and an error of its command with the hint.
func TestMCPQueue(t *testing.T) {
	t.Parallel()
	c := newMCPStage(t).client()
	task := c.has("queue_add", map[string]any{"prompt": "- write sesame-open-wide", "priority": 2},
		map[string]any{"state": "waiting", "target": "main", "prompt": "- write [redacted]"})
	if list := c.get("queue_list", nil)["tasks"].([]any); len(list) != 1 || list[0].(map[string]any)["id"] != task["id"] {
		t.Errorf("%v", list)
	}
	c.sentence("queue_add", map[string]any{"prompt": "- write sesame-open-wide"}, "waiting (codeloops queue run works on it")
}

// TestMCPTools: tools say whether they change something, and none takes a command.
func TestMCPTools(t *testing.T) {
	t.Parallel()
	c := newMCPStage(t).client()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var looks, changes []string
	for _, tool := range list.Tools {
		schema, _ := json.Marshal(tool.InputSchema)
		for _, argument := range []string{"check", "command", "script", "trust", "policy", "setup"} {
			if strings.Contains(string(schema), `"`+argument) {
				t.Errorf("%s has an argument %s", tool.Name, argument)
			}
		}
		if tool.OutputSchema == nil || tool.Description == "" || tool.Annotations.Title == "" {
			t.Errorf("%s says too little: %+v", tool.Name, tool)
		}
		if tool.Annotations.ReadOnlyHint {
			looks = append(looks, tool.Name)
		} else {
			changes = append(changes, tool.Name)
		}
	}
	if want := []string{"queue_list", "run_wait", "session_diff", "session_show", "sessions", "verdict"}; !slices.Equal(looks, want) {
		t.Errorf("look: %q", looks)
	}
	if want := []string{"queue_add", "run_say", "run_start", "run_stop"}; !slices.Equal(changes, want) {
		t.Errorf("change: %q", changes)
	}
}

// TestMCPCancelled: a client that cancels a call gets it back at once, and the run goes on.
func TestMCPCancelled(t *testing.T) {
	t.Parallel()
	s := newMCPStage(t)
	c := s.client()
	c.get("run_start", map[string]any{"prompt": "make it"})
	s.awaitFile("at.1")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	start := time.Now()
	if r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "run_wait"}); err == nil || time.Since(start) > 30*time.Second { // its own end comes after 40
		t.Errorf("%v, %+v", time.Since(start), r)
	}
	c.has("run_wait", map[string]any{"seconds": 0.1}, map[string]any{"running": true})
	c.get("run_stop", map[string]any{"now": true})
	c.get("run_wait", nil)
}

// TestMCPHTTP: over HTTP, the server answers only who has its token and names it rightly, and no page of another site.
func TestMCPHTTP(t *testing.T) {
	t.Parallel()
	s := newMCPStage(t)
	for _, address := range []string{"0.0.0.0:0", "example.com:80", "8080"} {
		cmd := s.command("mcp", "--http", address)
		cmd.Stderr = nil
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%s: %v\n%s", address, err, out)
		}
	}
	server, at, token := s.serve()
	ask := func(change func(*http.Request)) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		change(r)
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		_, _ = io.Copy(io.Discard, reply.Body)
		return reply.StatusCode
	}
	for name, test := range map[string]struct {
		want   int
		change func(*http.Request)
	}{
		"no token":     {401, func(r *http.Request) { r.Header.Del("Authorization") }},
		"other token":  {401, func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }},
		"other host":   {403, func(r *http.Request) { r.Host = "evil.example" }},
		"other port":   {403, func(r *http.Request) { r.Host = "127.0.0.1:1" }},
		"other origin": {403, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }},
		"other site":   {403, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }},
		"other path":   {404, func(r *http.Request) { r.URL.Path = "/" }},
		"too large": {413, func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+strings.Repeat("x", 5<<20)+`"}`)), -1
		}},
	} {
		if got := ask(test.change); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}

	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: at, HTTPClient: &http.Client{Transport: bearer(token)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	c := &mcpClient{mcpStage: s, ClientSession: session}
	if list := c.get("sessions", nil); len(list["sessions"].([]any)) != 0 {
		t.Errorf("%v", list)
	}
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); server.ProcessState.ExitCode() != 130 {
		t.Errorf("%v", err)
	}
}

// serve starts a server over HTTP.
func (s *mcpStage) serve() (server *exec.Cmd, at, token string) {
	s.Helper()
	server = s.command("mcp", "--http", "127.0.0.1:0")
	server.Stderr = nil
	said, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		s.Fatal(err)
	}
	var begin strings.Builder
	for buf := make([]byte, 256); strings.Count(begin.String(), "\n") < 2; {
		n, err := said.Read(buf)
		begin.Write(buf[:n])
		if err != nil {
			s.Fatalf("%v\n%s", err, &begin)
		}
	}
	lines := strings.Split(begin.String(), "\n")
	_, at, _ = strings.Cut(lines[0], "served at ")
	_, token, _ = strings.Cut(lines[1], "Bearer ")
	return server, at, token
}

// A bearer adds a token to requests.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestMCPTask: a client that speaks the extension for tasks gets one for a run, and asks for it again after it was
// started anew.
func TestMCPTask(t *testing.T) {
	t.Parallel()
	s := newMCPStage(t)
	first := s.raw()
	began := first.ask("tools/call", map[string]any{"name": "run_start", "arguments": map[string]any{"prompt": "make it"}})
	id, _ := began["taskId"].(string)
	if began["resultType"] != "task" || began["status"] != "working" || id == "" || began["ttlMs"] != nil {
		t.Fatalf("%v", began)
	}
	s.awaitFile("at.1")
	if err := first.server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c := s.raw()
	if at := c.ask("tasks/get", map[string]any{"taskId": id}); at["status"] != "working" || !strings.Contains(at["statusMessage"].(string), "iteration 1 of 5 · actor") || at["resultType"] != "complete" {
		t.Errorf("%v", at)
	}
	s.put("go.1", "")
	s.put("go.2", "")
	var at map[string]any
	s.await("the end of the task", func() bool { at = c.ask("tasks/get", map[string]any{"taskId": id}); return at["status"] != "working" })
	result, _ := at["result"].(map[string]any)
	verdict, _ := result["structuredContent"].(map[string]any)
	if at["status"] != "completed" || result["isError"] != false || verdict["summary"] != "it is there" {
		t.Errorf("%v", at)
	}
	if refused := c.ask("tasks/get", map[string]any{"taskId": "2020"}); refused["code"] != -32602.0 {
		t.Errorf("%v", refused)
	}
	if got := c.ask("tools/call", map[string]any{"name": "run_wait", "arguments": map[string]any{}}); got["resultType"] != "complete" {
		t.Errorf("%v", got)
	}
	c.plain = true
	if refused := c.ask("tasks/get", map[string]any{"taskId": id}); refused["code"] != -32021.0 {
		t.Errorf("without the extension: %v", refused)
	}
}

// TestMCPTaskCancelled: to cancel a task interrupts its run. A task whose run was killed has failed.
func TestMCPTaskCancelled(t *testing.T) {
	t.Parallel()
	for ending, status := range map[string]string{"cancelled": "cancelled", "killed": "failed"} {
		s := newMCPStage(t)
		c := s.raw()
		id := c.ask("tools/call", map[string]any{"name": "run_start", "arguments": map[string]any{"prompt": "make it"}})["taskId"]
		s.awaitFile("at.1")
		if ending == "cancelled" {
			c.ask("tasks/cancel", map[string]any{"taskId": id})
		} else {
			out, err := s.command("status", "--json").Output()
			var runs []struct{ PID int }
			if err == nil {
				err = json.Unmarshal(out, &runs)
			}
			if err == nil {
				err = syscall.Kill(runs[0].PID, syscall.SIGKILL)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		s.await(ending, func() bool { return c.ask("tasks/get", map[string]any{"taskId": id})["status"] == status })
		s.await("the end of the run", func() bool { out, _ := s.command("status", "--json").Output(); return string(out) == "[]\n" })
	}
}

// TestMCPTaskAsks: a task asks the user through its client, for a plan and for a limit that is used up, and goes on with the answer.
func TestMCPTaskAsks(t *testing.T) {
	t.Parallel()
	s := newMCPStage(t)
	s.put("go.1", "")
	s.put("go.2", "")
	c := s.raw()

	id := c.begin(map[string]any{"strategy": "plan-and-execute", "approve_plan": true})
	if at := c.awaitQuestion(id, "answer"); !strings.Contains(at, "1. make it") {
		t.Error(at)
	}
	if out, err := s.command("status").Output(); err != nil || !strings.Contains(string(out), "asks: The plan:") {
		t.Errorf("status: %s, %v", out, err)
	}
	c.answer(id, "answer", "accept", map[string]any{"answer": "+1 look first"})
	s.await("the changed plan", func() bool { return strings.Contains(c.awaitQuestion(id, "answer"), "2. make it") })
	c.answer(id, "answer", "decline", nil)
	c.awaitEnd(id, "cancelled")

	id = c.begin(map[string]any{"max_iterations": 1})
	c.awaitQuestion(id, "raise")
	c.answer(id, "raise", "accept", map[string]any{"max_iterations": 3})
	if verdict := c.awaitEnd(id, "completed"); verdict["outcome"] != "success" || verdict["iterations"] != 2.0 {
		t.Errorf("%v", verdict)
	}

	id = c.begin(map[string]any{"max_iterations": 1, "strategy": "actor-critic"})
	c.awaitQuestion(id, "raise")
	c.answer(id, "raise", "decline", nil)
	c.awaitEnd(id, "completed")
}

// TestMCPTaskSwitches: while an agent waits for a limit of its service, its task asks whether another one shall take over.
func TestMCPTaskSwitches(t *testing.T) {
	t.Parallel()
	s := newMCPStage(t)
	s.put("go.1", "")
	s.put("go.2", "")
	s.put("spent", fmt.Sprintf(`cat >/dev/null
echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%d}}'
echo '{"type":"result","is_error":true,"api_error_status":429,"result":"limit"}'
exit 1
`, time.Now().Add(2*time.Hour).Unix()))
	s.put("bin/crush", "#!/bin/sh\n"+mcpAgent)
	if err := os.Chmod(filepath.Join(s.dir, "bin", "crush"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "PATH="+filepath.Join(s.dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"), "ANTHROPIC_API_KEY=sesame-open-more")
	c := s.raw()

	id := c.begin(map[string]any{"agent": "spent"})
	if at := c.awaitQuestion(id, "agent"); !strings.Contains(at, "The actor spent has reached a limit of its service") {
		t.Error(at)
	}
	c.answer(id, "agent", "accept", map[string]any{"agent": "wait"})
	if at := c.ask("tasks/get", map[string]any{"taskId": id}); at["status"] != "working" {
		t.Errorf("after it was told to wait: %v", at)
	}
	if at := c.ask("tasks/cancel", map[string]any{"taskId": id}); at["resultType"] != "complete" {
		t.Errorf("%v", at)
	}
	c.awaitEnd(id, "cancelled")

	id = c.begin(map[string]any{"agent": "spent"})
	c.awaitQuestion(id, "agent")
	c.answer(id, "agent", "accept", map[string]any{"agent": "crush"})
	if verdict := c.awaitEnd(id, "completed"); verdict["outcome"] != "success" {
		t.Errorf("%v", verdict)
	}
}

// begin starts a run as a task.
func (c *rawClient) begin(args map[string]any) (id any) {
	c.Helper()
	args["prompt"] = "make it"
	return c.ask("tools/call", map[string]any{"name": "run_start", "arguments": args})["taskId"]
}

// awaitQuestion returns what a task asks.
func (c *rawClient) awaitQuestion(id any, key string) string {
	c.Helper()
	var at map[string]any
	c.await("the question "+key, func() bool {
		at = c.ask("tasks/get", map[string]any{"taskId": id})
		return at["status"] == "input_required"
	})
	if q, _ := at["inputRequests"].(map[string]any); q[key] == nil {
		c.Errorf("it asks %v", at)
	}
	message, _ := at["statusMessage"].(string)
	return message
}

func (c *rawClient) answer(id any, key, action string, content map[string]any) {
	c.Helper()
	if got := c.ask("tasks/update", map[string]any{"taskId": id, "inputResponses": map[string]any{key: map[string]any{"action": action, "content": content}}}); got["resultType"] != "complete" {
		c.Errorf("%v", got)
	}
}

// awaitEnd returns the result of a task.
func (c *rawClient) awaitEnd(id any, want string) (verdict map[string]any) {
	c.Helper()
	var at map[string]any
	c.await("the end of the task", func() bool {
		at = c.ask("tasks/get", map[string]any{"taskId": id})
		return at["status"] != "working" && at["status"] != "input_required"
	})
	result, _ := at["result"].(map[string]any)
	if at["status"] != want || want == "completed" && result == nil {
		c.Errorf("%v, want %s", at, want)
	}
	verdict, _ = result["structuredContent"].(map[string]any)
	return verdict
}

// A rawClient speaks JSON-RPC line by line, as clients of the newest protocol do.
type rawClient struct {
	*mcpStage

	server *exec.Cmd
	in     io.Writer
	out    *json.Decoder
	plain  bool // declares nothing
	asked  int
}

func (s *mcpStage) raw() *rawClient {
	s.Helper()
	c := &rawClient{mcpStage: s, server: s.command("mcp")}
	in, err := c.server.StdinPipe()
	out, e := c.server.StdoutPipe()
	if err = errors.Join(err, e); err == nil {
		err = c.server.Start()
	}
	if err != nil {
		s.Fatal(err)
	}
	c.in, c.out = in, json.NewDecoder(out)
	s.Cleanup(func() { _, _ = in.Close(), c.server.Wait() })
	return c
}

// ask returns the result of a method, or its error.
func (c *rawClient) ask(method string, params map[string]any) map[string]any {
	c.Helper()
	extensions := map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}}
	if c.plain {
		extensions = nil
	}
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "raw", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"extensions": extensions, "elicitation": map[string]any{}},
	}
	c.asked++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.asked, "method": method, "params": params})
	if err == nil {
		_, err = c.in.Write(append(line, '\n'))
	}
	var answer struct{ Result, Error map[string]any }
	if err == nil {
		err = c.out.Decode(&answer)
	}
	if err != nil {
		c.Fatal(err)
	}
	if answer.Error != nil {
		return answer.Error
	}
	return answer.Result
}
