package critic

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"codeloops/internal/critic/excerpt"
	"codeloops/internal/loop"
	"codeloops/internal/plain"
)

// turn tells how the actor's turn went.
func (p *prompt) turn(a loop.Attempt, budget Budget) {
	p.sayf("The actor's turn %s, after %s.", ended(a.Ending, a.ExitCode), about(a.Duration))
	if a.Reason != "" {
		p.show("what the actor's program says of that", plain.Text(a.Reason))
	}
	if len(a.Leftovers) > 0 {
		p.sayf("It left processes running, which have been ended since:")
		p.show("left running", excerpt.Clip(leftovers(a.Leftovers), budget.Stderr, budget.Stderr))
	}
	if a.Late.Total > 0 {
		p.sayf("They printed %d bytes after its turn had ended. Nothing of that is shown here.", a.Late.Total)
	}
}

// printed shows what the actor's turn printed.
func (p *prompt) printed(a loop.Attempt, budget Budget) {
	p.output("the actor's stdout", a.Stdout, budget.Stdout, budget.Stdout/3)
	p.output("the actor's stderr", a.Stderr, budget.Stderr, budget.Stderr/3)
}

func leftovers(processes []loop.Process) string {
	var b strings.Builder
	for _, l := range processes {
		fmt.Fprintf(&b, "%d %s\n", l.PID, plain.Text(l.Command))
	}
	return b.String()
}

// output shows a stream, or says that it is empty.
func (p *prompt) output(title string, o loop.Output, budget, head int) {
	text := plain.Text(o.Text)
	if strings.TrimSpace(text) == "" && o.Omitted == 0 {
		p.sayf("%s%s is empty.", strings.ToUpper(title[:1]), title[1:])
		return
	}
	short := excerpt.Clip(text, budget, head)
	p.show(title, short)
	if o.Omitted > 0 && o.File != "" {
		p.sayf("All of it, %d bytes, stands in the file\n%s", o.Total, o.File)
	}
}

// ended says how a turn came to its end.
func ended(e loop.Ending, exitCode int) string {
	switch e {
	case loop.EndTimedOut:
		return "was cut off: it ran into its time limit"
	case loop.EndIdle:
		return "was cut off: it printed nothing for too long"
	case loop.EndOutputLimit:
		return "was cut off: it printed more than it may"
	case loop.EndInterrupted:
		return "was cut off: it was interrupted"
	case loop.EndEmpty:
		return "ended without a final message"
	case loop.EndAuth:
		return "broke off: it is not signed in"
	case loop.EndRateLimited:
		return "broke off: it ran into a rate limit"
	case loop.EndOverloaded:
		return "broke off: the model could not be reached"
	case loop.EndContextTooLong:
		return "broke off: the prompt is more than the model takes"
	case loop.EndPermissionDenied:
		return "broke off: something was not allowed"
	case loop.EndFailed, loop.EndCompleted:
	}
	switch {
	case exitCode < 0:
		return "was ended by a signal"
	case exitCode == 0 && e == loop.EndFailed:
		return "failed, with exit code 0"
	}
	return fmt.Sprintf("ended with exit code %d", exitCode)
}

// about rounds a duration to what matters.
func about(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}

// checks shows the results of the project's own checks, with the output of
// those that fail before all.
func (p *prompt) checks(checks []loop.CheckResult, budget Budget) {
	if len(checks) == 0 {
		return
	}
	passing := passed(checks)
	p.sayf("The project's own checks: %d of %d pass.", passing, len(checks))
	failing := len(checks) - passing
	for i, c := range checks {
		size := min(budget.Passing, budget.Checks/len(checks))
		if !c.Passed() {
			size = min(budget.Check, budget.Checks/failing)
		}
		text := fmt.Sprintf("command: %s\n%s after %s%s\n", plain.Text(c.Command), ended(c.Ending, c.ExitCode), about(c.Duration), earlier(c))
		if remarks := c.Remarks(); len(remarks) > 0 {
			text += strings.Join(remarks, "\n") + "\n"
		}
		output := strings.TrimSpace(plain.Text(c.Output.Text))
		p.show(fmt.Sprintf("check %d of %d, %s", i+1, len(checks), fate(c)), text+excerpt.Clip(output, size, size/4))
	}
}

func fate(c loop.CheckResult) string {
	if c.Passed() {
		return "passed"
	}
	return "failed"
}

// earlier says what is known of a check from before this iteration.
func earlier(c loop.CheckResult) string {
	if c.FailedBefore {
		return "; it failed before the session began, too"
	}
	return ""
}

func passed(checks []loop.CheckResult) (n int) {
	for _, c := range checks {
		if c.Passed() {
			n++
		}
	}
	return n
}

// history shows the earlier iterations, the latest ones when there are many.
func (p *prompt) history(rounds []loop.Round, budget Budget) {
	if len(rounds) == 0 {
		return
	}
	const share = 12 // iterations that fit at their full length
	var entries []string
	size := 0
	for i, round := range slices.Backward(rounds) {
		entry := outline(round, budget.History/share)
		if size += len(entry); size > budget.History && len(entries) > 0 {
			entries = append(entries, fmt.Sprintf("[... %s left out here ...]\n", count(i+1, "earlier iteration")))
			break
		}
		entries = append(entries, entry)
	}
	var b strings.Builder
	for _, entry := range slices.Backward(entries) {
		b.WriteString(entry)
	}
	p.sayf("The iterations before this one, with what they left since the session began and what the critic then said:")
	p.show("earlier iterations", b.String())
}

// outline is an iteration in a line, with the critic's words below it.
func outline(r loop.Round, budget int) string {
	said := string(r.Verdict.Decision)
	if r.Review.Problem != "" {
		said += ", without a usable review"
	}
	line := fmt.Sprintf("iteration %d: %s; %s, +%d -%d", r.Iteration, said, count(r.Change.Shape().Files, "file"), r.Change.Insertions, r.Change.Deletions)
	if len(r.Checks) > 0 {
		line += fmt.Sprintf("; %d of %d checks pass", passed(r.Checks), len(r.Checks))
	}
	if r.Attempt.Ending != loop.EndCompleted {
		line += "; the actor's turn " + ended(r.Attempt.Ending, r.Attempt.ExitCode)
	}
	words := strings.TrimSpace(plain.Text(r.Verdict.Guidance()))
	if words == "" {
		return line + "\n"
	}
	words = strings.TrimRight(excerpt.Clip(words, budget-len(line), budget), "\n")
	return line + "\n  " + strings.ReplaceAll(words, "\n", "\n  ") + "\n"
}
