package progress

import (
	"slices"
	"strconv"
	"time"

	"codeloops/internal/loop"
)

// A Step is a move of the run: a phase of an iteration, an agent's turn.
type Step struct {
	Path  loop.Step
	Began time.Time
	Over  bool

	// Of an agent's turn; the role is "" for other steps.
	Role    loop.Role
	Agent   loop.AgentRef // who plays, or is to play, it
	Waits   []loop.Wait   // as those of the iteration
	Waiting *loop.Wait    // nil: the agent is at work
}

// A Stage is the steps of no whole iteration, with who plays them.
type Stage struct {
	// Playing is who has played last in each role, or is to play first.
	Playing map[loop.Role]loop.AgentRef
	// Steps are in the order in which they began; their paths make a tree of them. What broke
	// off is not among them.
	Steps  []Step
	Paused bool // the user has turns wait
}

// follow takes what an event tells of turns and phases.
func (s *Stage) follow(at loop.Stamp, e loop.Event) {
	switch e := e.(type) {
	case loop.TurnStarted:
		s.begin(at, at.Step, e.Role)
	case loop.WaitStarted:
		e.Wait.Reason = ""
		s.turn(at, e.Iteration, e.Role).Waiting = &e.Wait
	case loop.WaitFinished:
		e.Wait.Reason = ""
		turn := s.turn(at, e.Iteration, e.Role)
		turn.Waiting, turn.Waits = nil, append(turn.Waits, e.Wait)
	case loop.ActorFinished:
		s.played(at, e.Iteration, loop.RoleActor, e.Attempt.Turn)
	case loop.ReviewRejected:
		rejected := s.played(at, e.Iteration, loop.RoleCritic, e.Review.Turn)
		s.begin(at, again(rejected), loop.RoleCritic)
	case loop.CriticFinished:
		s.played(at, e.Iteration, loop.RoleCritic, e.Review.Turn)
	case loop.TurnFinished:
		s.played(at, e.Iteration, e.Role, e.Reply.Turn)
	case loop.DiffCaptured:
		s.end(at, e.Iteration, loop.CapturingDiff)
	case loop.ChecksFinished:
		s.end(at, e.Iteration, loop.Verifying)
	case loop.Steered:
		s.Paused = e.Kind == loop.SteerPause || s.Paused && e.Kind == loop.SteerSay
	case loop.Finished:
		s.Paused = false
	case loop.Started, loop.Resumed, loop.IterationStarted, loop.PhaseEntered, loop.Activity, loop.Inspected,
		loop.BaselineChecked, loop.IterationFinished, loop.Noted, loop.Warned:
	}
}

// cast says who is to play in a session.
func (s *Stage) cast(in loop.Session) {
	s.Playing = map[loop.Role]loop.AgentRef{loop.RoleActor: in.Actor, loop.RoleCritic: in.Critic}
	if p := in.Policy.Panel; p != nil {
		for i, member := range p.Members {
			s.Playing[loop.Member(i)] = member
		}
	}
}

// played ends a turn, and returns its path.
func (s *Stage) played(at loop.Stamp, iteration int, role loop.Role, t loop.Turn) loop.Step {
	turn := s.turn(at, iteration, role)
	turn.Over, turn.Waiting = true, nil
	if t.Agent.Agent != "" && s.Playing != nil {
		turn.Agent, s.Playing[role] = t.Agent, t.Agent
	}
	return turn.Path
}

// Turn returns the turn under way that was begun last; its role is "" where there is
// none.
func (s *Stage) Turn() Step {
	for _, step := range slices.Backward(s.Steps) {
		if !step.Over && step.Role != "" {
			return step
		}
	}
	return Step{}
}

// step returns the step of a path, nil where there is none.
func (s *Stage) step(path loop.Step) *Step {
	for i := range slices.Backward(s.Steps) {
		if s.Steps[i].Path == path {
			return &s.Steps[i]
		}
	}
	return nil
}

// clear takes the steps away that are not over.
func (s *Stage) clear() {
	s.Steps = slices.DeleteFunc(s.Steps, func(x Step) bool { return !x.Over })
}

// drop takes the steps away that are a part of one.
func (s *Stage) drop(whole loop.Step) {
	s.Steps = slices.DeleteFunc(s.Steps, func(x Step) bool { return x.Path.In(whole) })
}

// begin notes that a step is under way.
func (s *Stage) begin(at loop.Stamp, path loop.Step, role loop.Role) *Step {
	s.Steps = append(s.Steps, Step{Path: path, Began: at.Time, Role: role, Agent: s.Playing[role]})
	return &s.Steps[len(s.Steps)-1]
}

// end notes that a phase is over.
func (s *Stage) end(at loop.Stamp, iteration int, phase loop.State) {
	if step := s.step(pathOf(at, iteration, phase)); step != nil {
		step.Over = true
	}
}

// turn returns the turn that an event is of.
func (s *Stage) turn(at loop.Stamp, iteration int, role loop.Role) *Step {
	path := at.Step
	if path == "" { // of an old log: the last turn of that role
		path = iterationPath(iteration).Sub(string(role))
		for _, step := range slices.Backward(s.Steps) {
			if step.Path.In(path) {
				path = step.Path
				break
			}
		}
	}
	if step := s.step(path); step != nil {
		return step
	}
	return s.begin(at, path, role)
}

func iterationPath(n int) loop.Step { return loop.Step(strconv.Itoa(n)) }

// pathOf is the path of a phase. Old logs do not tell it.
func pathOf(at loop.Stamp, iteration int, phase loop.State) loop.Step {
	if at.Step != "" {
		return at.Step
	}
	name := "capture"
	switch phase {
	case loop.ActorExecuting, loop.CriticEvaluating:
		name = string(roleIn(phase))
	case loop.Verifying:
		name = "checks"
	case loop.Start, loop.CapturingDiff, loop.DecidedDone, loop.DecidedContinue, loop.DecidedError, loop.Ended:
	}
	return iterationPath(iteration).Sub(name)
}

// roleIn is who plays in a phase; "" where nobody does.
func roleIn(phase loop.State) loop.Role {
	switch phase {
	case loop.ActorExecuting:
		return loop.RoleActor
	case loop.CriticEvaluating:
		return loop.RoleCritic
	case loop.Start, loop.CapturingDiff, loop.Verifying, loop.DecidedDone, loop.DecidedContinue, loop.DecidedError, loop.Ended:
	}
	return ""
}

// again is the path of a turn that is played once more.
func again(path loop.Step) loop.Step {
	if n, err := strconv.Atoi(path.Name()); err == nil && path.Parent() != "" {
		return path.Parent().Sub(strconv.Itoa(n + 1))
	}
	return path.Sub("2")
}
