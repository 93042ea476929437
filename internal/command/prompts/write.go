package prompts

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/editor"
	"codeloops/internal/cli/task"
	"codeloops/internal/command"
	"codeloops/internal/draft"
	"codeloops/internal/screen/ask"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// The commands that write prompts. Only the user may run them.

// A writing is a prompt on its way into a file.
type writing struct {
	*prompts

	in         *bufio.Reader
	kind, name string
	parents    string
	skills     []string
	editor     bool
	interview  bool
	agent      string
	script     string
	yes        bool
}

func (p *prompts) newNewCmd() *cobra.Command {
	w := &writing{prompts: p}
	var kinds []string
	var about strings.Builder
	for _, k := range draft.Kinds() {
		kinds = append(kinds, k.Name)
		fmt.Fprintf(&about, "  %-8s %s\n", k.Name, k.About)
	}
	cmd := &cobra.Command{
		Use:         "new [KIND] [NAME]",
		Annotations: command.Exits("the prompt is written", ""),
		Short:       "Write a prompt: by a form, in the editor, or with an agent that asks you",
		Long: `Write a prompt into .codeloops/prompts/NAME.md. You are asked what has to be known of
this kind of work, one thing after the other; an empty answer leaves it out.
Answers are lines of standard input, which need not be a terminal. The kinds are

` + about.String() + `
--edit opens the form in your editor instead. With --interview an agent, which
looks at the repository and changes nothing there, asks you whatever it needs to
know and writes the prompt; say what it should change, or nothing to keep it.
It is the agent that judges in runs, unless --agent names another one.`,
		Example: `  codeloops prompt new defect
  codeloops prompt new feature iso-weeks --edit --parents house-style
  codeloops prompt new defect --interview --agent claude`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 2 {
				return hint.Errorf("codeloops prompt new KIND NAME", "%s takes a kind and a name, but got %d arguments", cmd.CommandPath(), len(args))
			}
			return command.RejectEmpty(args)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				kinds = nil
			}
			return kinds, cobra.ShellCompDirectiveNoFileComp
		},
		PreRunE: p.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if w.kind = command.First(args); len(args) > 1 {
				w.name = args[1]
			}
			return w.new(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVarP(&w.editor, "edit", "e", false, "fill in the form in your editor")
	f.BoolVar(&w.interview, "interview", false, "let an agent ask you, and write it")
	f.StringVarP(&w.agent, "agent", "a", "", "with --interview: the `agent`, as name or name:model")
	f.StringVar(&w.script, "script", "", "with --interview --agent scripted: its scenario `file`")
	f.StringVar(&w.parents, "parents", "", "the prompts whose text stands before it: `names` with commas in between")
	f.StringArrayVar(&w.skills, "skill", nil, "name the skill `name` (repeatable)")
	f.BoolVarP(&w.yes, "yes", "y", false, "replace a prompt of that name without asking; a copy is kept")
	return cmd
}

func (w *writing) new(ctx context.Context) error {
	d, err := w.check()
	if err != nil {
		return err
	}
	w.in = bufio.NewReader(w.In)
	if err := w.mayReplace(ctx); err != nil {
		return err
	}
	if w.kind == "" && !w.editor {
		if w.kind, err = w.asks(ctx, "kind of work ("+w.kinds()+") [free]:"); err != nil {
			return err
		}
	}
	k, err := draft.KindOf(w.kind)
	if err != nil {
		return err
	}
	d.Kind = k.Name
	switch {
	case w.editor:
		d.Body = k.Blank()
		return w.edit(ctx, d.String(), k)
	case w.interview:
		d.Body, err = w.interviewed(ctx, k)
	default:
		d.Body, err = w.form(ctx, k)
	}
	if err != nil {
		return err
	}
	return w.keep(ctx, d)
}

// check rejects what could not be written in the end, before anybody types. It returns what is known of the prompt.
func (w *writing) check() (d draft.Draft, err error) {
	switch {
	case w.editor && w.interview:
		return d, hint.Errorf("leave one of them out", "--edit and --interview contradict each other")
	case !w.interview && (w.agent != "" || w.script != ""):
		return d, hint.Errorf("add --interview", "--agent and --script need --interview")
	case w.name != "":
		err = draft.CheckName(w.name)
	}
	if err = cmp.Or(err, w.store().Ready()); err != nil {
		return d, err
	}
	d.Skills = w.skills
	if d.Parents, err = draft.Names(w.parents); err == nil {
		_, err = w.store().Resolve(w.name, d)
	}
	return d, err
}

func (w *writing) kinds() string {
	var names []string
	for _, k := range draft.Kinds() {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}

// asks asks for a line.
func (w *writing) asks(ctx context.Context, question string) (string, error) {
	line, err := ask.Line(ctx, w.Streams, w.in, term.Clean(question)+" ")
	if !w.InTTY {
		fmt.Fprintln(w.Err) //nolint:errcheck // nobody has typed the line break
	}
	return line, err
}

// form asks for the sections, one by one.
func (w *writing) form(ctx context.Context, k draft.Kind) (body string, err error) {
	f := draft.Form{Parts: map[string]string{}}
	if f.Lead, err = w.asks(ctx, "the task in one line:"); err != nil {
		return "", err
	}
	for _, s := range k.Sections {
		f.Parts[s.Title], err = w.asks(ctx, "\n"+s.Title+"\n  "+s.Ask+"\n>")
		if errors.Is(err, ask.ErrNone) { // the end of the input leaves out what follows: what was typed is not to be lost
			break
		}
		if err != nil {
			return "", err
		}
	}
	return k.Join(f), nil
}

// mayReplace asks whether a prompt that is there may be replaced, before anybody types.
func (w *writing) mayReplace(ctx context.Context) error {
	if w.name == "" || w.yes {
		return nil
	}
	if _, err := w.store().Text(w.name); err != nil {
		return nil //nolint:nilerr // there is none
	}
	if !w.CanAsk() {
		return hint.Errorf("say --yes to replace it, or take another name", "%w: %s/%s.md", draft.ErrExists, draft.Dir, w.name)
	}
	w.yes = true
	return ask.Confirm(ctx, w.Streams, "replace "+draft.Dir+"/"+w.name+".md?")
}

// keep writes the prompt into its file.
func (w *writing) keep(ctx context.Context, d draft.Draft) error {
	if err := task.Check(d.Body, "the prompt"); err != nil {
		return err
	}
	kept, err := w.save(ctx, d)
	if err != nil {
		return err
	}
	if kept != "" {
		w.Tell("what was there before is kept in " + kept)
	}
	w.tellMissing(d)
	return w.Show(false, nil, fmt.Sprintf("wrote %s/%s.md; run it: codeloops --prompt-name %s\n", draft.Dir, w.name, w.name))
}

// save asks for a name that is free, unless there is one.
func (w *writing) save(ctx context.Context, d draft.Draft) (kept string, err error) {
	if w.name != "" {
		return w.store().Save(w.name, d, w.yes)
	}
	for slug := d.Slug(); ; slug = d.Slug() + "-2" {
		name, err := w.asks(ctx, "name ["+slug+"]:")
		if err != nil {
			return "", err
		}
		w.name = cmp.Or(name, slug)
		if kept, err = w.store().Save(w.name, d, w.yes); err == nil || !errors.Is(err, draft.ErrExists) && draft.CheckName(w.name) == nil {
			return kept, err
		}
		w.Report(err) // and asked again: what was typed is not to be lost
	}
}

func (p *prompts) newEditCmd() *cobra.Command {
	return &cobra.Command{
		Use:         "edit NAME",
		Annotations: command.Exits("the prompt is written, or was left as it is", ""),
		Short:       "Edit a prompt in your editor",
		Long: `Edit a prompt in your editor ($VISUAL, $EDITOR). A copy of what was there before
is kept. What cannot be a prompt is not written, and you are told where it is.`,
		Example:           `  codeloops prompt edit fix-weeks`,
		Args:              p.oneName,
		ValidArgsFunction: p.complete,
		PreRunE:           p.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := p.store().Text(args[0])
			if err != nil {
				return err
			}
			d, _ := draft.Parse(text) // it may be about to be mended
			k, err := draft.KindOf(d.Kind)
			if err != nil {
				return err
			}
			w := &writing{prompts: p, name: args[0], yes: true, in: bufio.NewReader(p.In)}
			return w.edit(cmd.Context(), text, k)
		},
	}
}

func (p *prompts) newRmCmd() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "rm NAME",
		Annotations:       command.Exits("the prompt is removed", ""),
		Short:             "Remove a prompt",
		Long:              `Remove a prompt, after a question. A copy is kept, whose path is printed.`,
		Example:           `  codeloops prompt rm fix-weeks`,
		Args:              p.oneName,
		ValidArgsFunction: p.complete,
		PreRunE:           p.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := p.store().Text(args[0]); err != nil {
				return err
			}
			if !yes {
				if err := ask.Confirm(cmd.Context(), p.Streams, "remove "+draft.Dir+"/"+args[0]+".md?"); err != nil {
					return err
				}
			}
			kept, err := p.store().Remove(args[0])
			if err != nil {
				return err
			}
			return p.Show(false, nil, fmt.Sprintf("removed %s/%s.md; a copy is kept in %s\n", draft.Dir, args[0], wording.OSPath(kept)))
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// edit lets the user edit the content of the file.
func (w *writing) edit(ctx context.Context, text string, k draft.Kind) error {
	e := editor.Editor{Streams: w.Streams, Host: &w.Host}
	edited, err := e.Edit(ctx, text, "What you leave as it is writes nothing. Lines between --- at the top may have\n"+
		"kind ("+w.kinds()+"), parents and skills, with commas in between.\n"+howTo(k))
	if err != nil {
		return err
	}
	if strings.TrimSpace(edited.Text) == strings.TrimSpace(text) {
		edited.Drop()
		return errors.New("nothing was changed")
	}
	d, err := draft.Parse(edited.Text)
	if err == nil {
		if k, err = draft.KindOf(d.Kind); err == nil {
			d.Body = k.Trim(d.Body)
			err = w.keep(ctx, d)
		}
	}
	if err != nil {
		w.Tell("your text is kept in " + edited.File)
		return err
	}
	edited.Drop()
	return nil
}

// howTo says what stands in which section.
func howTo(k draft.Kind) string {
	lines := []string{""}
	for _, s := range k.Sections {
		lines = append(lines, s.Title+": "+s.Ask)
	}
	return strings.Join(lines, "\n")
}
