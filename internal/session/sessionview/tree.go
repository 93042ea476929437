package sessionview

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
)

// A tree shows the steps of a strategy: candidates, attempts, rounds. A candidate that continues
// another one's work is below that.
type tree struct {
	all   []*branch
	floor float64 // the score that a candidate needs
	drawn bool    // there are other steps than iterations
}

type branch struct {
	step  loop.Step
	name  string
	from  loop.Step // the step whose work it continues; "": none
	score string
	fate  string   // what happened to its work
	facts []string // other results, on its line
	texts []string // other results, on lines of their own
	own   bool     // a turn, which Details shows elsewhere
	won   bool
}

// event takes the next event of the session. kept maps checkpoints to steps; fork is the one that
// the event happened in.
func (t *tree) event(entry session.Entry, kept map[string]loop.Step, fork loop.Step) {
	if e, ok := entry.Event.(loop.TurnFinished); ok && e.Iteration == 0 {
		b := t.at(entry.At.Step)
		b.own, b.facts = true, []string{render.Span(e.Reply.Duration), render.TurnSummary(e.Reply.Turn)}
	}
	if e, ok := entry.Event.(loop.Noted); ok {
		t.noted(entry.At.Step, e, kept)
	}
	if e, ok := entry.Event.(loop.IterationFinished); ok {
		step := fork.Sub(strconv.Itoa(e.Round.Iteration))
		b := t.at(step)
		b.name, b.facts = "iteration "+step.Name(), []string{term.Line(e.Round.Verdict.Word())}
	}
}

func (t *tree) noted(step loop.Step, e loop.Noted, kept map[string]loop.Step) {
	t.drawn = t.drawn || e.Name != loop.NoteCheckpoint
	whole := cmp.Or(step.Parent(), step)
	switch e.Name {
	case loop.NoteRestored:
		t.at(whole).from = kept[e.Text]
	case loop.NoteApplied:
		if won, ok := kept[e.Text]; ok {
			whole = won
		}
		t.at(whole).ends("applied", true)
	case loop.NoteForkApplied, loop.NoteForkDiscarded:
		t.closed(step, e.Name == loop.NoteForkApplied)
	case loop.NoteChecks:
		if said := render.Passed(e.Checks); said != "" {
			t.at(whole).addFact("checks: " + said)
		}
	case loop.NoteCheckpoint, loop.NoteForked, loop.NoteRejudge, loop.NoteQuestion: // nothing to show
	default:
		name := step.Name()
		if whole == step {
			name = "" // the branch has this name
		}
		t.at(whole).report(name, term.Line(e.Text))
	}
}

// closed takes the end of a fork. A fork named [loop.ForkPlace] is only a place for the step around
// it.
func (t *tree) closed(step loop.Step, applied bool) {
	if step.Name() == loop.ForkPlace {
		return
	}
	switch {
	case applied:
		t.at(step).ends("applied", true)
	case !slices.ContainsFunc(t.all, func(b *branch) bool { return b.won && b.step.In(step) }): // otherwise its parts were applied
		t.at(step).ends("thrown away", false)
	}
}

func (b *branch) ends(fate string, won bool) { b.own, b.fate, b.won = false, fate, won }

// report adds what a strategy reported. A long text gets its own line.
func (b *branch) report(name, text string) {
	const long = 30
	if name == "score" {
		b.own, b.score = false, text
		return
	}
	said := strings.TrimSpace(name + " " + text)
	if len(said) <= long {
		b.addFact(said)
	} else if said = strings.TrimPrefix(name+": "+text, ": "); !slices.Contains(b.texts, said) {
		b.texts = append(b.texts, said)
	}
}

// addFact adds a fact, once: a resumed session may report it again.
func (b *branch) addFact(fact string) {
	if b.own {
		b.own, b.facts = false, nil
	}
	if !slices.Contains(b.facts, fact) {
		b.facts = append(b.facts, fact)
	}
}

func (t *tree) at(step loop.Step) *branch {
	for _, b := range t.all {
		if b.step == step {
			return b
		}
	}
	b := &branch{step: step}
	i := slices.IndexFunc(t.all, func(other *branch) bool { return before(step, other.step) })
	if i < 0 {
		i = len(t.all)
	}
	t.all = slices.Insert(t.all, i, b)
	return b
}

var numbers = regexp.MustCompile(`[0-9]+`)

// before reports whether a step is shown before another one that ran at the same time. Such steps
// differ in one number, as debater_1.round_2 and debater_2.round_2 do.
func before(step, other loop.Step) bool {
	a, b := string(step), string(other)
	if numbers.ReplaceAllString(a, "#") != numbers.ReplaceAllString(b, "#") {
		return false
	}
	differ, less := 0, false
	there := numbers.FindAllString(b, -1)
	for i, text := range numbers.FindAllString(a, -1) {
		n, _ := strconv.Atoi(text)
		if m, _ := strconv.Atoi(there[i]); n != m {
			differ, less = differ+1, n < m
		}
	}
	return differ == 1 && less
}

// above returns the parent of a branch, nil if there is none.
func (t *tree) above(b *branch) (above *branch) {
	for _, other := range t.all {
		if b.from != "" && other.step == b.from {
			return other
		}
		if other != b && b.step.In(other.step) && (above == nil || other.step.In(above.step)) {
			above = other
		}
	}
	return above
}

// below returns the children of a branch; nil is the session. Turns of a step with results of its
// own are shown elsewhere.
func (t *tree) below(whole *branch) (below []*branch) {
	for _, b := range t.all {
		if t.above(b) == whole && (!b.own || whole == nil || whole.own) {
			below = append(below, b)
		}
	}
	return below
}

// pruned reports whether a candidate was given up: it scored too little, or others of its level
// were better.
func (t *tree) pruned(b *branch) bool {
	if b.score == "" || b.won {
		return false
	}
	if score, err := strconv.ParseFloat(b.score, 64); err == nil && score < t.floor {
		return true
	}
	continued := func(of *branch) bool {
		return slices.ContainsFunc(t.all, func(other *branch) bool { return other.from == of.step })
	}
	return !continued(b) && slices.ContainsFunc(t.all, func(other *branch) bool {
		return other.step.Parent() == b.step.Parent() && b.step.Parent() != "" && continued(other)
	})
}

type lines struct{ branch, last, down, none string }

func (s Screen) lines() lines {
	if s.ASCII {
		return lines{"|- ", "`- ", "|  ", "   "}
	}
	return lines{"├─ ", "└─ ", "│  ", "   "}
}

// narrow: there is room for the main facts only.
func (s Screen) narrow() bool { return s.Width < 60 }

// draw shows the tree, where a strategy has made steps of its own.
func (t *tree) draw(p *Page, s loop.StrategyRef) {
	if !t.drawn {
		return
	}
	for _, given := range s.Parameters {
		if given.Key == "min_score" {
			t.floor, _ = strconv.ParseFloat(given.Value, 64) // 0 prunes nobody
		}
	}
	p.sayf("\n%s", p.Screen.strong(term.Line(cmp.Or(s.Name, "steps"))))
	t.grow(p, nil, "  ")
}

// grow draws what hangs below a branch.
func (t *tree) grow(p *Page, whole *branch, margin string) {
	with := p.Screen.lines()
	below := t.below(whole)
	for i, b := range below {
		fork, further := with.branch, with.down
		if i == len(below)-1 {
			fork, further = with.last, with.none
		}
		fate, style := b.fate, func(text string) string { return text }
		switch {
		case b.won:
			style = p.Screen.strong
		case t.pruned(b):
			fate, style = "pruned", p.Screen.faint
		}
		facts := []string{b.title(whole), b.score, fate}
		if !p.Screen.narrow() || b.score+fate == "" {
			facts = append(facts, b.facts...)
		}
		facts = slices.DeleteFunc(facts, func(said string) bool { return said == "" })
		apart := gap
		if p.Screen.narrow() {
			apart = " "
		}
		p.twig(margin+fork, strings.Join(facts, apart), style)
		under := with.none
		if len(t.below(b)) > 0 {
			under = with.down
		}
		for _, text := range b.texts {
			p.twig(margin+further+under, text, p.Screen.faint)
		}
		t.grow(p, b, margin+further)
	}
}

// title names a branch below another one.
func (b *branch) title(whole *branch) string {
	if b.name != "" {
		return b.name
	}
	if whole != nil && b.step.In(whole.step) {
		return term.Line(strings.TrimPrefix(string(b.step), string(whole.step)+"."))
	}
	return term.Line(string(b.step))
}
