package main

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	codeloops "codeloops"
	"codeloops/internal/cli/doctor"
	"codeloops/internal/cli/manual"
	"codeloops/internal/config"
	"codeloops/internal/run/crew"
	"codeloops/internal/session/standing"
)

// everyCommand calls a function with each visible command except cobra's own.
func everyCommand(t *testing.T, do func(*cobra.Command)) {
	t.Helper()
	root := newRootCmd(unwatched())
	root.InitDefaultHelpCmd()
	walk(root, func(cmd *cobra.Command) {
		if cmd.IsAvailableCommand() || cmd == root {
			do(cmd)
		}
	})
}

// TestReference: docs/cli.md agrees with the commands.
func TestReference(t *testing.T) {
	t.Parallel()
	root := newRootCmd(unwatched())
	root.InitDefaultHelpCmd()
	visit(root, tellDefaults)
	list, page := "", ""
	visit(root, func(cmd *cobra.Command) {
		// The completion scripts are cobra's own commands, and described with their parent.
		if cmd.Hidden || cmd.HasParent() && cmd.Parent().Name() == "completion" {
			return
		}
		var help strings.Builder
		if err := (manual.Screen{Columns: 100}).Help(&help, cmd, ""); err != nil {
			t.Fatal(err)
		}
		path := cmd.CommandPath()
		list += fmt.Sprintf("- [`%s`](#%s): %s\n", path, strings.ReplaceAll(path, " ", "-"), cmd.Short)
		page += fmt.Sprintf("\n## %s\n\n```text\n%s```\n", path, help.String())
	})
	page = "# The command line\n\nThe help of each command, put here by `make golden`: do not edit it here.\n\n" + list + page
	const name = "../../docs/cli.md"
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		if err := os.WriteFile(name, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if text(t, name) != page {
		t.Errorf("%s differs from the commands: make golden updates it", name)
	}
}

// TestHelpTeaches: every command lists its exit codes, has an example, and names the values of its
// flags.
func TestHelpTeaches(t *testing.T) {
	t.Parallel()
	types := []string{"string", "strings", "stringArray", "int", "float", "duration", "bool"}
	everyCommand(t, func(cmd *cobra.Command) {
		if len(manual.ExitsOf(cmd)) < 3 {
			t.Errorf("%s does not list its exit codes", cmd.CommandPath())
		}
		if !strings.Contains(cmd.Example, "codeloops") {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		grouped := 0
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if value, _ := pflag.UnquoteUsage(f); slices.Contains(types, value) {
				t.Errorf("%s --%s: the help shows the type %q", cmd.CommandPath(), f.Name, value)
			}
			if f.Annotations["group"] != nil {
				grouped++
			}
		})
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if grouped > 0 && f.Annotations["group"] == nil && f.Name != "help" && f.Name != "version" {
				t.Errorf("%s --%s is under no heading", cmd.CommandPath(), f.Name)
			}
		})
	})
}

// TestExamples: the commands and flags in the examples exist.
func TestExamples(t *testing.T) {
	t.Parallel()
	everyCommand(t, func(cmd *cobra.Command) {
		for _, line := range regexp.MustCompile(`codeloops [^|;&\n]*`).FindAllString(strings.ReplaceAll(cmd.Example, "\\\n", ""), -1) {
			of, _, err := cmd.Root().Find(strings.Fields(line)[1:])
			if err != nil {
				t.Errorf("%q: %v", line, err)
				continue
			}
			for _, name := range regexp.MustCompile(` --([a-z][a-z-]*)`).FindAllStringSubmatch(line, -1) {
				if of.Flags().Lookup(name[1]) == nil && of.InheritedFlags().Lookup(name[1]) == nil {
					t.Errorf("%q: %s has no flag --%s", line, of.CommandPath(), name[1])
				}
			}
		}
	})
}

// TestTopics: pages are laid out without leftover markup, and only blocks are wider than the
// screen.
func TestTopics(t *testing.T) {
	t.Parallel()
	for _, one := range topics() {
		page, err := codeloops.Pages.ReadFile(one.page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(one.page, ".md") {
			continue
		}
		if one.part != "" && !strings.Contains(string(page), "\n## "+one.part+"\n") {
			t.Errorf("%s has no section %q", one.page, one.part)
		}
		for _, columns := range []int{40, 80, 120} {
			shown := manual.Screen{Columns: columns}.Markdown(string(page))
			if mark := regexp.MustCompile("(?m)\\]\\(|^#+ \\w|\\|---|^```|\\*\\*").FindString(regexp.MustCompile(`(?m)^    .*$`).ReplaceAllString(shown, "")); mark != "" {
				t.Errorf("%s at %d columns: the markup %q is left", one.name, columns, mark)
			}
			for line := range strings.Lines(shown) {
				if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > columns && !strings.HasPrefix(line, "    ") && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s at %d columns: %q", one.name, columns, line)
				}
			}
		}
	}
}

// TestJSONFields: the help of commands with --json names the fields of their objects.
func TestJSONFields(t *testing.T) {
	t.Parallel()
	root := newRootCmd(unwatched())
	for name, of := range map[string]any{"doctor": doctor.Finding{}, "agents": crew.Row{}, "config show": config.Entry{}, "status": standing.Standing{}} {
		cmd, _, err := root.Find(strings.Fields(name))
		if err != nil {
			t.Fatal(err)
		}
		var told, fields []string
		for _, m := range regexp.MustCompile(`(?m)^  ([a-z_.]+) `).FindAllStringSubmatch(cmd.Long, -1) {
			told = append(told, m[1])
		}
		var list func(of reflect.Type, prefix string)
		list = func(of reflect.Type, prefix string) {
			for field := range of.Fields() {
				tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				if field.Type.Kind() == reflect.Struct && field.Type != reflect.TypeFor[time.Time]() {
					list(field.Type, prefix+tag+".")
					continue
				}
				fields = append(fields, prefix+tag)
			}
		}
		list(reflect.TypeOf(of), "")
		if !slices.Equal(told, fields) {
			t.Errorf("%s --json has %q, and its help %q", name, fields, told)
		}
	}
}
