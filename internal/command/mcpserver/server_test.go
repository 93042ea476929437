package mcpserver

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"codeloops/internal/command"
	"codeloops/internal/config/host"
	"codeloops/internal/redact"
	"codeloops/internal/screen/term"
)

// dial returns a client of a server that works in a new repository and has a shell script for its program. roots are
// what the client has open; nil: it does not say.
func dial(t *testing.T, script, version string, roots ...string) (*mcp.ClientSession, *server, string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("sh plays in it")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	self := filepath.Join(t.TempDir(), "codeloops")
	if err := os.WriteFile(self, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	environ := []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "SOME_TOKEN=sesame-open-wide"}
	s, m, err := newServer(&command.Console{
		Streams: &term.Streams{In: strings.NewReader(""), Out: os.Stderr, Err: os.Stderr},
		Host:    host.Host{Environ: environ, Dir: dir, Now: time.Now, Secrets: redact.New(environ)},
	}, self, true)
	if err != nil {
		t.Fatal(err)
	}
	here, there := mcp.NewInMemoryTransports()
	if _, err := m.Connect(t.Context(), here, nil); err != nil {
		t.Fatal(err)
	}
	able := &mcp.ClientCapabilities{}
	if roots != nil {
		able.RootsV2 = &mcp.RootCapabilities{}
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{Capabilities: able})
	for _, root := range roots {
		c.AddRoots(&mcp.Root{URI: root})
	}
	client, err := c.Connect(t.Context(), there, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client, s, dir
}

// ask calls a tool, and returns the text of its result.
func ask(t *testing.T, c *mcp.ClientSession, tool string, args any) (text string, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

// TestRoots: a client that speaks the protocol of today, or that of before, works where it has a folder open. One that
// has none works nowhere.
func TestRoots(t *testing.T) {
	t.Parallel()
	other, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"", "2025-06-18"} {
		for root, want := range map[string]string{
			"":                "the client has no folder open (open a folder in it)",
			"https://x.test/": "the client has no folder open (open a folder in it)",
			"file://" + other: "not a git repository",
		} {
			roots := []string{}
			if root != "" {
				roots = append(roots, root)
			}
			c, _, dir := dial(t, "exit 1\n", version, roots...)
			if text, failed := ask(t, c, "sessions", nil); !failed || !strings.Contains(text, want) {
				t.Errorf("%q, %q: %s", version, root, text)
			}
			if text, failed := ask(t, c, "sessions", place{Dir: dir}); !failed {
				t.Errorf("%q, %q: %s", version, root, text)
			}
		}
	}
}

// TestVerdict: a verdict has what the gate prints, whatever its exit code is; what it reports as an error is one.
func TestVerdict(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script, want string
		failed       bool
	}{
		"done":     {`echo '{"outcome":"success","summary":"all of it","unknown":1}'`, `{"done":true,"outcome":"success","summary":"all of it"}`, false},
		"not done": {`echo '{"outcome":"max_iterations_reached","feedback":"sesame-open-wide","findings":[{"id":"F1"}]}'; exit 1`, `{"done":false,"feedback":"[redacted]","findings":[{"id":"F1"}],"outcome":"max_iterations_reached"}`, false},
		"error":    {`echo 'codeloops: no agent' >&2; echo 'hint: install one' >&2; exit 2`, "no agent (install one)", true},
		"silent":   {`exit 3`, "3", true},
		"args":     {`printf '{"outcome":"success","summary":"%s"}' "$*"`, `{"done":true,"outcome":"success","summary":"gate --json --task=-x --since=HEAD"}`, false},
	} {
		c, _, _ := dial(t, test.script, "")
		text, failed := ask(t, c, "verdict", verdictInput{Task: "-x", Since: "HEAD"})
		if failed != test.failed || !strings.Contains(text, test.want) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestVerdictOfNothing: without a task and without a session there is nothing to judge by.
func TestVerdictOfNothing(t *testing.T) {
	t.Parallel()
	c, _, _ := dial(t, "exit 1", "")
	if text, failed := ask(t, c, "verdict", nil); !failed || text != "there is no task to judge the work by (say in task what was to be done)" {
		t.Error(text)
	}
}

// TestVerdictTakesLong: a call is answered before the client gives up; the next one with the same arguments gets the
// verdict of the same judge.
func TestVerdictTakesLong(t *testing.T) {
	t.Parallel()
	c, s, dir := dial(t, `echo x >>judges; until [ -e go ]; do sleep 0.02; done; echo '{"outcome":"success"}'`, "")
	s.most = 500 * time.Millisecond
	for range 2 {
		if text, failed := ask(t, c, "verdict", verdictInput{Task: "x"}); failed || text != `{"done":false,"pending":true}` {
			t.Errorf("pending: %s", text)
		}
	}
	s.most = longestWait
	put(t, dir, "go")
	if text, _ := ask(t, c, "verdict", verdictInput{Task: "x"}); text != `{"done":true,"outcome":"success"}` {
		t.Error(text)
	}
	if judges, err := os.ReadFile(filepath.Join(dir, "judges")); err != nil || string(judges) != "x\n" || len(s.verdicts) != 0 {
		t.Errorf("%v, %q judged, %d are kept", err, judges, len(s.verdicts))
	}
}

// TestVerdictOld: a verdict that nobody came back for says nothing about the work of later.
func TestVerdictOld(t *testing.T) {
	t.Parallel()
	c, s, dir := dial(t, `echo x >>judges; until [ -e go ]; do sleep 0.02; done; echo '{"outcome":"success"}'`, "")
	s.most = 300 * time.Millisecond
	ask(t, c, "verdict", verdictInput{Task: "x"})
	put(t, dir, "go")
	s.mu.Lock()
	for _, j := range s.verdicts {
		<-j.over
	}
	s.mu.Unlock()
	s.most = longestWait
	s.console.Now = func() time.Time { return time.Now().Add(2 * fresh) }
	if text, _ := ask(t, c, "verdict", verdictInput{Task: "x"}); text != `{"done":true,"outcome":"success"}` {
		t.Error(text)
	}
	if judges, err := os.ReadFile(filepath.Join(dir, "judges")); err != nil || string(judges) != "x\nx\n" {
		t.Errorf("%v, %q judged", err, judges)
	}
}

// TestVerdictCancelled: a client that cancels its call ends the judge, and so does the end of the server.
func TestVerdictCancelled(t *testing.T) {
	t.Parallel()
	c, s, dir := dial(t, `echo $$ >pid; exec sleep 100`, "")
	judge := func() (alive bool) {
		pid, err := os.ReadFile(filepath.Join(dir, "pid"))
		return err == nil && len(pid) > 1 && exec.Command("kill", "-0", strings.TrimSpace(string(pid))).Run() == nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "verdict", Arguments: verdictInput{Task: "x"}})
		over <- err
	}()
	await(t, judge)
	cancel()
	if err := <-over; err == nil {
		t.Error("the call succeeded")
	}
	await(t, func() bool { return !judge() })
	if err := os.Remove(filepath.Join(dir, "pid")); err != nil {
		t.Fatal(err)
	}
	s.most = 500 * time.Millisecond
	ask(t, c, "verdict", verdictInput{Task: "x"})
	await(t, judge)
	s.close()
	await(t, func() bool { return !judge() })
}

// TestSchemas: the results are what the schemas promise, which the clients check, and a place is no argument of its own.
func TestSchemas(t *testing.T) {
	t.Parallel()
	c, _, _ := dial(t, "exit 1\n", "")
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		in, _ := json.Marshal(tool.InputSchema)
		out, _ := json.Marshal(tool.OutputSchema)
		if !strings.Contains(string(in), `"dir":{`) || strings.Contains(string(in)+string(out), `"place"`) || !strings.Contains(string(in), `"additionalProperties":false`) {
			t.Errorf("%s\n%s\n%s", tool.Name, in, out)
		}
	}
}

func put(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, there func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !there(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
	}
}
