// Package setup creates a first configuration file.
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

// Answers are the settings in the file.
type Answers struct {
	Global        bool // the user's own file instead of the project's
	Force         bool // replace an existing file
	Actor         string
	Critic        string
	MaxIterations int
	Checks        []string
}

// A Place is where a configuration file is created.
type Place struct {
	Host     *host.Host
	Settings func(dir string) config.Options // the inputs of the configuration in a directory
}

// Write writes the file. A project file with checks is trusted, because the user has just given them.
func (p *Place) Write(file string, o Answers) error {
	settings := map[string]any{"actor.agent": o.Actor, "critic.agent": o.Critic, "max_iterations": o.MaxIterations}
	if len(o.Checks) > 0 {
		settings["checks"] = o.Checks
	}
	err := config.Write(file, settings, o.Force)
	if errors.Is(err, fs.ErrExist) {
		return hint.Errorf("edit it, or replace it with --force", "%s already exists", file)
	}
	if err == nil && len(o.Checks) > 0 && !o.Global {
		_, _, err = config.Trust(p.Settings(p.Host.Dir), file)
	}
	return err
}

// File returns the path of the configuration file.
func (p *Place) File(global bool) (string, error) {
	if !global {
		return filepath.Join(p.Host.Dir, "codeloops.toml"), nil
	}
	paths, err := config.Locate(p.Settings(""))
	if err == nil && paths.Global == "" {
		err = hint.Errorf("set HOME or XDG_CONFIG_HOME", "the directory of the global configuration is unknown")
	}
	return paths.Global, err
}

// Suggest fills in missing agents: the first usable one as actor and, if there is another
// one that is signed in, that as critic.
func (o *Answers) Suggest(here []crew.Candidate) error {
	if o.Actor == "" {
		if len(here) == 0 {
			return hint.Errorf("`codeloops agents` says how to install one; or name one that you will install: --actor-agent NAME", "no agent is installed")
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
		{"maximum number of iterations, 0 for no limit", &limit, isCount},
		{"command that must pass before the work is done, or " + noChecks, &checks, func(string) error { return nil }},
	} {
		for {
			line, err := ask.Line(ctx, s, in, fmt.Sprintf("%s [%s]: ", q.question, *q.answer))
			if err != nil {
				return err
			}
			if line == "" {
				break
			}
			if err = q.wrong(line); err == nil {
				*q.answer = line
				break
			}
			complain(err)
		}
	}
	o.MaxIterations, _ = strconv.Atoi(limit) // checked by isCount
	if o.Checks = nil; checks != noChecks {
		o.Checks = []string{checks}
	}
	return nil
}

// noChecks is the answer for no check.
const noChecks = "none"

func isCount(text string) error {
	if n, err := strconv.Atoi(text); err != nil || n < 0 {
		return hint.Errorf("answer with a whole number", "%q is not a number of iterations", text)
	}
	return nil
}

// KnownAgent rejects a name that no agent has.
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
