package patch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/git"
	"codeloops/internal/proc"
)

// Texts are two versions of a text.
type Texts struct{ Before, After []byte }

// Hunks returns the hunks that lead from the one version of each text to the other, as `git diff`
// prints them with some lines around them; "" for versions that are equal. Copies of the texts are in
// a directory for a moment; "" is the system's for temporary files.
func Hunks(ctx context.Context, dir string, around int, texts ...Texts) ([]string, error) {
	all := make([]string, len(texts))
	compared := 0
	for i, t := range texts {
		switch {
		case len(t.Before) == 0 && len(t.After) > 0:
			all[i] = Added(t.After)
		case len(t.After) == 0 && len(t.Before) > 0:
			all[i] = hunk('-', "-%s +0,0", t.Before)
		case !bytes.Equal(t.Before, t.After):
			compared++
		}
	}
	if compared == 0 {
		return all, nil
	}
	out, err := compare(ctx, dir, func(dir string) error {
		for i, t := range texts {
			if all[i] == "" && !bytes.Equal(t.Before, t.After) {
				if err := errors.Join(write(dir, "a", i, t.Before), write(dir, "b", i, t.After), ctx.Err()); err != nil {
					return err
				}
			}
		}
		return nil
	}, "--no-renames", "--text", "--unified="+strconv.Itoa(around))
	if err != nil {
		return nil, err
	}
	return all, parted(out, all)
}

// Added returns the hunk of a text that is new.
func Added(text []byte) string { return hunk('+', "-0,0 +%s", text) }

// hunk returns the hunk of a text that was added or removed as a whole. Git need not see those: an actor
// can add any number of files.
func hunk(op byte, ranges string, text []byte) string {
	lines := slices.Collect(bytes.Lines(text))
	count := "1"
	if len(lines) > 1 {
		count = fmt.Sprintf("1,%d", len(lines))
	}
	var b strings.Builder
	b.Grow(len(text) + len(lines) + len(ranges) + 64)
	fmt.Fprintf(&b, "@@ "+ranges+" @@\n", count)
	for _, line := range lines {
		b.WriteByte(op)
		b.Write(line)
	}
	if text[len(text)-1] != '\n' {
		b.WriteString("\n\\ No newline at end of file\n")
	}
	return b.String()
}

// Left matches, in such a directory, what a killed process has left.
const Left = "codeloops-diff-*"

// compare runs `git diff` on the directories a and b that fill makes in a temporary one, in another
// one. No settings and no attributes of anybody count.
func compare(ctx context.Context, in string, fill func(dir string) error, args ...string) (string, error) {
	dir, err := os.MkdirTemp(in, Left)
	if err == nil {
		defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
		err = errors.Join(os.Mkdir(filepath.Join(dir, "a"), 0o700), os.Mkdir(filepath.Join(dir, "b"), 0o700))
	}
	if err == nil {
		err = fill(dir)
	}
	if err != nil {
		return "", fmt.Errorf("compare files: %w", err)
	}
	out, err := git.Git{Environ: git.Alone(os.Environ())}.Run(ctx, git.Call{
		Dir: dir, Args: slices.Concat([]string{"diff", "--no-index", "--no-prefix"}, args, []string{"a", "b"}),
		Env: []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)},
	})
	if exit, ok := errors.AsType[*proc.ExitError](err); err != nil && (!ok || exit.ExitCode != 1) { // 1: they differ
		return "", fmt.Errorf("compare files: %w", err)
	}
	return string(out), nil
}

// write writes one version of a text.
func write(dir, version string, i int, text []byte) error {
	return os.WriteFile(filepath.Join(dir, version, strconv.Itoa(i)), text, 0o600)
}

// parted puts the hunks of each text in its place. No line of a hunk begins with a letter.
func parted(out string, into []string) error {
	for part := range strings.SplitSeq("\n"+out, "\ndiff --git ") {
		name, rest, _ := strings.Cut(part, " ")
		_, hunks, found := strings.Cut(rest, "\n@@ ")
		if !found {
			continue
		}
		i, err := strconv.Atoi(name[len("a/"):])
		if err != nil || i < 0 || i >= len(into) {
			return fmt.Errorf("compare files: git printed a diff of %.40q", name)
		}
		into[i] = "@@ " + strings.TrimSuffix(hunks, "\n") + "\n"
	}
	return nil
}
