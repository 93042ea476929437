package limits

import (
	"fmt"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/policy/tamper"
)

// Tamper lists changes that weaken the project's tests, or the tools that watch over it, for
// the critic and the user.
type Tamper struct {
	On    bool
	Tree  tamper.Tree
	Block bool // a sign is also a breach
}

// Inspect implements [policy.Inspector]. Each kind of sign is a concern, with all its places.
func (t Tamper) Inspect(c loop.Case, found *loop.Inspection) *policy.Breach {
	if !t.On {
		return nil
	}
	signs := tamper.Inspect(c.Change, t.Tree)
	if len(signs) == 0 {
		return nil
	}
	told := concerns(signs)
	found.Concerns = append(found.Concerns, told...)
	if !t.Block {
		return nil
	}
	const most = 8 << 10 // bytes
	list, _ := loop.Outline(told, most)
	return &policy.Breach{
		Why:      "tests, or what guards them, were weakened: " + signs[0].String() + others(len(signs)-1),
		Feedback: "Tests, and what guards them, may not be weakened. Put these back as they were, and change the code instead:\n" + list,
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
