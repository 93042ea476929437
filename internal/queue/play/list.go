package play

import (
	"context"
	"path/filepath"
	"strings"

	"codeloops/internal/queue"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/source"
)

// A trackedList is a file with tasks that git tracks. The merge of a task ticks it, rather than the user's own copy, which
// would be in the way when the user takes the merge.
type trackedList struct {
	*ground
	*source.File

	task *queue.Task
	path string // from the root, with slashes
}

// trackedList returns the list that a task came from; nil if the user is changing it. If git does not track it, no commit has it.
func (g *ground) trackedList(ctx context.Context, t *queue.Task) (*trackedList, error) {
	if t.Origin.Key == "" {
		return nil, nil //nolint:nilnil // none is no error
	}
	from, err := g.player.Source(t.Origin, t.Repository.Root)
	of, is := from.(*source.File)
	if err != nil || !is {
		return nil, err
	}
	name, _ := filepath.EvalSymlinks(of.Name()) // "" where it is gone
	path, err := filepath.Rel(g.repo.Root, name)
	if err != nil || !filepath.IsLocal(path) {
		return nil, nil //nolint:nilerr,nilnil // it lies elsewhere
	}
	l := &trackedList{ground: g, File: of, task: t, path: filepath.ToSlash(path)}
	differs, err := g.repo.Run(ctx, g.repo.Root, "status", "--porcelain", "--", ":(top,literal)"+l.path)
	if err != nil || differs != "" {
		return nil, err
	}
	return l, nil
}

// tick returns a tree in which the task is ticked. Where that cannot be done, it is the same tree.
func (l *trackedList) tick(ctx context.Context, d *git.Draft, tree string) (string, error) {
	entry, err := d.Git(ctx, "ls-tree", "--full-tree", tree, "--", l.path)
	about := strings.Fields(entry)
	if err != nil || len(about) < 3 || about[1] != "blob" {
		return tree, err
	}
	text, err := l.text(ctx, d.Env, about[2])
	if err != nil {
		return tree, err
	}
	ticked, _ := l.Tick(text, l.task.Origin.Key, source.Result{Task: l.task.ID, Prompt: l.task.Prompt}) // Done reports an error
	if ticked == nil {
		return tree, nil
	}
	id, err := d.Do(ctx, git.Call{Stdin: ticked}, "hash-object", "-w", "--stdin")
	if err != nil {
		return tree, err
	}
	return d.With(ctx, tree, map[string]string{l.path: about[0] + " " + id})
}

// has reports whether the task is ticked in a commit.
func (l *trackedList) has(ctx context.Context, commit string) (bool, error) {
	text, err := l.text(ctx, nil, commit+":"+l.path)
	if text == nil || err != nil {
		return false, err
	}
	left, err := l.Tick(text, l.task.Origin.Key, source.Result{Task: l.task.ID, Prompt: l.task.Prompt})
	return left == nil && err == nil, nil
}

// text returns the content of a blob; nil where there is none.
func (l *trackedList) text(ctx context.Context, env []string, blob string) ([]byte, error) {
	out, err := l.repo.Do(ctx, git.Call{Dir: l.repo.Root, Env: env, Stdin: []byte(blob + "\n")}, "cat-file", "--batch")
	about, text, _ := strings.Cut(out, "\n")
	if err != nil || strings.HasSuffix(about, " missing") {
		return nil, err
	}
	return []byte(text), nil
}
