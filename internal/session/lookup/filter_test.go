package lookup

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeloops/internal/config/host"
	"codeloops/internal/loop"
	"codeloops/internal/session"
)

var noon = time.Date(2026, 1, 27, 12, 0, 0, 0, time.FixedZone("", 3600))

// one is a session that began this many hours before noon.
func one(id string, hours int, change func(*session.Overview)) session.Overview {
	o := session.Overview{
		ID: id, Started: noon.Add(-time.Duration(hours) * time.Hour),
		Session: loop.Session{
			Prompt: "fix " + id, WorkingDir: "/p/" + id,
			Cast: loop.Cast{Actor: loop.AgentRef{Agent: "claude"}, Critic: loop.AgentRef{Agent: "codex"}},
		},
		Outcome: &loop.Outcome{Result: loop.Success, Reason: loop.StopDone, Iterations: 2, Duration: time.Minute},
		Status:  "success", Iterations: 2, Duration: time.Minute,
	}
	if change != nil {
		change(&o)
	}
	return o
}

func TestQuery(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "e.jsonl")
	whole := loop.Round{Iteration: 1, Ruling: loop.Ruling{Verdict: loop.Verdict{Feedback: "the lexer breaks"}}, Change: loop.Change{Files: []loop.FileChange{{Path: "src/parser.go"}}}}
	whole.Attempt.Stdout.Text = "what the actor says"
	text := append(session.Encode(loop.Stamp{Seq: 1, Time: noon}, loop.Started{}), "not JSON\n"...)
	if err := os.WriteFile(log, append(text, session.Encode(loop.Stamp{Seq: 2, Time: noon}, loop.IterationFinished{Round: whole})...), 0o600); err != nil {
		t.Fatal(err)
	}
	crashed := func(o *session.Overview) {
		o.Status, o.Outcome, o.Iterations = session.Crashed, nil, session.UnknownIterations
	}
	all := func() []session.Overview {
		return []session.Overview{
			one("a", 1, nil), one("b", 2, func(o *session.Overview) { o.Duration, o.Iterations = time.Hour, 1 }), one("c", 3, crashed),
			one("broken", 4, func(o *session.Overview) { o.Err, o.Outcome = io.ErrUnexpectedEOF, nil }),
			one("d", 50, func(o *session.Overview) { o.Session.Critic.Agent, o.Path = "opencode", log }),
		}
	}
	h := &host.Host{Dir: "/p", Now: func() time.Time { return noon }}
	for name, c := range map[string]struct {
		filter Filter
		want   string
	}{
		"all":            {Filter{}, "a b c d"},
		"outcome":        {Filter{Outcome: "crashed"}, "c"},
		"after":          {Filter{After: "2026-01-27 10:00"}, "a b"},
		"a date":         {Filter{After: "2026-01-26"}, "a b c"},
		"a date of time": {Filter{After: "2026-01-27T10:00"}, "a b"},
		"before":         {Filter{Before: "2026-01-27T09:00:00Z"}, "c d"},
		"since":          {Filter{Since: "2h"}, "a b"},
		"search":         {Filter{Search: "FIX B"}, "b"},
		"feedback":       {Filter{Search: "Lexer"}, "d"},
		"a file":         {Filter{Search: "parser.go"}, "d"},
		"not the actor":  {Filter{Search: "actor says"}, ""},
		"project":        {Filter{Project: "a"}, "a"},
		"above":          {Filter{Project: "/p/"}, "a b c d"},
		"agent":          {Filter{Agent: "opencode"}, "d"},
		"limit":          {Filter{Limit: 2}, "a b"},
		"longest":        {Filter{Sort: "duration"}, "b a c d"},
		"most":           {Filter{Sort: "iterations"}, "a d b c"},
	} {
		pick, err := c.filter.Query(h)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var ids []string
		for _, o := range pick(all()) {
			ids = append(ids, o.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	for _, bad := range []Filter{{Outcome: "sucess"}, {After: "soon"}, {Before: "27.1.2026"}, {After: "15:30"}, {Since: "x"}, {After: "2026-01-01", Since: "1d"}, {Sort: "size"}, {Limit: -1}} {
		if _, err := bad.Query(h); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
