package command

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// OwnCommands refuses arguments of a command that has commands of its own.
func OwnCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	what := "there are " + strings.Join(names, ", ")
	if name, ok := wording.Nearest(args[0], names); ok {
		what = fmt.Sprintf("did you mean `%s %s`?", cmd.CommandPath(), name)
	}
	return hint.Errorf(what, "%s has no command %q", cmd.CommandPath(), args[0])
}

// NoArgs refuses arguments with a sentence of ours.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return hint.Errorf("`"+cmd.CommandPath()+" --help` tells its use", "%s takes no arguments, but got %q",
			cmd.CommandPath(), strings.Join(args, " "))
	}
	return nil
}

// OneSession takes the argument of a command that is about one session.
func OneSession(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return hint.Errorf("name one session at a time", "%s takes one session, but got %d", cmd.CommandPath(), len(args))
	}
	return NoneEmpty(args)
}

// NoneEmpty refuses a reference that is there and says nothing, as that of a
// variable that is not set: it would stand for the latest session.
func NoneEmpty(refs []string) error {
	if slices.Contains(refs, "") {
		return hint.Errorf("name it; the last one is `latest`", "the name of the session is empty")
	}
	return nil
}

// First is the first argument, "" where there is none.
func First(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// Spoken divides arguments into the name of a session and what is said: a name has no blank.
func Spoken(args []string) (ref, words string) {
	if len(args) > 0 && !strings.ContainsFunc(args[0], unicode.IsSpace) {
		ref, args = args[0], args[1:]
	}
	return ref, strings.TrimSpace(strings.Join(args, " "))
}
