package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/loop"
)

type initOptions struct {
	global bool
	force  bool
	actor  string
	critic string
	max    int
	checks []string
	asked  bool // whether a flag has answered, so that nothing is asked
}

func newInitCmd(a *app) *cobra.Command {
	o := &initOptions{}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a configuration file",
		Long: `Write a configuration file: codeloops.toml in the current directory, or with
--global your own. On a terminal it asks; elsewhere the flags answer. It offers
the agents that are installed, those first that are signed in, and the checks
that the project's own files name. A file with checks counts as trusted, as you
have just written it.

` + exitHelp(),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"actor-agent", "critic-agent", "max-iterations", "check"} {
				o.asked = o.asked || cmd.Flags().Changed(name)
			}
			return runInit(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.actor, "actor-agent", "", "`agent` that does the work (default: the first one that is signed in)")
	f.StringVar(&o.critic, "critic-agent", "", "`agent` that judges it (default: another one that is signed in, or the same)")
	f.IntVarP(&o.max, "max-iterations", "n", 10, "end after so many iterations; 0 is no limit")
	f.StringArrayVar(&o.checks, "check", nil, "shell `command` that must pass before the work is done; may be repeated")
	f.BoolVar(&o.global, "global", false, "write the global file instead of the project's")
	f.BoolVar(&o.force, "force", false, "replace a file that is there")
	return cmd
}

func runInit(ctx context.Context, a *app, o *initOptions) error {
	if err := a.usersOwn(map[string]bool{"`codeloops init --global`": o.global}); err != nil {
		return err
	}
	file, err := o.file(a)
	if err != nil {
		return err
	}
	here := a.candidates(ctx)
	if err := o.suggest(here); err != nil {
		return err
	}
	if a.InTTY && a.ErrTTY && !o.asked {
		if !o.global {
			o.checks = proposedChecks(a.dir)
		}
		if err := a.ask(ctx, o, here); err != nil {
			return err
		}
	}
	if err := a.usersOwn(map[string]bool{"checks that count as trusted": len(o.checks) > 0}); err != nil {
		return err
	}
	if err := errors.Join(a.knownAgent(o.actor), a.knownAgent(o.critic)); err != nil {
		return err
	}
	if err := o.write(a, file); err != nil {
		return err
	}
	if _, err = fmt.Fprintf(a.Out, "wrote %s: actor %s, critic %s\n", file, o.actor, o.critic); err != nil {
		return err
	}
	return a.tellOfUnfit(ctx)
}

// write makes the file. Its checks are trusted: the user has just said them.
func (o *initOptions) write(a *app, file string) error {
	settings := map[string]any{"actor.agent": o.actor, "critic.agent": o.critic, "max_iterations": o.max}
	if len(o.checks) > 0 {
		settings["checks"] = o.checks
	}
	err := config.Write(file, settings, o.force)
	if errors.Is(err, fs.ErrExist) {
		return usagef("edit it, or replace it with --force", "%s is there already", file)
	}
	if err == nil && len(o.checks) > 0 && !o.global {
		_, err = config.Trust(a.configOptions(a.dir), file)
	}
	return err
}

// file is where the configuration goes.
func (o *initOptions) file(a *app) (string, error) {
	if !o.global {
		return filepath.Join(a.dir, "codeloops.toml"), nil
	}
	paths, err := config.Locate(a.configOptions(""))
	if err == nil && paths.Global == "" {
		err = usagef("set HOME or XDG_CONFIG_HOME", "the place of the global configuration is unknown")
	}
	return paths.Global, err
}

// A candidate is an agent that could play here.
type candidate struct {
	player
	signedIn bool
	how      string
}

// candidates returns the agents that are installed and lack nothing, those that
// are seen to be signed in before the others.
func (a *app) candidates(ctx context.Context) []candidate {
	var here []patient
	for _, spec := range agent.Catalogue() {
		path, err := spec.Resolve(loop.RoleActor, a.dir, a.env)
		if err == nil && spec.Equipped(a.env) == nil {
			here = append(here, patient{player: player{role: loop.RoleActor, spec: spec, path: path}})
		}
	}
	seen := inParallel(here, func(p patient) finding {
		in, how := a.login(ctx, p.player)
		return finding{OK: in, Detail: how}
	})
	var in, out []candidate
	for i, p := range here {
		c := candidate{p.player, seen[i].OK, seen[i].Detail}
		if c.signedIn {
			in = append(in, c)
		} else {
			out = append(out, c)
		}
	}
	return append(in, out...)
}

// suggest fills in what was not said: the first agent that can play, and another
// one that judges it where there is one as good.
func (o *initOptions) suggest(here []candidate) error {
	if o.actor == "" {
		if len(here) == 0 {
			return usagef("`codeloops agents` tells how to install one; or name one that will be there: --actor-agent NAME", "no agent is installed")
		}
		o.actor = here[0].spec.Name
	}
	if o.critic != "" {
		return nil
	}
	o.critic = o.actor
	for _, c := range here {
		if c.spec.Name != o.actor && c.signedIn {
			o.critic = c.spec.Name
			break
		}
	}
	return nil
}

// ask lets the user confirm or change each answer.
func (a *app) ask(ctx context.Context, o *initOptions, here []candidate) error {
	for _, c := range here {
		fmt.Fprintf(a.Err, "  %-15s %s\n", c.spec.Name, c.how) //nolint:errcheck // the questions follow
	}
	in := bufio.NewReader(a.In)
	limit, checks := strconv.Itoa(o.max), strings.Join(o.checks, " && ")
	if checks == "" {
		checks = noChecks
	}
	for _, q := range []struct {
		question string
		answer   *string
		wrong    func(string) error
	}{
		{"agent that does the work", &o.actor, a.knownAgent},
		{"agent that judges it", &o.critic, a.knownAgent},
		{"iterations at most, 0 for no limit", &limit, isCount},
		{"command that must pass before the work is done, or " + noChecks, &checks, nil},
	} {
		if err := a.askUntil(ctx, in, q.question, q.answer, q.wrong); err != nil {
			return err
		}
	}
	o.max, _ = strconv.Atoi(limit) // isCount has seen it
	if o.checks = nil; checks != noChecks {
		o.checks = []string{checks}
	}
	return nil
}

// noChecks is the answer of whoever wants no check.
const noChecks = "none"

// askUntil asks a question until its answer will do.
func (a *app) askUntil(ctx context.Context, in *bufio.Reader, question string, answer *string, wrong func(string) error) error {
	for {
		line, err := a.answer(ctx, in, fmt.Sprintf("%s [%s]: ", question, *answer))
		if err != nil {
			return err
		}
		if line == "" {
			return nil
		}
		if wrong != nil {
			if err := wrong(line); err != nil {
				report(a.Err, err, a.secrets)
				continue
			}
		}
		*answer = line
		return nil
	}
}

func isCount(text string) error {
	if n, err := strconv.Atoi(text); err != nil || n < 0 {
		return usagef("answer with a whole number", "%q is no number of iterations", text)
	}
	return nil
}

// knownAgent refuses a name that no agent has.
func (a *app) knownAgent(name string) error {
	if name == autoName {
		return nil
	}
	cfg, err := config.Load(a.configOptions(""))
	if err != nil {
		return err
	}
	own, err := a.specs(cfg, &runOptions{})
	if err != nil {
		return err
	}
	_, err = agent.Find(name, own...)
	return err
}

// tellOfUnfit says, as doctor does, what would keep a run with the agents of the
// configuration from starting.
func (a *app) tellOfUnfit(ctx context.Context) error {
	cfg, err := config.Load(a.configOptions(a.dir))
	if err != nil {
		return err
	}
	for _, f := range a.checkAgents(ctx, cfg, "") {
		if !f.OK {
			report(a.Err, &hintedError{errors.New(f.Detail), f.Hint}, a.secrets)
		}
	}
	return nil
}
