package manual

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// exitKey is the annotation with a command's exit codes.
const exitKey = "exits"

// An Exit is an exit code with its meaning.
type Exit struct {
	Code    int
	Meaning string
}

// Exits returns annotations with exit codes for a command.
func Exits(all ...Exit) map[string]string {
	var lines []string
	for _, e := range all {
		lines = append(lines, strconv.Itoa(e.Code)+" "+e.Meaning)
	}
	return map[string]string{exitKey: strings.Join(lines, "\n")}
}

// ExitsOf returns the exit codes in a command's annotations.
func ExitsOf(cmd *cobra.Command) (all []Exit) {
	for line := range strings.Lines(cmd.Annotations[exitKey]) {
		code, meaning, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.Atoi(code)
		if err == nil {
			all = append(all, Exit{n, meaning})
		}
	}
	return all
}
