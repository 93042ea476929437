package agent

import (
	"testing"

	"codeloops/internal/loop"
)

// TestUUID compares UUIDs with those of Python's uuid.uuid5.
func TestUUID(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"2026-11-21T06-00-00Z_abcdef__actor_1":                   "faab30f3-fee0-56b6-80f3-5c597c7982ee",
		"2026-11-21T06-00-00Z_abcdef__critic_2_2.run1.leg1.try3": "6adba7f3-b74b-5a9c-be87-b6f36fd4755a",
	} {
		if got := uuid(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestSessionID: a try always gets the same ID, and no two tries share one.
func TestSessionID(t *testing.T) {
	t.Parallel()
	const turn = "s__actor_2"
	old := loop.Conversation{ID: "c", Agent: loop.AgentRef{Agent: "claude"}}
	seen := map[string]string{}
	for name, c := range map[string]struct {
		run  int
		r    Request
		want string // the name that the UUID is made of
	}{
		"first":          {0, Request{ID: turn}, turn},
		"after a limit":  {0, Request{ID: turn, Repeat: Repeat{Try: 1}}, turn + ".try1"},
		"another agent":  {0, Request{ID: turn, Repeat: Repeat{Leg: 1}}, turn + ".leg1"},
		"both":           {0, Request{ID: turn, Repeat: Repeat{Leg: 1, Try: 2}}, turn + ".leg1.try2"},
		"carried on":     {1, Request{ID: turn}, turn + ".run1"},
		"twice":          {2, Request{ID: turn, Repeat: Repeat{Try: 1}}, turn + ".run2.try1"},
		"asked again":    {0, Request{ID: "s__critic_2_2", Repeat: Repeat{Ask: 1}}, "s__critic_2_2"},
		"another's":      {0, Request{ID: "s__actor_3", Conversation: loop.Conversation{ID: "c", Agent: loop.AgentRef{Agent: "codex"}}}, "s__actor_3"},
		"no session":     {0, Request{}, ""},
		"a conversation": {0, Request{ID: turn, Conversation: old}, ""},
	} {
		a := &Agent{spec: known("claude"), at: Place{Dir: "/work", Run: c.run}}
		got, want := a.sessionID(c.r), ""
		if c.want != "" {
			want = uuid("/work\n" + c.want)
		}
		if got != want || got != a.sessionID(c.r) {
			t.Errorf("%s: %q, want that of %q", name, got, c.want)
		}
		if before, ok := seen[got]; ok && got != "" {
			t.Errorf("%s has the ID of %s", name, before)
		}
		seen[got] = name
	}
	if got := (&Agent{spec: known("codex")}).sessionID(Request{ID: turn}); got != "" {
		t.Errorf("codex, which takes none, gets %q", got)
	}
}

// TestBegins runs a turn of a real process with a session ID.
func TestBegins(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	spec := Custom("mine", CustomConfig{Command: []string{"mine"}, SessionArgs: []string{"--id={session_id}"}})
	reply, c := s.play(s.agent(spec, ""), Request{ID: "s__actor_1", Role: loop.RoleActor, Access: loop.Write, Iteration: 1})
	want := uuid(s.place.Dir + "\ns__actor_1")
	equal(t, "arguments", c.Args, []string{"--id=" + want})
	if reply.SessionID != want {
		t.Errorf("the turn has the session %q", reply.SessionID)
	}
	equal(t, "for people", spec.CommandLine(loop.Write, ""), []string{"mine", "--id={session_id}"})
}
