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
	"codeloops/internal/strategy"
)

// A site is a work tree with checks, and a user who may change it while the checks and the critic
// run.
type site struct {
	files    map[string]string // the current files
	base     map[string]string // the files when the session began
	position loop.Position
	git      []string // the git settings that have changed

	act      func(*site)
	checks   []check
	critic   func(*site) // runs during each review
	failFast bool
	before   bool // the checks also run before the session
	// unchecked means that there is no checker.
	unchecked bool

	acted  int
	ran    []int // the numbers of the checks that ran
	asked  int   // how often the critic was asked
	events []loop.Event
	rounds []loop.Round
	cases  []loop.Case
}

// A check may change the site and its own result.
type check func(*site, *loop.CheckResult)

func passes(*site, *loop.CheckResult) {}

func fails(_ *site, r *loop.CheckResult) { r.Ending, r.ExitCode = loop.EndFailed, 1 }

// writes is a check that passes and has written files.
func writes(w loop.Written) check {
	return func(_ *site, r *loop.CheckResult) { r.Written, r.Changed = w, w.Changed }
}

// during is a check that passes and calls do while it runs.
func during(do func(*site)) check { return func(s *site, _ *loop.CheckResult) { do(s) } }

func (s *site) Act(context.Context, loop.Brief, loop.Watch) (loop.Attempt, error) {
	s.acted++
	s.act(s)
	return loop.Attempt{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}}, nil
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
	return c, nil
}

func (s *site) Between(_ context.Context, _, to loop.Change) (loop.Change, error) { return to, nil }

func (s *site) Checkpoint(context.Context, loop.Step, loop.Change) (string, error) {
	return "checkpoint", nil
}

func (s *site) Check(context.Context, loop.Step) iter.Seq2[loop.CheckResult, error] {
	return func(yield func(loop.CheckResult, error) bool) {
		for i, check := range s.checks {
			s.ran = append(s.ran, i)
			result := loop.CheckResult{Command: string(rune('a'+i)) + "\tit", Ending: loop.EndCompleted}
			check(s, &result)
			if !yield(result, nil) {
				return
			}
		}
	}
}

func (s *site) Judge(_ context.Context, c loop.Case, _ loop.Watch) (loop.Review, error) {
	s.cases = append(s.cases, c)
	s.asked++
	if s.critic != nil {
		s.critic(s)
	}
	return says(loop.Done, "fine"), nil
}

// once calls do the first time only.
func once(do func(*site)) func(*site) {
	over := false
	return func(s *site) {
		if !over {
			over = true
			do(s)
		}
	}
}

// run plays one turn of the actor, with the same gate for DONE as codeloops.
func (s *site) run(t *testing.T) loop.Outcome {
	t.Helper()
	s.files = maps.Clone(s.base)
	if s.files == nil {
		s.files = map[string]string{}
	}
	if s.act == nil {
		s.act = func(s *site) { s.files["work"] = "done" }
	}
	var grammar looptest.Grammar
	l := loop.Loop{
		Workplace:     loop.Workplace{Actor: s, Tree: s, Critic: s, Checker: s, Gate: passing{limit{iterations: 1}}},
		Strategy:      strategy.ActorCritic{},
		Checks:        loop.CheckRules{Before: s.before, FailFast: s.failFast},
		CriticRetries: 1,
		Clock:         func() time.Time { return time.Unix(0, 0) },
		Sink: loop.Tee(&grammar, sinkOf(func(e loop.Event) {
			s.events = append(s.events, e)
			if e, ok := e.(loop.IterationFinished); ok {
				s.rounds = append(s.rounds, e.Round)
			}
		})),
	}
	if s.unchecked {
		l.Checker = nil
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

// passing is a gate that permits no DONE while a check fails.
type passing struct{ limit }

func (passing) Inspect(loop.Case) (loop.Inspection, *loop.Ruling) { return loop.Inspection{}, nil }

func (p passing) Rule(c loop.Case, r loop.Review) loop.Ruling {
	ruling := p.limit.Rule(c, r)
	if r.Problem == "" && slices.ContainsFunc(c.Checks, func(c loop.CheckResult) bool { return !c.Passed() }) {
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

// TestChecksThatWrite: files that a check writes in its view are reported, and a check that changes
// the files it judges has not passed.
func TestChecksThatWrite(t *testing.T) {
	t.Parallel()
	const told = "what the check a it changed in its view of the work tree is thrown away: "
	for name, c := range map[string]struct {
		written loop.Written
		told    string
		done    bool
	}{
		"nothing":          {loop.Written{}, "", true},
		"a file":           {loop.Written{Changed: []string{"work"}}, "work", false},
		"a new file":       {loop.Written{Added: []string{"report"}}, "report", true},
		"both":             {loop.Written{Changed: []string{"old"}, Added: []string{"report"}}, "old, report", false},
		"an odd name":      {loop.Written{Changed: []string{"x\ny"}}, `"x\ny"`, false},
		"the repository":   {loop.Written{Repository: []string{"HEAD", "index"}}, "the repository's HEAD, index", true},
		"what git goes by": {loop.Written{Added: []string{"report"}, Settings: []string{"config"}}, "report, and the repository's config", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &site{checks: []check{writes(c.written), passes}}
			out := s.run(t)
			if done := out.Reason == loop.StopDone; done != c.done {
				t.Errorf("got %+v", out)
			}
			if got := s.rounds[0].Checks; len(got) != 2 || got[0].Passed() != c.done || !got[1].Passed() || !reflect.DeepEqual(got[0].Written, c.written) {
				t.Errorf("the checks are %+v", got)
			}
			var want []string
			if c.told != "" {
				want = []string{told + c.told}
			}
			if got := s.warned(); !reflect.DeepEqual(got, want) {
				t.Errorf("warned %q, want %q", got, want)
			}
			if !slices.Equal(s.ran, []int{0, 1}) {
				t.Errorf("the checks that ran: %v", s.ran)
			}
		})
	}
}

// TestChecksBeforeTheSessionThatWrite: files written by checks before the session are reported,
// too.
func TestChecksBeforeTheSessionThatWrite(t *testing.T) {
	t.Parallel()
	s := &site{before: true, checks: []check{writes(loop.Written{Changed: []string{"old"}})}}
	s.run(t)
	const told = "what the check a it changed in its view of the work tree is thrown away: old"
	if got := s.events[1]; got != loop.Event(loop.Warned{Text: told}) {
		t.Errorf("got %+v", got)
	}
	if c := s.rounds[0].Checks[0]; !c.FailedBefore {
		t.Errorf("the check is %+v", c)
	}
}

// TestChecksStandOnWhatIsThere: after a DONE the checks run again if HEAD, the index or the tags
// have changed. If these or the work tree keep changing, the DONE is stale.
func TestChecksStandOnWhatIsThere(t *testing.T) { //nolint:gocyclo // a sequence of checks
	t.Parallel()
	tagged := func(s *site, r *loop.CheckResult) {
		if s.position.Tags != "" {
			fails(s, r)
		}
	}
	commit := func(s *site) { s.position.Head += "x" }
	save := func(s *site) { s.files["work"] += "." }
	// runs calls do while the check runs, for a range of its runs.
	runs := func(from, until int, do func(*site)) check {
		n := 0
		return func(s *site, _ *loop.CheckResult) {
			if n++; from <= n && n <= until {
				do(s)
			}
		}
	}
	twice, again := []int{0, 1, 0, 1}, []int{0, 1, 0, 1, 0, 1}
	for name, c := range map[string]struct {
		checks []check
		critic func(*site)
		reason loop.StopReason
		ran    []int
		told   string     // what the warning says has changed
		stale  [][]string // by iteration
	}{
		"nothing moves":      {[]check{passes, passes}, nil, loop.StopDone, []int{0, 1}, "", [][]string{nil}},
		"HEAD moves":         {[]check{passes, tagged}, once(commit), loop.StopDone, twice, "HEAD", [][]string{nil}},
		"and it matters":     {[]check{passes, tagged}, once(func(s *site) { s.position.Tags = "v1" }), loop.StopMaxIterations, twice, "tags", [][]string{nil}},
		"while a check runs": {[]check{tagged, runs(1, 1, func(s *site) { s.position.Tags = "v1" })}, nil, loop.StopMaxIterations, twice, "tags", [][]string{nil}},
		"somebody stages":    {[]check{passes, runs(1, 1, func(s *site) { s.position.Index = "all" })}, nil, loop.StopDone, twice, "index", [][]string{nil}},
		"all of it":          {[]check{passes, passes}, once(func(s *site) { s.position = loop.Position{Head: "x", Index: "y", Tags: "z"} }), loop.StopDone, twice, "HEAD, index, tags", [][]string{nil}},
		"again meanwhile":    {[]check{passes, runs(1, 2, commit)}, nil, loop.StopDone, again, "HEAD", [][]string{{"HEAD"}, nil}},
		"it never rests": {
			[]check{during(commit), passes},
			nil, loop.StopNoDecision,
			[]int{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
			"HEAD",
			[][]string{{"HEAD"}, {"HEAD"}, {"HEAD"}},
		},
		"a save while they run":       {[]check{passes, runs(1, 1, save)}, nil, loop.StopDone, twice, "", [][]string{{"work"}, nil}},
		"a save while they run again": {[]check{passes, runs(2, 2, save)}, once(commit), loop.StopDone, again, "HEAD", [][]string{{"work"}, nil}},
		"a save and a commit":         {[]check{passes, passes}, once(func(s *site) { save(s); commit(s) }), loop.StopDone, twice, "", [][]string{{"work"}, nil}},
		"hooks while they run again": {
			[]check{passes, runs(2, 2, func(s *site) { s.git = []string{"hooks were changed"} })},
			once(commit), loop.StopDone,
			again, "HEAD",
			[][]string{{"hooks were changed"}, nil},
		},
		"a check fails then": {
			[]check{passes, func(s *site, r *loop.CheckResult) {
				if s.position.Head != "" {
					fails(s, r)
				}
			}}, once(commit), loop.StopMaxIterations, twice, "HEAD", [][]string{nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &site{base: map[string]string{"old": "as ever"}, checks: c.checks, critic: c.critic}
			out := s.run(t)
			if out.Reason != c.reason || !slices.Equal(s.ran, c.ran) || len(s.rounds) != len(c.stale) {
				t.Errorf("got %+v after the checks %v", out, s.ran)
			}
			told := strings.Join(s.warned(), "\n")
			if again := "the checks are run again, because this has changed since they ran: " + c.told; strings.Contains(told, again) != (c.told != "") {
				t.Errorf("told %q", told)
			}
			if n := strings.Count(told, "run again"); c.told == "" && n > 0 {
				t.Errorf("told %q", told)
			}
			for i, round := range s.rounds {
				if len(round.Checks) != len(c.checks) || !reflect.DeepEqual(round.Review.Stale, c.stale[min(i, len(c.stale)-1)]) {
					t.Errorf("iteration %d: stale is %q, the checks are %+v", i+1, round.Review.Stale, round.Checks)
				}
			}
			if s.acted != 1 {
				t.Errorf("%d turns of the actor", s.acted)
			}
		})
	}
}

// TestMovedRepository: each change to the repository during a run is reported.
func TestMovedRepository(t *testing.T) {
	t.Parallel()
	s := &site{checks: []check{during(func(s *site) { s.position.Head += "x" })}}
	s.run(t)
	round := []string{
		"changed while no agent was at work: HEAD",
		"the checks are run again, because this has changed since they ran: HEAD",
		"changed while no agent was at work: HEAD",
	}
	if got, want := s.warned(), slices.Repeat(round, 3); !reflect.DeepEqual(got, want) {
		t.Errorf("warned %q, want %q", got, want)
	}
	for _, round := range s.rounds {
		if c := round.Checks[0]; !c.Passed() {
			t.Errorf("the check is %+v, although it did not move HEAD", c)
		}
	}
}

// TestMovedRepositoryWithoutChecks: without checks, a DONE stands even if HEAD has moved.
func TestMovedRepositoryWithoutChecks(t *testing.T) {
	t.Parallel()
	s := &site{critic: func(s *site) { s.position.Head += "x" }, unchecked: true}
	if out := s.run(t); out.Reason != loop.StopDone || out.Iterations != 1 {
		t.Errorf("got %+v", out)
	}
	if want := []string{"changed while no agent was at work: HEAD"}; !reflect.DeepEqual(s.warned(), want) {
		t.Errorf("warned %q, want %q", s.warned(), want)
	}
}

// TestCriticsWhomGitLiesTo: a DONE is stale if git's settings changed during the review, and the
// next critic is told.
func TestCriticsWhomGitLiesTo(t *testing.T) {
	t.Parallel()
	const says = "git may show something else"
	lies := func(s *site) { s.git = []string{says} }
	for name, c := range map[string]struct {
		act, critic func(*site)
		check       func(*site)
		told        []int // by review: how many warnings the critic was shown
		reason      loop.StopReason
	}{
		"nothing":              {told: []int{0}, reason: loop.StopDone},
		"by the actor":         {act: lies, told: []int{1}, reason: loop.StopDone},
		"while a check runs":   {check: once(lies), told: []int{0, 1}, reason: loop.StopDone},
		"while it judges":      {critic: once(lies), told: []int{0, 1}, reason: loop.StopDone},
		"in a new way, always": {critic: func(s *site) { s.git = append(slices.Clip(s.git), says+strings.Repeat("!", s.asked)) }, told: []int{0, 1, 2}, reason: loop.StopNoDecision},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &site{act: c.act, checks: []check{passes}, critic: c.critic}
			if c.check != nil {
				s.checks = []check{during(c.check)}
			}
			if out := s.run(t); out.Reason != c.reason {
				t.Errorf("got %+v", out)
			}
			var told []int
			for _, matter := range s.cases {
				told = append(told, len(matter.Change.Warnings))
			}
			if !slices.Equal(told, c.told) {
				t.Errorf("the critic was shown %v, want %v", told, c.told)
			}
			if first := s.rounds[0].Review; len(c.told) > 1 && (len(first.Stale) != 1 || !strings.HasPrefix(first.Stale[0], says) || !strings.HasSuffix(first.Problem, "since the work was captured: "+first.Stale[0])) {
				t.Errorf("the review is %+v", first)
			}
		})
	}
}

// TestFailFast: no check runs after one that failed or changed the work.
func TestFailFast(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]check{
		"fails":  fails,
		"spoils": writes(loop.Written{Changed: []string{"work"}}),
	} {
		for _, fast := range []bool{false, true} {
			s := &site{failFast: fast, checks: []check{first, passes}}
			s.run(t)
			if len(s.ran) == 1 != fast || len(s.rounds[0].Checks) != len(s.ran) {
				t.Errorf("%s, fast %v: the checks that ran: %v", name, fast, s.ran)
			}
		}
	}
}
