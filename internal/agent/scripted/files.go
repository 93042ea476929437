package scripted

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// fileActions change files. Paths go through an [os.Root], so neither ".." nor a symlink
// leads out of the working directory.
func fileActions() []action {
	return []action{
		{"write", func(t *table) step {
			return writeFile{path: t.file("write"), content: t.text("content"), mode: t.mode("mode"), flag: os.O_TRUNC}
		}},
		{"append", func(t *table) step {
			return writeFile{path: t.file("append"), content: t.text("content"), mode: t.mode("mode"), flag: os.O_APPEND}
		}},
		{"delete", func(t *table) step { return deletePath{t.file("delete")} }},
		{"rename", func(t *table) step { return renamePath{from: t.file("rename"), to: need(t, "to", t.file)} }},
		{"chmod", func(t *table) step { return chmodPath{path: t.file("chmod"), mode: need(t, "mode", t.mode)} }},
		{"symlink", func(t *table) step {
			return symlinkPath{path: t.file("symlink"), target: need(t, "target", t.text)}
		}},
		{"mkdir", func(t *table) step { return makeDir{t.file("mkdir")} }},
	}
}

// need reads a required option of an action.
func need[T any](t *table, key string, read func(string) T) T {
	v := read(key)
	if !t.has(key) {
		t.failf(key, "the step needs %q as well", key)
	}
	return v
}

type writeFile struct {
	path    string
	content string
	mode    uint32 // 0: 0644 for a new file, unchanged otherwise
	flag    int
}

func (s writeFile) do(_ context.Context, p *player) error {
	if err := p.root.MkdirAll(filepath.FromSlash(path.Dir(s.path)), 0o755); err != nil {
		return err
	}
	f, err := p.root.OpenFile(filepath.FromSlash(s.path), os.O_WRONLY|os.O_CREATE|s.flag, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(s.content)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil && s.mode != 0 {
		err = p.root.Chmod(filepath.FromSlash(s.path), fs.FileMode(s.mode))
	}
	return err
}

type deletePath struct{ path string }

func (s deletePath) do(_ context.Context, p *player) error {
	name := filepath.FromSlash(s.path)
	// RemoveAll accepts a missing path, but it means that the scenario is wrong.
	if _, err := p.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete %s: there is nothing of that name", s.path)
	}
	return p.root.RemoveAll(name)
}

type renamePath struct{ from, to string }

func (s renamePath) do(_ context.Context, p *player) error {
	if err := p.root.MkdirAll(filepath.FromSlash(path.Dir(s.to)), 0o755); err != nil {
		return err
	}
	return p.root.Rename(filepath.FromSlash(s.from), filepath.FromSlash(s.to))
}

type chmodPath struct {
	path string
	mode uint32
}

func (s chmodPath) do(_ context.Context, p *player) error {
	return p.root.Chmod(filepath.FromSlash(s.path), fs.FileMode(s.mode))
}

// The target of a symlinkPath is free text: links that lead out of the repository are
// worth rehearsing, too.
type symlinkPath struct{ path, target string }

func (s symlinkPath) do(_ context.Context, p *player) error {
	return p.root.Symlink(s.target, filepath.FromSlash(s.path))
}

type makeDir struct{ path string }

func (s makeDir) do(_ context.Context, p *player) error {
	return p.root.MkdirAll(filepath.FromSlash(s.path), 0o755)
}
