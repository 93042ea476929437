package agent

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// recorded returns the result of a real CLI's recorded turn.
func recorded(t *testing.T, name string) proc.Result {
	t.Helper()
	base := filepath.Join("testdata", "samples", filepath.FromSlash(name))
	var res proc.Result
	var call struct {
		Code int `json:"rc"`
	}
	for ending, take := range map[string]func([]byte) error{
		".stdout": func(b []byte) error { res.Stdout = captured(b); return nil },
		".stderr": func(b []byte) error { res.Stderr = captured(b); return nil },
		".json":   func(b []byte) error { return json.Unmarshal(b, &call) },
	} {
		data, err := os.ReadFile(base + ending)
		if err == nil {
			err = take(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if res.ExitCode = call.Code; call.Code < 0 {
		res.ExitCode = -1
	}
	return res
}

func captured(b []byte) proc.Captured { return proc.Captured{Text: b, Total: int64(len(b))} }

// played returns the reply to a result, as if it had just arrived.
func played(spec Spec, access loop.Access, res proc.Result) Reply {
	l := newListener(spec.Output, 1<<20, nil, func() {})
	l.hear("stdout", res.Stdout.Text)
	return spec.reply(access, res, l.end())
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		ending loop.Ending
		reason string // the prefix of the reason
	}{
		"claude/fault-401-json":           {loop.EndFailed, "its output breaks off before the end; the last problem was: authentication_failed (status 401)"},
		"claude/fault-401-gives-up":       {loop.EndAuth, "Failed to authenticate. API Error: 401"},
		"claude/fault-403-json":           {loop.EndAuth, "Failed to authenticate. API Error: 403"},
		"claude/fault-429-json":           {loop.EndRateLimited, "API Error: Request rejected (429)"},
		"claude/fault-529-json":           {loop.EndOverloaded, "API Error: 529"},
		"claude/fault-too-long-json":      {loop.EndContextTooLong, "Prompt is too long"},
		"claude/fault-not-logged-in-json": {loop.EndAuth, "Not logged in"},
		"claude/fault-empty-json":         {loop.EndEmpty, ""},
		"claude/fault-errevent-json":      {loop.EndCompleted, ""},
		"claude/fault-root": {
			loop.EndPermissionDenied,
			"--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons; run codeloops as another user, or, in a container",
		},
		"cline/fault-401-json":        {loop.EndAuth, "scripted fault"},
		"cline/fault-empty-json":      {loop.EndFailed, "Model returned empty response"},
		"cline/fault-errevent-json":   {loop.EndFailed, "scripted error event"},
		"cline/fault-too-long-json":   {loop.EndContextTooLong, "The request exceeds"},
		"cn/fault-401":                {loop.EndAuth, `401 `},
		"codex/fault-401-json":        {loop.EndAuth, "unexpected status 401"},
		"codex/fault-429-json":        {loop.EndRateLimited, "exceeded retry limit"},
		"codex/fault-529-json":        {loop.EndOverloaded, "unexpected status 529"},
		"codex/fault-too-long-json":   {loop.EndContextTooLong, "Codex ran out of room"},
		"codex/fault-empty-json":      {loop.EndEmpty, ""},
		"codex/fault-errevent-json":   {loop.EndOverloaded, "stream disconnected"},
		"copilot/fault-401-json":      {loop.EndAuth, "Authentication failed"},
		"copilot/fault-empty-json":    {loop.EndFailed, "No response was returned."},
		"copilot/fault-errevent-json": {loop.EndOverloaded, "Failed to get response"},
		"droid/fault-401-json":        {loop.EndAuth, "401 scripted fault"},
		"droid/fault-too-long-json":   {loop.EndContextTooLong, "400 prompt is too long"},
		"droid/fault-429-cut":         {loop.EndFailed, "its output breaks off"},
		"gemini/fault-401-json":       {loop.EndAuth, "scripted fault"},
		"gemini/fault-too-long-json":  {loop.EndContextTooLong, "prompt is too long"},
		"gemini/fault-empty-json":     {loop.EndEmpty, "The model returned an empty response"},
		"gemini/fault-errevent-json":  {loop.EndFailed, "Model stream ended"},
		"opencode/fault-401-json":     {loop.EndAuth, "scripted fault"},
		"opencode/fault-too-long-json": {
			loop.EndContextTooLong, "prompt is too long",
		},
		"opencode/fault-empty-json":    {loop.EndEmpty, ""},
		"opencode/fault-errevent-json": {loop.EndFailed, "its output breaks off"},
		"pi/fault-401-json":            {loop.EndAuth, "401 scripted fault"},
		"pi/fault-429-json":            {loop.EndRateLimited, "429 scripted fault"},
		"pi/fault-529-json":            {loop.EndOverloaded, "529 scripted fault"},
		"pi/fault-too-long-json":       {loop.EndContextTooLong, "400 prompt is too long"},
		"pi/fault-empty-json":          {loop.EndEmpty, ""},
		"pi/fault-errevent-json":       {loop.EndFailed, "scripted error event"},
		"qwen/fault-401-json":          {loop.EndAuth, "401 scripted fault"},
		"qwen/fault-too-long-json":     {loop.EndContextTooLong, "400 prompt is too long"},
		"qwen/fault-empty-json":        {loop.EndFailed, "Model stream ended with empty"},
		"qwen/fault-errevent-json":     {loop.EndFailed, "scripted error event"},
		// Text before the last tool call is not a final message.
		"codex/fault-empty-after-preamble-json": {loop.EndEmpty, ""},
		"droid/fault-empty-after-preamble-json": {loop.EndEmpty, ""},
		// The user is not signed in.
		"copilot/fault-no-key":        {loop.EndAuth, "Error: No authentication information found."},
		"copilot/fault-not-validated": {loop.EndAuth, "Error: Authentication token found but could not be validated."},
		"droid/fault-no-key-json":     {loop.EndAuth, "Error: Authentication failed. Please log in"},
		"pi/fault-no-key-json":        {loop.EndAuth, "No API key found for the selected model."},
		"qwen/fault-no-auth-type-json": {
			loop.EndAuth, "No auth type is selected.",
		},
		"qwen/fault-no-key-json": {loop.EndAuth, "Missing API key for OpenAI-compatible auth."},
		// A status precedes the service's JSON.
		"pi/fault-401-code-json": {loop.EndAuth, "401 scripted fault"},
		"pi/fault-429-code-json": {loop.EndRateLimited, "429 scripted limit"},
		"pi/fault-503-json":      {loop.EndOverloaded, "503 scripted overload"},
		// The service states when its limit ends.
		"claude/fault-limit-json":  {loop.EndRateLimited, "You've hit your 5-hour limit · resets 6:32am (UTC)"},
		"cline/fault-limit-json":   {loop.EndRateLimited, "Rate limit reached for"},
		"codex/fault-limit-json":   {loop.EndRateLimited, "You’ve hit your usage limit."},
		"copilot/fault-limit-json": {loop.EndRateLimited, "429 Rate limit reached for"},
		"droid/fault-limit-json":   {loop.EndRateLimited, "429 Rate limit reached for"},
		"gemini/fault-limit-json":  {loop.EndRateLimited, "You exceeded your current quota"},
		// The connection is refused.
		"claude/fault-refused-json":  {loop.EndOverloaded, "API Error: Connection refused"},
		"cline/fault-refused-json":   {loop.EndOverloaded, "Cannot connect to API: Unable to connect."},
		"cn/fault-refused":           {loop.EndOverloaded, `Connection error.`},
		"copilot/fault-refused-json": {loop.EndOverloaded, "Could not connect to local model provider"},
		"droid/fault-refused-json":   {loop.EndOverloaded, "Connection error."},
		"gemini/fault-refused-json":  {loop.EndOverloaded, "exception TypeError: fetch failed"},
		"pi/fault-refused-json":      {loop.EndOverloaded, "Connection error."},
		"qwen/fault-refused-json":    {loop.EndOverloaded, "Connection error."},
		// Other services use other words.
		"cline/fault-404-json":                {loop.EndFailed, "scripted fault"},
		"cline/fault-429-json":                {loop.EndFailed, "scripted limit"},
		"cn/fault-cut":                        {loop.EndOverloaded, `Premature close`},
		"cn/fault-bad-key":                    {loop.EndAuth, `400 API key not valid.`},
		"cn/fault-400":                        {loop.EndFailed, `400 scripted fault`},
		"cn/fault-too-long":                   {loop.EndContextTooLong, `Context length exceeded`},
		"codex/fault-400-json":                {loop.EndFailed, "scripted fault"},
		"codex/fault-500-json":                {loop.EndOverloaded, "We’re currently experiencing high demand"},
		"copilot/fault-429-json":              {loop.EndRateLimited, "Failed to get response from the AI model; retried 5 times"},
		"copilot/fault-too-long-json":         {loop.EndContextTooLong, "400 This model's maximum context length is"},
		"gemini/fault-429-json":               {loop.EndRateLimited, "scripted limit"},
		"gemini/fault-500-json":               {loop.EndOverloaded, "scripted fault"},
		"gemini/fault-too-long-google-json":   {loop.EndContextTooLong, "The input token count"},
		"kilo/fault-401-json":                 {loop.EndAuth, "scripted fault"},
		"kilo/fault-empty-json":               {loop.EndFailed, "Error: run ended without an assistant message"},
		"opencode/fault-cut-json":             {loop.EndOverloaded, "Connection reset by server"},
		"opencode/fault-429-json":             {loop.EndRateLimited, "scripted limit"},
		"opencode/fault-errevent-openai-json": {loop.EndOverloaded, "scripted error event"},
		// These were asked for JSON but printed none: they failed too early, or another
		// program was started instead.
		"codex/fault-401":    {loop.EndFailed, "ERROR: unexpected status 401"},
		"copilot/fault-401":  {loop.EndFailed, "Check your COPILOT_PROVIDER_API_KEY"},
		"gemini/fault-401":   {loop.EndFailed, "An unexpected critical error occurred"},
		"opencode/fault-401": {loop.EndFailed, "Error: scripted fault"},
		"pi/fault-401":       {loop.EndFailed, "401 scripted fault"},
		"qwen/fault-401":     {loop.EndFailed, "[API Error: 401 scripted fault]"},
	} {
		cli, _, _ := strings.Cut(name, "/")
		spec, err := Find(cli)
		if err != nil {
			t.Fatal(err)
		}
		for _, access := range []loop.Access{loop.Write, loop.ReadOnly} {
			got := played(spec, access, recorded(t, name))
			if got.Ending != want.ending || !strings.HasPrefix(got.Reason, want.reason) || want.reason == "" && got.Reason != "" {
				t.Errorf("%s: %s, %q; want %s, %q", name, got.Ending, got.Reason, want.ending, want.reason)
			}
		}
	}
}

// TestSilenceAfterALimit: an agent that is stopped for being idle after its service
// reported a problem ends with that problem. After its closing event, no limit cuts it short.
func TestSilenceAfterALimit(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ idle, late loop.Ending }{
		"codex/fault-429-waits-json": {loop.EndRateLimited, loop.EndTimedOut},
		"claude/fault-401-json":      {loop.EndAuth, loop.EndTimedOut},
		"claude/fault-529-json":      {loop.EndOverloaded, loop.EndOverloaded},
		"codex/actor-json-1":         {loop.EndCompleted, loop.EndCompleted},
	} {
		cli, _, _ := strings.Cut(name, "/")
		spec, err := Find(cli)
		if err != nil {
			t.Fatal(err)
		}
		res := recorded(t, name)
		for stop, want := range map[proc.Stop]loop.Ending{
			proc.StopIdle: want.idle, proc.StopTimeout: want.late, proc.StopCancelled: loop.EndInterrupted,
		} {
			if res.Stop = stop; played(spec, loop.Write, res).Ending != want {
				t.Errorf("%s, stopped for %s: %s, want %s", name, stop, played(spec, loop.Write, res).Ending, want)
			}
		}
	}
}

// TestGoodTurns checks every part of the reply for a completed structured turn.
func TestGoodTurns(t *testing.T) {
	t.Parallel()
	for _, cli := range []string{"claude", "cline", "codex", "copilot", "droid", "gemini", "kilo", "opencode", "pi", "qwen"} {
		spec, err := Find(cli)
		if err != nil {
			t.Fatal(err)
		}
		kind := "json"
		if strings.HasSuffix(string(spec.Output), "stream-json") {
			kind = "stream-json"
		}
		actor := played(spec, loop.Write, recorded(t, cli+"/actor-"+kind+"-1"))
		if actor.Ending != loop.EndCompleted || actor.Text != "ACTOR: finished, pass 1." ||
			actor.Stdout.Text != "ACTOR: starting step 1.\n\nACTOR: finished, pass 1." {
			t.Errorf("%s: %s, %q, %q", cli, actor.Ending, actor.Text, actor.Stdout.Text)
		}
		if actor.Stdout.Total != int64(len(actor.Stdout.Text)) || actor.Stdout.Omitted != 0 {
			t.Errorf("%s: %d bytes are counted as %d, %d of them omitted", cli, len(actor.Stdout.Text), actor.Stdout.Total, actor.Stdout.Omitted)
		}
		for n, want := range map[string]string{
			"1": "DECISION: CONTINUE\nFEEDBACK: add a second file",
			"2": "DECISION: DONE\nSUMMARY: both files are there\nCONFIDENCE: 0.9",
		} {
			critic := played(spec, loop.ReadOnly, recorded(t, cli+"/critic-"+kind+"-"+n))
			if critic.Ending != loop.EndCompleted || critic.Text != want || critic.Stdout.Text != want {
				t.Errorf("%s: %s, %q", cli, critic.Ending, critic.Text)
			}
		}
		if (actor.Conversation == "") != (cli == "cline") || (actor.Usage.Tokens == nil) != (cli == "copilot") {
			t.Errorf("%s: conversation %q, usage %+v", cli, actor.Conversation, actor.Usage)
		}
	}
}

// TestJudge checks endings that the samples do not cover.
func TestJudge(t *testing.T) {
	t.Parallel()
	text := Spec{Protocol: Protocol{Output: Text, Sayings: []Saying{{Line: "No key", Ending: loop.EndAuth}}, Exits: map[string]loop.Ending{"41": loop.EndAuth}}}
	events := Spec{Protocol: Protocol{Output: "codex-json", Sayings: text.Sayings}}
	const good = `{"type":"item.completed","item":{"type":"agent_message","text":"ok"}}` + "\n" + `{"type":"turn.completed"}` + "\n"
	for _, test := range []struct {
		name           string
		spec           Spec
		access         loop.Access
		stop           proc.Stop
		exit           int
		stdout, stderr string
		want           loop.Ending
		reason         string
	}{
		{name: "silent actor", spec: text, access: loop.Write, want: loop.EndCompleted},
		{name: "silent critic", spec: text, access: loop.ReadOnly, stdout: " \n", want: loop.EndEmpty},
		{name: "exit code with a meaning", spec: text, exit: 41, stderr: "cannot", want: loop.EndAuth, reason: "cannot"},
		{name: "known line", spec: text, exit: 1, stderr: "\x1b[31mNo key\x1b[0m found\nbye\n", want: loop.EndAuth, reason: "No key found"},
		{name: "known line on stdout", spec: text, exit: 1, stdout: "No key\n", want: loop.EndAuth, reason: "No key"},
		{name: "known line within a line", spec: text, exit: 1, stderr: "the test says No key\n", want: loop.EndFailed, reason: "the test says No key"},
		{name: "known line, good end", spec: text, access: loop.Write, stderr: "No key\n", stdout: "ok", want: loop.EndCompleted},
		{name: "known line, long ago", spec: text, exit: 1, stderr: "No key\n" + strings.Repeat("x\n", 40), want: loop.EndFailed, reason: "x"},
		{name: "trace", spec: text, exit: 1, stderr: "Error: bad\n  at f (a.js:1)\n}\n", want: loop.EndFailed, reason: "Error: bad"},
		{name: "signal", spec: text, exit: -1, want: loop.EndFailed},
		{name: "events", spec: events, stdout: good, want: loop.EndCompleted},
		{name: "events, exit code", spec: events, stdout: good, exit: 2, stderr: "late trouble", want: loop.EndFailed, reason: "late trouble"},
		{name: "events, known line", spec: events, stdout: good, exit: 2, stderr: "No key", want: loop.EndAuth, reason: "No key"},
		{name: "cut", spec: events, stdout: `{"type":"turn.started"}`, exit: -1, stop: proc.StopTimeout, want: loop.EndTimedOut},
		{name: "does not exit", spec: events, stdout: good, exit: -1, stop: proc.StopTimeout, want: loop.EndCompleted},
		{name: "does not exit, silent", spec: events, stdout: good, exit: -1, stop: proc.StopIdle, want: loop.EndCompleted},
		{name: "does not exit, interrupted", spec: events, stdout: good, exit: -1, stop: proc.StopCancelled, want: loop.EndInterrupted},
		{
			name: "cut while it tries", spec: events, exit: -1, stop: proc.StopIdle, want: loop.EndIdle, reason: "Reconnecting... 2/5",
			stdout: `{"type":"thread.started"}` + "\n" + `{"type":"error","message":"Reconnecting... 2/5"}`,
		},
		{name: "cut as text", spec: text, stop: proc.StopCancelled, exit: 1, stderr: "No key", want: loop.EndInterrupted},
		{name: "too much", spec: text, stop: proc.StopOutputLimit, want: loop.EndOutputLimit},
		{name: "not the format", spec: events, stdout: "DECISION: DONE\n", want: loop.EndFailed, reason: "its output is not the codex-json that was asked for"},
		{name: "not the format, exit code", spec: events, stdout: "No key\n", exit: 1, want: loop.EndAuth, reason: "No key"},
	} {
		got := played(test.spec, test.access, proc.Result{
			Stop: test.stop, ExitCode: test.exit, Stdout: captured([]byte(test.stdout)), Stderr: captured([]byte(test.stderr)),
		})
		if got.Ending != test.want || got.Reason != test.reason {
			t.Errorf("%s: %s, %q; want %s, %q", test.name, got.Ending, got.Reason, test.want, test.reason)
		}
		if !strings.HasPrefix(test.stdout, "{") && got.Stdout.Text != test.stdout {
			t.Errorf("%s: the output %q is lost: %q", test.name, test.stdout, got.Stdout.Text)
		}
	}
}

// TestStructuredTurn runs a structured turn as a real process and checks every part of
// its reply.
func TestStructuredTurn(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	s.speaks("claude-stream-json")
	spec := Custom("mine", CustomConfig{Command: []string{"mine"}, Output: "claude-stream-json"})
	var heard []loop.Notice
	reply, _ := s.play(s.agent(spec, ""), Request{
		Role: loop.RoleCritic, Iteration: 1, Watch: func(n loop.Notice) { heard = append(heard, n) },
	})
	said := strings.TrimSuffix(sample, "\n")
	reply.Duration = 0
	want := Reply{Text: said, Turn: loop.Turn{
		Execution:    loop.Execution{Stdout: loop.Output{Text: said, Total: int64(len(said)), File: filepath.Join(s.place.Outputs, "001.critic.stdout")}, Stderr: loop.Output{Text: "a warning\n", Total: 10, File: filepath.Join(s.place.Outputs, "001.critic.stderr")}},
		Try:          loop.Try{Ending: loop.EndCompleted, Usage: loop.Usage{Tokens: &loop.Tokens{Input: 5, Output: 6, CacheRead: 7}, Rounds: new(1)}, Agent: loop.AgentRef{Agent: "mine"}},
		Conversation: "scripted-conversation",
		ResetAt:      time.Time{},
	}}
	if g, w := dump(t, reply), dump(t, want); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	message := loop.Notice{Kind: loop.NoticeMessage, Text: strings.ReplaceAll(said, "\n", " ")}
	warning := loop.Notice{Kind: loop.NoticeOutput, Stream: "stderr", Text: "a warning\n"}
	slices.SortFunc(heard, func(a, b loop.Notice) int { return cmp.Compare(a.Stream, b.Stream) }) // two pipes may arrive in any order
	equal(t, "notices", heard, []loop.Notice{message, warning})
	if !spec.Streams {
		t.Error("an agent that prints events is not marked as streaming")
	}
}

func dump(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for _, spec := range Catalogue() {
		if spec.Output != Text && !slices.Contains(transcript.Formats(), string(spec.Output)) {
			t.Errorf("%s prints %q", spec.Name, spec.Output)
		}
		if _, err := os.Stat(filepath.Join("testdata", "samples", spec.Binaries[0])); err != nil && len(spec.Sayings)+len(spec.Exits) > 0 {
			t.Errorf("%s: there is no sample of its output", spec.Name)
		}
	}
}
