package place

import (
	"context"
	"errors"
	"slices"
	"strings"

	"codeloops/internal/proc"
	"codeloops/internal/queue/git"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A start is where the work in a place begins.
type start struct {
	commit  string
	parents []string // of a result
	files   []string // with conflicts between them
}

// begin finds where the work begins: at the last result, merged with what it is based on now. A merge with conflicts has
// markers in its files. The same commits give the same start.
func (p *Place) begin(ctx context.Context, base string) (err error) {
	p.start = start{commit: base, parents: []string{base}}
	if p.head == "" {
		return nil
	}
	p.start = start{commit: p.head, parents: []string{p.head}}
	if has, err := p.repo.Contains(ctx, p.head, base); err != nil || has {
		return err
	}
	d, done, err := p.draft()
	defer done()
	if err != nil {
		return err
	}
	m, err := p.repo.MergeTree(ctx, d.Env, p.head, base)
	if err != nil {
		return err
	}
	p.start = start{parents: []string{p.head, base}, files: m.Files}
	p.start.commit, err = d.CommitSame(ctx, m.Tree, "Merge into "+p.branch()+"\n", p.head, base)
	if err == nil {
		err = d.Give(ctx, p.start.commit, held+p.Task)
	}
	return err
}

// ErrConflicts says that a result has unresolved conflicts.
var ErrConflicts = errors.New("conflicts are not resolved")

// conflicts returns an error for files of a tree that had conflicts and still have markers that neither side had, and for
// submodules that both sides have moved.
func (p *Place) conflicts(ctx context.Context, d *git.Draft, tree string) error {
	if len(p.start.files) == 0 {
		return nil
	}
	left, err := p.marked(ctx, d, tree)
	if err != nil {
		return err
	}
	modules, err := p.repo.Differences(ctx, d.Env, p.start.parents[1], p.start.commit)
	for _, c := range modules {
		if c.Nested() && slices.Contains(p.start.files, c.Path) {
			left = append(left, wording.Path(c.Path)+" (a submodule)")
		}
	}
	if err == nil && len(left) > 0 {
		err = hint.Errorf("resolve them, and remove the markers", "%w: %s", ErrConflicts, wording.List(left, 10))
	}
	return err
}

// marked names the lines that are conflict markers, and that neither side had.
func (p *Place) marked(ctx context.Context, d *git.Draft, tree string) (left []string, err error) {
	times := map[string]int{}
	for _, side := range p.start.parents {
		args := []string{"-c", "core.whitespace=-blank-at-eol,-blank-at-eof,-space-before-tab", "diff", "--check", "--no-ext-diff", "--no-textconv", side, tree, "--"}
		for _, file := range p.start.files {
			args = append(args, ":(top,literal)"+file)
		}
		out, err := d.Git(ctx, args...)
		if exit, failed := errors.AsType[*proc.ExitError](err); err != nil && (!failed || exit.ExitCode != 2) {
			return nil, err
		}
		for line := range strings.Lines(out) {
			at, is := strings.CutSuffix(strings.TrimSpace(line), ": leftover conflict marker")
			if times[at]++; is && times[at] == len(p.start.parents) {
				left = append(left, wording.Path(at))
			}
		}
	}
	return left, nil
}
