package strategy

import (
	"context"
	"fmt"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/prompt"
)

// Router has a classifier choose one member, who does the whole task.
type Router struct {
	crew

	FallbackRoute          string // who does the task if nobody is chosen; "": nobody
	RequireConfidenceAbove float64
}

// roleClassifier chooses who does the task.
const roleClassifier loop.Role = "classifier"

// noteRoute records the choice.
const noteRoute = "router.route"

const classify = `Several specialists can do the task below, in the git repository that is your working directory. Choose the one that fits best. Do not do the task yourself.

%s`

const routeForm = `Your answer has these two lines, each of them once, and then says why in a few words:

route: <the name of the specialist>
confidence: <how sure you are, a number from 0 to 1>

The task:

%s`

func router() Kind {
	return Kind{
		Name: NameRouter, About: "a classifier chooses one of the members, which then does the whole task with its own agent, instructions and strategy",
		When: "there are tasks of several kinds, and for each kind an agent that is best at it", Turns: "1 of the classifier, then those of the member's strategy",
		Parameters: []Parameter{{Key: "fallback_route", Default: "", Help: "router: the member that does the task if the classifier chooses nobody. With \"\" the run ends then"}, {Key: "require_confidence_above", Default: 0.0, Help: "router: how sure the classifier has to be, 0 to 1"}},
		Members:    true, Roles: map[loop.Role]loop.Access{roleClassifier: loop.ReadOnly},
		most: func(c Choice, n int) int { return plus(max(times(n, 2), c.mostOf(NameActorCritic, n)), 1) },
		build: func(c Choice) (loop.Strategy, error) {
			all, err := c.crew(ActorCritic{})
			r := Router{crew: all, FallbackRoute: c.word("fallback_route"), RequireConfidenceAbove: c.fraction("require_confidence_above")}
			if err == nil && r.FallbackRoute != "" {
				err = all.checkMember("fallback_route", r.FallbackRoute)
			}
			return r, err
		},
	}
}

// Run implements [loop.Strategy].
func (r Router) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	var to string
	var sure float64
	step := steps.Step("route")
	read, err := ask(ctx, steps, loop.Call{
		Step: step.Sub(string(roleClassifier)), Role: roleClassifier, Prompt: fmt.Sprintf(classify, r.list()), Workers: r.list(), Form: fmt.Sprintf(routeForm, prompt.Fenced(steps.FullTask())),
	}, func(reply string) (problem string) {
		to, sure, problem = verdict.Route(reply, r.names())
		return problem
	})
	if err != nil {
		return loop.Outcome{}, err
	}
	said := fmt.Sprintf("%s, confidence %.2f", to, sure)
	if why := r.doubt(read, sure); why != "" {
		if r.FallbackRoute == "" {
			return undecided(roleClassifier, "nobody was chosen to do the task: "+why+"; strategy.fallback_route names who does it then"), nil
		}
		to, said = r.FallbackRoute, fmt.Sprintf("%s: %s", r.FallbackRoute, why)
	}
	if err := steps.Note(ctx, step, noteRoute, said); err != nil {
		return loop.Outcome{}, err
	}
	chosen, _ := r.find(to)
	defer steps.Cast(chosen.Role)()
	defer steps.Instruct(chosen.Instructions)()
	return chosen.over.Run(ctx, steps)
}

// doubt says why the classifier's choice does not count, "" if it does.
func (r Router) doubt(read bool, sure float64) string {
	switch {
	case !read:
		return "the classifier's answer could not be read"
	case sure < r.RequireConfidenceAbove:
		return fmt.Sprintf("the classifier's confidence is %.2f, and require_confidence_above is %v", sure, r.RequireConfidenceAbove)
	}
	return ""
}
