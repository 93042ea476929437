// Package intake reads sessions of other places for a store: logs, and the database of the tool that codeloops comes
// from.
package intake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/proc"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// magic is how a database begins.
const magic = "SQLite format 3\x00"

// Logs yields the logs in a file, one for each session. An error is the last.
func Logs(ctx context.Context, environ []string, path string) iter.Seq2[io.Reader, error] {
	return func(yield func(io.Reader, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(nil, fmt.Errorf("open %s: %w", wording.OSPath(path), err))
			return
		}
		defer f.Close() //nolint:errcheck // only read
		head := make([]byte, len(magic))
		n, err := io.ReadFull(f, head)
		if err == nil && string(head) == magic {
			database(ctx, environ, path, yield)
			return
		}
		yield(io.MultiReader(bytes.NewReader(head[:n]), f), nil)
	}
}

// database yields the sessions of a database. The sqlite3 program reads it: most systems have that, and a library for
// something that is done once would be larger than the rest of codeloops.
func database(ctx context.Context, environ []string, path string, yield func(io.Reader, error) bool) {
	program, err := proc.LookPath("sqlite3", "", environ)
	if err != nil {
		yield(nil, hint.Errorf("install it, as the package sqlite3 or from https://sqlite.org/download.html", "%s is a database, and the program sqlite3 that reads it is not installed", path))
		return
	}
	ask := func(query string) ([]byte, error) {
		out, err := proc.Output(ctx, proc.Call{Invocation: proc.Invocation{
			Argv: []string{program, "-batch", "-init", os.DevNull, "-readonly", "-list", "-noheader", path, query}, Dir: filepath.Dir(path), Env: environ,
		}})
		if err != nil {
			err = fmt.Errorf("read %s: %w", wording.OSPath(path), err)
		}
		return out, err
	}
	ids, err := ask("SELECT hex(id) FROM sessions ORDER BY started_at, id")
	if err != nil {
		yield(nil, err)
		return
	}
	if len(ids) == 0 {
		yield(nil, errors.New("the database holds no sessions"))
	}
	for id := range strings.FieldsSeq(string(ids)) {
		lines, err := ask(strings.ReplaceAll(asLines, "$id", "x'"+id+"'"))
		if !yield(bytes.NewReader(lines), err) || err != nil {
			return
		}
	}
}

// asLines selects a session as the lines of a log. Its tables have the fields of the logs that the tool wrote before.
const asLines = `
SELECT json_object('type', 'session_start', 'timestamp', started_at, 'prompt', prompt, 'working_dir', working_dir,
	'actor_agent', actor_agent, 'critic_agent', critic_agent, 'actor_model', actor_model, 'critic_model', critic_model,
	'max_iterations', max_iterations)
FROM sessions WHERE id = CAST($id AS TEXT);
SELECT json_object('type', 'iteration', 'iteration_number', iteration_number, 'actor_output', actor_output,
	'actor_stderr', actor_stderr, 'actor_exit_code', actor_exit_code, 'actor_duration_secs', actor_duration_secs,
	'git_diff', git_diff, 'git_files_changed', git_files_changed, 'critic_decision', critic_decision,
	'feedback', feedback, 'timestamp', timestamp)
FROM iterations WHERE session_id = CAST($id AS TEXT) ORDER BY iteration_number;
SELECT json_object('type', 'session_end', 'outcome', outcome, 'iterations', iteration_count, 'summary', summary,
	'confidence', confidence, 'duration_secs', duration_secs, 'timestamp', ended_at)
FROM sessions WHERE id = CAST($id AS TEXT) AND outcome IS NOT NULL`
