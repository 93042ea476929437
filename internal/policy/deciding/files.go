package deciding

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// The roles of files.
const (
	Critic  = "critic"  // the critic's program
	Check   = "check"   // a check names it
	Program = "program" // PATH would lead a check to it
	Git     = "git"     // codeloops compares files with it
	Agents  = "agents"  // agents read it before they work, perhaps the critic too
	Rules   = "rules"   // it holds rules for later runs
)

// What became of a file.
const (
	Added   = "added"
	changed = "changed"
	removed = "removed"
)

// A ChangedFile is a file that has changed since the session began.
type ChangedFile struct {
	loop.Decider
	Fate string
}

// A Tree reads files of a work tree, and nothing outside through its links. Files with absolute paths are
// outside of it.
type Tree struct {
	Root    string         // absolute
	Dir     string         // where commands are run, absolute
	Outside []loop.Decider // files that decide if they exist
	Agents  []string       // what agents read in a directory: files, and directories of files
	// Programs reports whether a file is a program by its name; nil: none is.
	Programs func(name string) bool
	// Pins are the files that links outside of it led to when the run began, by the links' paths. They are used
	// while they exist, so that an agent that updates itself meanwhile is the same to the run.
	Pins map[string]string
}

// Pinned returns the file to use for a path.
func (t Tree) Pinned(name string) string {
	if target, ok := t.Pins[filepath.ToSlash(name)]; ok {
		if now, err := filepath.EvalSymlinks(name); err != nil || now != target {
			if st, err := os.Stat(target); err == nil && st.Mode().IsRegular() {
				return target
			}
		}
	}
	return name
}

// Take returns the files with the digests of their present content.
func (t Tree) Take(files []loop.Decider) []loop.Decider {
	files = slices.Clone(files)
	t.open(func(root *os.Root) {
		for i := range files {
			if filepath.IsAbs(files[i].Path) {
				files[i].SHA256 = outside(t.Pinned(files[i].Path))
				continue
			}
			files[i].SHA256 = digest(root, files[i].Path)
		}
	})
	return files
}

// Changed compares files with their present content. It includes new files that agents read.
func (t Tree) Changed(files []loop.Decider) []ChangedFile {
	known := map[string]bool{}
	for _, f := range files {
		known[f.Path] = true
	}
	for _, f := range t.Settings() {
		if !known[f.Path] {
			files = append(slices.Clip(files), f)
		}
	}
	var all []ChangedFile
	for i, now := range t.Take(files) {
		switch was := files[i].SHA256; {
		case was == now.SHA256:
		case was == "" && now.Role == Check && !t.Runs(now.Path):
		case was == "":
			all = append(all, ChangedFile{files[i], Added})
		case now.SHA256 == "":
			all = append(all, ChangedFile{files[i], removed})
		default:
			all = append(all, ChangedFile{files[i], changed})
		}
	}
	return all
}

// Runs reports whether a file of the tree is a program: by its name, by its permissions, or by how it begins.
func (t Tree) Runs(name string) (is bool) {
	if t.Programs != nil && t.Programs(name) {
		return true
	}
	name = filepath.FromSlash(name)
	t.open(func(root *os.Root) {
		st, err := root.Stat(name)
		if err != nil || !st.Mode().IsRegular() || st.Mode()&0o111 != 0 {
			is = err == nil && st.Mode().IsRegular()
			return
		}
		if f, err := root.Open(name); err == nil {
			defer f.Close() //nolint:errcheck // it was only read
			begin := make([]byte, 2)
			_, err = io.ReadFull(f, begin)
			is = err == nil && string(begin) == "#!"
		}
	})
	return is
}

// Settings returns the instructions and settings that agents read when they work in the
// tree's directory: those in it and above, up to the root, ignored by git or not, and those outside.
func (t Tree) Settings() (files []loop.Decider) {
	dirs := []string{"."}
	if rel, err := filepath.Rel(t.Root, t.Dir); err == nil && filepath.IsLocal(rel) && rel != "." {
		for i, part := range strings.Split(filepath.ToSlash(rel), "/") {
			dirs = append(dirs, path.Join(dirs[i], part))
		}
	}
	for _, f := range t.Outside {
		if _, err := os.Stat(filepath.FromSlash(f.Path)); err == nil {
			files = append(files, f)
		}
	}
	t.open(func(root *os.Root) {
		for _, dir := range dirs {
			for _, name := range t.Agents {
				files = append(files, within(root, path.Join(dir, name))...)
			}
		}
	})
	return files
}

func setting(name string) loop.Decider {
	role := Agents
	if path.Base(name) == "codeloops.toml" {
		role = Rules
	}
	return loop.Decider{Path: name, Role: role}
}

// maxSettings limits how many files of a directory of settings are read.
const maxSettings = 1000

// within returns a file, or the files in a directory.
func within(root *os.Root, name string) (files []loop.Decider) {
	if st, err := root.Lstat(filepath.FromSlash(name)); err != nil {
		return nil
	} else if !st.IsDir() {
		return []loop.Decider{setting(name)}
	}
	_ = fs.WalkDir(root.FS(), name, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil, e.IsDir() && e.Name() == "node_modules":
			return fs.SkipDir
		case len(files) == maxSettings:
			return fs.SkipAll
		case !e.IsDir():
			files = append(files, setting(name))
		}
		return nil
	}) // what cannot be read does not exist for agents either
	return files
}

func (t Tree) open(use func(*os.Root)) {
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return
	}
	defer root.Close() //nolint:errcheck // it was only read
	use(root)
}

// unreadable is in place of a digest.
const unreadable = "what cannot be read"

// maxContent limits how much of a file is read, in bytes. The rest is identified by its size and modification time.
const maxContent = 64 << 20

// begin copies a file, or the first part of a large one.
func begin(root *os.Root, name string, to io.Writer) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	_, err = io.Copy(to, io.LimitReader(f, maxContent))
	return err
}

// digest returns a text that identifies the content of a file, "" if it does not exist. A link counts
// by where it leads, too, because that may be outside of the root.
func digest(root *os.Root, name string) string {
	name = filepath.FromSlash(name)
	sum := sha256.New()
	st, err := root.Lstat(name)
	if err == nil && st.Mode()&fs.ModeSymlink != 0 {
		target, _ := root.Readlink(name)
		_, _ = io.WriteString(sum, target)
		if st, err = root.Stat(name); err != nil {
			return hex.EncodeToString(sum.Sum(nil))
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return unreadable
	case !st.Mode().IsRegular(): // opening a pipe would block
		_, err = io.WriteString(sum, st.Mode().Type().String())
	default:
		if st.Size() > maxContent {
			_, _ = fmt.Fprint(sum, st.Size(), st.ModTime()) // it never fails
		}
		err = begin(root, name, sum)
	}
	if err != nil {
		return unreadable
	}
	return hex.EncodeToString(sum.Sum(nil))
}
