package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Commit commits what a critic has approved, and concludes a merge in progress; nil approves everything that git does
// not ignore. What the setup command has left, and files that were brought, are never committed. It returns the
// branch's last commit, which is the old one if nothing has changed.
func (p *Place) Commit(ctx context.Context, message string, j *Judged) (head string, err error) {
	head, err = p.commit(ctx, message, j)
	if errors.Is(err, ErrConflicts) { // the caller reports it to the actor
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("commit the work of task %s: %w", p.Task, err)
	}
	return head, nil
}

func (p *Place) commit(ctx context.Context, message string, j *Judged) (string, error) {
	if err := p.settle(ctx); err != nil { // the agent may have renamed its branch, or been killed in a git command
		return "", err
	}
	head, err := p.tree.attach(ctx)
	if err != nil {
		return "", err
	}
	theirs, merging, err := p.tree.merging(ctx)
	if err != nil {
		return "", err
	}
	clean, err := p.clean(ctx)
	if err != nil {
		return "", err
	}
	if err := p.approve(ctx, j, clean); err != nil {
		return "", err
	}
	if err := p.resolved(ctx, head, theirs); err != nil {
		return "", err
	}
	if err := p.stage(ctx, j, clean); err != nil {
		return "", err
	}
	same, err := p.repo.Tells(ctx, p.Dir, "diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD", "--")
	if err != nil {
		return "", err
	}
	if merging || !same {
		if head, err = p.tree.write(ctx, message); err != nil {
			return "", err
		}
	}
	if err := errors.Join(p.noneBrought(ctx, head), p.whole(ctx)); err != nil {
		return "", err
	}
	if p.rec.Judged = nil; p.rec.Update != nil {
		p.rec.Update.Files, p.rec.Update.Marked = nil, nil
	}
	p.head = head
	return head, p.rec.save()
}

// Changed lists the files that differ between head and its merge base with since.
func (p *Place) Changed(ctx context.Context, since, head string) ([]string, error) {
	out, err := p.tree.git(ctx, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", since+"..."+head, "--")
	if err != nil {
		return nil, fmt.Errorf("list what task %s has changed: %w", p.Task, err)
	}
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), nil
}

// noneBrought returns an error for brought files that an agent has committed.
func (p *Place) noneBrought(ctx context.Context, head string) error {
	if len(p.rec.Brought) == 0 {
		return nil
	}
	lines := []string{head, "^" + p.rec.Base}
	if p.rec.Update != nil {
		lines = append(lines, "^"+p.rec.Update.Theirs)
	}
	lines = append(lines, "--")
	for _, path := range p.rec.Brought {
		lines = append(lines, ":(top,literal)"+path)
	}
	call := git.Call{Dir: p.Dir, Stdin: []byte(strings.Join(lines, "\n") + "\n")}
	out, err := p.repo.Do(ctx, call, "log", "--no-show-signature", "--full-history", "--format=%h", "--name-only", "--stdin")
	if err == nil && out != "" {
		first, rest, _ := strings.Cut(out, "\n")
		err = hint.Errorf("remove it from the commits of "+p.branch.name+", and from the exceptions in .gitignore",
			"commit %s contains %s, which is the user's own and was copied because of %s", first, wording.Name(strings.TrimSpace(rest)), include)
	}
	return err
}

// whole returns an error for uncommitted files.
func (p *Place) whole(ctx context.Context) error {
	out, err := p.tree.git(ctx, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none")
	if err != nil {
		return err
	}
	var paths []string
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > 3 && !p.rec.beside(entry[3:]) {
			paths = append(paths, wording.Path(entry[3:]))
		}
	}
	if len(paths) > 0 {
		return hint.Errorf("look there with git status", "in %s these are not committed: %s", p.Dir, wording.List(paths, 5))
	}
	return nil
}

// marker matches git's conflict markers.
var marker = wording.Pattern(`^(<{7,} |>{7,} |\|{7,}( |$)|={7}$)`)

// ErrConflicts says that a place has unresolved conflicts.
var ErrConflicts = errors.New("conflicts are not resolved")

// resolved returns an error for files that had conflicts and still contain markers that neither side had, and for submodules
// that both sides have moved and nobody has moved since.
func (p *Place) resolved(ctx context.Context, ours, theirs string) error {
	out, err := p.tree.git(ctx, "ls-files", "--unmerged", "-z")
	if err != nil {
		return err
	}
	var files, left []string
	for entry := range strings.SplitSeq(out, "\x00") { // "MODE ID STAGE\tPATH"
		about, path, _ := strings.Cut(entry, "\t")
		if is := strings.Fields(about); len(is) > 2 {
			files = append(files, path)
			if is[0] == gitlink && is[2] == "2" && p.tree.standsAt(ctx, path, is[1]) {
				left = append(left, wording.Path(path)+" (a submodule: check out in it the commit to merge, or git add it as it is)")
			}
		}
	}
	if conflicts := p.rec.conflicts(); len(conflicts) > 0 {
		files, ours, theirs = append(files, conflicts...), p.rec.Update.Ours, p.rec.Update.Theirs
	}
	slices.Sort(files)
	files = slices.Compact(files) // files of an update may be unmerged as well
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only read
	for _, file := range files {
		line, err := p.tree.marked(ctx, root, file, []string{ours, cmp.Or(theirs, ours)})
		if err != nil {
			return err
		}
		if line > 0 {
			left = append(left, fmt.Sprintf("%s:%d", wording.Path(file), line))
		}
	}
	if len(left) > 0 {
		return hint.Errorf("resolve them, and remove the markers", "%w: %s", ErrConflicts, wording.List(left, 10))
	}
	return nil
}
