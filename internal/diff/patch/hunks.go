package patch

import (
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
	if len(texts) == 0 {
		return nil, nil
	}
	out, err := compare(ctx, dir, func(dir string) error {
		for i, t := range texts {
			if err := errors.Join(write(dir, "a", i, t.Before), write(dir, "b", i, t.After), ctx.Err()); err != nil {
				return err
			}
		}
		return nil
	}, "--no-renames", "--text", "--unified="+strconv.Itoa(around))
	if err != nil {
		return nil, err
	}
	return parted(out, len(texts))
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
	program := ""
	if err == nil {
		program, err = git.Program()
	}
	var out []byte
	if err == nil {
		argv := append([]string{program, "diff", "--no-index", "--no-prefix"}, args...)
		out, err = proc.Output(ctx, proc.Call{Invocation: proc.Invocation{Argv: append(argv, "a", "b"), Dir: dir, Env: alone(dir)}})
	}
	if exit, ok := errors.AsType[*proc.ExitError](err); err != nil && (!ok || exit.ExitCode != 1) { // 1: they differ
		return "", fmt.Errorf("compare files: %w", err)
	}
	return string(out), nil
}

// write writes one version of a text. None is left out for an empty one.
func write(dir, version string, i int, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, version, strconv.Itoa(i)), text, 0o600)
}

// alone returns an environment in which git finds no repository, and no settings or attributes of
// the user or the system.
func alone(dir string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	return append(env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_ATTR_NOSYSTEM=1", "HOME="+dir, "XDG_CONFIG_HOME="+dir)
}

// parted returns the hunks of each text. No line of a hunk begins with a letter.
func parted(out string, n int) ([]string, error) {
	all := make([]string, n)
	for part := range strings.SplitSeq("\n"+out, "\ndiff --git ") {
		name, rest, _ := strings.Cut(part, " ")
		_, hunks, found := strings.Cut(rest, "\n@@ ")
		if !found {
			continue
		}
		i, err := strconv.Atoi(name[len("a/"):])
		if err != nil || i < 0 || i >= n {
			return nil, fmt.Errorf("compare files: git printed a diff of %.40q", name)
		}
		all[i] = "@@ " + strings.TrimSuffix(hunks, "\n") + "\n"
	}
	return all, nil
}
