package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"codeloops/internal/screen/ci"
	"codeloops/internal/session"
	"codeloops/internal/session/export"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/sessionview"
)

// The variables that name files for the result of a run in a CI job. GitHub sets its own.
const (
	summaryVariable = "CODELOOPS_SUMMARY"      // Markdown, which is appended
	qualityVariable = "CODELOOPS_CODE_QUALITY" // GitLab's report of findings
)

// report writes the result of a run for the job that it is part of. A file that cannot be written costs the run nothing.
func (r *runCommand) report(ctx context.Context) {
	a := r.app
	file := a.Getenv(summaryVariable)
	if file == "" && ci.Of(r.plan.Config.CI, a.Getenv) == ci.GitHub {
		file = a.Getenv("GITHUB_STEP_SUMMARY")
	}
	if file != "" && r.plan.Log() != "" {
		if err := r.summarize(ctx, a.Path(file)); err != nil {
			a.Report(fmt.Errorf("write the summary of the job: %w", err))
		}
	}
	if file := a.Getenv(qualityVariable); file != "" {
		text, err := r.job.CodeQuality(r.plan.State().Found)
		if err == nil {
			err = os.WriteFile(a.Path(file), text, 0o644) //nolint:gosec // the job uploads it, whoever it runs as
		}
		if err != nil {
			a.Report(fmt.Errorf("write the findings: %w", err))
		}
	}
}

// summarize appends the session in Markdown to a file.
func (r *runCommand) summarize(ctx context.Context, file string) error {
	a, one := r.app, session.Look(r.plan.Log())
	if one.Err != nil {
		return one.Err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // the job shows it to everybody
	if err != nil {
		return err
	}
	safe := a.Secrets.Writer(f)
	err = lookup.Read(ctx, one, a.Report, func(entries sessionview.Entries) error {
		return export.Write(safe, export.Redacted(entries, a.Secrets), export.Options{
			Format: export.Markdown, Session: export.RedactedOverview(one, a.Secrets), Zone: a.Now().Location(),
		})
	})
	if err == nil {
		_, err = io.WriteString(safe, "\n")
	}
	return errors.Join(err, safe.Close(), f.Close())
}

// locate finds a file that a finding names: from the repository's root, or from the working directory.
func (r *runCommand) locate(name string) (string, bool) {
	root := r.plan.Root()
	within, err := filepath.Rel(root, r.plan.Dir)
	if err != nil {
		return "", false
	}
	for _, one := range []string{name, path.Join(filepath.ToSlash(within), name)} {
		if one = path.Clean(one); !filepath.IsLocal(filepath.FromSlash(one)) {
			continue
		}
		if st, err := os.Lstat(filepath.Join(root, filepath.FromSlash(one))); err == nil && st.Mode().IsRegular() {
			return one, true
		}
	}
	return "", false
}
