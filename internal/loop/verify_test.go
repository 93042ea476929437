package loop_test

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
)

// A site is a work tree with checks and a critic that do to it what they like.
type site struct {
	files    map[string]string // what is there
	base     map[string]string // what was there when the session began
	position loop.Position
	git      []string // what git goes by in another way
	states   map[string]map[string]string

	act      func(*site)
	checks   []func(*site) bool // each reports whether it passes
	critic   func(*site)
	failFast bool

	ran    []int // checks, by their numbers
	events []loop.Event
	round  loop.Round // the last one
	cases  []loop.Case
}

func (s *site) Act(context.Context, loop.Brief, loop.Watch) (loop.Attempt, error) {
	s.act(s)
	return loop.Attempt{Turn: loop.Turn{Ending: loop.EndCompleted}}, nil
}

func (s *site) Capture(context.Context) (loop.Change, error) {
	var c loop.Change
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		c.State += path + "=" + s.files[path] + " "
	}
	c.Position, c.Git, c.Warnings = s.position, s.git, s.git
	for _, path := range slices.Sorted(maps.Keys(s.base)) {
		if is, there := s.files[path]; is != s.base[path] {
			f := loop.FileChange{Path: path, Status: loop.FileModified, OldMode: 0o100644, NewMode: 0o100644, Patch: is}
			if !there {
				f.Status, f.NewMode = loop.FileDeleted, 0
			}
			c.Files = append(c.Files, f)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		if _, there := s.base[path]; !there {
			c.Files = append(c.Files, loop.FileChange{Path: path, Status: loop.FileAdded, NewMode: 0o100644, Patch: s.files[path]})
		}
	}
	s.states[c.State] = maps.Clone(s.files)
	return c, nil
}

func (s *site) Between(_ context.Context, _, to loop.Change) (loop.Change, error) { return to, nil }

func (s *site) Checkpoint(context.Context, int, loop.Change) (string, error) {
	return "checkpoint", nil
}

func (s *site) Restore(_ context.Context, to loop.Change) (string, error) {
	s.files = maps.Clone(s.states[to.State])
	return "kept", nil
}

func (s *site) Check(context.Context, int) iter.Seq2[loop.CheckResult, error] {
	return func(yield func(loop.CheckResult, error) bool) {
		for i, check := range s.checks {
			s.ran = append(s.ran, i)
			result := loop.CheckResult{Command: string(rune('a' + i)), Ending: loop.EndCompleted}
			if !check(s) {
				result.Ending, result.ExitCode = loop.EndFailed, 1
			}
			if !yield(result, nil) {
				return
			}
		}
	}
}

func (s *site) Judge(_ context.Context, c loop.Case, _ loop.Watch) (loop.Review, error) {
	s.cases = append(s.cases, c)
	if s.critic != nil && len(s.cases) == 1 {
		s.critic(s)
	}
	return says(loop.Done, "fine"), nil
}

// run plays one iteration. DONE counts as it does for codeloops.
func (s *site) run(t *testing.T) loop.Outcome {
	t.Helper()
	s.files, s.states = maps.Clone(s.base), map[string]map[string]string{}
	if s.files == nil {
		s.files = map[string]string{}
	}
	if s.act == nil {
		s.act = func(s *site) { s.files["work"] = "done" }
	}
	var grammar looptest.Grammar
	l := loop.Loop{
		Actor: s, Tree: s, Critic: s, Checker: s, FailFast: s.failFast, CriticRetries: 1,
		Gate:  passing{limit{iterations: 1}},
		Clock: func() time.Time { return time.Unix(0, 0) },
		Sink: loop.Tee(&grammar, sinkOf(func(e loop.Event) {
			s.events = append(s.events, e)
			if e, ok := e.(loop.IterationFinished); ok {
				s.round = e.Round
			}
		})),
	}
	out, err := l.Run(t.Context(), loop.Session{Prompt: "do it"})
	if err != nil {
		t.Fatal(err)
	}
	if err := grammar.End(); err != nil {
		t.Fatal(err)
	}
	return out
}

// passing is a gate that lets nothing be DONE while a check fails.
type passing struct{ limit }

func (passing) Inspect(loop.Case) (loop.Inspection, *loop.Ruling) { return loop.Inspection{}, nil }

func (p passing) Rule(c loop.Case, r loop.Review) loop.Ruling {
	ruling := p.limit.Rule(c, r)
	if slices.ContainsFunc(c.Checks, func(c loop.CheckResult) bool { return !c.Passed() }) {
		ruling.Verdict.Decision = loop.Continue
	}
	return ruling
}

type sinkOf func(loop.Event)

func (s sinkOf) Handle(_ loop.Stamp, e loop.Event) error {
	s(e)
	return nil
}

func (s *site) warned() (texts []string) {
	for _, e := range s.events {
		if w, ok := e.(loop.Warned); ok {
			texts = append(texts, w.Text)
		}
	}
	return texts
}

func passes(*site) bool { return true }

// TestChecksJudgeApart: none passes on what another one wrote.
func TestChecksJudgeApart(t *testing.T) {
	t.Parallel()
	s := &site{checks: []func(*site) bool{
		func(s *site) bool { s.files["dist/app"] = "built"; return true },
		func(s *site) bool { return s.files["dist/app"] == "built" },
	}}
	if out := s.run(t); out.Reason != loop.StopMaxIterations {
		t.Errorf("got %+v", out)
	}
	first, second := s.round.Checks[0], s.round.Checks[1]
	if !first.Passed() || second.Passed() || !reflect.DeepEqual(second.Lacked, []string{"dist/app"}) {
		t.Errorf("the checks are %+v", s.round.Checks)
	}
	if want := []string{"the check a changed the work tree (dist/app): undone, kept"}; !reflect.DeepEqual(s.warned(), want) {
		t.Errorf("warned %q, want %q", s.warned(), want)
	}
}

// TestChecksLeaveTheWorkAlone: one that changes what it is to judge has not judged it.
func TestChecksLeaveTheWorkAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do      func(*site)
		changed []string
	}{
		"changes what the actor wrote":     {func(s *site) { s.files["work"] = "better" }, []string{"work"}},
		"removes what the actor wrote":     {func(s *site) { delete(s.files, "work") }, []string{"work"}},
		"changes what was there before":    {func(s *site) { s.files["old"] = "better" }, []string{"old"}},
		"removes what was there before":    {func(s *site) { delete(s.files, "old") }, []string{"old"}},
		"undoes what the actor changed":    {func(s *site) { s.files["edited"] = "before" }, []string{"edited"}},
		"brings back what the actor took":  {func(s *site) { s.files["gone"] = "again" }, nil},
		"writes something new":             {func(s *site) { s.files["report"] = "text" }, nil},
		"both":                             {func(s *site) { s.files["report"] = "text"; s.files["old"] = "x"; s.files["a b"] = "" }, []string{"old"}},
		"writes what was there all along":  {func(s *site) { s.files["old"] = "as ever" }, nil},
		"changes what is there, oddly put": {func(s *site) { s.files["x\ny"] = "z" }, []string{"x\ny"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &site{
				base: map[string]string{"old": "as ever", "edited": "before", "gone": "there", "x\ny": "odd"},
				act: func(s *site) {
					s.files["work"], s.files["edited"] = "done", "after"
					delete(s.files, "gone")
				},
				checks: []func(*site) bool{func(s *site) bool { c.do(s); return true }, passes},
			}
			out := s.run(t)
			if got := s.round.Checks[0]; !reflect.DeepEqual(got.Changed, c.changed) || got.Passed() != (c.changed == nil) || !s.round.Checks[1].Passed() {
				t.Errorf("the checks are %+v", s.round.Checks)
			}
			if done := out.Reason == loop.StopDone; done != (c.changed == nil) {
				t.Errorf("got %+v", out)
			}
			if len(s.ran) != 2 {
				t.Errorf("the checks that ran: %v", s.ran)
			}
			for _, told := range s.warned() {
				if strings.Contains(told, "\n") {
					t.Errorf("%q", told)
				}
			}
		})
	}
}

// TestChecksStandOnWhatIsThere: behind a DONE they are run again where something has
// changed that nobody puts back.
func TestChecksStandOnWhatIsThere(t *testing.T) {
	t.Parallel()
	tagged := func(s *site) bool { return s.position.Tags == "" }
	for name, c := range map[string]struct {
		checks []func(*site) bool
		critic func(*site)
		done   bool
		ran    []int
		told   string
	}{
		"nothing moves":       {checks: []func(*site) bool{passes, passes}, done: true, ran: []int{0, 1}},
		"the critic moves":    {checks: []func(*site) bool{passes, tagged}, critic: func(s *site) { s.position.Head = "x" }, done: true, ran: []int{0, 1, 0, 1}, told: "HEAD"},
		"and it matters":      {checks: []func(*site) bool{passes, tagged}, critic: func(s *site) { s.position.Tags = "v1" }, ran: []int{0, 1, 0, 1}, told: "tags"},
		"a check moves once":  {checks: []func(*site) bool{tagged, func(s *site) bool { s.position.Tags = "v1"; return true }}, ran: []int{0, 1, 0, 1}, told: "tags"},
		"a check stages":      {checks: []func(*site) bool{passes, func(s *site) bool { s.position.Index = "all"; return true }}, done: true, ran: []int{0, 1, 0, 1}, told: "index"},
		"a check never rests": {checks: []func(*site) bool{func(s *site) bool { s.position.Head += "x"; return true }, passes}, ran: []int{0, 1, 0, 1}, told: "HEAD"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &site{base: map[string]string{"old": "as ever"}, checks: c.checks, critic: c.critic}
			out := s.run(t)
			if done := out.Reason == loop.StopDone; done != c.done || !slices.Equal(s.ran, c.ran) {
				t.Errorf("got %+v after the checks %v: %+v", out, s.ran, s.round.Checks)
			}
			told := strings.Join(s.warned(), "\n")
			if again := "the checks are run again, because this has changed since they ran: " + c.told; strings.Contains(told, again) != (c.told != "") {
				t.Errorf("told %q", told)
			}
			if len(s.round.Checks) != len(c.checks) {
				t.Errorf("the round has %+v", s.round.Checks)
			}
		})
	}
}

// TestChecksThatChangeTheRepository: what they leave is told.
func TestChecksThatChangeTheRepository(t *testing.T) {
	t.Parallel()
	s := &site{checks: []func(*site) bool{func(s *site) bool { s.position.Head += "x"; return true }}}
	s.run(t)
	if got := s.round.Checks[0]; !reflect.DeepEqual(got.Changed, []string{"HEAD"}) {
		t.Errorf("the check is %+v", got)
	}
	want := []string{
		"the check a changed what is not put back: HEAD (from  to x)",
		"the checks are run again, because this has changed since they ran: HEAD",
		"the check a changed what is not put back: HEAD (from x to xx)",
	}
	if !reflect.DeepEqual(s.warned(), want) {
		t.Errorf("warned %q, want %q", s.warned(), want)
	}
}

// TestCriticsWhomGitLiesTo: one that judged while git was set up in another way is
// told, and asked again, once; a check that does so is told of to the critic.
func TestCriticsWhomGitLiesTo(t *testing.T) {
	t.Parallel()
	lies := func(s *site) { s.git = []string{"git may show something else"} }
	for name, c := range map[string]struct {
		act, critic func(*site)
		check       func(*site) bool
		told        []int // how many sentences the critic was shown, ask by ask
	}{
		"nobody":     {check: passes, told: []int{0}},
		"the actor":  {act: lies, check: passes, told: []int{1}},
		"a check":    {check: func(s *site) bool { lies(s); return true }, told: []int{1}},
		"the critic": {critic: lies, check: passes, told: []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &site{act: c.act, checks: []func(*site) bool{c.check}, critic: c.critic}
			if out := s.run(t); out.Reason != loop.StopDone {
				t.Errorf("got %+v", out)
			}
			var told []int
			for _, matter := range s.cases {
				told = append(told, len(matter.Change.Warnings))
			}
			if !slices.Equal(told, c.told) {
				t.Errorf("the critic was shown %v, want %v", told, c.told)
			}
		})
	}
}

// TestFailFast: nothing is run behind a check that has not passed, and one that has
// spoilt the work is such a check.
func TestFailFast(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(*site) bool{
		"fails":  func(*site) bool { return false },
		"spoils": func(s *site) bool { s.files["work"] = "other"; return true },
	} {
		for _, fast := range []bool{false, true} {
			s := &site{failFast: fast, checks: []func(*site) bool{first, passes}}
			s.run(t)
			if len(s.ran) == 1 != fast || len(s.round.Checks) != len(s.ran) {
				t.Errorf("%s, fast %v: the checks that ran: %v", name, fast, s.ran)
			}
		}
	}
}
