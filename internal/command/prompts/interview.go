package prompts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"codeloops/internal/command"
	"codeloops/internal/draft"
	"codeloops/internal/loop"
	"codeloops/internal/run"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// interviewed has an agent ask, until it has written the prompt and the user has nothing to add.
func (w *writing) interviewed(ctx context.Context, k draft.Kind) (body string, err error) {
	what, err := w.asks(ctx, "what is it about:")
	if err == nil && what == "" {
		err = hint.Errorf("say in a sentence what is to be done", "there is nothing to ask about")
	}
	said := []draft.Said{{User: true, Text: what}}
	for err == nil {
		fmt.Fprintln(w.Err, "the agent looks at the repository …") //nolint:errcheck // a courtesy
		var a draft.Answer
		if a, err = Ask(ctx, w.Console, w.Dir, Asked{Kind: k, Agent: w.agent, Script: w.script, Said: said}); err != nil {
			return "", err
		}
		if a.Note != "" {
			fmt.Fprintf(w.Err, "\n%s\n", term.Clean(a.Note)) //nolint:errcheck // a courtesy
		}
		question := "\n" + a.Question + "\n>"
		if body = a.Prompt; body != "" {
			fmt.Fprintf(w.Err, "\n%s\n", term.Clean(body)) //nolint:errcheck // a courtesy
			question = "what should be changed [nothing]:"
		}
		var words string
		if words, err = w.asks(ctx, question); err == nil && words == "" && body != "" {
			return body, nil
		}
		said = append(said, draft.Said{Text: a.Text()}, draft.Said{User: true, Text: words})
	}
	return "", err
}

// An Asked is what an agent is asked in an interview.
type Asked struct {
	Kind   draft.Kind
	Agent  string // "": that of the critic
	Script string // of the scripted agent
	Said   []draft.Said
}

// patience is how long somebody waits for an agent's question.
const patience = 15 * time.Minute

// Ask plays a turn of an interview in a directory, and keeps what was said.
func Ask(ctx context.Context, c *command.Console, dir string, o Asked) (draft.Answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the agent did not answer within %s", wording.Duration(patience)))
	defer cancel()
	var flags []loop.Flag
	for name, value := range map[string]string{"agent": o.Agent, "script": o.Script} {
		if value != "" {
			flags = append(flags, loop.Flag{Name: name, Values: []string{value}})
		}
	}
	settings, err := run.NewSettings(flags)
	if err != nil {
		return draft.Answer{}, err
	}
	options := run.Options{Host: &c.Host, Version: command.Version(), Dir: dir, Settings: settings}
	a, err := draft.Interview{Kind: o.Kind, Play: func(ctx context.Context, turn, again int, text string) (string, error) {
		return run.Consult(ctx, options, run.Consultation{Role: "interviewer", Agent: o.Agent, Turn: turn, Again: again, Prompt: text})
	}}.Next(ctx, o.Said)
	if err != nil {
		return a, err
	}
	here := c.Host
	here.Dir = dir
	all := slices.Clone(o.Said)
	for i := range all {
		all[i].Text = here.Secrets.String(all[i].Text)
	}
	if err := draft.In(&here, dir).Log(append(all, draft.Said{Text: a.Text()})); err != nil {
		c.Report(err) // the answer is worth more
	}
	return a, nil
}
