package strategy

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/role/prompt"
	"codeloops/internal/role/verdict"
	"codeloops/internal/wording"
)

// How the members of a swarm hand over to each other.

const wordHandoff = "HANDOFF"

const handing = `If somebody else should go on from here, end your reply with this, as plain text and with nothing after it; else do not, and a critic judges the work:

HANDOFF: <name>
<a JSON object with what that one has to know>

You can hand over to:
%s`

// fenced quotes a text, unless it is empty.
func fenced(text string) string {
	if text == "" {
		return ""
	}
	return prompt.Quoted(text, maxSayings)
}

// offer says how to hand over, if that is still possible.
func (s Swarm) offer(r *relay) string {
	if r.handoffs >= s.MaxHandoffs {
		return "There is nobody to hand over to any more: a critic judges the work when you are through."
	}
	var b strings.Builder
	for _, w := range s.crew {
		if w.Role == r.at.Role {
			continue
		}
		fmt.Fprintf(&b, "- %s: %s", w.Role, wording.Line(w.About))
		if w.Accepts != "" {
			fmt.Fprintf(&b, "; the object has to be valid by this JSON schema: %s", wording.Line(w.Accepts))
		}
		b.WriteString("\n")
	}
	return fmt.Sprintf(handing, b.String())
}

// handoff reads whom a member hands over to, and what; the zero value is nobody.
func (s Swarm) handoff(answer string, r *relay, shown []saying) (to verdict.Order, problem string) {
	if last := r.matter.Attempt; last.Ending != loop.EndCompleted {
		return to, "your turn " + prompt.Ended(last.Ending, last.ExitCode)
	}
	if _, is := verdict.Above(answer, wordHandoff); !is {
		return to, ""
	}
	seen := floor{said: append([]saying{{text: r.matter.Task}, {text: r.payload}}, shown...)}
	to, problem = verdict.Ordered(answer, seen.texts(), verdict.Form{Word: wordHandoff, Names: s.names(), Text: true})
	if problem != "" {
		return to, problem
	}
	w, _ := s.find(to.Name)
	to.Text = verdict.Unfenced(to.Text)
	switch state, was := r.left[to.Name]; {
	case w.Role == r.at.Role:
		return to, "nobody hands over to themselves"
	case r.handoffs >= s.MaxHandoffs:
		return to, "max_handoffs is reached"
	case s.DetectCycles && was && state == r.matter.Change.State:
		return to, to.Name + " has handed over already, and nothing has changed since"
	}
	return to, w.accepts.check(to.Text)
}
