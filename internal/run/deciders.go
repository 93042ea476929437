package run

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/policy/deciding"
	"codeloops/internal/proc"
	"codeloops/internal/run/crew"
	"codeloops/internal/run/worktree"
)

// deciders are the files that influence the verdict, as they were when the session began.
type deciders struct {
	tree  deciding.Tree
	files []loop.Decider
}

// Changed returns the files that have changed since the session began.
func (d *deciders) Changed() []deciding.ChangedFile { return d.tree.Changed(d.files) }

// checks returns the paths of those that checks run.
func (d *deciders) checks() (paths []string) {
	for _, f := range d.files {
		if f.Role == deciding.Check {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// scripts returns the files of the work tree that a check runs by its command line.
func (d *deciders) scripts(command string) []string {
	return slices.DeleteFunc(d.tree.Files(deciding.Shell(command)), func(name string) bool { return !d.tree.Runs(name) })
}

// in returns the same files in another work tree.
func (d *deciders) in(root, dir string) *deciders {
	return &deciders{tree: deciding.Tree{Root: root, Dir: dir, Outside: d.tree.Outside, Pins: d.tree.Pins, Agents: d.tree.Agents, Programs: d.tree.Programs}, files: d.files}
}

// findDeciders finds the files that influence the verdict. For a resumed session, those from its
// beginning count, as they were then.
func (r *running) findDeciders() *deciders {
	dir := r.Dir
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved // like the root
	}
	d := &deciders{tree: deciding.Tree{Root: r.tree.Root(), Dir: dir, Agents: r.tables.Agents.Names, Programs: r.tables.Program}}
	critics := slices.Concat(r.Critic, slices.Concat(r.Panel...))
	d.tree.Outside = append(programs(d.tree, critics), deciding.Instructions(d.tree.Root, r.options.Host.Home())...)
	if global := r.Config.GlobalFile(); global != "" {
		d.tree.Outside = append(d.tree.Outside, loop.Decider{Path: filepath.ToSlash(global), Role: deciding.Rules})
	}
	if program, err := git.Program(); err == nil {
		d.tree.Outside = append(d.tree.Outside, loop.Decider{Path: filepath.ToSlash(program), Role: deciding.Git})
	}
	d.tree.Outside = slices.DeleteFunc(d.tree.Outside, func(f loop.Decider) bool { // as in a repository of the home directory
		return len(d.tree.Files([]string{f.Path})) > 0
	})
	files := append(criticFiles(d.tree, critics), checkFiles(d.tree, r.Config.Checks, r.options.Host.Getenv("PATH"))...)
	d.pin()
	if r.earlier == nil || len(r.earlier.Origin.Rules) == 0 { // else its log has them
		files = append(files, d.tree.Settings()...)
	}
	if r.earlier != nil {
		d.files = slices.Clone(r.earlier.Origin.Deciders)
	}
	known := map[string]bool{}
	for _, f := range d.files {
		known[f.Path] = true
	}
	files = slices.DeleteFunc(files, func(f loop.Decider) bool {
		twice := known[f.Path]
		known[f.Path] = true
		return twice
	})
	d.files = append(d.files, d.tree.Take(files)...)
	return d
}

// pin keeps what the links to critics' programs lead to.
func (d *deciders) pin() {
	d.tree.Pins = map[string]string{}
	for _, f := range d.tree.Outside {
		name := filepath.FromSlash(f.Path)
		if target, err := filepath.EvalSymlinks(name); err == nil && f.Role == deciding.Critic && target != name {
			d.tree.Pins[f.Path] = target
		}
	}
}

// pinned returns a command with the program that its path led to when the run began.
func (d *deciders) pinned(c proc.Command) proc.Command {
	if c.Argv = slices.Clone(c.Argv); len(c.Argv) > 0 {
		c.Argv[0] = d.tree.Pinned(c.Argv[0])
	}
	return c
}

// criticFiles returns the files that critics are started from.
func criticFiles(t deciding.Tree, critics crew.Cast) (files []loop.Decider) {
	for _, who := range critics {
		binaries := who.Spec.ReadOnlyBinaries
		if len(binaries) == 0 {
			binaries = who.Spec.Binaries
		}
		named := append(deciding.Argv(append(slices.Clone(binaries), who.Spec.ReadOnly...)), filepath.ToSlash(who.Path))
		for _, value := range who.Spec.Env {
			named = append(named, deciding.Argv([]string{value})...)
		}
		files = append(files, in(t, deciding.Critic, named)...)
	}
	return files
}

// programs returns the files outside of the work tree that critics are started from: the program, and the
// scripts on its command line.
func programs(t deciding.Tree, critics crew.Cast) (files []loop.Decider) {
	for _, who := range critics {
		for _, name := range append(deciding.Argv(who.CommandLine()), filepath.ToSlash(who.Path)) {
			abs := filepath.FromSlash(name)
			if !filepath.IsAbs(abs) {
				abs = filepath.Join(t.Dir, abs)
			}
			st, err := os.Stat(abs)
			if err == nil && st.Mode().IsRegular() {
				files = append(files, loop.Decider{Path: filepath.ToSlash(abs), Role: deciding.Critic})
			}
		}
	}
	return files
}

// checkFiles returns the programs that checks name, also those that are not there yet, and those of the work tree
// that PATH would find for their words.
func checkFiles(t deciding.Tree, checks []string, path string) (files []loop.Decider) {
	for _, command := range checks {
		words := deciding.Shell(command)
		var found []string
		for _, dir := range filepath.SplitList(path) {
			for _, word := range words {
				if !strings.Contains(word, "/") {
					found = append(found, filepath.ToSlash(filepath.Join(cmp.Or(dir, "."), word)))
				}
			}
		}
		programs := slices.DeleteFunc(in(t, deciding.Check, words), func(f loop.Decider) bool {
			_, err := os.Lstat(filepath.Join(t.Root, filepath.FromSlash(f.Path)))
			return err == nil && !t.Runs(f.Path)
		})
		files = slices.Concat(files, programs, in(t, deciding.Program, found))
	}
	return files
}

// in returns the files that are in the work tree.
func in(t deciding.Tree, role string, named []string) (files []loop.Decider) {
	for i, name := range named {
		if name = filepath.FromSlash(name); filepath.IsAbs(name) { // like the root, without links
			named[i] = filepath.ToSlash(filepath.Join(worktree.Followed(filepath.Dir(name)), filepath.Base(name)))
		}
	}
	for _, path := range t.Files(named) {
		files = append(files, loop.Decider{Path: path, Role: role})
	}
	return files
}
