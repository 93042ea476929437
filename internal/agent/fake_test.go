package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/agent/scripted"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// TestMain lets the test binary play an agent, too: if called as one, it records the call
// and does what FAKE_DOES says.
func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	if record := os.Getenv("FAKE_RECORD"); record != "" {
		os.Exit(fake(record, os.Getenv("FAKE_DOES")))
	}
	runner = proc.NewRunner(time.Now)
	code := m.Run()
	if err := runner.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// runner runs the agents of all tests.
var runner *proc.Runner

// A call describes how a fake agent was called.
type call struct {
	Args  []string
	Env   []string
	Dir   string
	Stdin []byte
	File  []byte // the file that the last argument names, if any
	Mode  os.FileMode
}

// sample is what a fake agent says by default.
const sample = "Looked around.\nDECISION: DONE\nSUMMARY: all of it works\n"

func fake(record, does string) int {
	c := call{Args: os.Args[1:], Env: os.Environ()}
	c.Dir, _ = os.Getwd()
	talks := slices.Contains(c.Args, "--acp") || slices.Contains(c.Args, "stream-jsonrpc")
	if talks {
		c.Stdin = converse()
	} else {
		c.Stdin, _ = io.ReadAll(os.Stdin) // reads until the end of the file
	}
	if len(c.Args) > 0 {
		last := c.Args[len(c.Args)-1]
		if st, err := os.Stat(last); err == nil {
			c.Mode = st.Mode().Perm()
			c.File, _ = os.ReadFile(last)
		}
	}
	data, err := json.Marshal(c)
	if err == nil {
		err = os.WriteFile(record, data, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	if i := slices.Index(c.Args, "--usage-output-file"); i >= 0 {
		_ = os.WriteFile(c.Args[i+1], []byte(`{"modelMetrics":{"m":{"usage":{"inputTokens":1000,"cacheReadTokens":300,"outputTokens":20}}}}`), 0o600)
	}
	if talks {
		return 0
	}
	if does == "" {
		return scripted.Main(context.Background(), scripted.Invocation{
			Args:  []string{"--script", os.Getenv("FAKE_SCENARIO"), "--format", os.Getenv("FAKE_FORMAT")},
			Stdin: bytes.NewReader(c.Stdin), Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv,
		})
	}
	return misbehave(does)
}

// converse answers requests until the input ends, and returns the prompt.
func converse() (prompt []byte) {
	fmt.Fprint(os.Stderr, "a warning\n")
	for in := json.NewDecoder(os.Stdin); ; {
		var request struct {
			ID     json.RawMessage
			Params struct{ Prompt, Content []struct{ Text string } }
		}
		if in.Decode(&request) != nil {
			return prompt
		}
		said := append(request.Params.Prompt, request.Params.Content...)
		if len(said) > 0 {
			prompt = []byte(said[0].Text)
			fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":%q}}}}`+"\n", sample)
			fmt.Printf(`{"jsonrpc":"2.0","method":"droid.session_notification","params":{"notification":{"type":"create_message","message":{"role":"assistant","content":[{"type":"text","text":%q}]}}}}`+"\n", sample)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"c1","stopReason":"end_turn"}}`+"\n", request.ID)
		if len(said) > 0 {
			fmt.Println(`{"jsonrpc":"2.0","method":"droid.session_notification","params":{"notification":{"type":"agent_turn_completed","reason":"completed"}}}`)
		}
	}
}

func misbehave(does string) int {
	verb, arg, _ := strings.Cut(does, " ")
	switch verb {
	case "exit":
		code, _ := strconv.Atoi(arg)
		fmt.Fprint(os.Stdout, "half of it\n")
		fmt.Fprint(os.Stderr, "something broke\n")
		return code
	case "hang":
		fmt.Fprint(os.Stdout, "thinking\n")
		time.Sleep(time.Hour)
	case "die":
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		time.Sleep(time.Hour)
	case "flood":
		n, _ := strconv.Atoi(arg)
		fmt.Fprint(os.Stdout, "DECISION: CONTINUE\n")
		for range n {
			fmt.Fprint(os.Stdout, "line of a flood\n")
		}
		fmt.Fprint(os.Stdout, sample)
	case "print":
		fmt.Fprintln(os.Stdout, arg)
	case "leave":
		_ = exec.Command("sleep", "300").Start()
	}
	return 0
}

// A stage is an environment in which fake agents run.
type stage struct {
	t      *testing.T
	place  Place
	bin    string
	record string
}

// newStage makes a stage with a program for each name.
func newStage(t *testing.T, names ...string) *stage {
	t.Helper()
	s := &stage{t: t, bin: t.TempDir(), record: filepath.Join(t.TempDir(), "call.json")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.Symlink(self, filepath.Join(s.bin, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	scenario := filepath.Join(t.TempDir(), "scenario.toml")
	turn := fmt.Sprintf("say = %q\ncomplain = \"a warning\"\nusage = { input = 5, output = 6, cache_read = 7 }\n", sample)
	if err := os.WriteFile(scenario, []byte("[[actor]]\n"+turn+"[[critic]]\n"+turn), 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.place = Place{
		Starter: runner,
		Dir:     dir,
		Environ: []string{
			"PATH=" + s.bin + string(os.PathListSeparator) + os.Getenv("PATH"),
			"HOME=" + t.TempDir(),
			"FAKE_RECORD=" + s.record,
			"FAKE_SCENARIO=" + scenario,
			"GOCOVERDIR=" + t.TempDir(), // for the coverage data of the test binary
			"GORACE=atexit_sleep_ms=0",  // otherwise the race detector delays each exit by a second
		},
		Outputs: t.TempDir(),
		Session: "2025-01-27T15-30-45Z_abc123",
		Limits:  proc.Limits{Timeout: 5 * time.Minute, Keep: 1 << 20, Grace: time.Second},
	}
	return s
}

// speaks sets the format in which the fakes print.
func (s *stage) speaks(f Format) {
	s.place.Environ = append(s.place.Environ, "FAKE_FORMAT="+string(f))
}

func (s *stage) does(what string) {
	s.place.Environ = append(s.place.Environ, "FAKE_DOES="+what)
}

func (s *stage) agent(spec Spec, model string) *Agent {
	s.t.Helper()
	a, err := New(spec, model, s.place, loop.Write, loop.ReadOnly)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// play runs one turn, and returns the reply and how the fake agent was called.
func (s *stage) play(a *Agent, r Request) (Reply, call) {
	s.t.Helper()
	reply, err := a.Run(s.t.Context(), r)
	if err != nil {
		s.t.Fatal(err)
	}
	data, err := os.ReadFile(s.record)
	if err != nil {
		s.t.Fatalf("the agent was not called: %v; it said %q", err, reply.Stderr.Text)
	}
	var c call
	if err := json.Unmarshal(data, &c); err != nil {
		s.t.Fatal(err)
	}
	return reply, c
}

func (c call) env(name string) []string {
	var values []string
	for _, entry := range c.Env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			values = append(values, v)
		}
	}
	return values
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// known returns an agent of the catalogue.
func known(name string) Spec {
	s, err := Find(name)
	if err != nil {
		panic(err)
	}
	return s
}
