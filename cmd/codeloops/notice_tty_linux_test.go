package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/command"
)

// noticeScenario is a run of one iteration.
const noticeScenario = `
[[actor]]
step = [{ write = "a.txt", content = "a\n" }]
say = "done"
[[critic]]
say = "DECISION: DONE\nSEAL: {seal}"
`

// TestTitleAndNotice: if configured, the title shows the progress of the run and is restored
// afterwards, and a notification is the last output.
func TestTitleAndNotice(t *testing.T) {
	t.Parallel()
	osc9 := "\x1b]9;work: success after 1 iteration\x1b\\"
	for name, c := range map[string]struct {
		env    []string
		args   []string
		titled bool
		notice string
	}{
		"as it is":       {nil, nil, true, ""},
		"no title":       {nil, []string{"--title=false"}, false, ""},
		"by the key":     {[]string{"CODELOOPS_TITLE=false", "CODELOOPS_NOTIFY=osc9"}, nil, false, osc9},
		"a notice":       {nil, []string{"--notify", "osc9"}, true, osc9},
		"another":        {nil, []string{"--notify=osc777"}, true, "\x1b]777;notify;codeloops;work: success after 1 iteration\x1b\\"},
		"in tmux":        {[]string{"TMUX=x"}, []string{"--notify=osc9"}, true, "\x1bPtmux;\x1b" + strings.TrimSuffix(osc9, "\x1b\\") + "\x1b\x1b\\\x1b\\"},
		"a bell":         {[]string{"TERM=dumb"}, []string{"--notify", "bell"}, false, "\a"},
		"a dumb one":     {[]string{"TERM=dumb"}, []string{"--notify", "osc9"}, false, ""},
		"a console":      {[]string{"TERM=linux"}, []string{"--notify", "osc9"}, false, ""},
		"no colours":     {[]string{"NO_COLOR=1", "CLICOLOR_FORCE=1"}, nil, true, ""},
		"a job":          {[]string{"CI=true"}, []string{"--notify", "bell"}, false, ""},
		"with --quiet":   {nil, []string{"-q", "--notify", "bell"}, false, "\a"},
		"with a program": {nil, []string{"--log-format", "json"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, work := scriptedHome(t, noticeScenario)
			shown, code := onDeskWith(t, c.env, home, work, append(c.args, "--yes", "do it")...).end()
			if code != command.ExitDone {
				t.Fatalf("exit code %d: %q", code, shown)
			}
			if entitled(shown) != c.titled || !c.titled && strings.Contains(shown, "\x1b]2;") {
				t.Errorf("title, wanted %t: %q", c.titled, shown)
			}
			plain := slices.ContainsFunc(c.env, func(v string) bool { return v == "TERM=dumb" || v == "CI=true" })
			if rest := strings.TrimSuffix(shown, c.notice); plain && strings.Contains(rest, "\x1b") {
				t.Errorf("no plain text: %q", rest)
			}
			if slices.Contains(c.env, "NO_COLOR=1") && (coloured.MatchString(shown) || !strings.Contains(shown, "\x1b[1m")) {
				t.Errorf("colours, or nothing bold: %q", shown)
			}
			if c.notice == "" && noticed(shown) || !strings.HasSuffix(shown, c.notice) {
				t.Errorf("notice: %q", shown)
			}
		})
	}
}

var coloured = regexp.MustCompile(`\x1b\[[0-9;]*[39][0-7][;m]`)

// entitled reports whether the window had each title of the run, and then its own again.
func entitled(shown string) bool {
	for _, title := range []string{"\x1b[22;2t\x1b]2;codeloops", "\x1b]2;codeloops 1/10 actor · do it\x1b\\", "\x1b]2;codeloops 1/10 critic · do it\x1b\\"} {
		if !strings.Contains(shown, title) {
			return false
		}
	}
	return strings.Count(shown, "\x1b[23;2t") == 1
}

// noticed reports whether any notification was sent.
func noticed(shown string) bool {
	return slices.ContainsFunc([]string{"\a", "\x1b]9", "\x1b]777"}, func(sign string) bool { return strings.Contains(shown, sign) })
}
