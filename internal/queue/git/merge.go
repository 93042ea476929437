package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/proc"
)

// A Merged is the result of a merge without a work tree.
type Merged struct {
	Tree  string   // with conflict markers, if any
	Files []string // with conflicts
	Text  string   // git's messages about them
}

// MergeTree merges two commits.
func (r *Repo) MergeTree(ctx context.Context, ours, theirs string) (m Merged, err error) {
	out, err := r.Run(ctx, r.Root, "merge-tree", "--write-tree", "-z", "--name-only", "--messages", ours, theirs)
	exit, failed := errors.AsType[*proc.ExitError](err)
	if err != nil && (!failed || exit.ExitCode != 1) {
		return m, err
	}
	// See git-merge-tree(1): the tree, the files, an empty field; then for each message a count of files, the
	// files, its kind and its text.
	fields := strings.Split(out, "\x00")
	m.Tree = fields[0]
	if !failed {
		return m, nil
	}
	end := max(1, slices.Index(fields, ""))
	if m.Files = fields[1:end]; len(m.Files) == 0 {
		return m, fmt.Errorf("git merge-tree tells of conflicts in no file: %q", out)
	}
	for rest := fields[end+1:]; len(rest) > 3; {
		count, err := strconv.Atoi(rest[0])
		if err != nil || count < 0 || count+2 >= len(rest) {
			break
		}
		if rest = rest[count+1:]; rest[0] != "Auto-merging" {
			m.Text += rest[1]
		}
		rest = rest[2:]
	}
	return m, nil //nolint:nilerr // exit code 1 means conflicts
}
