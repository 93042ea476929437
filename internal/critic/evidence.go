package critic

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// turn says how the actor's turn went.
func (d *draft) turn(a loop.Attempt) {
	d.sayf("The actor's turn %s, after %s.", prompt.Ended(a.Ending, a.ExitCode), about(a.Duration))
	if a.Reason != "" {
		d.show("what the actor's program says of that", wording.Clean(a.Reason))
	}
	if len(a.Leftovers) > 0 {
		d.sayf("It left processes running, which codeloops has ended:")
		d.show("left running", prompt.Clip(leftovers(a.Leftovers), d.budget.Stderr/2, d.budget.Stderr/2))
	}
	if len(a.Failures) > 0 {
		d.sayf("Some of what it did failed, or was not allowed:")
		d.show("failed", prompt.Clip(failures(a.Failures), d.budget.Stderr/2, d.budget.Stderr/2))
	}
	if a.Late.Total > 0 {
		d.sayf("They printed %d bytes after the turn had ended. None of that is shown here.", a.Late.Total)
	}
}

// printed shows what the actor's turn printed.
func (d *draft) printed(a loop.Attempt) {
	d.output("the actor's stdout", a.Stdout, d.budget.Stdout, d.budget.Stdout/3)
	d.output("the actor's stderr", a.Stderr, d.budget.Stderr, d.budget.Stderr/3)
}

func leftovers(processes []loop.Process) string {
	var b strings.Builder
	for _, l := range processes {
		fmt.Fprintf(&b, "%d %s\n", l.PID, wording.Clean(l.Command))
	}
	return b.String()
}

func failures(all []loop.Failure) string {
	var b strings.Builder
	for _, f := range all {
		b.WriteString(wording.Clean(f.String()) + "\n")
	}
	return b.String()
}

// output shows a stream, or says that it is empty.
func (d *draft) output(title string, o loop.Output, most, head int) {
	text := wording.Clean(o.Text)
	if strings.TrimSpace(text) == "" && o.Omitted == 0 {
		d.sayf("%s%s is empty.", strings.ToUpper(title[:1]), title[1:])
		return
	}
	d.show(title, prompt.Clip(text, most, head))
	if o.Omitted > 0 && o.File != "" {
		d.sayf("All of it, %d bytes, is in the file\n%s", o.Total, o.File)
	}
}

// about rounds a duration for people.
func about(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}

// checks shows the results of the project's own checks, with most room for the output of
// those that fail.
func (d *draft) checks(checks []loop.CheckResult) {
	if len(checks) == 0 {
		return
	}
	passing := passed(checks)
	d.sayf("The project's own checks: %d of %d pass.", passing, len(checks))
	failing := len(checks) - passing
	for i, c := range checks {
		fate, size := "passed", min(d.budget.Passing, d.budget.Checks/len(checks))
		if !c.Passed() {
			fate, size = "failed", min(d.budget.Check, d.budget.Checks/failing)
		}
		text := fmt.Sprintf("command: %s\n%s after %s", wording.Clean(c.Command), prompt.Ended(c.Ending, c.ExitCode), about(c.Duration))
		if c.FailedBefore {
			text += "; it failed before the session began, too"
		}
		if c.Witness != "" {
			text = "command: " + c.Command + " (the checks, run on the code as it was when the session began, with the new tests)"
		}
		text = strings.Join(append([]string{text}, c.Remarks()...), "\n")
		output := strings.TrimSpace(wording.Clean(c.Output.Text))
		d.show(fmt.Sprintf("check %d of %d, %s", i+1, len(checks), fate), text+"\n"+prompt.Clip(output, size, size/4))
	}
}

func passed(checks []loop.CheckResult) (n int) {
	for _, c := range checks {
		if c.Passed() {
			n++
		}
	}
	return n
}

// history shows the earlier iterations, or the latest of them when there are many.
func (d *draft) history(rounds []loop.Round) {
	if len(rounds) == 0 {
		return
	}
	const share = 12 // iterations that fit in full
	var entries []string
	size := 0
	for i, round := range slices.Backward(rounds) {
		entry := outline(round, d.budget.History/share)
		if size += len(entry); size > d.budget.History && len(entries) > 0 {
			entries = append(entries, fmt.Sprintf("[... %s left out here ...]\n", wording.Count(i+1, "earlier iteration")))
			break
		}
		entries = append(entries, entry)
	}
	var b strings.Builder
	for _, entry := range slices.Backward(entries) {
		b.WriteString(entry)
	}
	d.sayf("The earlier iterations, each with the change since the session began as it left it and with what the critic said:")
	d.show("earlier iterations", b.String())
}

// outline describes an iteration in a line, with the critic's guidance below it.
func outline(r loop.Round, most int) string {
	said := string(r.Verdict.Decision)
	if r.Review.Problem != "" {
		said += ", without a usable review"
	}
	line := fmt.Sprintf("iteration %d: %s; %s, +%d -%d", r.Iteration, said, wording.Count(r.Change.Shape().Files, "file"), r.Change.Insertions, r.Change.Deletions)
	if len(r.Checks) > 0 {
		line += fmt.Sprintf("; %d of %d checks pass", passed(r.Checks), len(r.Checks))
	}
	if r.Attempt.Ending != loop.EndCompleted {
		line += "; the actor's turn " + prompt.Ended(r.Attempt.Ending, r.Attempt.ExitCode)
	}
	words := prompt.Guidance(r.Verdict)
	if words == "" {
		return line + "\n"
	}
	words = strings.TrimRight(prompt.Clip(words, most-len(line), most), "\n")
	return line + "\n  " + strings.ReplaceAll(words, "\n", "\n  ") + "\n"
}
