package live

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
)

// How much is drawn at most.
const (
	mostTurns = 6   // shown with their own lines
	mostDone  = 3   // earlier actions of an agent
	mostLine  = 300 // bytes kept of an agent's message
)

// A board is the state of the display.
type board struct {
	Options
	beat   int // of the spinner
	state  progress.State
	doing  map[loop.Step]*doing
	change loop.Change  // the last captured one
	done   []string     // finished parts of the current iteration
	worked loop.Attempt // the actor's turn among them
	files  []loop.FileChange
}

// finished collects the finished parts of an iteration until its line is shown.
func (b *board) finished(e loop.Event) {
	switch e := e.(type) { //nolint:gochecksumtype // the others finish no part
	case loop.ActorFinished:
		b.done, b.worked, b.files = []string{render.PartActor(b.state.Session.Actor, e.Attempt)}, e.Attempt, nil
	case loop.DiffCaptured:
		b.change, b.files = e.Change, e.Change.Files
		if len(b.done) > 0 {
			b.done = append(b.done[:1:1], render.PartChange(e.Change.Shape()))
		}
	case loop.ChecksFinished:
		if len(b.done) > 1 && len(e.Checks) > 0 {
			b.done = append(b.done[:2:2], render.PartChecks(e.Checks))
		}
	case loop.IterationStarted, loop.IterationFinished, loop.Finished:
		b.done = nil
	}
}

// goesOn reports whether the run has begun and not ended.
func (b *board) goesOn() bool {
	return b.state.Outcome == nil && !b.state.At.Time.IsZero()
}

// A doing is what an agent has done in its turn.
type doing struct {
	acts    []act // the last ones
	printed string
	edited  map[string]bool

	added, removed int // lines, as the agent reports them

	seen seen
}

// An act is one action of an agent.
type act struct {
	kind  loop.NoticeKind
	text  string
	lines string // of an edit: lines added and removed
	seen  bool   // found in the work tree, not reported by the agent
}

// verdict matches the line on which a critic's decision block begins. The decision is shown once it
// has been parsed, and the seal never.
var verdict = wording.Pattern(`(?i)(?:^|\n)[^\pL\n]*(?:SEAL|DECISION)\W*:`)

// spoken returns an agent's message without a decision block.
func spoken(text string) string {
	if at := verdict().FindStringIndex(text); at != nil {
		if text = strings.TrimSpace(text[:at[0]]); text == "" {
			return "its verdict"
		}
	}
	return text
}

func (b *board) take(at loop.Stamp, e loop.Activity) {
	d := b.doing[at.Step]
	if d == nil {
		d = &doing{edited: map[string]bool{}}
		b.doing[at.Step] = d
	}
	if e.Kind == loop.NoticeLook {
		if e.Look != nil {
			d.look(*e.Look)
		}
		return
	}
	if e.Kind == loop.NoticeOutput {
		if line := lastLine(e.Text); line != "" && !verdict().MatchString(line) {
			d.printed = line
		}
		return
	}
	text := e.Text[:min(len(e.Text), mostLine)]
	if e.Kind == loop.NoticeMessage {
		text = spoken(text)
	}
	if b.Root != "" {
		text = strings.ReplaceAll(text, strings.TrimSuffix(b.Root, "/")+"/", "")
	}
	if e.Kind == loop.NoticeEdit {
		d.edited[text] = true
		d.added, d.removed = d.added+e.Added, d.removed+e.Removed
	}
	a := act{kind: e.Kind, text: term.Line(text), lines: lines(e.Added, e.Removed)}
	if e.Kind == loop.NoticeEdit {
		a.lines = d.seen.lines(a)
		d.acts = slices.DeleteFunc(d.acts, func(was act) bool { return was.seen && sameFile(was.text, a.text) })
	}
	if d.acts = append(d.acts, a); len(d.acts) > mostDone+1 {
		d.acts = d.acts[1:]
	}
}

// lines writes how many lines were added and removed; "" if that is unknown.
func lines(added, removed int) string {
	if added == 0 && removed == 0 {
		return ""
	}
	return " " + render.Lines(added, removed)
}

// printed shows what an agent prints as permanent lines.
func (b *board) printed(e loop.Activity, width int) string {
	var lines strings.Builder
	for line := range strings.Lines(term.Clean(e.Text)) {
		lines.WriteString(b.faint("  │ "+render.Cut(strings.TrimRight(line, "\n"), width-4)) + "\n")
	}
	return lines.String()
}

// lastLine returns the last line of a text that is not blank.
func lastLine(text string) string {
	if len(text) > mostLine {
		text = text[len(text)-mostLine:]
	}
	text = strings.TrimRight(text, " \t\r\n")
	return term.Line(text[strings.LastIndexByte(text, '\n')+1:])
}

func (b *board) turns() (turns []progress.Step) {
	for _, step := range b.state.Steps {
		if step.Role != "" && !step.Over {
			turns = append(turns, step)
		}
	}
	return turns
}

func (b *board) underWay() (lines []string) {
	turns := b.turns()
	if len(b.done) > 0 {
		for _, line := range b.flow(append([]string{"  " + b.done[0]}, b.done[1:]...), 2) {
			lines = append(lines, b.faint(line))
		}
		width, _ := b.Size()
		for _, line := range render.Remains(b.worked, b.files, width-1) {
			lines = append(lines, b.faint(line))
		}
	}
	for i, t := range turns {
		if i == mostTurns {
			return append(lines, b.faint(fmt.Sprintf("  … and %d more", len(turns)-i)))
		}
		if len(turns) == 1 {
			lines = append(append(lines, b.flow(b.turn(t), 11)...), b.acts(t)...)
			continue
		}
		lines = append(lines, strings.Join(b.turn(t), render.Dot))
		if what := b.now(t); what != "" {
			lines[len(lines)-1] += "  " + what
		}
	}
	if len(turns) == 0 {
		if what := b.phase(); what != "" {
			lines = append(lines, "  "+Spinner(b.beat, b.ASCII)+" "+what)
		}
	}
	return lines
}

// task is what the run is to do: the beginning of the screen may be far away.
func (b *board) task() (lines []string) {
	if task := render.Task(b.state.Session); task != "" && b.state.Open.Number > 1 {
		lines = []string{"  " + b.faint("task     "+task)}
	}
	return lines
}

func (b *board) turn(t progress.Step) (parts []string) {
	name := string(t.Role)
	if t.Path.Name() != name && t.Path.Iteration() == 0 {
		name = string(t.Path)
	}
	began, who := t.Began, render.Who(t.Agent)
	parts = []string{"  " + b.strong(fmt.Sprintf("%-8s", term.Line(name))) + " " + who}
	took := render.Clock(b.Now().Sub(began))
	if b.Limits.Turn > 0 {
		took += " of " + wording.Duration(b.Limits.Turn)
	}
	parts = append(parts, took)
	if d := b.doing[t.Path]; d != nil {
		parts = append(parts, d.files()...)
	}
	return parts
}

// aliveLine says on one line what is under way; "" if nothing is.
func (b *board) aliveLine() string {
	turns := b.turns()
	if len(turns) == 0 || b.state.Outcome != nil {
		return ""
	}
	t := turns[0]
	line := fmt.Sprintf("  %-8s %s at work for %s", term.Line(string(t.Role)), render.Who(t.Agent), render.Span(b.Now().Sub(t.Began).Round(time.Second)))
	if t.Waiting != nil {
		line = fmt.Sprintf("  %-8s %s", term.Line(string(t.Role)), b.waits(*t.Waiting))
	} else if what := b.now(t); what != "" {
		line += ": " + what
	}
	if d := b.doing[t.Path]; d != nil && len(d.files()) > 0 {
		line += ", " + d.files()[0]
	}
	if len(turns) > 1 {
		line += fmt.Sprintf(", and %d more at work", len(turns)-1)
	}
	return b.faint(line)
}

// title sums up the state of the run: codeloops 2/5 critic; "" before it begins.
func (b *board) title() string {
	if b.state.At.Time.IsZero() || b.state.Outcome != nil {
		return ""
	}
	words := []string{"codeloops"}
	if n := b.state.Open.Number; n > 0 {
		at := strconv.Itoa(n)
		if most := b.state.Session.MaxIterations; most > 0 {
			at += fmt.Sprintf("/%d", most)
		}
		words = append(words, at)
	}
	switch turns := b.turns(); {
	case b.state.Paused:
		words = append(words, "paused")
	case len(turns) > 1:
		words = append(words, fmt.Sprintf("%d agents", len(turns)))
	case len(turns) == 1 && turns[0].Waiting != nil:
		words = append(words, "waiting")
	case len(turns) == 1:
		words = append(words, string(turns[0].Role))
	case b.state.Open.Phase == loop.Verifying:
		words = append(words, "checks")
	}
	if task := render.Task(b.state.Session); task != "" {
		words = append(words, "·", task)
	}
	return strings.Join(words, " ")
}

// phase says what is happening while no agent is at work.
func (b *board) phase() string {
	open := b.state.Open
	since := render.Clock(b.Now().Sub(open.Since))
	switch {
	case b.state.Paused:
		return "paused"
	case open.Number == 0:
		return "at work"
	case open.Phase == loop.CapturingDiff:
		return "looking at what has changed" + render.Dot + since
	case open.Phase == loop.Verifying:
		if checks := render.Checks(b.state.Session); checks != "" {
			return "running " + checks + render.Dot + since
		}
		return "running the checks" + render.Dot + since
	}
	return "at work"
}

// acts lists an agent's last actions, the current one last.
func (b *board) acts(t progress.Step) (lines []string) {
	if t.Waiting != nil {
		return []string{"  " + Spinner(b.beat, b.ASCII) + " " + b.waits(*t.Waiting)}
	}
	before, last := b.doing[t.Path].last()
	for _, a := range before[max(0, len(before)-mostDone):] {
		lines = append(lines, "    "+b.verb(a.kind)+" "+b.faint(a.text+a.lines))
	}
	if last == nil {
		text := "no word from it yet"
		if d := b.doing[t.Path]; d != nil && d.printed != "" {
			text = d.printed
		}
		return append(lines, "  "+Spinner(b.beat, b.ASCII)+" "+b.faint(text))
	}
	return append(lines, fmt.Sprintf("  %s %s %s%s", Spinner(b.beat, b.ASCII), b.verb(last.kind), last.text, last.lines))
}

// waits says how long a turn will wait, and for what.
func (b *board) waits(w loop.Wait) string {
	what := "waiting " + render.Clock(w.Until.Sub(b.Now())) + " for the rate limit"
	if w.Cause == loop.EndOverloaded {
		what = "waiting " + render.Clock(w.Until.Sub(b.Now())) + " for an overloaded service"
	}
	what = b.Style.NewStyle().Foreground(term.Colour(yellow)).Render(what)
	if b.Keys {
		what += render.Dot + tryAgain
	}
	return what
}

const tryAgain = "w tries again now"

func (b *board) now(t progress.Step) string {
	d := b.doing[t.Path]
	switch {
	case t.Waiting != nil:
		return b.waits(*t.Waiting)
	case d == nil:
		return ""
	}
	if _, last := d.last(); last != nil {
		return b.style(last.kind).Render(render.Verb(last.kind)) + " " + last.text + last.lines
	}
	return b.faint(d.printed)
}

func (b *board) foot() []string {
	var parts []string
	if n := b.state.Open.Number; n > 0 {
		at := fmt.Sprintf("iteration %d", n)
		if most := b.state.Session.MaxIterations; most > 0 {
			at += fmt.Sprintf(" of %d", most)
		}
		parts = append(parts, at)
	}
	spent := b.state.Spent.Total()
	parts = append(parts, render.Used(spent.Tokens, b.Limits.Tokens, spent.CostUSD, b.Limits.Cost)...)
	if c := b.state.Change; c != nil && len(b.done) == 0 {
		parts = append(parts, render.PartChange(*c))
	}
	all := render.Clock(b.Now().Sub(b.state.Began))
	if b.Limits.Whole > 0 {
		all += " of " + wording.Duration(b.Limits.Whole)
	}
	parts = append(parts, "run "+all)
	parts[0] = "  " + parts[0]
	lines := b.flow(parts, 2)
	for i, line := range lines {
		lines[i] = b.faint(line)
	}
	return lines
}
