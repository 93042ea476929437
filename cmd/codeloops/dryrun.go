package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"codeloops/internal/term"
)

// promptShown is how much of the prompt a dry run repeats, in bytes.
const promptShown = 2000

// describe writes what the plan would do.
func (p *plan) describe(w io.Writer) error {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("prompt", "%d bytes from %s", len(p.prompt), p.promptFrom)
	row("directory", "%s", p.dir)
	row("work tree", "%s", p.tree.Root())
	for _, players := range []cast{p.actor, p.critic} {
		for i, who := range players {
			name := string(who.role)
			if i > 0 {
				name = "  fallback"
			}
			row(name, "%s", term.Line(strings.Join(who.commandLine(), " ")))
			about := fmt.Sprintf("time limit %s, prompt by %s", limit(who.limits.Timeout), who.spec.Prompt)
			if who.chosen != "" {
				about = "auto: " + who.spec.Name + ", " + who.chosen + "; " + about
			}
			row("", "%s", term.Line(about))
			if lack := who.lacks(p.cfg); lack != "" {
				row("", "%s", lack)
			}
		}
	}
	row("session", "%s", p.cfg.ActorSession)
	for _, t := range p.templates() {
		row("template", "%s of %s", t.Key, term.Line(t.Origin))
	}
	for _, c := range p.cfg.Checks {
		row("check", "%s", term.Line(c))
	}
	row("iterations", "%s", atMost(p.cfg.MaxIterations))
	row("duration", "%s", limit(p.cfg.MaxDuration))
	row("log", "%s", p.sessions)
	text := p.prompt
	if len(text) > promptShown {
		text = strings.ToValidUTF8(text[:promptShown], "") + "\n…"
	}
	fmt.Fprintf(&b, "\n%s\n", term.Clean(strings.TrimRight(text, "\n")))
	_, err := io.WriteString(w, p.app.secrets.String(b.String()))
	return err
}

// commandLine is how the player is called, its program as it was found.
func (p player) commandLine() []string {
	line := p.spec.CommandLine(p.role, p.model)
	line[0] = p.path
	return line
}

func limit(d time.Duration) string {
	if d <= 0 {
		return "none"
	}
	return d.String()
}

func atMost(n int) string {
	if n == 0 {
		return "no limit"
	}
	return fmt.Sprintf("at most %d", n)
}
