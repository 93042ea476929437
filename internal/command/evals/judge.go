package evals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/cli/manual"
	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/eval"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/run"
	"codeloops/internal/run/check"
	"codeloops/internal/run/crew"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// judgeOptions are the flags of `codeloops eval judge`.
type judgeOptions struct {
	reportOptions
	critics []string
	checks  []string
	prompt  string
	policy  string
	limit   int
	jobs    int
	maxCost float64
	days    int

	given   []loop.Flag
	project *config.ProjectFile // with the prompt and the policy
	terms   string              // names them; "" is none
}

// ofCritics are the settings of runs that mean something for a critic alone.
func ofCritics() []string {
	return []string{"script", "critic-view", "critic-access", "critic-env", "critic-timeout", "env-pass", "max-wait", "no-wait"}
}

func newJudgeCmd(l *command.Logs) *cobra.Command {
	o := &judgeOptions{}
	cmd := &cobra.Command{
		Use:         "judge [SESSION…]",
		Annotations: command.Exits("the report was printed; what could not be judged is named on standard error", ""),
		Short:       "Have critics judge the work of recorded iterations once more",
		Long: `Have each critic judge the work of recorded iterations once more, and report how
often it was right. Without sessions, those of this repository count, the latest
first. Each iteration's files are laid out in a copy of the work tree; the checks
of a session are not run again, their recorded results count. Those of --check, such
as tests that came later, are run once on each. Every verdict is a session of its
own, which ` + "`codeloops replay --verify`" + ` reads like any other.

What was right comes from what happened later, see --truth. A verdict that is there
is not asked for again: the same command carries on after Ctrl+C, a crash or the
end of its budget. Without --critic nobody is asked, and the report is about the
critics that the sessions had.`,
		Example: `  codeloops eval judge --critic codex:gpt-5 --critic claude:sonnet --limit 100 --max-cost 10
  codeloops eval judge latest --critic claude:opus --prompt review.md
  codeloops eval judge --truth checks,reverts,ci --html report.html`,
		ValidArgsFunction: l.Complete,
		PreRunE:           l.Console.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given = slices.DeleteFunc(command.Given(cmd.Flags()), func(f loop.Flag) bool { return !slices.Contains(ofCritics(), f.Name) })
			return o.run(cmd.Context(), l, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.critics, "critic", nil, "have `agent`, or agent:model, judge; may be repeated")
	f.StringArrayVar(&o.checks, "check", nil, "run the shell `command` on the work of each iteration: where it fails, there is a fault; may be repeated")
	f.StringVar(&o.prompt, "prompt", "", "ask the critics in the words of `file`, as with critique_template")
	f.StringVar(&o.policy, "policy", "", "judge by the settings in `file`, of the form of a project's codeloops.toml, which you trust with it")
	f.IntVar(&o.limit, "limit", 50, "at most `n` iterations, the latest ones")
	f.Float64Var(&o.maxCost, "max-cost", 10, "ask for no further verdict that might make all of them on these iterations cost more, in US `dollars`; 0 is no limit")
	f.IntVar(&o.jobs, "jobs", 2, "ask `n` critics at the same time")
	manual.Group("Judging", f, "critic", "check", "prompt", "policy", "limit", "max-cost", "jobs")
	for _, k := range config.Flags() {
		if slices.Contains(ofCritics(), k.Flag) {
			command.AddSetting(f, k)
		}
	}
	f.IntVar(&o.days, "days", 14, "approved work that was committed counts as good if nobody has mended or reverted it within `n` days")
	manual.Group("Report", f, "days")
	o.add(f)
	manual.Usual(f, "critic", "prompt", "policy", "limit", "max-cost", "truth", "json", "html")
	return cmd
}

func (o *judgeOptions) run(ctx context.Context, l *command.Logs, refs []string) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	if err := o.readTerms(l.Console); err != nil {
		return err
	}
	runner := proc.NewRunner(l.Console.Now)
	defer func() { err = errors.Join(err, runner.Close()) }()
	cfg, err := l.Config()
	if err != nil {
		return err
	}
	asked := *cfg
	asked.Critic.Members = o.critics
	if err := crew.CheckNames(&l.Console.Host, &asked); err != nil { // also where there is nothing to judge
		return fmt.Errorf("find the critics: %w", err)
	}
	checks := &check.Runner{
		Starter: runner, Commands: o.checks, Env: config.Environment(l.Console.Environ, cfg.EnvPass),
		Timeout: cfg.CheckTimeout, Keep: int64(cfg.LogOutput), Max: int64(cfg.MaxOutput),
	}
	return withBook(l, refs, func(b *eval.Book, some, all []session.Overview) error {
		return o.judgeAll(ctx, l.Console, runner, checks, b, some, all)
	})
}

// judgeAll has the critics judge the cases of some sessions, and reports.
func (o *judgeOptions) judgeAll(ctx context.Context, c *command.Console, runner *proc.Runner, checks *check.Runner, book *eval.Book, some, all []session.Overview) error {
	look := &eval.Look{Environ: c.Environ, Runner: runner, Now: c.Now(), Sources: o.truth, Within: time.Duration(o.days) * 24 * time.Hour, Limit: o.limit, Tell: c.Tell}
	cases, err := look.Collect(ctx, some, all)
	if err == nil && len(cases) == 0 {
		err = hint.Errorf("run codeloops here first, or take the sessions of all repositories: --all", "there is no iteration to judge in these sessions")
	}
	if err == nil {
		err = book.Put(cases)
	}
	if err != nil {
		return err
	}
	j := &eval.Judging{
		Host: &c.Host, Runner: runner, Book: book, Jobs: o.jobs, MaxCost: o.maxCost, Tell: c.Tell,
		Judge: func(ctx context.Context, w eval.Work, sink loop.Sink) (string, error) {
			return o.judge(ctx, c, w, sink)
		},
		Checks: checks,
		Ran: func(t eval.Tried) {
			how := "fails"
			if t.Passed {
				how = "passes"
			}
			fmt.Fprintf(c.Err, "%s  %s %s\n", t.Case, wording.Line(t.Command), how) //nolint:errcheck // only information
		},
		Judged: func(done, of int, v eval.Verdict) {
			fmt.Fprintf(c.Err, "%d of %d  %s  %s  %s\n", done, of, v.Case, v.Critic, v.Word()) //nolint:errcheck // only information
		},
	}
	if err := j.Run(ctx, cases, o.candidates()); err != nil {
		return err
	}
	ids := map[string]bool{}
	for _, one := range cases {
		ids[one.ID] = true
	}
	judged := slices.DeleteFunc(book.Cases(nil), func(one eval.Case) bool { return !ids[one.ID] })
	return o.print(c, eval.NewReport(book, judged, o.names(book, judged), o.truth))
}

func (o *judgeOptions) validate() error {
	switch {
	case o.limit < 1:
		return hint.Errorf("--limit 50 takes the latest fifty", "--limit cannot be %d", o.limit)
	case o.jobs < 1:
		return hint.Errorf("--jobs 1 asks one after the other", "--jobs cannot be %d", o.jobs)
	case o.days < 0:
		return hint.Errorf("0 takes whatever was committed for good", "--days cannot be %d", o.days)
	case o.maxCost < 0:
		return hint.Errorf("0 is no limit", "--max-cost cannot be %v", o.maxCost)
	}
	return o.reportOptions.validate()
}

// readTerms reads the prompt and the policy. What stands in the work tree of a case plays no part.
func (o *judgeOptions) readTerms(c *command.Console) error {
	var text strings.Builder
	if o.prompt != "" {
		words, err := os.ReadFile(c.Path(o.prompt))
		if err != nil {
			return fmt.Errorf("read the prompt for the critics: %w", err)
		}
		if err := toml.NewEncoder(&text).Encode(map[string]string{"critique_template": string(words)}); err != nil {
			return err
		}
	}
	if o.policy != "" {
		settings, err := os.ReadFile(c.Path(o.policy))
		if err != nil {
			return fmt.Errorf("read the policy: %w", err)
		}
		text.Write(settings)
	}
	o.project = &config.ProjectFile{}
	if text.Len() > 0 {
		sum := sha256.Sum256([]byte(text.String()))
		o.terms = "+" + hex.EncodeToString(sum[:3])
		o.project = &config.ProjectFile{Path: "codeloops.toml", Text: text.String(), Trusted: true}
	}
	return nil
}

func (o *judgeOptions) candidates() (all []eval.Candidate) {
	for _, entry := range o.critics {
		ref := loop.ParseAgent(entry)
		all = append(all, eval.Candidate{Name: ref.String() + o.terms, Ref: ref})
	}
	return all
}

// names are the critics that the report is about: those that were asked, or else all.
func (o *judgeOptions) names(b *eval.Book, judged []eval.Case) (all []string) {
	if len(o.critics) == 0 {
		return b.Critics(judged)
	}
	for _, one := range o.candidates() {
		all = append(all, one.Name)
	}
	return all
}

// judge runs a session that judges work.
func (o *judgeOptions) judge(ctx context.Context, c *command.Console, w eval.Work, sink loop.Sink) (log string, err error) {
	flags := slices.Concat(o.given, []loop.Flag{
		{Name: "critic-agent", Values: []string{w.Ref.Agent}},
		{Name: "critic-model", Values: []string{w.Ref.Model}},
		{Name: "fallback"},
		{Name: "critic-panel"},
		{Name: "session-dir", Values: []string{w.Logs}},
	})
	settings, err := run.NewSettings(run.FromAnywhere(flags, c.Path))
	if err != nil {
		return "", err
	}
	p, err := run.Prepare(ctx, run.Options{
		Host: &c.Host, Version: command.Version(), Dir: w.Dir, Prompt: w.Task, Words: w.Words, Settings: settings, User: run.User{Alone: true}, Project: o.project,
		Judge: &run.Judged{Since: w.Start, Kept: true, By: w.By, Account: w.Account, Recorded: &run.Recorded{Of: w.ID, Store: w.Store, Checkpoint: w.Checkpoint, Checks: w.Checks}},
	})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	out, err := p.Run(ctx, sink)
	if err == nil && out.Result == loop.Failed {
		err = errors.New(out.Summary)
	}
	return p.Log(), err
}

// withBook opens what is known of the critics of some sessions.
func withBook(l *command.Logs, refs []string, do func(b *eval.Book, some, all []session.Overview) error) error {
	store, some, all, err := chosen(l, refs)
	if err != nil {
		return err
	}
	book, err := eval.Open(store)
	if err != nil {
		return err
	}
	return errors.Join(do(book, some, all), book.Close())
}

// chosen returns the sessions that are meant, those of this repository if none is named, and all that there are.
func chosen(l *command.Logs, refs []string) (store *session.Store, some, all []session.Overview, err error) {
	if store, err = l.Store(); err == nil {
		all, err = store.Survey()
	}
	if err != nil {
		return nil, nil, nil, err
	}
	for _, ref := range refs {
		id, err := l.ID(store, ref)
		if err != nil {
			return nil, nil, nil, err
		}
		some = append(some, session.Look(store.Path(id)))
	}
	if len(refs) == 0 {
		here := lookup.Here(&l.Console.Host)
		some = slices.DeleteFunc(slices.Clone(all), func(one session.Overview) bool {
			return one.Err != nil || !l.All && (lookup.OfDemo(one) || here.Root() != "" && !here.Shares(one))
		})
	}
	return store, some, all, nil
}

// reportOptions say what a report is about, and what it looks like.
type reportOptions struct {
	truth    []string
	asJSON   bool
	markdown bool
	html     string
}

func (o *reportOptions) add(f *pflag.FlagSet) {
	usual := slices.DeleteFunc(eval.Sources(), func(s string) bool { return s == eval.CI })
	f.StringSliceVar(&o.truth, "truth", usual, "believe these `sources`, of "+strings.Join(eval.Sources(), ", ")+"; "+eval.CI+" asks the forge through gh or glab")
	manual.Group("Report", f, "truth")
	o.formats(f)
}

// formats declares what the report looks like.
func (o *reportOptions) formats(f *pflag.FlagSet) {
	f.BoolVar(&o.asJSON, "json", false, "print the report as JSON")
	f.BoolVar(&o.markdown, "markdown", false, "print the report as Markdown")
	f.StringVar(&o.html, "html", "", "also write the report to `file`, as a web page")
	manual.Group("Report", f, "json", "markdown", "html")
}

func (o *reportOptions) validate() error {
	for _, s := range o.truth {
		if err := lookup.OneOf("--truth", s, eval.Sources()); err != nil {
			return err
		}
	}
	if o.asJSON && o.markdown {
		return hint.Errorf("leave one of them out", "--json and --markdown contradict each other")
	}
	return nil
}
