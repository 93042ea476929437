package manual

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// exitKey is the annotation of a command that holds its exit codes.
const exitKey = "exits"

// An Exit is one way in which a command ends.
type Exit struct {
	Code    int
	Meaning string
}

// Exits are the annotations of a command that ends in these ways.
func Exits(all ...Exit) map[string]string {
	var lines []string
	for _, e := range all {
		lines = append(lines, strconv.Itoa(e.Code)+" "+e.Meaning)
	}
	return map[string]string{exitKey: strings.Join(lines, "\n")}
}

// ExitsOf are the ways in which a command says that it ends.
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
