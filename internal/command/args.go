package command

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/cli/manual"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// OwnCommands rejects arguments of a command with subcommands.
func OwnCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	what := "there are " + strings.Join(names, ", ")
	if len(names) == 1 {
		what = "there is only " + names[0]
	}
	for _, c := range cmd.Commands() {
		if slices.Contains(c.SuggestFor, args[0]) {
			what = fmt.Sprintf("did you mean `%s`?", c.CommandPath())
		}
	}
	if name, ok := wording.Nearest(args[0], names); ok {
		what = fmt.Sprintf("did you mean `%s %s`?", cmd.CommandPath(), name)
	}
	return hint.Errorf(what, "%s has no command %q", cmd.CommandPath(), args[0])
}

// NoArgs rejects arguments with a message of our own.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return hint.Errorf("`"+cmd.CommandPath()+" --help` tells its use", "%s takes no arguments, but got %q",
			cmd.CommandPath(), strings.Join(args, " "))
	}
	return nil
}

// OneSession accepts at most one session.
func OneSession(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return hint.Errorf("name one session at a time", "%s takes one session, but got %d", cmd.CommandPath(), len(args))
	}
	return RejectEmpty(args)
}

// RejectEmptyFlags rejects flags with an empty value, as from an unset variable, unless that means
// something.
func RejectEmptyFlags(flags *pflag.FlagSet) (err error) {
	meant := []string{"prompt", "actor-agent", "critic-agent", "model", "actor-model", "critic-model", "fallback"}
	flags.Visit(func(f *pflag.Flag) {
		several, isList := f.Value.(pflag.SliceValue)
		empty := strings.TrimSpace(f.Value.String()) == "" || isList && len(several.GetSlice()) == 0
		if err == nil && empty && !slices.Contains(meant, f.Name) {
			err = hint.Errorf("give it a value, or leave it out", "--%s must not be empty", f.Name)
		}
	})
	return err
}

// RejectEmpty rejects an empty reference, as from an unset variable: it would mean the latest
// session.
func RejectEmpty(refs []string) error {
	if slices.Contains(refs, "") {
		return hint.Errorf("name it; the last one is `latest`", "the name of the session is empty")
	}
	return nil
}

// First returns the first argument, "" if there is none.
func First(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// SplitMessage splits arguments into the name of a session and what is said. A name contains no space.
func SplitMessage(args []string) (ref, words string) {
	if len(args) > 0 && !strings.ContainsFunc(args[0], unicode.IsSpace) {
		ref, args = args[0], args[1:]
	}
	return ref, strings.TrimSpace(strings.Join(args, " "))
}

// AddSetting declares the flag of a run's setting. Its default is in the configuration and not
// repeated here.
func AddSetting(f *pflag.FlagSet, k config.Key) {
	switch k.Default.(type) {
	case int:
		f.IntP(k.Flag, k.Short, 0, k.Usage())
	case bool:
		f.BoolP(k.Flag, k.Short, false, k.Usage())
	case []string:
		if k.Agents {
			f.StringSliceP(k.Flag, k.Short, nil, k.Usage())
		} else {
			f.StringArrayP(k.Flag, k.Short, nil, k.Usage())
		}
	default:
		f.StringP(k.Flag, k.Short, "", k.Usage())
	}
	f.Lookup(k.Flag).Hidden = k.Unlisted
	manual.Group(k.Topic, f, k.Flag)
	if k.Brief {
		manual.Usual(f, k.Flag)
	}
}

// Given returns the settings among the flags, in the order in which they were typed.
func Given(flags *pflag.FlagSet) (said []loop.Flag) {
	flags.Visit(func(f *pflag.Flag) {
		if _, known := config.FlagOf(f.Name); !known {
			return
		}
		values := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			values = several.GetSlice()
		}
		said = append(said, loop.Flag{Name: f.Name, Values: values})
	})
	return said
}
