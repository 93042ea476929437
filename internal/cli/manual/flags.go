package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groupKey is the annotation that names the heading of a flag.
const groupKey = "group"

// Group groups flags below a heading in help and manual pages.
func Group(heading string, flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := flags.SetAnnotation(name, groupKey, []string{heading}); err != nil {
			panic(err) // there is no such flag
		}
	}
}

// usualKey is the annotation of the flags that short help lists.
const usualKey = "usual"

// Usual lets short help list these flags instead of all.
func Usual(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := flags.SetAnnotation(name, usualKey, []string{}); err != nil {
			panic(err) // there is no such flag
		}
	}
}

// A group is a heading with its flags.
type group struct {
	heading string
	flags   []*pflag.Flag
}

// groups returns the flags of a command: those with a heading in the order in which headings
// first occur, then the others, then inherited flags.
func groups(cmd *cobra.Command) (all []group) {
	cmd.InitDefaultHelpFlag() // as cobra does when it runs the command
	put := func(heading string, f *pflag.Flag) {
		i := slices.IndexFunc(all, func(g group) bool { return g.heading == heading })
		if i < 0 {
			i, all = len(all), append(all, group{heading: heading})
		}
		all[i].flags = append(all[i].flags, f)
	}
	var rest []*pflag.Flag
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		switch heading := f.Annotations[groupKey]; {
		case f.Hidden:
		case heading == nil:
			rest = append(rest, f)
		default:
			put(heading[0], f)
		}
	})
	others := "Options"
	if len(all) > 0 {
		others = "Other options"
	}
	for _, f := range rest {
		put(others, f)
	}
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			put("Common options", f)
		}
	})
	return all
}

// told returns the name of a flag's value and its description. A list of values like a|b
// is not repeated in the description.
func told(f *pflag.Flag) (value, does string) {
	value, does = pflag.UnquoteUsage(f)
	if strings.Contains(value, "|") {
		does = strings.Replace(does, ": "+value, "", 1)
	}
	// An empty value is not worth mentioning as the default.
	if !slices.Contains([]string{"", "0", "false", "[]"}, f.DefValue) && !strings.Contains(does, "(default") {
		does += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	return value, does
}

// typed returns a flag as it is typed, with long names aligned.
func typed(f *pflag.Flag) string {
	text := "    --" + f.Name
	if f.Shorthand != "" {
		text = "-" + f.Shorthand + ", --" + f.Name
	}
	if value, _ := pflag.UnquoteUsage(f); value != "" {
		text += " " + value
	}
	return text
}
