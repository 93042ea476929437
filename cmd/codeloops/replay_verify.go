package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/render"
	"codeloops/internal/replay"
	"codeloops/internal/session"
	"codeloops/internal/term"
)

// runVerify verifies one log, or all of a directory.
func runVerify(ctx context.Context, l *logs, ref string) error {
	paths, err := l.paths(ctx, ref)
	if err != nil {
		return err
	}
	differs, unread := false, 0
	for _, path := range paths {
		report, err := verify(ctx, path)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			err = fmt.Errorf("verify session log %s: %w", path, err)
			if len(paths) == 1 {
				return err
			}
			l.tell(err)
			unread++
			continue
		}
		differs = differs || len(report.Differences) > 0
		if err := l.app.print(func(w io.Writer) error { return describeReport(w, path, report) }); err != nil {
			return err
		}
	}
	switch {
	case differs:
		return errDiffers
	case unread > 0:
		return fmt.Errorf("%s could not be read", render.Count(unread, "log", "logs"))
	}
	return nil
}

// errDiffers says that a log would come to another end today, or on another
// way. The user has been told which, and where.
var errDiffers = errors.New("not every log comes to the same end today")

func verify(ctx context.Context, path string) (replay.Report, error) {
	return replay.Verify(ctx, func() (replay.Entries, func() error, error) {
		r, err := session.OpenFile(path)
		if err != nil {
			return nil, nil, err
		}
		r.Lean = true // a loop decides without what agents wrote on the way
		return r.Entries(), r.Close, nil
	})
}

// paths returns the logs that a reference means.
func (l *logs) paths(ctx context.Context, ref string) ([]string, error) {
	dir := resolve(l.app.dir, ref)
	if st, err := os.Stat(dir); ref == "" || err != nil || !st.IsDir() {
		one, err := l.find(ctx, ref, "Verify which session?")
		return []string{one.Path}, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the logs to verify: %w", err)
	}
	var paths []string
	for _, entry := range entries {
		if !entry.IsDir() && filepath.Ext(entry.Name()) == ".jsonl" {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, &hintedError{fmt.Errorf("%s holds no session logs: %w", dir, errNoLogs), "name a directory with *.jsonl files in it"}
	}
	slices.Sort(paths)
	return paths, nil
}

var errNoLogs = errors.New("there is nothing to verify")

// describeReport writes what was found of one log: same, partly or differs.
func describeReport(w io.Writer, path string, r replay.Report) error {
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	word := "same"
	if r.Partly != "" {
		word = "partly"
	}
	if len(r.Differences) > 0 {
		word = "differs"
	}
	end := "no end"
	if r.Outcome != nil {
		end = string(r.Outcome.Result)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %s  %s, %s\n", word, term.Line(name), render.Count(r.Iterations, "iteration", "iterations"), term.Line(end))
	if r.Partly != "" {
		fmt.Fprintf(&b, "         the end is not compared: %s\n", term.Line(r.Partly))
	}
	for _, d := range r.Differences {
		fmt.Fprintf(&b, "         %s\n", term.Line(d))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
