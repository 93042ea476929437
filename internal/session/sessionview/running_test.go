package sessionview_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/session/sessionview"
	"codeloops/internal/session/standing"
)

var midday = time.Date(2026, 1, 27, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return midday.Add(-d) }

// atWork is a run in the middle of a turn.
func atWork() standing.Standing {
	return standing.Standing{
		Session: "2026-01-27T11-50-00Z_abc123", Prompt: "make it \x1b[31mso", Began: ago(10 * time.Minute),
		Now: standing.Now{
			Iteration: 2, Phase: "CRITIC_EVALUATING", Since: ago(70 * time.Second),
			Turns: []standing.Turn{{Role: "critic", Agent: "codex", Model: "o9", Began: ago(65 * time.Second), Does: "command", What: "go test \x1b]0;x\a./..."}},
		},
		Change: standing.Diffstat{Files: 3, Insertions: 12, Deletions: 4},
		Spent:  standing.Spent{Tokens: 1_200_000, CostUSD: 0.42},
		Limits: standing.Limits{Iterations: 5, CostUSD: 2, Tokens: 5_000_000, DurationSecs: 7200},
		Asked:  standing.Asked{Stop: true, Pause: true, Words: 2},
	}
}

func TestRunning(t *testing.T) {
	t.Parallel()
	screen := sessionview.Screen{Width: 200, Style: lipgloss.NewRenderer(io.Discard)}
	paused, checks, starts, waits := atWork(), atWork(), atWork(), atWork()
	paused.Now.Paused = true
	checks.Now.Turns, checks.Now.Phase = nil, "VERIFYING"
	starts.Now = standing.Now{}
	waits.Now.Turns = append(waits.Now.Turns, standing.Turn{Role: "debater_1", Agent: "claude", Began: ago(time.Hour), Waiting: midday.Add(2 * time.Minute)})
	for name, c := range map[string]struct {
		at   standing.Standing
		want []string
	}{
		"at work": {atWork(), []string{
			"▶ 2026-01-27T11-50-00Z_abc123 · actor-critic · make it so",
			"  iteration 2 of 5 · critic codex (o9) · at work for 1:05 · runs go test ./...",
			"  1.2M of 5.0M tokens · $0.42 of $2.00 · 3 files, +12 -4 · run 10:00 of 2h · stops after this iteration · pauses after this turn · 2 words wait for the actor",
		}},
		"paused": {paused, []string{"iteration 2 of 5 · paused (codeloops pause --off)"}},
		"checks": {checks, []string{"iteration 2 of 5 · runs the checks for 1:10"}},
		"starts": {starts, []string{"  begins"}},
		"waits":  {waits, []string{"debater_1 claude · at work for 1:00:00 · 1 more at work · waits 2:00 for a service"}},
	} {
		got := ansi.Strip(strings.Join(screen.Running(c.at, midday, ""), "\n"))
		for _, line := range c.want {
			if !strings.Contains(got, line) {
				t.Errorf("%s: %q is missing:\n%s", name, line, got)
			}
		}
	}
	for _, width := range []int{40, 80} {
		screen.Width = width
		lines := screen.Running(atWork(), midday, "/a/work/tree/of/a/task"+strings.Repeat("/with/a/long/path", 5))
		if width == 80 && !strings.Contains(lines[0], "make it so · in /a/work") {
			t.Errorf("the title gives way to the path: %q", lines[0])
		}
		for _, line := range lines {
			if ansi.StringWidth(line) > width {
				t.Errorf("at %d columns: %q", width, line)
			}
		}
	}
}
