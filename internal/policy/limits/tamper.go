package limits

import (
	"fmt"
	"slices"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/policy/tamper"
)

// RuleTamper is the rule on tests, and on the files that decide about them.
const RuleTamper = "tamper"

// Tamper lists what a change has touched of the project's tests, and of the files that decide
// about them, for the critic and the user.
type Tamper struct {
	On    bool
	Tree  tamper.Tree
	Block []string // the kinds of signs that are also a breach, unless the task names what was changed
}

// Inspect implements [policy.Inspector]. Each kind of sign is a concern, with all its places.
func (t Tamper) Inspect(c loop.Case, found *loop.Inspection) *policy.Breach {
	if !t.On {
		return nil
	}
	t.Tree.Task = c.Task
	signs := tamper.Inspect(c.Change, t.Tree)
	found.Concerns = append(found.Concerns, concerns(signs)...)
	barred := slices.DeleteFunc(signs, func(s tamper.Sign) bool { return s.Asked || !slices.Contains(t.Block, string(s.Kind)) })
	if len(barred) == 0 {
		return nil
	}
	const most = 8 << 10 // bytes
	list, _ := loop.Outline(concerns(barred), most)
	return &policy.Breach{
		Why:      "tests, or what decides about them, were changed: " + barred[0].String() + others(len(barred)-1),
		Feedback: "Tests, and what decides about them, may not be changed. Put these back as they were, and change the code instead:\n" + list,
	}
}

// concerns returns a concern for each kind of sign. The signs are sorted by kind.
func concerns(signs []tamper.Sign) []loop.Concern {
	var all []loop.Concern
	for i, s := range signs {
		if i == 0 || signs[i-1].Kind != s.Kind {
			all = append(all, loop.Concern{Rule: RuleTamper, Kind: string(s.Kind), Text: s.Kind.Title()})
		}
		last := &all[len(all)-1]
		last.Places = append(last.Places, loop.Place{At: s.Place(), What: s.Text})
	}
	return all
}

func others(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more", n)
}
