package strategy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// What strategies with members, roles that the user has named, have in common.

// A crew is the members of a strategy.
type crew []worker

// Reserved reports whether no member can have a name, because a step or another role has it.
func Reserved(name loop.Role) bool {
	bare := strings.TrimRight(string(name), "0123456789")
	return slices.Contains([]string{"", string(loop.RoleActor), string(loop.RoleCritic), nobody, "order", "handoff", loop.NoteRejudge, "entry_"}, bare) || name.IsMember()
}

// Choosing reports whether a role chooses among workers.
func Choosing(role loop.Role) bool { return role == roleCoordinator || role == roleClassifier }

// A worker is a member and how it works.
type worker struct {
	Member

	over    loop.Strategy // nil: one turn
	accepts *Schema       // nil: any object
}

// crew returns the members that a strategy can choose from. Those without a strategy of their own
// work with usual; nil is a single turn.
func (c Choice) crew(usual loop.Strategy) (all crew, err error) {
	if err := c.checkRoleNames(); err != nil {
		return nil, err
	}
	for _, m := range c.Members {
		w := worker{Member: m, over: usual}
		if m.Strategy != "" {
			of, ok := Find(m.Strategy)
			if !ok || !of.plain() {
				return nil, fmt.Errorf("strategy.roles.%s cannot work with %q", m.Role, m.Strategy)
			}
			if w.over, err = c.as(of).New(nil); err != nil {
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
		return nil, hint.Errorf("name some in the configuration, each in a table [strategy.roles.NAME] whose about says what it is for; codeloops.toml.example has one",
			"%s has nobody to choose from", c.Kind.Name)
	}
	return all, nil
}

// checkRoleNames returns an error if a member has the name of one of the strategy's own roles.
func (c Choice) checkRoleNames() error {
	for _, m := range c.Members {
		if _, own := c.Kind.Roles[m.Role]; own {
			return hint.Errorf("take another name, or leave out its about",
				"strategy.roles.%s is a member, and %s has a role of its own of that name", m.Role, c.Kind.Name)
		}
	}
	return nil
}

// checkMember returns an error unless a parameter names a member.
func (all crew) checkMember(key, name string) error {
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

// list describes the members, one per line.
func (all crew) list() string {
	var b strings.Builder
	for _, w := range all {
		fmt.Fprintf(&b, "- %s: %s\n", w.Role, wording.Line(w.About))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// mostOf is the largest number of turns of the members' strategies; usual is the strategy of
// members without one, "" for a single turn, which is not counted.
func (c Choice) mostOf(usual string, iterations int) (most int) {
	for _, m := range c.Members {
		name := cmp.Or(m.Strategy, usual)
		if of, ok := Find(name); name != "" && ok {
			n := c.as(of).Most(iterations)
			if n < 0 {
				return n
			}
			most = max(most, n)
		}
	}
	return most
}

// bounded is the largest number of turns when each round has so many besides those of the
// members' strategies. All iterations count against the run's limit.
func (c Choice) bounded(rounds, turns, iterations int) int {
	own := c.mostOf("", iterations)
	if own <= 0 {
		return plus(own, rounds*turns)
	}
	return own + rounds*turns + (rounds-1)*max(0, own-2*iterations)
}

// A saying is what somebody has said.
type saying struct{ by, text string }

// How much of what others have said may be in a prompt, in bytes.
const (
	maxSaying  = 16 << 10
	maxSayings = 64 << 10
)

// quoted quotes what has been said, oldest first; if it is too long, only the latest.
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

// paragraphs joins the non-empty texts with blank lines.
func paragraphs(all ...string) string {
	all = slices.DeleteFunc(all, func(p string) bool { return p == "" })
	for i, p := range all {
		all[i] = strings.TrimRight(p, "\n")
	}
	return strings.Join(all, "\n\n")
}

// titled puts a title above a text; "" if the text is empty.
func titled(title, text string) string {
	if text == "" {
		return ""
	}
	return title + "\n\n" + text
}
