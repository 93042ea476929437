package place

import (
	"context"
	"errors"
	"os"
	"strings"

	program "codeloops/internal/git"
	"codeloops/internal/queue/git"
)

// Changes are what differs between the commit that the work began at and the checkpoints of a session.
type changes struct {
	dirty, made []git.Difference // before the session, and in it
	remade      map[string]bool  // settings make git store something else of them, which the user has not set up everywhere
}

func (p *Place) compare(ctx context.Context, d draft, start, end string) (c changes, err error) {
	if c.made, err = p.repo.Differences(ctx, d.Env, start, end); err == nil {
		c.dirty, err = p.repo.Differences(ctx, d.Env, p.start.commit, start)
	}
	return c, err
}

// An entry is a path in the commit that the work began at, and in both checkpoints.
type entry struct{ base, start, end string }

// entries returns them by path.
func (c *changes) entries() map[string]*entry {
	all := map[string]*entry{}
	for _, one := range c.dirty {
		all[one.Path] = &entry{one.Was, one.Now, one.Now}
	}
	for _, one := range c.made {
		if all[one.Path] == nil {
			all[one.Path] = &entry{base: one.Was, start: one.Was}
		}
		all[one.Path].end = one.Now
	}
	return all
}

// inGit returns what differs as git would store it: checkpoints have the bytes on the disk.
func (p *Place) inGit(ctx context.Context, d draft, j *Judged) (c changes, err error) {
	if c, err = p.compare(ctx, d, j.Start, j.End); err != nil {
		return c, err
	}
	names, err := d.Git(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", j.End) // with those of attributes
	if err != nil {
		return c, err
	}
	all, paths := c.entries(), strings.FieldsFunc(names, func(r rune) bool { return r == 0 })
	for path := range all {
		paths = append(paths, path)
	}
	how, err := p.repo.Converts(ctx, d.Env, p.Dir, paths)
	if err != nil {
		return c, err
	}
	remade, start, end := map[string]bool{}, map[string]entry{}, map[string]entry{}
	for path, e := range all {
		if is, known := how[path]; known && is != program.Remade {
			start[path], end[path] = entry{base: e.base, end: e.start}, *e
		} else if known {
			remade[path] = true
		}
	}
	if len(start) > 0 {
		c, err = p.recompare(ctx, d, j, start, end)
	}
	c.remade = remade
	return c, err
}

// recompare compares checkpoints some of whose files git stores otherwise.
func (p *Place) recompare(ctx context.Context, d draft, j *Judged, inStart, inEnd map[string]entry) (c changes, err error) {
	start, err := p.converted(ctx, d, j.Start, inStart)
	if err != nil {
		return c, err
	}
	end, err := p.converted(ctx, d, j.End, inEnd)
	if err != nil {
		return c, err
	}
	return p.compare(ctx, d, start, end)
}

// converted returns a checkpoint's tree with some regular files as git would store them. They are written to a directory as
// they are, and added from there, with the settings of the user and the attributes of the checkpoint.
func (p *Place) converted(ctx context.Context, d draft, commit string, files map[string]entry) (tree string, err error) {
	dir, index := p.beside("files"), p.beside("index-raw")
	defer func() { err = errors.Join(err, os.RemoveAll(dir), os.RemoveAll(index)) }()
	if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(index), os.MkdirAll(dir, 0o700)); err != nil {
		return "", err
	}
	var raw, before, added strings.Builder
	for path, e := range files {
		if strings.HasPrefix(e.end, "100") {
			raw.WriteString(e.end + "\t" + path + "\x00")
			before.WriteString(e.base + "\t" + path + "\x00")
			added.WriteString(path + "\x00")
		}
	}
	plain := git.Call{
		Env:      []string{"GIT_DIR=" + d.Dir(), "GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + index},
		Settings: []string{"-c", "core.bare=false", "-c", "core.autocrlf=false"},
	}
	users := git.Call{Env: []string{"GIT_DIR=" + p.repo.CommonDir, "GIT_WORK_TREE=" + dir}}
	for _, step := range []struct {
		git.Call
		stdin string
		args  []string
	}{
		{plain, raw.String(), []string{"update-index", "-z", "--index-info"}},
		{plain, "", []string{"checkout-index", "--all"}},
		{users, "", []string{"read-tree", commit}},
		{users, before.String(), []string{"update-index", "-z", "--index-info"}}, // git leaves line endings alone that were stored so
		{users, added.String(), []string{"update-index", "-z", "--add", "--stdin"}},
		{users, "", []string{"write-tree"}},
	} {
		step.Dir, step.Stdin = dir, []byte(step.stdin)
		if tree, err = d.Do(ctx, step.Call, step.args...); err != nil {
			return "", err
		}
	}
	return tree, nil
}
