package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// shortest is how many lines short help has at most on a screen of 80 columns.
const shortest = 30

// Short writes the help of a command on one screen: all of it if it fits, else what is used most.
func (s Screen) Short(w io.Writer, cmd *cobra.Command) error {
	var whole strings.Builder
	if err := s.Help(&whole, cmd, ""); err != nil || strings.Count(whole.String(), "\n") <= shortest {
		_, err = io.WriteString(w, whole.String())
		return err
	}
	var b strings.Builder
	section := func(title string) { fmt.Fprintf(&b, "\n%s\n", s.Heading(title+":")) }
	fmt.Fprintf(&b, "%s.\n", cmd.Short)
	section("Usage")
	fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	for line := range strings.Lines(cmd.Example) {
		section("Example")
		b.WriteString(strings.TrimRight(line, "\n") + "\n")
		break
	}
	if cmd.HasAvailableSubCommands() {
		section("Commands")
	}
	for _, c := range chapters(cmd) {
		var names []string
		for _, below := range c.commands {
			names = append(names, below.Name())
		}
		if names != nil {
			b.WriteString(s.row("  "+c.heading, 19, strings.Join(names, ", ")))
		}
	}
	section("Options")
	for _, f := range usual(cmd) {
		_, does := pflag.UnquoteUsage(f)
		if end := strings.IndexAny(does, ",;:("); end > 0 {
			does = strings.TrimSpace(does[:end])
		}
		b.WriteString(s.row("  "+typed(f), 28, does))
	}
	fmt.Fprintf(&b, "\n%s --help says everything.\n", cmd.CommandPath())
	_, err := io.WriteString(w, b.String())
	return err
}

// usual returns the flags that short help lists: all, unless some are marked.
func usual(cmd *cobra.Command) (marked []*pflag.Flag) {
	var all []*pflag.Flag
	for _, g := range groups(cmd) {
		for _, f := range g.flags {
			all = append(all, f)
			if _, is := f.Annotations[usualKey]; is {
				marked = append(marked, f)
			}
		}
	}
	if marked == nil {
		return all
	}
	return marked
}
