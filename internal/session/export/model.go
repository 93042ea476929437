package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
)

// What the templates show. All texts are cleaned and cut; agents wrote them, so that templates must quote them, except
// those of our own: names of facts, classes, sizes.

// A fact is a name of ours with a value.
type fact struct{ Name, Value string }

// Came is what came of something.
type came struct{ Word, Class string }

// A head is the beginning of a file.
type head struct {
	Title, ID string
	Came      came
	Facts     []fact
	Prompt    text
}

// A section is an iteration, whole or not.
type section struct {
	Number          int
	Came            came
	Took            string
	Turns           []turn // of the strategy
	Acted           string
	Said, Errors    text     // of the actor
	Troubles        []string // of the actor's turn
	Notes           []note
	Change          change
	Checks          []check
	Judged          []fact
	Reply, Guidance text // of the critic
}

// A note is something that happened before a verdict.
type note struct {
	Text  string
	Reply text // of the critic, if it could not be used
}

// A turn is a turn of the strategy.
type turn struct {
	Role, What string
	Notes      []string
	Reply      text
}

// A change is what has changed, file by file.
type change struct {
	Stat  string
	Files []filed
	More  string // what is left out
}

type filed struct {
	Letter, Path, Stat string
	Open               bool
	Hunks              []hunk
	Note               string
	Patch              string // for a screen, if it is wanted
}

// A hunk is consecutive lines of one class.
type hunk struct{ Class, Text string }

type check struct {
	Passed                bool
	Command, Result, Took string
	Witness               string // of new tests on old code; "" for other checks
	Remarks               []string
	Output                text
}

func cameTo(status, word string) came {
	switch status {
	case string(loop.Success), string(loop.Done):
		return came{word, "good"}
	case string(loop.Failed), string(session.Crashed), string(loop.Error):
		return came{word, "bad"}
	}
	return came{word, "warn"}
}

func (p *page) head(s loop.Session) {
	status := string(p.opts.Session.Status)
	h := head{
		Title: title(s), ID: line(p.id), Came: cameTo(status, line(words.Outcome(status))), Facts: p.facts(s), Prompt: p.words("", s.Prompt),
	}
	if p.raw {
		h.Came.Word, h.Facts = p.opts.Screen.Outcome(status)+sessionview.Why(p.opts.Session), p.own(s)
	}
	p.show("head", h)
}

func (p *page) facts(s loop.Session) []fact {
	judge, who := render.Judges(s.Critic, s.Policy.Panel)
	all := []fact{{"Project", project(s.WorkingDir)}, {"Actor", render.Who(s.Actor)}, {strings.ToUpper(judge[:1]) + judge[1:], who}}
	if one := p.opts.Session; !one.Started.IsZero() {
		all = append(all, fact{"Started", one.Started.In(p.opts.Zone).Format("2006-01-02 15:04:05 MST")})
		if one.Status != session.Running {
			all = append(all, fact{"Took", render.Span(one.Duration)})
		}
	}
	for _, t := range s.Templates {
		all = append(all, fact{"Own words", line(fmt.Sprintf("%s, sha256 %.12s", t.Key, t.SHA256))})
	}
	all = append(all, fact{"Base commit", line(s.BaseCommit)})
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

// project is the last part of a path, of this or another system: the rest is private.
func project(dir string) string {
	dir = strings.TrimRight(line(dir), `/\`)
	return dir[strings.LastIndexAny(dir, `/\`)+1:]
}

// title is the first line of a prompt that is not blank.
func title(s loop.Session) string {
	for text := range strings.Lines(term.Clean(beginning(s.Prompt, mostOfText))) {
		if text = strings.Trim(text, "# \t\r\n"); text != "" {
			return render.Cut(text, 120)
		}
	}
	return "codeloops session"
}

func (p *page) turn(at loop.Stamp, e loop.TurnFinished) turn {
	t := e.Reply.Turn
	what := fmt.Sprintf("%s, %s (%s)", render.Span(t.Duration), render.TurnSummary(t)+render.Decided(e), render.StepName(at, e.Iteration))
	shown := turn{Role: line(string(e.Role)), What: line(what), Notes: troubles(t), Reply: p.words("", e.Reply.Text)}
	if p.raw {
		shown.Reply.Note = p.output("", t.Stdout).Note
	}
	return shown
}

// troubles are what went wrong in a turn.
func troubles(t loop.Turn) []string {
	all := append(render.FailedTries(t), render.Failures(t.Execution)...)
	for _, left := range t.Leftovers {
		all = append(all, "left running, ended: "+left.Command)
	}
	return lines(all)
}

// section is an iteration; own is what it alone changed.
func (p *page) section(r loop.Round, own loop.Change) section {
	s := section{
		Number: r.Iteration, Came: cameTo(string(r.Verdict.Decision), line(r.Verdict.Word())), Took: render.Span(r.Attempt.Duration + r.Review.Duration),
		Turns: p.takeTurns(), Notes: p.takeNotes(r.Change.Warnings...),
		Acted: p.apart(render.ActorSummary(p.state.Session.Actor, r.Attempt)), Troubles: troubles(r.Attempt.Turn), Said: p.output("output", r.Attempt.Stdout), // what matters most takes its room first
		Judged: p.judged(r), Guidance: p.words("feedback", loop.Named(r.Verdict.Account(), r.Findings)),
		Change: change{Stat: render.Stat(own.Shape())},
	}
	if r.Verdict.Decision == loop.Done {
		s.Guidance.Name = "summary"
	}
	if !p.brief {
		s.Errors, s.Change = p.output("standard error", r.Attempt.Stderr), p.changed(own, mostOpen)
		s.Reply = p.words("the whole reply", r.Review.Reply)
		s.Reply.Long = true
	}
	for _, c := range r.Checks {
		one := check{Passed: c.Passed(), Command: line(c.Command), Result: "passed", Took: render.Span(c.Duration), Remarks: lines(c.Remarks()), Witness: line(c.Witness)}
		if !one.Passed {
			one.Result = line(render.Failure(c))
		}
		if !p.brief || !one.Passed {
			one.Output = p.output("output", c.Output)
		}
		s.Checks = append(s.Checks, one)
	}
	return s
}

// apart cuts a line, whose parts are apart by space on a screen alone.
func (p *page) apart(said string) string {
	if !p.raw {
		said = strings.ReplaceAll(said, "  ", ", ")
	}
	return render.Cut(said, mostOfLine)
}

// judged says what the critic, or a rule, decided, and what came of it.
func (p *page) judged(r loop.Round) (all []fact) {
	add := func(name, value string) { all = append(all, fact{name, p.apart(value)}) }
	v, word, by := r.Verdict, line(r.Verdict.Word()), ""
	if r.Rule != "" {
		by = " " + words.Rule(r.Rule)
	}
	switch {
	case r.Unjudged && by != "":
		add("rules", word+by+"; no critic was asked")
	case r.Unjudged:
		add("verdict", word+"; no critic was asked")
	default:
		p.reviewed(r, add)
		if r.Review.Problem != "" || v.Word() != r.Review.Verdict.Word() {
			add("verdict", word+by)
		}
		if seal := map[loop.Sealed]string{loop.SealNone: "none: the decision does not repeat it", loop.SealWrong: "wrong: as good as none"}[r.Review.Sealed]; seal != "" {
			add("seal", seal)
		}
	}
	if r.Unjudged && r.Why != "" {
		add("because", line(r.Why))
	}
	if v.Confidence != nil {
		add("confidence", fmt.Sprintf("%.2f", *v.Confidence))
	}
	if why := failure(r); why != "" {
		add("failure", why)
	}
	for _, settled := range render.Settled(p.state.Found, r.Findings) {
		add("", "✓ "+line(settled))
	}
	if v.Escalation != "" {
		add("escalation", line(v.Escalation))
	}
	return all
}

// failure says why an iteration counts as an error, "" if it does not, or if its verdict says it.
func failure(r loop.Round) string {
	switch {
	case r.Failure == loop.StopNone:
	case r.Failure != loop.StopConsecutiveErrors: // which stands for all failures without a name
		return words.Stop(r.Failure)
	case r.Verdict.Decision != loop.Error:
		return "the actor could not finish its turn"
	}
	return ""
}

// reviewed says who decided, and which members of a panel dissented.
func (p *page) reviewed(r loop.Round, add func(name, value string)) {
	decision := r.Review.Verdict.Word()
	if r.Review.Problem != "" {
		decision = "no verdict: " + r.Review.Problem
	}
	decision = render.Span(r.Review.Duration) + "  " + line(decision)
	votes := r.Review.Votes
	if len(votes) == 0 {
		add("critic", decision+render.PlayedBy(p.state.Session.Critic, r.Review.Turn))
	} else {
		add("panel", decision+render.Poll(votes))
	}
	for _, v := range votes {
		if v.Decision != r.Review.Verdict.Decision {
			add("  dissent", line(v.Name()+": "+cmp.Or(string(v.Decision), "no verdict")))
			add("", line(v.Says))
		}
	}
	for _, trouble := range troubles(r.Review.Turn) {
		add("", trouble)
	}
}

// changed shows a change; the first files are unfolded, if they are small.
func (p *page) changed(c loop.Change, open int) change {
	room := mostOfDiff
	all := change{Stat: render.Stat(c.Shape())}
	if p.raw {
		return p.listed(c, all)
	}
	for i, f := range c.Files {
		if i == mostOfFiles {
			all.More = fmt.Sprintf("%d more files are left out here; all of them are in %s.jsonl", len(c.Files)-i, line(p.id))
			break
		}
		one := named(f)
		patch, note := p.take(f.Patch, max(room, mostOfRest))
		room -= len(patch)
		one.Open, one.Hunks, one.Note = i < open && len(patch) < openFile, hunks(patch), note
		all.Files = append(all.Files, one)
	}
	return all
}

// listed names the files of a change, with their patches if they are wanted.
func (p *page) listed(c loop.Change, all change) change {
	const most = 12
	for i, f := range c.Files {
		if !p.opts.Full && i == most && len(c.Files) > most+1 {
			all.More = fmt.Sprintf("%d more files", len(c.Files)-most)
			break
		}
		one := named(f)
		if p.opts.Full {
			one.Patch = f.Patch
		}
		all.Files = append(all.Files, one)
	}
	return all
}

// named is a file without its patch.
func named(f loop.FileChange) filed {
	stat := fmt.Sprintf("+%d -%d", f.Insertions, f.Deletions)
	if f.Binary {
		stat = fmt.Sprintf("%d -> %d bytes", f.OldSize, f.NewSize)
	}
	return filed{Letter: render.Letter(f.Status), Path: line(render.Quoted(f.Path)), Stat: strings.Join(append([]string{stat}, f.Nature()...), ", ")}
}

// hunks returns a patch without its header, as the file's name is shown.
func hunks(patch string) (all []hunk) {
	var text strings.Builder
	last := ""
	done := func() {
		if text.Len() > 0 {
			all = append(all, hunk{last, text.String()})
			text.Reset()
		}
	}
	for l := range loop.PatchLines(patch) {
		class := cmp.Or(map[byte]string{'@': "hunk", '+': "add", '-': "del"}[l.Op], "same")
		if class != last {
			done()
			last = class
		}
		text.WriteString(string(l.Op) + l.Text)
	}
	done()
	return all
}
