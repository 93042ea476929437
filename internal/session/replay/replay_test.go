package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
	"codeloops/internal/policy"
	"codeloops/internal/session"
	"codeloops/internal/session/replay"
	"codeloops/internal/strategy"
)

var noon = time.Date(2026, 1, 27, 12, 0, 0, 0, time.UTC)

// crew plays the ports of a loop: the actor adds a file in each turn, and the critic gives the
// replies in turn, repeating the last one.
type crew struct {
	policy.Gate
	replies []string
	policy  loop.Policy
	checks  []loop.CheckResult // one per turn, repeated from the first; nil means none
	seal    string             // of every prompt; "" means that replies are read by said
	cut     context.CancelFunc // called during the first review; nil means never
	drifts  int                // for this many of the first reviews, the work tree has changed meanwhile
	moves   int                // for this many of the first runs of the checks, HEAD has moved
	written []loop.Written     // by the critic, per review

	turns, asks int
	drifted     int // how often the work tree has changed
	head        int
	seconds     int
}

func (c *crew) Act(context.Context, loop.Brief, loop.Watch) (loop.Attempt, error) {
	c.turns++
	said := fmt.Sprintf("DECISION: DONE\nSUMMARY: turn %d", c.turns)
	return loop.Attempt{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}, Execution: loop.Execution{Stdout: loop.Output{Text: said}}}}, nil
}

func (c *crew) Capture(context.Context) (loop.Change, error) {
	return loop.Change{State: fmt.Sprint(c.turns, c.drifted), Position: loop.Position{Head: strconv.Itoa(c.head)}}, nil
}

func (c *crew) Checkpoint(context.Context, loop.Step, loop.Change) (string, error) { return "", nil }

func (c *crew) Judge(ctx context.Context, matter loop.Case, _ loop.Watch) (loop.Review, error) {
	if c.cut != nil {
		c.cut()
		c.cut = nil
		return loop.Review{}, context.Cause(ctx)
	}
	reply := c.replies[min(c.asks, len(c.replies)-1)]
	r := loop.Review{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}, Execution: loop.Execution{Stdout: loop.Output{Text: reply}}}, Reply: reply}
	if c.asks < len(c.written) {
		r.Written = c.written[c.asks]
	}
	if c.asks++; c.asks <= c.drifts {
		c.drifted++
	}
	if c.seal != "" {
		r.Seal, r.Boundary = c.seal, "0123456789abcdef"
		verdict.Read(&r, matter, c.policy)
		return r, nil
	}
	r.Verdict, r.Problem = said(reply)
	return r, nil
}

// said reads the replies of these tests.
func said(reply string) (loop.Verdict, string) {
	head, rest, _ := strings.Cut(reply, "\n")
	_, text, _ := strings.Cut(rest, ": ")
	switch head {
	case "DECISION: DONE":
		return loop.Verdict{Decision: loop.Done, Summary: text}, ""
	case "DECISION: CONTINUE":
		return loop.Verdict{Decision: loop.Continue, Feedback: text}, ""
	case "DECISION: ERROR":
		return loop.Verdict{Decision: loop.Error, Analysis: text}, ""
	}
	return loop.Verdict{}, "not a word of a decision"
}

const (
	done = "DECISION: DONE\nSUMMARY: all of it"
	more = "DECISION: CONTINUE\nFEEDBACK: more"
	lost = "DECISION: ERROR\nANALYSIS: lost"
	chat = "Looks good to me!"
)

func (c *crew) Between(context.Context, loop.Change, loop.Change) (loop.Change, error) {
	return loop.Change{}, nil
}

func (c *crew) clock() time.Time {
	c.seconds++
	return noon.Add(time.Duration(c.seconds) * time.Second)
}

func (c *crew) loop(sink loop.Sink) *loop.Loop {
	l := &loop.Loop{
		Workplace:     loop.Workplace{Actor: c, Tree: c, Critic: c, Gate: c},
		Strategy:      strategy.ActorCritic{},
		Sink:          sink,
		Clock:         c.clock,
		CriticRetries: 1,
	}
	if c.checks != nil {
		l.Checker = c
	}
	return l
}

func (c *crew) Check(context.Context, loop.Step) iter.Seq2[loop.CheckResult, error] {
	if c.head < c.moves {
		c.head++
	}
	return func(yield func(loop.CheckResult, error) bool) { yield(c.checks[c.turns%len(c.checks)], nil) }
}

// record runs a session and returns the store and the id of its log.
func (c *crew) record(t *testing.T) (*session.Store, string) {
	t.Helper()
	store, err := session.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rec, err := store.Create("do it", noon)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if c.cut != nil {
		c.cut = cancel
	}
	s := loop.Session{ID: rec.ID(), Prompt: "do it", Terms: loop.Terms{MaxIterations: c.MaxIterations, Policy: c.policy}}
	if _, err := c.loop(rec).Run(ctx, s); err != nil {
		t.Fatal(err)
	}
	return store, rec.ID()
}

func verify(t *testing.T, path string) replay.Report {
	t.Helper()
	report, err := replay.Verify(t.Context(), session.Read(path))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestVerifySame verifies sessions with every ending that a loop can decide, with limits that the
// log does not contain.
func TestVerifySame(t *testing.T) {
	t.Parallel()
	gate := policy.Gate{MaxIterations: 6, MaxConsecutiveErrors: 2}
	for name, c := range map[string]struct {
		crew crew
		want loop.StopReason
	}{
		"done":                {crew{Gate: gate, replies: []string{more, lost, done}}, loop.StopDone},
		"limit":               {crew{Gate: gate, replies: []string{more}}, loop.StopMaxIterations},
		"two errors in a row": {crew{Gate: gate, replies: []string{more, lost, more, lost}}, loop.StopConsecutiveErrors},
		"many are allowed":    {crew{Gate: policy.Gate{MaxIterations: 6}, replies: []string{lost}}, loop.StopMaxIterations},
		"no decision":         {crew{Gate: gate, replies: []string{chat}}, loop.StopNoDecision},
		"asked again":         {crew{Gate: gate, replies: []string{chat, more, chat, done}}, loop.StopDone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, id := c.crew.record(t)
			got := verify(t, store.Path(id))
			if got.Outcome == nil || got.Outcome.Reason != c.want || got.Iterations != got.Outcome.Iterations {
				t.Errorf("got %+v", got)
			}
			if len(got.Differences) > 0 || got.Partly != "" {
				t.Errorf("differs: %q, partly: %q", got.Differences, got.Partly)
			}
		})
	}
}

// TestVerifyResumed verifies a session that was interrupted during a review, and resumed before
// that turn of the actor was judged.
func TestVerifyResumed(t *testing.T) {
	t.Parallel()
	c := &crew{Gate: policy.Gate{MaxIterations: 5}, replies: []string{more, done}, cut: func() {}}
	store, id := c.record(t)
	cut := verify(t, store.Path(id))
	if cut.Partly == "" || len(cut.Differences) > 0 || cut.Iterations != 0 {
		t.Errorf("interrupted: %+v", cut)
	}
	rec, course, err := store.Reopen(id)
	if err != nil || course.Journal.Pending() == nil {
		t.Fatalf("%+v, %v", course, err)
	}
	if _, err := c.loop(rec).Resume(t.Context(), course.Session, course.Journal); err != nil {
		t.Fatal(err)
	}
	if got := verify(t, store.Path(id)); got.Iterations != 2 || len(got.Differences) > 0 || got.Partly != "" {
		t.Errorf("resumed: %+v", got)
	}
}

// rewritten replaces one text in a log.
func rewritten(t *testing.T, path, old, text string) {
	t.Helper()
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.ReplaceAll(log, []byte(old), []byte(text))
	if bytes.Equal(log, changed) {
		t.Fatalf("there is no %s in the log", old)
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestVerifyStale verifies sessions with stale DONEs, whose work was judged again. If the log did
// not mention the staleness, it would differ.
func TestVerifyStale(t *testing.T) {
	t.Parallel()
	gate := policy.Gate{MaxIterations: 6, MaxConsecutiveErrors: 3}
	pass := []loop.CheckResult{{Command: "make", Ending: loop.EndCompleted}}
	for name, c := range map[string]struct {
		crew       crew
		want       loop.StopReason
		iterations int
		turns      int // of the actor
		without    string
	}{
		"once":               {crew{Gate: gate, replies: []string{done}, drifts: 1}, loop.StopDone, 2, 1, "the end: success, the work was approved after 2 in the log, success, the work was approved after 1 today"},
		"twice":              {crew{Gate: gate, replies: []string{done}, drifts: 2}, loop.StopDone, 3, 1, "iteration 1: the critic: no verdict in the log, DONE today"},
		"it never rests":     {crew{Gate: gate, replies: []string{done}, drifts: 9}, loop.StopNoDecision, 3, 1, "the decision that counts: ERROR in the log, DONE today"},
		"not done after all": {crew{Gate: gate, replies: []string{done, more, done}, drifts: 1}, loop.StopDone, 3, 2, "iteration 1: the critic: no verdict in the log, DONE today"},
		"it did not matter":  {crew{Gate: gate, replies: []string{more, done}, drifts: 2}, loop.StopDone, 3, 2, "iteration 2: the critic: no verdict in the log, DONE today"},
		"at the limit":       {crew{Gate: policy.Gate{MaxIterations: 1}, replies: []string{done}, drifts: 1}, loop.StopDone, 2, 1, "success, the work was approved after 1 today"},
		"asked again":        {crew{Gate: gate, replies: []string{chat, done}, drifts: 2}, loop.StopDone, 2, 1, "success, the work was approved after 1 today"},
		"HEAD did not rest":  {crew{Gate: gate, replies: []string{done}, checks: pass, moves: 2}, loop.StopDone, 2, 1, "success, the work was approved after 1 today"},
		"nobody revises": {
			crew{Gate: policy.Gate{Rulers: policy.Rulers(loop.Policy{NoAutoRevise: true})}, policy: loop.Policy{NoAutoRevise: true}, replies: []string{done}, drifts: 1},
			loop.StopDone, 2, 1, "success, the work was approved after 1 today",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, id := c.crew.record(t)
			got := verify(t, store.Path(id))
			if got.Outcome == nil || got.Outcome.Reason != c.want || got.Iterations != c.iterations || got.Outcome.Iterations != c.iterations || c.crew.turns != c.turns {
				t.Errorf("got %+v, %+v after %d turns of the actor", got, got.Outcome, c.crew.turns)
			}
			if len(got.Differences) > 0 || got.Partly != "" {
				t.Errorf("differs: %q, partly: %q", got.Differences, got.Partly)
			}
			rewritten(t, store.Path(id), `"critic_stale"`, `"x"`)
			if got := strings.Join(verify(t, store.Path(id)).Differences, "\n"); !strings.Contains(got, c.without) {
				t.Errorf("without the staleness:\n%s\nwant %s", got, c.without)
			}
		})
	}
}

// TestVerifyStaleReadAnew: a stale reply that is no longer read as a DONE is not judged again.
func TestVerifyStaleReadAnew(t *testing.T) {
	t.Parallel()
	c := &crew{Gate: policy.Gate{MaxIterations: 1}, replies: []string{done}, drifts: 1}
	store, id := c.record(t)
	rewritten(t, store.Path(id), `"critic_output":"DECISION: DONE\nSUMMARY`, `"critic_output":"DECISION: ERROR\nANALYSIS`)
	all := strings.Join(verify(t, store.Path(id)).Differences, "\n")
	for _, want := range []string{
		"iteration 1: the critic: no verdict in the log, ERROR today",
		"the end: success, the work was approved after 2 in the log, limit reached, the iterations are used up after 1 today", // it is not judged again
	} {
		if !strings.Contains(all, want) {
			t.Errorf("got\n%s\nwant %s", all, want)
		}
	}
}

// crash is a recorder that simulates a power failure after a number of events.
type crash struct {
	*session.Recorder
	left int
}

func (c *crash) Handle(at loop.Stamp, e loop.Event) error {
	if c.left == 0 {
		return errFull
	}
	c.left--
	return c.Recorder.Handle(at, e)
}

// TestVerifyStaleAndResumed interrupts a session with a stale DONE after each event, resumes it,
// and verifies the result. A finished turn of the actor is not repeated, and its work gets a
// verdict before the next one.
func TestVerifyStaleAndResumed(t *testing.T) { //nolint:gocyclo // a sequence of checks
	t.Parallel()
	for left, whole := 1, false; !whole; left++ {
		store, err := session.NewStore(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		rec, err := store.Create("do it", noon)
		if err != nil {
			t.Fatal(err)
		}
		c := &crew{Gate: policy.Gate{MaxIterations: 5}, replies: []string{done}, drifts: 1}
		sink := &crash{rec, left}
		_, err = c.loop(sink).Run(t.Context(), loop.Session{ID: rec.ID(), Prompt: "do it", Terms: loop.Terms{MaxIterations: 5}})
		if whole = err == nil; whole {
			if left < 17 { // two iterations
				t.Errorf("the session has ended after %d events", left)
			}
			break
		}
		if !errors.Is(err, errFull) || rec.Close() != nil {
			t.Fatal(err)
		}
		var course session.Course
		if rec, course, err = store.Reopen(rec.ID()); err != nil {
			t.Fatal(err)
		}
		out, err := c.loop(rec).Resume(t.Context(), course.Session, course.Journal)
		if err != nil || out.Reason != loop.StopDone {
			t.Fatalf("after %d events: %+v, %v", left, out, err)
		}
		// The third event begins the actor's phase, and the fourth says that its turn is over.
		if again := left == 3; c.turns != 1 && !again || c.turns > 2 {
			t.Errorf("after %d events: %d turns of the actor", left, c.turns)
		}
		if got := verify(t, store.Path(rec.ID())); len(got.Differences) > 0 || got.Partly != "" || got.Iterations != out.Iterations {
			t.Errorf("after %d events: %+v", left, got)
		}
	}
}

// TestVerifyUnjudged interrupts a session that ends with the actor's own word after each event, resumes it, and verifies
// the result.
func TestVerifyUnjudged(t *testing.T) {
	t.Parallel()
	for left, whole := 1, false; !whole; left++ {
		store, err := session.NewStore(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		rec, err := store.Create("do it", noon)
		if err != nil {
			t.Fatal(err)
		}
		c := &crew{Gate: policy.Gate{MaxIterations: 5}}
		react := func(sink loop.Sink) *loop.Loop {
			l := c.loop(sink)
			l.Strategy = strategy.ReAct{MaxTurns: 3}
			return l
		}
		_, err = react(&crash{rec, left}).Run(t.Context(), loop.Session{ID: rec.ID(), Prompt: "do it", Strategy: loop.StrategyRef{Name: "react"}, Terms: loop.Terms{MaxIterations: 5}})
		if whole = err == nil; whole {
			break
		}
		if !errors.Is(err, errFull) || rec.Close() != nil {
			t.Fatal(err)
		}
		var course session.Course
		if rec, course, err = store.Reopen(rec.ID()); err != nil {
			t.Fatal(err)
		}
		if out, err := react(rec).Resume(t.Context(), course.Session, course.Journal); err != nil || out.Reason != loop.StopDone {
			t.Fatalf("after %d events: %+v, %v", left, out, err)
		}
		if got := verify(t, store.Path(rec.ID())); len(got.Differences) > 0 || got.Partly != "" {
			t.Errorf("after %d events: %+v", left, got)
		}
	}
}

// TestVerifyMeddling verifies sessions whose critic wrote in its view: the log contains it, and the
// DONE counts as it did then.
func TestVerifyMeddling(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		written loop.Written
		field   string
		queried bool
	}{
		"a file":           {loop.Written{Changed: []string{"a.txt"}}, `"critic_undone"`, true},
		"a new file":       {loop.Written{Added: []string{"a.txt"}}, `"critic_added"`, false},
		"what git goes by": {loop.Written{Settings: []string{"config"}}, `"critic_settings"`, true},
	} {
		crew := &crew{Gate: policy.Gate{MaxIterations: 6, MaxConsecutiveErrors: 2}, replies: []string{done}, written: []loop.Written{c.written, c.written, c.written}}
		store, id := crew.record(t)
		if got := verify(t, store.Path(id)); len(got.Differences) > 0 || got.Partly != "" || got.Iterations != 1 || got.Outcome.Reason != loop.StopDone {
			t.Errorf("%s: %+v", name, got)
		}
		rewritten(t, store.Path(id), c.field, `"x"`)
		if got := verify(t, store.Path(id)); slices.Contains(got.Differences, "iteration 1: replies of the critic that could not be used: 1 in the log, 0 today") != c.queried {
			t.Errorf("%s: without what was written: %q", name, got.Differences)
		}
	}
}

// TestVerifyDoubted: that a critic is asked whether it meant the tree without its own changes is none of its retries.
func TestVerifyDoubted(t *testing.T) {
	t.Parallel()
	crew := &crew{
		Gate: policy.Gate{MaxIterations: 6, MaxConsecutiveErrors: 4}, replies: []string{done, chat, chat, chat, chat, done},
		written: []loop.Written{{Changed: []string{"a.txt"}}},
	}
	store, id := crew.record(t)
	if got := verify(t, store.Path(id)); len(got.Differences) > 0 || got.Partly != "" || got.Iterations != 3 || got.Outcome.Reason != loop.StopDone {
		t.Errorf("%+v", got)
	}
}

// worded is the rule on checks with an older wording.
type worded struct{ policy.Checks }

func (w worded) Rule(c loop.Case, r loop.Review, so loop.Ruling) loop.Ruling {
	so = w.Checks.Rule(c, r, so)
	if so.Rule != "" {
		so.Verdict.Feedback = "- a check of this project does not pass"
	}
	return so
}

// TestVerifyWords verifies a session whose rules had another wording. In that wording one finding
// stays open, which ended it; today two checks that fail alternately are told apart, and it would go on.
func TestVerifyWords(t *testing.T) {
	t.Parallel()
	stuck := loop.ConvergencePolicy{WarnAfter: 2, StopAfter: 4}
	c := &crew{
		Gate: policy.Gate{MaxIterations: 9, Rulers: []policy.Ruler{
			worded{}, policy.Convergence{Policy: &stuck},
		}},
		replies: []string{done},
		policy:  loop.Policy{Convergence: &stuck},
		checks: []loop.CheckResult{
			{Command: "./a.sh", Ending: loop.EndFailed, ExitCode: 1}, {Command: "./b.sh", Ending: loop.EndFailed, ExitCode: 1},
		},
	}
	store, id := c.record(t)
	got := verify(t, store.Path(id))
	if got.Outcome == nil || got.Outcome.Reason != loop.StopStuck || got.Iterations != 4 || len(got.Differences) > 0 || got.Partly != "" {
		t.Errorf("got %+v", got)
	}
	rewritten(t, store.Path(id), `"feedback":"- a check of this project does not pass"`, `"feedback":""`)
	if got := verify(t, store.Path(id)); len(got.Differences) == 0 {
		t.Error("the words of the log are of no matter")
	}
}

// TestVerifySealed: replies with seals, boundaries and evidence are read from the log as they were
// live.
func TestVerifySealed(t *testing.T) {
	t.Parallel()
	const sealed = "DECISION: DONE\nSUMMARY: it is there\nSEAL: k7f2qx"
	for name, c := range map[string]struct {
		policy  loop.Policy
		replies []string
	}{
		"wanted":           {loop.Policy{Profile: loop.ProfileStrict}, []string{done, sealed}},
		"wrong":            {loop.Policy{Profile: loop.ProfileStrict}, []string{strings.ReplaceAll(sealed, "k7f2qx", "abcdef"), sealed}},
		"contradicted":     {loop.Policy{}, []string{sealed + "\n\n" + more + "\nSEAL: k7f2qx", done}},
		"quoted":           {loop.Policy{}, []string{"DECISION: DONE\nSUMMARY: turn 1", "DECISION: DONE\nSUMMARY: it adds a file", done}},
		"in the boundary":  {loop.Policy{}, []string{"[0123456789abcdef begin: x]\nDECISION: CONTINUE\n[0123456789abcdef end: x]\n" + more, done}},
		"without any seal": {loop.Policy{}, []string{done}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crew := &crew{Gate: policy.Gate{MaxIterations: 3}, replies: c.replies, policy: c.policy, seal: "k7f2qx"}
			store, id := crew.record(t)
			got := verify(t, store.Path(id))
			if got.Outcome == nil || got.Outcome.Result != loop.Success || len(got.Differences) > 0 || got.Partly != "" {
				t.Fatalf("got %+v", got)
			}
			log, err := os.ReadFile(store.Path(id))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(store.Path(id), bytes.ReplaceAll(log, []byte(`"critic_seal":"k7f2qx"`), []byte(`"x":""`)), 0o600); err != nil {
				t.Fatal(err)
			}
			wanted := c.policy.Profile != ""
			if got := verify(t, store.Path(id)); wanted != (len(got.Differences) > 0) {
				t.Errorf("without the seal of the log: %+v", got.Differences)
			}
		})
	}
}

// TestVerifyDiffers: each change to a log is reported.
func TestVerifyDiffers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, want string }{
		"another decision":   {`"critic_output":"DECISION: CONTINUE`, `"critic_output":"DECISION: ERROR`, "iteration 1: the critic: CONTINUE in the log, ERROR today"},
		"done too early":     {`"critic_output":"DECISION: CONTINUE\nFEEDBACK:`, `"critic_output":"DECISION: DONE\nSUMMARY:`, "the end: success, the work was approved after 3 in the log, success, the work was approved after 1 today"},
		"other feedback":     {`FEEDBACK: more`, `FEEDBACK: less`, `iteration 1: what the critic said: "more" in the log, "less" today`},
		"never rejected":     {`"critic_output":"Looks good to me!"`, `"critic_output":"DECISION: DONE\nSUMMARY: x"`, "iteration 2: replies of the critic that could not be used: 1 in the log, 0 today"},
		"rejected":           {`"critic_output":"DECISION: DONE`, `"critic_output":"DECISION: MAYBE`, "iteration 3: the critic's last reply cannot be used today: it would be asked again"},
		"a phase is missing": {`"state":"CAPTURING_DIFF"`, `"state":"VERIFYING"`, "iteration 1: its phases: \"actor's turn, checks, critic's turn\" in the log"},
		"another end":        {`"outcome":"success"`, `"outcome":"failed"`, "the end: failed, the work was approved after 3 in the log, success, the work was approved after 3 today"},
		"another count":      {`"iterations":3`, `"iterations":2`, "after 2 in the log, success, the work was approved after 3 today"},
		"confidence":         {`"confidence":null`, `"confidence":0.5`, "the confidence of the end: 0.5 in the log, none today"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crew := &crew{Gate: policy.Gate{MaxIterations: 6}, replies: []string{more, chat, lost, done}}
			store, id := crew.record(t)
			log, err := os.ReadFile(store.Path(id))
			if err != nil {
				t.Fatal(err)
			}
			changed := bytes.Replace(log, []byte(c.old), []byte(c.new), 1)
			if bytes.Equal(log, changed) {
				t.Fatal("nothing was changed")
			}
			if err := os.WriteFile(store.Path(id), changed, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(verify(t, store.Path(id)).Differences, "\n"); !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestVerifyCut: a log that is cut after any line is compared as far as it goes, without
// differences.
func TestVerifyCut(t *testing.T) {
	t.Parallel()
	crew := &crew{Gate: policy.Gate{MaxIterations: 6}, replies: []string{more, chat, more, done}}
	store, id := crew.record(t)
	log, err := os.ReadFile(store.Path(id))
	if err != nil {
		t.Fatal(err)
	}
	path := store.Path("cut")
	for end := bytes.IndexByte(log, '\n') + 1; end < len(log); end += bytes.IndexByte(log[end:], '\n') + 1 {
		if err := os.WriteFile(path, log[:end+len(log[end:])/200], 0o600); err != nil {
			t.Fatal(err)
		}
		if got := verify(t, path); got.Partly == "" || len(got.Differences) > 0 {
			t.Errorf("cut at %d: %+v", end, got)
		}
	}
}

func TestVerifyNoLog(t *testing.T) {
	t.Parallel()
	store, err := session.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Verify(t.Context(), session.Read(store.Path("none"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if err := os.WriteFile(store.Path("other"), []byte("{\"type\":\"x\"}\nno JSON\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Verify(t.Context(), session.Read(store.Path("other"))); err == nil {
		t.Error("a file of another program: no error")
	}
	crew := &crew{replies: []string{done}}
	store, id := crew.record(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replay.Verify(ctx, session.Read(store.Path(id))); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// original is a log with three types of lines.
const original = `{"type":"session_start","timestamp":"2025-01-27T15:30:00Z","prompt":"Fix the bug","working_dir":"/p","actor_agent":"claude","critic_agent":"opencode","actor_model":null,"critic_model":null,"max_iterations":10}
{"type":"iteration","iteration_number":1,"actor_output":"Done.","actor_stderr":"","actor_exit_code":1,"actor_duration_secs":74.5,"git_diff":"","git_files_changed":0,"critic_decision":"CONTINUE","feedback":"please test","timestamp":"2025-01-27T15:32:00Z"}
not a line
{"type":"iteration","iteration_number":2,"actor_output":"","actor_stderr":"","actor_exit_code":0,"actor_duration_secs":10.0,"git_diff":"","git_files_changed":0,"critic_decision":"DONE","feedback":null,"timestamp":"2025-01-27T15:33:00Z"}
{"type":"session_end","outcome":"success","iterations":2,"summary":"Fixed","confidence":0.95,"duration_secs":180.0,"timestamp":"2025-01-27T15:33:30Z"}
`

// events keeps events, with new stamps that the grammar accepts.
type events struct {
	grammar looptest.Grammar
	all     []loop.Event
}

func (e *events) Handle(at loop.Stamp, ev loop.Event) error {
	e.all = append(e.all, ev)
	if end, ok := ev.(loop.Finished); ok && end.Outcome.Reason == loop.StopNone {
		end.Outcome.Reason = loop.StopDone // the original has none
		ev = end
	}
	return e.grammar.Handle(loop.Stamp{Seq: len(e.all), Time: at.Time}, ev)
}

// TestPlayOriginal replays a log of whole iterations as the events of its run.
func TestPlayOriginal(t *testing.T) {
	t.Parallel()
	var got events
	var bad []error
	p := replay.Player{Sink: &got, OnBadLine: func(err error) { bad = append(bad, err) }}
	ended, err := p.Play(t.Context(), session.NewReader(strings.NewReader(original), "x").Entries())
	if err != nil || !ended || got.grammar.End() != nil {
		t.Errorf("%v, %v, %v", ended, err, got.grammar.End())
	}
	if len(bad) != 1 || !strings.HasPrefix(bad[0].Error(), "x:3: ") {
		t.Errorf("bad lines: %v", bad)
	}
	if len(got.all) != 2+2*8 {
		t.Errorf("%d events: %v", len(got.all), got.all)
	}
}

// TestPlayAsItIs: the events are exactly those in the log.
func TestPlayAsItIs(t *testing.T) {
	t.Parallel()
	crew := &crew{Gate: policy.Gate{MaxIterations: 6}, replies: []string{more, chat, done}}
	store, id := crew.record(t)
	var want []loop.Event
	for entry, err := range session.Read(store.Path(id)) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, entry.Event)
	}
	for until, last := range map[int]loop.Event{0: want[len(want)-1], 1: loop.IterationFinished{}} {
		var got events
		p := replay.Player{Sink: &got, Until: until}
		if ended, err := p.Play(t.Context(), session.Read(store.Path(id))); err != nil || ended != (until == 0) {
			t.Errorf("until %d: %v, %v", until, ended, err)
		}
		if !reflect.DeepEqual(got.all, want[:len(got.all)]) || reflect.TypeOf(got.all[len(got.all)-1]) != reflect.TypeOf(last) {
			t.Errorf("until %d: got %v", until, got.all)
		}
	}
}

func TestPlaySpeed(t *testing.T) {
	t.Parallel()
	for speed, want := range map[float64]time.Duration{0: 0, 1: 210 * time.Second, 2: 105 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			p := replay.Player{Sink: &events{}, Speed: speed, OnBadLine: func(error) {}}
			if _, err := p.Play(t.Context(), session.NewReader(strings.NewReader(original), "x").Entries()); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took != want {
				t.Errorf("speed %v took %v, want %v", speed, took, want)
			}
		})
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Handle(loop.Stamp, loop.Event) error { return errFull }

func TestPlayStops(t *testing.T) {
	t.Parallel()
	entries := func() replay.Entries { return session.NewReader(strings.NewReader(original), "x").Entries() }
	p := replay.Player{Sink: full{}}
	if _, err := p.Play(t.Context(), entries()); !errors.Is(err, errFull) {
		t.Errorf("error of the sink: %v", err)
	}
	broken := session.NewReader(io.MultiReader(strings.NewReader(original), failing{}), "x")
	p = replay.Player{Sink: &events{}, OnBadLine: func(error) {}}
	if _, err := p.Play(t.Context(), broken.Entries()); !errors.Is(err, errFull) {
		t.Errorf("error of the file: %v", err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errFull)
	defer cancel()
	p = replay.Player{Sink: &events{}, Speed: 0.001, OnBadLine: func(error) {}}
	if _, err := p.Play(ctx, entries()); !errors.Is(err, errFull) {
		t.Errorf("error of the context: %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errFull }
