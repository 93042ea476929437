package place

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	program "codeloops/internal/git"
	"codeloops/internal/queue/git"
)

// A change is a path with its entries, "mode id": in the commit that the work began at, and in both checkpoints of a session.
type change struct {
	base, start, end string
	remade           bool // settings make git store something else of it, which the user has not set up everywhere
}

// changes returns what differs between them, by path, as git would store it: checkpoints have the bytes on the disk.
func (p *Place) changes(ctx context.Context, d *git.Draft, j *Judged) (all map[string]*change, err error) {
	dirty, err := p.repo.Differences(ctx, d.Env, p.start.commit, j.Start)
	if err != nil {
		return nil, err
	}
	made, err := p.repo.Differences(ctx, d.Env, j.Start, j.End)
	if err != nil {
		return nil, err
	}
	all = map[string]*change{}
	for _, one := range dirty {
		all[one.Path] = &change{base: one.Was, start: one.Now, end: one.Now}
	}
	for _, one := range made {
		if all[one.Path] == nil {
			all[one.Path] = &change{base: one.Was, start: one.Was}
		}
		all[one.Path].end = one.Now
	}
	names, err := d.Git(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", j.End) // with those of attributes
	if err != nil {
		return nil, err
	}
	paths := strings.FieldsFunc(names, func(r rune) bool { return r == 0 })
	for path := range all {
		paths = append(paths, path)
	}
	how, err := p.repo.Converts(ctx, d.Env, p.Dir, paths)
	if err != nil {
		return nil, err
	}
	some := map[string]*change{}
	for path, c := range all {
		if is, converts := how[path]; is == program.Remade {
			c.remade = true
		} else if converts {
			some[path] = c
		}
	}
	if len(some) == 0 {
		return all, nil
	}
	if err := p.convert(ctx, d, j.Start, some, func(c *change) *string { return &c.start }); err != nil {
		return nil, err
	}
	return all, p.convert(ctx, d, j.End, some, func(c *change) *string { return &c.end })
}

// convert makes the entries of some files in a checkpoint what git would store of them. They are written to a directory as
// they are, and added from there, with the settings of the user and the attributes of the checkpoint.
func (p *Place) convert(ctx context.Context, d *git.Draft, commit string, some map[string]*change, of func(*change) *string) error {
	room, err := os.MkdirTemp(d.Dir(), "raw-")
	if err != nil {
		return err
	}
	var raw, before, added strings.Builder
	for path, c := range some {
		if entry := *of(c); strings.HasPrefix(entry, "100") {
			raw.WriteString(entry + "\t" + path + "\x00")
			before.WriteString(c.base + "\t" + path + "\x00")
			added.WriteString(path + "\x00")
		}
	}
	plain := git.Call{
		Env:      []string{"GIT_DIR=" + d.Dir(), "GIT_WORK_TREE=" + room, "GIT_INDEX_FILE=" + filepath.Join(d.Dir(), "index-raw")},
		Settings: []string{"-c", "core.bare=false", "-c", "core.autocrlf=false"},
	}
	users := git.Call{Env: []string{"GIT_DIR=" + p.repo.CommonDir, "GIT_WORK_TREE=" + room}}
	out := ""
	for _, step := range []struct {
		git.Call
		stdin string
		args  []string
	}{
		{plain, "", []string{"read-tree", "--empty"}},
		{plain, raw.String(), []string{"update-index", "-z", "--index-info"}},
		{plain, "", []string{"checkout-index", "--all"}},
		{users, "", []string{"read-tree", commit}},
		{users, before.String(), []string{"update-index", "-z", "--index-info"}}, // git leaves line endings alone that were stored so
		{users, added.String(), []string{"update-index", "-z", "--add", "--stdin"}},
		{users, "", []string{"ls-files", "-z", "--stage"}},
	} {
		step.Dir, step.Stdin = room, []byte(step.stdin)
		if out, err = d.Do(ctx, step.Call, step.args...); err != nil {
			return err
		}
	}
	for line := range strings.SplitSeq(out, "\x00") { // mode, id, stage, path
		about, path, _ := strings.Cut(line, "\t")
		if c := some[path]; c != nil {
			*of(c) = strings.TrimSuffix(about, " 0")
		}
	}
	return nil
}
