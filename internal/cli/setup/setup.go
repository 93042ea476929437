// Package setup makes a first configuration: it proposes, asks and writes.
package setup

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/run/crew"
	"codeloops/internal/screen/ask"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording/hint"
)

// Answers are what stands in the file.
type Answers struct {
	Global        bool // the user's own file instead of the project's
	Force         bool // replace a file that is there
	Actor         string
	Critic        string
	MaxIterations int
	Checks        []string
}

// A Place is where a configuration is to be made.
type Place struct {
	Host     *host.Host
	Settings func(dir string) config.Options // what the configuration depends on, seen from a directory
}

// Write makes the file. Its checks are trusted: the user has just said them.
func (p *Place) Write(file string, o Answers) error {
	settings := map[string]any{"actor.agent": o.Actor, "critic.agent": o.Critic, "max_iterations": o.MaxIterations}
	if len(o.Checks) > 0 {
		settings["checks"] = o.Checks
	}
	err := config.Write(file, settings, o.Force)
	if errors.Is(err, fs.ErrExist) {
		return hint.Errorf("edit it, or replace it with --force", "%s is there already", file)
	}
	if err == nil && len(o.Checks) > 0 && !o.Global {
		_, err = config.Trust(p.Settings(p.Host.Dir), file)
	}
	return err
}

// File is where the configuration goes.
func (p *Place) File(global bool) (string, error) {
	if !global {
		return filepath.Join(p.Host.Dir, "codeloops.toml"), nil
	}
	paths, err := config.Locate(p.Settings(""))
	if err == nil && paths.Global == "" {
		err = hint.Errorf("set HOME or XDG_CONFIG_HOME", "the place of the global configuration is unknown")
	}
	return paths.Global, err
}

// Suggest fills in what was not said: the first agent that can play, and another
// one that judges it where there is one as good.
func (o *Answers) Suggest(here []crew.Candidate) error {
	if o.Actor == "" {
		if len(here) == 0 {
			return hint.Errorf("`codeloops agents` tells how to install one; or name one that will be there: --actor-agent NAME", "no agent is installed")
		}
		o.Actor = here[0].Spec.Name
	}
	if o.Critic != "" {
		return nil
	}
	o.Critic = o.Actor
	for _, c := range here {
		if c.Spec.Name != o.Actor && c.SignedIn {
			o.Critic = c.Spec.Name
			break
		}
	}
	return nil
}

// Ask lets the user confirm or change each answer.
func (p *Place) Ask(ctx context.Context, s *term.Streams, complain func(error), o *Answers, here []crew.Candidate) error {
	for _, c := range here {
		fmt.Fprintf(s.Err, "  %-15s %s\n", c.Spec.Name, c.How) //nolint:errcheck // the questions follow
	}
	in := bufio.NewReader(s.In)
	limit, checks := strconv.Itoa(o.MaxIterations), cmp.Or(strings.Join(o.Checks, " && "), noChecks)
	for _, q := range []struct {
		question string
		answer   *string
		wrong    func(string) error
	}{
		{"agent that does the work", &o.Actor, p.KnownAgent},
		{"agent that judges it", &o.Critic, p.KnownAgent},
		{"iterations at most, 0 for no limit", &limit, isCount},
		{"command that must pass before the work is done, or " + noChecks, &checks, nil},
	} {
		if err := askUntil(ctx, s, in, q.question, q.answer, func(answer string) bool {
			if q.wrong == nil {
				return true
			}
			err := q.wrong(answer)
			if err != nil {
				complain(err)
			}
			return err == nil
		}); err != nil {
			return err
		}
	}
	o.MaxIterations, _ = strconv.Atoi(limit) // isCount has seen it
	if o.Checks = nil; checks != noChecks {
		o.Checks = []string{checks}
	}
	return nil
}

// noChecks is the answer of whoever wants no check.
const noChecks = "none"

// askUntil asks a question until its answer will do.
func askUntil(ctx context.Context, s *term.Streams, in *bufio.Reader, question string, answer *string, right func(string) bool) error {
	for {
		line, err := ask.Line(ctx, s, in, fmt.Sprintf("%s [%s]: ", question, *answer))
		if err != nil {
			return err
		}
		if line == "" {
			return nil
		}
		if right(line) {
			*answer = line
			return nil
		}
	}
}

func isCount(text string) error {
	if n, err := strconv.Atoi(text); err != nil || n < 0 {
		return hint.Errorf("answer with a whole number", "%q is no number of iterations", text)
	}
	return nil
}

// KnownAgent refuses a name that no agent has.
func (p *Place) KnownAgent(name string) error {
	if name == crew.Auto {
		return nil
	}
	cfg, err := config.Load(p.Settings(""))
	if err != nil {
		return err
	}
	c, err := crew.New(p.Host, cfg, "", "")
	if err != nil {
		return err
	}
	_, err = agent.Find(name, c.Own()...)
	return err
}
