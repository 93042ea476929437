package strategy

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"codeloops/internal/loop"
)

// TreeOfThoughts has several candidates work concurrently, each in its own copy of the work tree,
// and scores the results. The best go on to the next level, where several candidates continue
// each of them. The best of all is applied to the user's tree, and judged like an actor's work.
// (Yao et al. 2023, Tree of Thoughts, arXiv:2305.10601.)
type TreeOfThoughts struct {
	BranchFactor, MaxDepth, BeamWidth int
	SolvedThreshold, MinScore         float64
}

// roleCandidate works in a copy.
const roleCandidate loop.Role = "candidate"

// noteThought records a candidate's score.
const noteThought = "tree.thought"

// A thought is the result of a candidate: a state of the work tree.
type thought struct {
	step   loop.Step // of the candidate
	turn   loop.Turn
	commit string // the checkpoint of the state
	score  float64
}

func treeOfThoughts() Kind {
	return Kind{
		Name: NameTree, About: "several candidates work at the same time, each in a copy of the work tree; the best ones continue, and the critic judges the best of all",
		When: "there are many approaches, and the results show which one is good", Turns: "branch_factor of candidates and as many of the evaluator, for each state",
		Parameters: []Parameter{
			{Key: "branch_factor", Default: 3, Least: 1, Most: MostAtOnce, Help: "tree-of-thoughts: how many candidates continue from each state"},
			{Key: "max_depth", Default: 3, Least: 1, Help: "tree-of-thoughts: the most levels of candidates"},
			{Key: "beam_width", Default: 2, Least: 1, Help: "tree-of-thoughts: how many states of a level go on to the next"},
			{Key: "solved_threshold", Default: 1.0, Help: "tree-of-thoughts: the score, 0 to 1, that ends the search early"},
			{Key: "min_score", Default: 0.0, Help: "tree-of-thoughts: candidates with a lower score are dropped"},
		},
		Roles: map[loop.Role]loop.Access{roleCandidate: loop.Write, roleEvaluator: loop.ReadOnly},
		most: func(c Choice, n int) int {
			candidates := c.count("branch_factor") * (1 + (c.count("max_depth")-1)*c.count("beam_width"))
			return plus(times(n, 2), candidates*3)
		},
		build: func(c Choice) (loop.Strategy, error) {
			return TreeOfThoughts{
				BranchFactor: c.count("branch_factor"), MaxDepth: c.count("max_depth"), BeamWidth: c.count("beam_width"),
				SolvedThreshold: c.fraction("solved_threshold"), MinScore: c.fraction("min_score"),
			}, nil
		},
	}
}

const candidate = `You are working in the git repository that is your working directory, a copy that is yours alone. Others do the same task at the same time, each in a copy of their own; the best work is taken. Do the work itself; a description of it does not count.`

const further = `

The work has been begun: carry it further from where it stands, or mend it where it went wrong.`

// Run implements [loop.Strategy].
func (t TreeOfThoughts) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	start, err := steps.Checkpoint(ctx, steps.Step("start"))
	if err != nil {
		return loop.Outcome{}, err
	}
	root := thought{commit: start.Checkpoint}
	best, beam := root, []thought{root}
	for level := 1; level <= t.MaxDepth && len(beam) > 0 && (level == 1 || best.score < t.SolvedThreshold); level++ {
		found, err := t.grow(ctx, steps, level, beam)
		if err != nil {
			return loop.Outcome{}, err
		}
		beam = t.prune(found)
		if len(beam) > 0 && (best.step == "" || beam[0].score > best.score) {
			best = beam[0]
		}
	}
	if best.step != "" {
		step := steps.Step("best")
		if err := steps.Apply(ctx, step, root.commit, best.commit); err != nil {
			return loop.Outcome{}, err
		}
		if err := steps.Rejudge(ctx, step.Sub(loop.NoteRejudge), best.turn); err != nil {
			return loop.Outcome{}, err
		}
	}
	return ActorCritic{}.Run(ctx, steps)
}

func (t TreeOfThoughts) grow(ctx context.Context, steps *loop.Steps, level int, beam []thought) ([]thought, error) {
	var names []loop.Step
	for i := range len(beam) * t.BranchFactor {
		names = append(names, steps.Step("level_%d.candidate_%d", level, i+1))
	}
	found := make([]thought, len(names))
	err := steps.Together(ctx, names, func(ctx context.Context, i int, part *loop.Steps) error {
		return part.Fork(ctx, names[i].Sub(loop.ForkPlace), func(ctx context.Context, in *loop.Steps) (bool, error) {
			var err error
			found[i], err = t.think(ctx, in, names[i], beam[i/t.BranchFactor])
			return false, err
		})
	})
	return found, err
}

// think plays one candidate and scores its work. Work that does not pass the checks gets half the
// score.
func (t TreeOfThoughts) think(ctx context.Context, in *loop.Steps, step loop.Step, from thought) (thought, error) {
	now := thought{step: step}
	task := "The task:\n\n" + in.FullTask()
	if from.step != "" {
		task += further
		if err := in.Restore(ctx, step.Sub("begin"), from.commit); err != nil {
			return now, err
		}
	}
	replies, err := in.Turns(ctx, loop.Call{Step: step.Sub("turn"), Role: roleCandidate, Access: loop.Write, Prompt: candidate, Form: task})
	if err != nil {
		return now, err
	}
	now.turn = replies[0].Turn
	c, err := workAfter(ctx, in, step, now.turn)
	if err != nil {
		return now, err
	}
	now.commit = c.Change.Checkpoint
	if now.score, _, err = scored(ctx, in, step.Sub(string(roleEvaluator)), c); err != nil {
		return now, err
	}
	if len(failing(c.Checks)) > 0 {
		now.score /= 2
	}
	return now, in.Note(ctx, step.Sub("score"), noteThought, fmt.Sprintf("%.2f", now.score))
}

// prune returns the best thoughts, best first.
func (t TreeOfThoughts) prune(found []thought) []thought {
	found = slices.DeleteFunc(found, func(x thought) bool { return x.score < t.MinScore })
	slices.SortStableFunc(found, func(a, b thought) int { return cmp.Compare(b.score, a.score) })
	return found[:min(len(found), t.BeamWidth)]
}
