package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"codeloops/internal/session"
	"codeloops/internal/session/replay"
	"codeloops/internal/wording"
)

// errDiffers says that a log would come to another end today, or on another
// way. The user has been told which, and where.
var errDiffers = errors.New("not every log comes to the same end today")

// runVerify verifies one log, or all of a directory.
func runVerify(ctx context.Context, l *logs, ref string) error {
	paths, several, err := l.In(ref)
	if !several {
		var one session.Overview
		one, err = l.find(ctx, ref, "Verify which session?")
		paths = []string{one.Path}
	}
	if err != nil {
		return err
	}
	differs, unread := false, 0
	for _, path := range paths {
		report, err := replay.VerifyFile(ctx, path)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && len(paths) == 1 {
			return err
		}
		if err != nil {
			l.Tell(err)
			unread++
			continue
		}
		differs = differs || len(report.Differences) > 0
		if err := l.app.print(func(w io.Writer) error { _, err := io.WriteString(w, report.Text(path)); return err }); err != nil {
			return err
		}
	}
	switch {
	case differs:
		return errDiffers
	case unread > 0:
		return fmt.Errorf("%s could not be read", wording.Count(unread, "log"))
	}
	return nil
}
