package actor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/critic/excerpt"
	"codeloops/internal/loop"
	"codeloops/internal/plain"
)

// What of the round before may go into a prompt, in bytes.
const (
	maxFeedback = 64 << 10
	maxCheck    = 12 << 10 // the output of one failing check, mostly its end
	maxChecks   = 36 << 10 // that of all of them
)

// intro is codeloops' own words, so that no CLI takes the first line of a task
// for a command or an option.
const intro = `You are working in the git repository that is your working directory. This is iteration %d of a loop: when you stop, a reviewer judges everything that has changed in the repository since the loop began, and what it finds comes back to you. Do the work itself; a description of it does not count.`

// prompt writes what the actor is asked. The task stands in it as the user
// wrote it; texts from other sources stand in fences that nothing in them can
// close.
func (a *Actor) prompt(b loop.Brief) string {
	var p strings.Builder
	fmt.Fprintf(&p, intro+"\n", b.Iteration)
	switch {
	case b.Previous == nil:
		task(&p, b.Task)
		baseline(&p, b.Baseline)
		return p.String()
	case a.Refine != nil:
		refine(&p, a.Refine, b)
		turn(&p, b.Previous.Attempt.Turn)
	default:
		task(&p, b.Task)
		turn(&p, b.Previous.Attempt.Turn)
		review(&p, *b.Previous)
	}
	findings(&p, b.Previous.Findings)
	warnings(&p, b.Previous.Warnings)
	checks(&p, b.Previous.Checks)
	return p.String()
}

func task(p *strings.Builder, text string) {
	fmt.Fprintf(p, "\nThe task:\n\n%s\n", strings.Trim(text, "\n"))
}

// turn says that the last turn did not come to its own end.
func turn(p *strings.Builder, t loop.Turn) {
	const still = "\nYour last turn %s. What it had changed is still in the repository; look at it before you go on.\n"
	switch t.Ending {
	case loop.EndCompleted:
	case loop.EndTimedOut:
		fmt.Fprintf(p, still, "was cut off because it ran into its time limit")
	case loop.EndIdle:
		fmt.Fprintf(p, still, "was cut off because it printed nothing for too long")
	case loop.EndOutputLimit:
		fmt.Fprintf(p, still, "was cut off because it printed more than it may")
	case loop.EndInterrupted:
		fmt.Fprintf(p, still, "was interrupted")
	case loop.EndEmpty:
		fmt.Fprintf(p, still, "ended without a final message")
	case loop.EndAuth, loop.EndRateLimited, loop.EndOverloaded:
		fmt.Fprintf(p, still, "broke off because the model could not be reached")
	case loop.EndContextTooLong:
		fmt.Fprintf(p, still, "broke off because there was more to read than the model takes: read less at once")
	case loop.EndPermissionDenied:
		fmt.Fprintf(p, still, "broke off because something was not allowed")
	case loop.EndFailed:
		fmt.Fprintf(p, still, failed(t.ExitCode))
	}
}

func failed(exitCode int) string {
	switch {
	case exitCode < 0:
		return "was ended by a signal"
	case exitCode == 0:
		return "failed"
	}
	return fmt.Sprintf("ended with exit code %d", exitCode)
}

// review passes on what the reviewer said.
func review(p *strings.Builder, r loop.Round) {
	lead, words := heard(r)
	fmt.Fprintf(p, "\n%s\n", cmp.Or(lead, "The task is not finished. The reviewer's feedback on your last turn:"))
	quoted(p, words)
}

// quoted writes what somebody said of the last turn, where there is something.
func quoted(p *strings.Builder, words string) {
	if words != "" {
		p.WriteString("\n")
		fence(p, excerpt.Clip(words, maxFeedback, maxFeedback/2))
	}
}

// heard is what was said of the last turn: words, where there are some, and what
// they are where they are no ordinary feedback.
func heard(r loop.Round) (lead, words string) {
	words = guidance(r.Verdict)
	switch {
	case r.Review.Problem != "" && r.Verdict.Feedback == "" && r.Verdict.Recovery == "":
		return "The review of your last turn came to nothing, so there is no feedback on it. Check your work against the task and go on.", ""
	case r.Unjudged:
		return "Your last turn goes back to you before a reviewer has seen it: what is in the repository does not keep to the rules of this loop. They say:", words
	case words == "":
		return "The reviewer finds that the task is not finished and gives no reasons. Check your work against the task and go on.", ""
	case r.Verdict.Decision == loop.Error:
		return "Something went wrong in your last turn. The reviewer says what, and how to recover:", words
	}
	return "", words
}

// guidance is the verdict's, with those of its issues and required changes that
// are not part of it already.
func guidance(v loop.Verdict) string {
	words := strings.TrimSpace(plain.Text(v.Guidance()))
	if v.Decision == loop.Error && v.Recovery != "" { // alone it does not say what from
		words = strings.TrimSpace(strings.TrimSpace(plain.Text(v.Analysis)) + "\n\n" + words)
	}
	for _, item := range slices.Concat(v.RequiredChanges, v.Issues) {
		item = strings.TrimSpace(plain.Text(item))
		if !strings.Contains(words, item) {
			words = strings.TrimLeft(words+"\n- "+item, "\n")
		}
	}
	return words
}

// checks shows the project's own checks that fail.
func checks(p *strings.Builder, results []loop.CheckResult) {
	failing := slices.DeleteFunc(slices.Clone(results), loop.CheckResult.Passed)
	for _, c := range failing {
		since := ""
		if c.FailedBefore {
			since = ", as it did before the loop began"
		}
		fmt.Fprintf(p, "\nA check of the project %s%s. The command and what it printed:\n\n", fate(c), since)
		check(p, c, len(failing))
	}
}

// baseline shows the checks that failed before anybody had done anything.
func baseline(p *strings.Builder, results []loop.CheckResult) {
	failing := slices.DeleteFunc(slices.Clone(results), loop.CheckResult.Passed)
	for _, c := range failing {
		fmt.Fprintf(p, "\nA check of the project did not pass before you came: it %s. The command and what it printed:\n\n", fate(c))
		check(p, c, len(failing))
	}
}

// check shows one of so many checks that fail.
func check(p *strings.Builder, c loop.CheckResult, of int) {
	size := min(maxCheck, maxChecks/of)
	output := strings.TrimSpace(plain.Text(c.Output.Text))
	fence(p, "$ "+plain.Text(c.Command)+"\n"+excerpt.Clip(output, size, size/4))
	if c.Output.Omitted > 0 && c.Output.File != "" {
		fmt.Fprintf(p, "\nAll of its output stands in the file\n%s\n", c.Output.File)
	}
	for _, remark := range c.Remarks() {
		fmt.Fprintf(p, "\nOf this check: %s.\n", remark)
	}
}

func fate(c loop.CheckResult) string {
	if c.Ending == loop.EndCompleted && c.ExitCode == 0 {
		return "did not pass, although it ended with exit code 0"
	}
	switch c.Ending {
	case loop.EndTimedOut, loop.EndIdle:
		return "ran into its time limit"
	case loop.EndOutputLimit:
		return "printed more than it may"
	case loop.EndCompleted, loop.EndFailed, loop.EndInterrupted, loop.EndEmpty, loop.EndAuth,
		loop.EndRateLimited, loop.EndOverloaded, loop.EndContextTooLong, loop.EndPermissionDenied:
	}
	if c.ExitCode < 0 {
		return "was ended by a signal"
	}
	return fmt.Sprintf("fails with exit code %d", c.ExitCode)
}

// fence writes a text between two rows of back-ticks that are longer than any
// in it.
func fence(p *strings.Builder, text string) {
	longest, run := 0, 0
	for _, c := range text {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	row := strings.Repeat("`", max(3, longest+1))
	fmt.Fprintf(p, "%s\n%s\n%s\n", row, strings.Trim(text, "\n"), row)
}
