package replay

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
	"codeloops/internal/wording"
)

// A Report is the result of [Verify].
type Report struct {
	Iterations  int      // compared
	Differences []string // sentences
	// Partly says why not everything could be compared, "" if it was.
	Partly string
	// Outcome is how the recorded session ended; nil if it has no end.
	Outcome *loop.Outcome
}

// VerifyFile is [Verify] for the log at a path.
func VerifyFile(ctx context.Context, path string) (Report, error) {
	r, err := Verify(ctx, session.Read(path))
	if err != nil {
		err = fmt.Errorf("verify session log %s: %w", wording.OSPath(path), err)
	}
	return r, err
}

// Text describes the result for the log at a path: same, partly or differs.
func (r Report) Text(path string) string {
	word, end := "same", "no end"
	switch {
	case len(r.Differences) > 0:
		word = "differs"
	case r.Partly != "":
		word = "partly"
	}
	if r.Outcome != nil {
		end = words.Outcome(string(r.Outcome.Result))
	}
	var b strings.Builder
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	fmt.Fprintf(&b, "%-8s %s  %s, %s\n", word, term.Line(name), wording.Count(r.Iterations, "iteration"), term.Line(end))
	if r.Partly != "" {
		fmt.Fprintf(&b, "         the end is not compared: %s\n", term.Line(r.Partly))
	}
	for _, d := range r.Differences {
		fmt.Fprintf(&b, "         %s\n", term.Line(d))
	}
	return b.String()
}
