package browse

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/render"
	"codeloops/internal/term"
)

func (d *Details) round(r loop.Round) {
	d.sayf("\n%s  %s", d.strong(fmt.Sprintf("Iteration %d", r.Iteration)), d.faint(render.Span(r.Attempt.Duration+r.Review.Duration)))
	d.rowf("actor", "%s", render.Acted(d.session.Actor, r.Attempt))
	d.missed(r.Attempt.Turn)
	d.block("", r.Attempt.Stdout.Text, 6)
	d.omitted(r.Attempt.Stdout)
	d.block("standard error", r.Attempt.Stderr.Text, 3)
	d.omitted(r.Attempt.Stderr)
	for _, p := range r.Attempt.Leftovers {
		d.rowf("", "left running, ended: %s", term.Line(p.Command))
	}
	d.rowf("diff", "%s", render.Stat(r.Change))
	d.files(r.Change)
	for _, c := range r.Checks {
		result := "passed"
		if !c.Passed() {
			result = render.Failure(c)
		}
		d.rowf("check", "%s  %s  %s", render.Span(c.Duration), term.Line(c.Command), result)
		for _, remark := range c.Remarks() {
			d.rowf("", "%s", term.Line(remark))
		}
		if d.Full || !c.Passed() {
			d.ending(c.Output.Text, 6)
			d.omitted(c.Output)
		}
	}
	d.judged(r)
}

func (d *Details) missed(t loop.Turn) {
	for _, line := range render.Misses(t) {
		d.rowf("", "%s", line)
	}
}

func (d *Details) omitted(o loop.Output) {
	if o.Omitted > 0 {
		d.sayf("    %s", d.faint(fmt.Sprintf("%d of %d bytes are not in the log; all of it: %s", o.Omitted, o.Total, term.Line(o.File))))
	}
}

func (d *Details) files(c loop.Change) {
	const most = 12
	for i, f := range c.Files {
		if !d.Full && i == most && len(c.Files) > most+1 {
			d.sayf("    … %d more files", len(c.Files)-most)
			break
		}
		size := fmt.Sprintf("+%d -%d", f.Insertions, f.Deletions)
		if f.Binary {
			size = fmt.Sprintf("%d -> %d bytes", f.OldSize, f.NewSize)
		}
		words := append([]string{size}, f.Nature()...)
		d.sayf("    %s %s  %s", Letter(f.Status), Quoted(f.Path), d.faint(strings.Join(words, ", ")))
	}
	if !d.Full {
		return
	}
	d.sayf("")
	p := patchWriter{out: d.Out, screen: &d.Screen, err: d.err}
	p.change(c)
	d.err = p.err
}

func (d *Details) judged(r loop.Round) {
	d.noted()
	if r.Unjudged {
		d.rowf("rules", "%s by the rule %s; no critic was asked", term.Line(string(r.Verdict.Decision)), term.Line(r.Rule))
		d.block("", r.Why, 12)
		d.block("", r.Verdict.Guidance(), 12)
		return
	}
	decision := string(r.Review.Verdict.Decision)
	if r.Review.Problem != "" {
		decision = "no verdict: " + term.Line(r.Review.Problem)
	}
	d.rowf("critic", "%s  %s", render.Span(r.Review.Duration), term.Line(decision)+render.By(d.session.Critic, r.Review.Turn))
	d.missed(r.Review.Turn)
	if d.Full {
		d.block("reply", r.Review.Reply, 0)
	}
	v := r.Verdict
	if r.Review.Problem != "" || v.Decision != r.Review.Verdict.Decision {
		by := ""
		if r.Rule != "" {
			by = " by the rule " + r.Rule
		}
		d.rowf("verdict", "%s", term.Line(string(v.Decision)+by))
	}
	switch r.Review.Sealed {
	case loop.SealNone:
		d.rowf("seal", "none: the decision does not repeat it")
	case loop.SealWrong:
		d.rowf("seal", "wrong: as good as none")
	case loop.SealRight:
	}
	if v.Confidence != nil {
		d.rowf("confidence", "%.2f", *v.Confidence)
	}
	if r.Failure != loop.StopNone {
		d.rowf("failure", "%s", term.Line(string(r.Failure)))
	}
	d.block("", v.Guidance(), 12)
	if v.Escalation != "" {
		d.rowf("escalation", "%s", term.Line(v.Escalation))
	}
}
