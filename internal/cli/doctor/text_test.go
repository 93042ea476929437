package doctor

import (
	"io"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/run/crew"
)

func TestFindings(t *testing.T) {
	t.Parallel()
	s := Sheet{Width: 45, Style: lipgloss.NewRenderer(io.Discard)}
	got := s.Findings([]Finding{
		{What: "git", OK: true, Detail: "git version 2.39.5"},
		{What: "critic's view", Detail: "none of the kind that was asked for", Hint: "choose \x1b[2Janother one"},
		{What: "also here", Optional: true, Detail: "goose"},
	})
	const want = `ok    git            git version 2.39.5
FAIL  critic's view  none of the kind that
                     was asked for
                     hint: choose another one
no    also here      goose

no run could start here: fix what is marked FAIL; ` + "`codeloops demo`" + ` works without an agent
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAgents(t *testing.T) {
	t.Parallel()
	got := Sheet{Style: lipgloss.NewRenderer(io.Discard)}.Agents([]crew.Row{
		{Name: "one", Path: "/bin/one", Login: "signed in by KEY", Tested: "1.2", Actor: []string{"one", "-p"}, Critic: []string{"one", "--plan"}},
		{Name: "another", Path: "/bin/another", Login: "not seen to be signed in", Next: "run `another login`", Actor: []string{"another"}, Critic: []string{"another"}},
		{Name: "third", Problem: "it cannot be started", Actor: []string{"third"}, Critic: []string{"third"}},
	})
	const want = "Installed\n" +
		"  one      signed in by KEY          /bin/one (tested with 1.2)\n" +
		"  another  not seen to be signed in  /bin/another (described, not tested)\n" +
		"           hint: run `another login`\n" +
		`
Not installed
  third    it cannot be started

Command lines
  one      actor  one -p
           critic one --plan
  another  actor  another
           critic another
  third    actor  third
           critic third
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
