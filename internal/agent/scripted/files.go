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
		{"write", func(t *table) step { return writeFile(t, "write", os.O_TRUNC) }},
		{"append", func(t *table) step { return writeFile(t, "append", os.O_APPEND) }},
		{"delete", func(t *table) step {
			name := t.file("delete")
			return func(_ context.Context, p *player) error {
				// RemoveAll accepts a missing path, but it means that the scenario is wrong.
				if _, err := p.root.Lstat(filepath.FromSlash(name)); errors.Is(err, fs.ErrNotExist) {
					return fmt.Errorf("delete %s: there is nothing of that name", name)
				}
				return p.root.RemoveAll(filepath.FromSlash(name))
			}
		}},
		{"rename", func(t *table) step {
			from, to := t.file("rename"), need(t, "to", t.file)
			return func(_ context.Context, p *player) error {
				if err := p.root.MkdirAll(filepath.FromSlash(path.Dir(to)), 0o755); err != nil {
					return err
				}
				return p.root.Rename(filepath.FromSlash(from), filepath.FromSlash(to))
			}
		}},
		{"chmod", func(t *table) step {
			name, mode := t.file("chmod"), need(t, "mode", t.mode)
			return func(_ context.Context, p *player) error {
				return p.root.Chmod(filepath.FromSlash(name), fs.FileMode(mode))
			}
		}},
		{"symlink", func(t *table) step {
			// The target is free text: links that lead out of the repository are worth
			// rehearsing, too.
			name, target := t.file("symlink"), need(t, "target", t.text)
			return func(_ context.Context, p *player) error { return p.root.Symlink(target, filepath.FromSlash(name)) }
		}},
		{"mkdir", func(t *table) step {
			name := t.file("mkdir")
			return func(_ context.Context, p *player) error { return p.root.MkdirAll(filepath.FromSlash(name), 0o755) }
		}},
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

// writeFile writes a file. Without a mode, a new one gets 0644, and another one keeps its own.
func writeFile(t *table, key string, flag int) step {
	name, content, mode := t.file(key), t.text("content"), t.mode("mode")
	return func(_ context.Context, p *player) error {
		if err := p.root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755); err != nil {
			return err
		}
		f, err := p.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|flag, 0o644)
		if err != nil {
			return err
		}
		_, err = f.WriteString(content)
		if err = errors.Join(err, f.Close()); err == nil && mode != 0 {
			err = p.root.Chmod(filepath.FromSlash(name), fs.FileMode(mode))
		}
		return err
	}
}
