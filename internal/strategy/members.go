package strategy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/role/prompt"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// What strategies have in common in which members work: roles that the user has named.

// A crew is the members of a strategy.
type crew []worker

// A worker is a member with how it works.
type worker struct {
	Member

	over    loop.Strategy // nil: one turn
	accepts *Schema       // nil: any object
}

// crew are the members that a strategy can choose from. Those who have no strategy of their own
// work with usual; nil is one turn.
func (v Values) crew(k Kind, usual loop.Strategy) (all crew, err error) {
	for _, m := range v.Members {
		w := worker{Member: m, over: usual}
		if _, own := k.Roles[m.Role]; own {
			return nil, hint.Errorf("take another name, or leave out its about",
				"strategy.roles.%s is a member, and %s has a role of its own of that name", m.Role, k.Name)
		}
		if m.Strategy != "" {
			of, ok := Find(m.Strategy)
			if !ok || of.nests() || of.Members {
				return nil, fmt.Errorf("strategy.roles.%s cannot work with %q", m.Role, m.Strategy)
			}
			if w.over, err = of.make(v); err != nil {
				return nil, err
			}
		}
		if m.Accepts != "" {
			if w.accepts, err = ReadSchema(m.Accepts); err != nil {
				return nil, fmt.Errorf("strategy.roles.%s.accepts: %w", m.Role, err)
			}
		}
		all = append(all, w)
	}
	if len(all) == 0 {
		return nil, hint.Errorf("name some in the configuration, each in a table [strategy.roles.NAME] that says with about what it is for; codeloops.toml.example has one",
			"%s has nobody to choose from", k.Name)
	}
	return all, nil
}

// lacks returns an error where a parameter names nobody of the crew.
func (all crew) lacks(key, name string) error {
	if _, ok := all.find(name); ok {
		return nil
	}
	return hint.Errorf("members are: "+strings.Join(all.names(), ", "), "strategy.%s names no member: %q", key, name)
}

func (all crew) find(name string) (worker, bool) {
	i := slices.IndexFunc(all, func(w worker) bool { return string(w.Role) == name })
	if i < 0 {
		return worker{}, false
	}
	return all[i], true
}

func (all crew) names() (names []string) {
	for _, w := range all {
		names = append(names, string(w.Role))
	}
	return names
}

// list says who there is, a line each.
func (all crew) list() string {
	var b strings.Builder
	for _, w := range all {
		fmt.Fprintf(&b, "- %s: %s\n", w.Role, wording.Line(w.About))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// mostOf is the most turns of the strategies that members work with; usual is the one of those
// who have none of their own, "" for one turn, which is not counted.
func (v Values) mostOf(usual string, iterations int) (most int) {
	for _, m := range v.Members {
		name := m.Strategy
		if name == "" {
			name = usual
		}
		if of, ok := Find(name); name != "" && ok {
			n := of.Most(of.With(v), iterations)
			if n < 0 {
				return n
			}
			most = max(most, n)
		}
	}
	return most
}

// bounded is the most turns where a number of rounds has so many turns each beside those of the
// members' own strategies. Their iterations are those of the run.
func (v Values) bounded(rounds, turns, iterations int) int {
	own := v.mostOf("", iterations)
	if own <= 0 {
		return plus(own, rounds*turns)
	}
	return own + rounds*turns + (rounds-1)*max(0, own-2*iterations)
}

// A saying is what somebody has said.
type saying struct{ by, text string }

// How much of what others have said may stand in a prompt, in bytes.
const (
	maxSaying  = 16 << 10
	maxSayings = 64 << 10
)

// quoted shows what has been said, the oldest first, and of too much the latest.
func quoted(all []saying) string {
	var parts []string
	size := 0
	for i, s := range slices.Backward(all) {
		text := fmt.Sprintf("%s:\n%s", s.by, prompt.Quoted(s.text, maxSaying))
		if size += len(text); size > maxSayings {
			parts = append(parts, fmt.Sprintf("(%s before that left out here)\n", wording.Count(i+1, "text")))
			break
		}
		parts = append(parts, text)
	}
	slices.Reverse(parts)
	return strings.Join(parts, "\n")
}

// paragraphs puts those that are not "" below each other.
func paragraphs(all ...string) string {
	all = slices.DeleteFunc(all, func(p string) bool { return p == "" })
	for i, p := range all {
		all[i] = strings.TrimRight(p, "\n")
	}
	return strings.Join(all, "\n\n")
}

// titled is a text below a line that says what it is; "" where there is none.
func titled(title, text string) string {
	if text == "" {
		return ""
	}
	return title + "\n\n" + text
}

// ask plays a turn until its reply can be read: at most twice. Then ok is false. Read says
// what is wrong with a reply.
func ask(ctx context.Context, steps *loop.Steps, call loop.Call, read func(reply string) (problem string)) (ok bool, err error) {
	question := call.Prompt
	for _, at := range []loop.Step{call.Step, call.Step.Sub("2")} {
		call.Step = at
		replies, err := steps.Turns(ctx, call)
		if err != nil {
			return false, err
		}
		problem := "your turn " + prompt.Ended(replies[0].Ending, replies[0].ExitCode)
		if replies[0].Ending == loop.EndCompleted {
			if problem = read(replies[0].Text); problem == "" {
				return true, nil
			}
		}
		call.Prompt = question + "\n\nYou have been asked before, and your reply could not be used: " + wording.Line(problem) + "."
	}
	return false, nil
}

// A floor is where members work, one after the other, and what has come of it.
type floor struct {
	said   []saying   // oldest first
	matter *loop.Case // the work as the last of them left it; nil: nobody has worked
	judged bool       // the critic has said what it has to say of that
	end    loop.Outcome
	over   bool // the run is over, with that end
}

const colleague = `You are one of several agents who take turns at a task in the git repository that is your working directory. Your name among them is %s, and you are here for this: %s. Do the work itself; a description of it does not count. Others go on where you leave off.`

// works has a worker do its part, and notes what it says in the end. The prompt is what it is
// asked beside its own instructions; aim is what its own strategy is about.
func (f *floor) works(ctx context.Context, steps *loop.Steps, step loop.Step, w worker, aim, question string) (answer string, err error) {
	if w.over != nil {
		return f.drives(ctx, steps, step, w, aim)
	}
	intro := fmt.Sprintf(colleague, w.Role, wording.Line(w.About))
	replies, err := steps.Turns(ctx, loop.Call{Step: step, Role: w.Role, Access: loop.Write, Prompt: paragraphs(intro, w.Instructions, question)})
	if err != nil {
		return "", err
	}
	change, err := steps.Checkpoint(ctx, step.Sub("state"))
	if err != nil {
		return "", err
	}
	checks, err := steps.Check(ctx, step.Sub("checks"))
	if err != nil {
		return "", err
	}
	turn := replies[0].Turn
	f.matter = &loop.Case{Task: steps.Task(), Attempt: loop.Attempt{Turn: turn}, Change: change, Checks: checks}
	f.judged = false
	if turn.Ending != loop.EndCompleted {
		return fmt.Sprintf("(The turn %s.)\n%s", prompt.Ended(turn.Ending, turn.ExitCode), replies[0].Text), nil
	}
	return replies[0].Text, nil
}

// drives has a worker do its part with a strategy of its own. What it says is what that comes
// to.
func (f *floor) drives(ctx context.Context, steps *loop.Steps, step loop.Step, w worker, aim string) (answer string, err error) {
	var out loop.Outcome
	err = steps.Errand(ctx, step, aim, w.Role, func(ctx context.Context, in *loop.Steps) error {
		in.Instruct(w.Instructions)
		if out, err = w.over.Run(ctx, in); err == nil {
			f.matter, f.judged = in.Case(), false
			f.matter.Task = steps.Task()
		}
		return err
	})
	if err == nil && out.Reason != loop.StopDone && out.Reason != loop.StopMaxIterations {
		f.end, f.over = out, true
	}
	if out.Reason != loop.StopDone {
		return "(This part was not finished.)\n" + out.Summary, err
	}
	return out.Summary, err
}

// judge has the critic judge the work against all that the user asks for. What it misses is
// noted as what it says.
func (f *floor) judge(ctx context.Context, steps *loop.Steps, step loop.Step) error {
	if err := steps.Rejudge(ctx, step.Sub(loop.NoteRejudge), f.matter.Attempt.Turn); err != nil {
		return err
	}
	for {
		round, err := steps.Iterate(ctx, iterate)
		if err != nil {
			return err
		}
		if f.end, f.over = steps.Over(round); f.over {
			return nil
		}
		if round.Verdict.Decision == loop.Done || !steps.Judged() {
			continue // it is judged once more
		}
		f.said = append(f.said, saying{"The critic, who judges the whole task", remarks(round)})
		f.matter, f.judged = steps.Case(), true
		return nil
	}
}

// remarks are what a verdict and the checks find wrong.
func remarks(r loop.Round) string {
	text := r.Verdict.Guidance()
	for _, item := range slices.Concat(r.Verdict.RequiredChanges, r.Verdict.Issues) {
		if !strings.Contains(text, item) {
			text += "\n- " + item
		}
	}
	if bad := failing(r.Checks); len(bad) > 0 {
		text += "\nThese checks do not pass: " + strings.Join(bad, "; ")
	}
	return strings.TrimSpace(text)
}

// closes ends a strategy whose rounds are used up: work that nobody has judged is judged.
func (f *floor) closes(ctx context.Context, steps *loop.Steps, why string) (loop.Outcome, error) {
	if f.matter != nil && !f.judged {
		if err := f.judge(ctx, steps, steps.Step("close")); err != nil || f.over {
			return f.end, err
		}
	}
	return loop.Outcome{Reason: loop.StopMaxIterations, Summary: why}, nil
}

// texts are what has been said, which gives no order when it is repeated.
func (f *floor) texts() (texts []string) {
	for _, s := range f.said {
		texts = append(texts, s.text)
	}
	return texts
}
