// Package scripted is a coding agent that plays a scenario file instead of asking a
// model.
//
// It is a real process that reads a real prompt, changes real files and can misbehave in
// every way that real agents do. With it, a loop, its hooks and its CI job can be
// rehearsed at no cost. docs/scripted-agent.md describes the format of a scenario.
package scripted

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/loop"
)

// maxScenario bounds the size of a scenario file, in bytes.
const maxScenario = 1 << 20

// A scenario is what the agent does, turn by turn, in each of its roles.
type scenario struct {
	repeat bool // a role's last turn is repeated when there are no more
	roles  map[loop.Role][]turn
}

// A turn is what the agent does in one call.
type turn struct {
	stdin  string // "read", "close" or "ignore"
	expect []string
	steps  []step
	reply
	complain string
	exit     int
	usage    *usage // nil: not reported
	fault    fault

	again []turn // for when it is asked again in the same iteration
}

// A reply is what the agent says at the end of a turn.
type reply struct {
	say               string
	check, pass, fail string // check chooses between pass and fail
}

// A fault is what goes wrong in a turn.
type fault struct {
	kind       string // one of faults; "": none
	reason     string
	resetAfter time.Duration
}

// parse reads a scenario. Errors are a [*ParseError] with file and line.
func parse(name string, data []byte) (scenario, error) {
	if len(data) > maxScenario {
		return scenario{}, &ParseError{File: name, Problem: fmt.Sprintf("larger than %d bytes", maxScenario)}
	}
	t, problem := newTable(name, data)
	if problem != nil {
		return scenario{}, problem
	}
	s := readScenario(t)
	t.done("a scenario")
	if t.err != nil {
		return scenario{}, t.err
	}
	return s, nil
}

func readScenario(t *table) scenario {
	s := scenario{repeat: t.flag("repeat", true), roles: map[loop.Role][]turn{}}
	for _, role := range []loop.Role{loop.RoleActor, loop.RoleCritic} {
		s.roles[role] = readTurns(t, string(role), false)
	}
	if others, ok := t.table("role"); ok {
		for _, role := range slices.Sorted(maps.Keys(others.values)) {
			s.roles[loop.Role(role)] = readTurns(others, role, false)
		}
	}
	return s
}

func readTurns(t *table, key string, again bool) []turn {
	var turns []turn
	for _, entry := range t.tables(key) {
		u, what := readTurn(entry), "a turn that is asked again"
		if !again {
			u.again, what = readTurns(entry, "again", true), "a turn"
		}
		entry.done(what)
		turns = append(turns, u)
	}
	return turns
}

func readTurn(t *table) turn {
	u := turn{
		stdin:    cmp.Or(t.text("stdin"), "read"),
		expect:   t.texts("expect"),
		reply:    reply{say: t.text("say"), check: t.text("check"), pass: t.text("pass"), fail: t.text("fail")},
		complain: t.text("complain"),
		exit:     t.number("exit", 255),
		usage:    readUsage(t),
	}
	u.fault = readFault(t)
	for _, entry := range t.tables("step") {
		u.steps = append(u.steps, readStep(entry))
	}
	switch u.stdin {
	case "read":
	case "close", "ignore":
		if t.has("expect") {
			t.failf("expect", "expect needs the prompt, which stdin = %q does not read", u.stdin)
		}
	default:
		t.failf("stdin", "stdin must be \"read\", \"close\" or \"ignore\", not %q", u.stdin)
	}
	checkReply(t)
	return u
}

// checkReply ensures that a turn has only one way of replying.
func checkReply(t *table) {
	if !t.has("check") {
		for _, key := range []string{"pass", "fail"} {
			if t.has(key) {
				t.failf(key, "%s needs a check that chooses it", key)
			}
		}
		return
	}
	if t.has("say") {
		t.failf("say", "a turn has either say, or check with pass and fail")
	}
	if !t.has("pass") || !t.has("fail") {
		t.failf("check", "check needs both pass and fail to choose from")
	}
}

// numberOf returns the number of a role's turn: the last number in its step that is not
// part of the role's name, such as 2 in "debater_1.round_2" and in "attempt_2.evaluator".
func numberOf(step loop.Step, role loop.Role) int {
	for ; step != ""; step = step.Parent() {
		name := step.Name()
		digits := name[len(strings.TrimRight(name, "0123456789")):]
		if n, err := strconv.Atoi(digits); err == nil && n > 0 && name != string(role) {
			return n
		}
	}
	return 1
}

// unasked returns the step of a role's first turn, if the step is one in which it is asked again.
func unasked(step loop.Step) loop.Step {
	if _, err := strconv.Atoi(step.Name()); err == nil {
		return step.Parent()
	}
	return step
}

// turn returns the nth turn of a role, or what that has for when it is asked again; ask says how
// often it was asked before. Without that, the mth turn answers when it is asked again.
func (s scenario) turn(role loop.Role, n, m, ask int) (turn, error) {
	u, ok := pick(s.roles[role], n-1, s.repeat)
	if ask > 0 && n != m && (!ok || len(u.again) == 0) {
		n = m
		u, ok = pick(s.roles[role], n-1, s.repeat)
	}
	if !ok {
		return turn{}, fmt.Errorf("the scenario has no turn %d for the %s", n, role)
	}
	if ask == 0 || len(u.again) == 0 {
		return u, nil
	}
	u, ok = pick(u.again, ask-1, s.repeat)
	if !ok {
		return turn{}, fmt.Errorf("turn %d of the %s in the scenario cannot be asked again %d times",
			n, role, ask)
	}
	return u, nil
}

func pick(turns []turn, n int, repeat bool) (turn, bool) {
	if repeat {
		n = min(n, len(turns)-1)
	}
	if n < 0 || n >= len(turns) {
		return turn{}, false
	}
	return turns[n], true
}
