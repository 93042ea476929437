package view

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/file"
	"codeloops/internal/proc"
)

// tryOverlay runs a command in a view.
func (p *Place) tryOverlay(ctx context.Context) (err error) {
	v, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	res, err := v.Run(ctx, proc.Command{Invocation: proc.Invocation{Argv: []string{"/bin/sh", "-c", ":"}, Dir: p.found(p.Root), Env: os.Environ()}})
	if err == nil && res.ExitCode != 0 {
		err = fmt.Errorf("a command in it ends with exit code %d", res.ExitCode)
	}
	return err
}

// addLayers makes the layers of a view. An overlay does not show what is mounted below its directory, so
// each mount gets its own.
func (v *View) addLayers() error {
	for i, dir := range v.place.dirs() {
		mounts, err := mountsBelow(dir)
		if err != nil {
			return err
		}
		for _, at := range append([]string{dir}, mounts...) {
			rel, err := filepath.Rel(dir, at)
			if err != nil {
				return err
			}
			if rel = filepath.ToSlash(rel) + "/"; rel == "./" {
				rel = ""
			}
			l := &layer{dir: at, own: filepath.Join(v.home, fmt.Sprintf("upper%d", len(v.layers))), prefix: rel, git: i > 0}
			if err := os.Mkdir(l.own, 0o700); err != nil {
				return err
			}
			if err := copyMode(at, l.own); err != nil {
				return err
			}
			v.layers = append(v.layers, l)
		}
	}
	return nil
}

// copyMode gives the top of a layer, which commands see, the permissions of the directory below it.
func copyMode(dir, upper string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is a mount that is not a directory", dir)
	}
	return os.Chmod(upper, info.Mode().Perm())
}

// written lists the files that the layers have or hide.
func (v *View) written() (changes []change, err error) {
	for _, l := range v.layers {
		if err := l.walk("", func(c change) { changes = append(changes, c) }); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// walk calls tell for each file in a directory of the layer, and for each that it hides.
func (l *layer) walk(dir string, tell func(change)) error {
	entries, err := os.ReadDir(filepath.Join(l.own, dir))
	if err != nil {
		return err
	}
	hides := dir != "" && opaque(filepath.Join(l.own, dir))
	if hides {
		l.gone(dir, entries, tell)
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case whiteout(info):
			l.goneTree(name, tell)
		case info.IsDir():
			if user, err := os.Lstat(filepath.Join(l.dir, name)); err == nil && !user.IsDir() {
				tell(change{spot: spot{l, name}, was: true}) // a file became a directory
			}
			if err := l.walk(name, tell); err != nil {
				return err
			}
		default:
			if err := l.file(name, info, tell); err != nil {
				return err
			}
		}
	}
	return nil
}

// file calls tell for a file of the layer.
func (l *layer) file(name string, info fs.FileInfo, tell func(change)) error {
	user, err := os.Lstat(filepath.Join(l.dir, name))
	switch {
	case file.Missing(err):
		tell(change{spot: spot{l, name}, is: true})
		return nil
	case err != nil:
		return err
	case user.IsDir():
		l.goneTree(name, tell)
		tell(change{spot: spot{l, name}, is: true})
		return nil
	}
	at := spot{l, name}
	tell(change{at, true, true, sameFile(at.user(), user, at.own(), info)})
	return nil
}

// gone calls tell for what an opaque directory hides, except for what it has itself.
func (l *layer) gone(dir string, except []os.DirEntry, tell func(change)) {
	below, _ := os.ReadDir(filepath.Join(l.dir, dir)) // on error, it hides nothing
	for _, e := range below {
		if !slices.ContainsFunc(except, func(x os.DirEntry) bool { return x.Name() == e.Name() }) {
			l.goneTree(filepath.Join(dir, e.Name()), tell)
		}
	}
}

// goneTree calls tell for a file, or for all those in a directory, that the view does not show.
func (l *layer) goneTree(name string, tell func(change)) {
	_ = filepath.WalkDir(filepath.Join(l.dir, name), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // commands cannot remove what they cannot read
		}
		rel, err := filepath.Rel(l.dir, path)
		if err == nil {
			tell(change{spot: spot{l, rel}, was: true})
		}
		return nil
	})
}

// discard removes changes from the layers, so that what is below shows again, and then empty
// directories.
func (v *View) discard(changes []change) error {
	for _, c := range changes {
		if err := c.in.uncover(c.name); err != nil {
			return err
		}
	}
	for _, l := range v.layers {
		if err := l.prune("", v.place.ignoredDir); err != nil {
			return err
		}
	}
	return nil
}

// prune removes from a directory of the layer directories without files, and what hides those of the
// user.
func (l *layer) prune(dir string, keep func(spot) bool) error {
	entries, err := os.ReadDir(filepath.Join(l.own, dir))
	for _, e := range entries {
		at := spot{l, filepath.Join(dir, e.Name())}
		info, gone := e.Info()
		if err = cmp.Or(err, gone); err != nil {
			break
		}
		hidden := false
		switch user, none := os.Lstat(at.user()); {
		case keep(at):
			continue
		case info.IsDir():
			if err = cmp.Or(unsetOpaque(at.own()), l.prune(at.name, keep)); err != nil {
				return err
			}
			below, _ := os.ReadDir(at.own())
			hidden = len(below) == 0
		case whiteout(info) && none == nil && user.IsDir():
			hidden = true
			l.goneTree(at.name, func(change) { hidden = false }) // ignored files
		}
		if hidden {
			err = os.Remove(at.own())
		}
	}
	return err
}

// uncover removes what hides a file: what has its path in the layer, and in the directories above
// it, files and opaque marks.
func (l *layer) uncover(name string) error {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		at := filepath.Join(l.own, dir)
		info, err := os.Lstat(at)
		switch {
		case file.Missing(err):
		case err != nil:
			return err
		case !info.IsDir():
			if err := os.Remove(at); err != nil {
				return err
			}
		default:
			if err := unsetOpaque(at); err != nil {
				return err
			}
		}
	}
	return remove(filepath.Join(l.own, name))
}

// mountsBelow lists the mounts in a directory, outer ones first, by proc_pid_mountinfo(5).
func mountsBelow(dir string) (mounts []string, err error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	lines := bufio.NewScanner(io.LimitReader(f, 64<<20))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			continue
		}
		at := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[4])
		if at != dir && below(dir, at) && !slices.Contains(mounts, at) {
			mounts = append(mounts, at)
		}
	}
	slices.Sort(mounts)
	return mounts, lines.Err()
}
