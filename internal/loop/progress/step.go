package progress

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"codeloops/internal/loop"
)

// A Step is a step of the run: a phase of an iteration, or an agent's turn.
type Step struct {
	Path  loop.Step
	Began time.Time
	Over  bool

	// For an agent's turn; the role is "" for other steps.
	Role    loop.Role
	Agent   loop.AgentRef // who plays it, or will
	Waits   []loop.Wait   // as in [Iteration]
	Waiting *loop.Wait    // nil: the agent is working
}

// A Stage is the steps outside of whole iterations, and who plays them.
type Stage struct {
	// Playing is who played last in each role, or will play first.
	Playing map[loop.Role]loop.AgentRef
	// Steps are in the order in which they began; their paths form a tree. Interrupted steps are
	// not included.
	Steps  []Step
	Paused bool // the user has paused the run
}

// follow updates the turns and phases.
func (s *Stage) follow(at loop.Stamp, e loop.Event) { //nolint:gocyclo // the steps belong together, and read top to bottom
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
		says := e.Kind == loop.SteerSay || e.Kind == loop.SteerInterrupt
		s.Paused = e.Kind == loop.SteerPause || s.Paused && says
	case loop.Finished:
		s.Paused = false
	case loop.Started, loop.Resumed, loop.IterationStarted, loop.PhaseEntered, loop.Activity, loop.Inspected,
		loop.BaselineChecked, loop.IterationFinished, loop.Noted, loop.Warned:
	}
}

// cast sets who plays in a session.
func (s *Stage) cast(in loop.Session) {
	s.Playing = map[loop.Role]loop.AgentRef{loop.RoleActor: in.Actor, loop.RoleCritic: in.Critic}
	if p := in.Policy.Panel; p != nil {
		for i, member := range p.Members {
			s.Playing[loop.Member(i)] = member
		}
	}
}

func (s *Stage) played(at loop.Stamp, iteration int, role loop.Role, t loop.Turn) loop.Step {
	turn := s.turn(at, iteration, role)
	turn.Over, turn.Waiting = true, nil
	if t.Agent.Agent != "" && s.Playing != nil {
		turn.Agent, s.Playing[role] = t.Agent, t.Agent
	}
	return turn.Path
}

// Turn returns the running turn that began last; its role is "" if there is none.
func (s *Stage) Turn() Step {
	for _, step := range slices.Backward(s.Steps) {
		if !step.Over && step.Role != "" {
			return step
		}
	}
	return Step{}
}

// step returns the step with a path, or nil.
func (s *Stage) step(path loop.Step) *Step {
	for i := range slices.Backward(s.Steps) {
		if s.Steps[i].Path == path {
			return &s.Steps[i]
		}
	}
	return nil
}

// clear removes unfinished steps.
func (s *Stage) clear() {
	s.Steps = slices.DeleteFunc(s.Steps, func(x Step) bool { return !x.Over })
}

// drop removes a step and its parts.
func (s *Stage) drop(whole loop.Step) {
	s.Steps = slices.DeleteFunc(s.Steps, func(x Step) bool { return x.Path.In(whole) })
}

func (s *Stage) begin(at loop.Stamp, path loop.Step, role loop.Role) *Step {
	s.Steps = append(s.Steps, Step{Path: path, Began: at.Time, Role: role, Agent: s.Playing[role]})
	return &s.Steps[len(s.Steps)-1]
}

func (s *Stage) end(at loop.Stamp, iteration int, phase loop.State) {
	if step := s.step(pathOf(at, iteration, phase)); step != nil {
		step.Over = true
	}
}

// turn returns the turn that an event belongs to.
func (s *Stage) turn(at loop.Stamp, iteration int, role loop.Role) *Step {
	path := at.Step
	if path == "" { // old log: the last turn of that role
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

// pathOf returns the path of a phase, which old logs do not contain.
func pathOf(at loop.Stamp, iteration int, phase loop.State) loop.Step {
	if at.Step != "" {
		return at.Step
	}
	name := map[loop.State]string{loop.ActorExecuting: "actor", loop.Verifying: "checks", loop.CriticEvaluating: "critic"}[phase]
	return iterationPath(iteration).Sub(cmp.Or(name, "capture"))
}

// again returns the path of the next try at a turn.
func again(path loop.Step) loop.Step {
	if n, err := strconv.Atoi(path.Name()); err == nil && path.Parent() != "" {
		return path.Parent().Sub(strconv.Itoa(n + 1))
	}
	return path.Sub("2")
}
