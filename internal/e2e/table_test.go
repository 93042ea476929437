package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// table collects the results for the report.
var table results

// results are cells by agent and column.
type results struct {
	mu      sync.Mutex
	columns []string
	cells   map[[2]string]string
}

func (r *results) notef(agent, column, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cells == nil {
		r.cells = map[[2]string]string{}
	}
	if !slices.Contains(r.columns, column) {
		r.columns = append(r.columns, column)
	}
	r.cells[[2]string{agent, column}] = fmt.Sprintf(format, args...)
}

// print writes one line per column, with the agents side by side, as Markdown.
func (r *results) print() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.columns) == 0 {
		return nil
	}
	var b strings.Builder
	agents := chosen()
	b.WriteString("| |")
	for _, c := range agents {
		fmt.Fprintf(&b, " %s %s |", c.name, c.version)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(agents)) + "\n")
	slices.Sort(r.columns)
	for _, column := range r.columns {
		fmt.Fprintf(&b, "| %s |", column)
		for _, c := range agents {
			fmt.Fprintf(&b, " %s |", r.cells[[2]string{c.name, column}])
		}
		b.WriteString("\n")
	}
	fmt.Println(b.String())
	if path := os.Getenv(reportVar); path != "" {
		return os.WriteFile(path, []byte(b.String()), 0o600)
	}
	return nil
}
