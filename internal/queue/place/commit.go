package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Commit commits what is in the place and git does not ignore, and concludes a merge that is in
// progress there. What was brought is never committed. It returns the branch's last commit, which is
// the one of before where nothing has changed.
func (p *Place) Commit(ctx context.Context, message string) (head string, err error) {
	head, err = p.commit(ctx, message)
	if err != nil {
		return "", fmt.Errorf("commit the work of task %s: %w", p.Task, err)
	}
	return head, nil
}

func (p *Place) commit(ctx context.Context, message string) (string, error) {
	head, err := p.attach(ctx)
	if err != nil {
		return "", err
	}
	theirs, merging, err := p.merging(ctx)
	if err != nil {
		return "", err
	}
	if err := p.resolved(ctx, head, theirs); err != nil {
		return "", err
	}
	if err := p.stage(ctx); err != nil {
		return "", err
	}
	same, err := p.repo.Tells(ctx, p.Dir, "diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD", "--")
	if err != nil {
		return "", err
	}
	if merging || !same {
		if head, err = p.write(ctx, message); err != nil {
			return "", err
		}
	}
	if err := errors.Join(p.unspoilt(ctx, head), p.whole(ctx)); err != nil {
		return "", err
	}
	if p.rec.Update != nil && len(p.rec.Update.Files) > 0 {
		p.rec.Update.Files = nil
		return head, p.save()
	}
	return head, nil
}

// write commits what is staged.
func (p *Place) write(ctx context.Context, message string) (head string, err error) {
	env, err := p.repo.Identity(ctx, p.Dir)
	if err != nil {
		return "", err
	}
	c := git.Call{Dir: p.Dir, Env: env, Stdin: []byte(message)}
	if _, err := p.repo.Do(ctx, c, "commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"); err != nil {
		return "", err
	}
	return p.git(ctx, "rev-parse", p.ref())
}

// merging returns the commit that is being merged, if any is.
func (p *Place) merging(ctx context.Context) (theirs string, merging bool, err error) {
	admin, err := p.repo.Admin(p.Dir)
	if err != nil {
		return "", false, err
	}
	if _, err := os.Lstat(filepath.Join(admin, "MERGE_HEAD")); errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	theirs, err = p.git(ctx, "rev-parse", "--verify", "MERGE_HEAD")
	return theirs, true, err
}

// stage stages what is to be committed.
func (p *Place) stage(ctx context.Context) error {
	if _, err := p.git(ctx, "add", "--all", ":/"); err != nil {
		return err
	}
	var brought strings.Builder // an agent may have added it, or have it ignored no more
	for _, path := range p.rec.Brought {
		brought.WriteString(":(top,literal)" + path + "\x00")
	}
	if brought.Len() > 0 {
		c := git.Call{Dir: p.Dir, Stdin: []byte(brought.String())}
		if _, err := p.repo.Do(ctx, c, "reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
			return err
		}
	}
	return p.nested(ctx)
}

// nested refuses repositories inside whose files or commits would stay behind: git takes down the
// numbers of their commits alone.
func (p *Place) nested(ctx context.Context) error {
	out, err := p.git(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		link := strings.Fields(about)
		if len(link) < 2 || link[0] != "160000" {
			continue
		}
		dir := filepath.Join(p.Dir, filepath.FromSlash(path))
		if stays, err := p.staysBehind(ctx, dir, path, link[1]); err != nil {
			return err
		} else if stays {
			// Git would go on to take it for a repository when it is none any more.
			_, err := p.git(ctx, "reset", "--quiet", "--", ":(top,literal)"+path)
			return cmp.Or(err, hint.Errorf("push it from there, or remove its .git",
				"%s is a git repository of its own, and what is in it would not be brought home", wording.Name(dir)))
		}
	}
	return nil
}

// staysBehind reports whether a directory that git takes for another repository, at a commit, has what
// can only be found there.
func (p *Place) staysBehind(ctx context.Context, dir, path, commit string) (bool, error) {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		entries, _ := os.ReadDir(dir)
		return len(entries) > 0, nil //nolint:nilerr // as a rule it is a submodule that was never checked out
	}
	if was, ok, err := p.repo.Object(ctx, p.rec.Base+":"+path); err != nil || ok && was == commit {
		return false, err
	}
	in, err := p.repo.Run(ctx, dir, "for-each-ref", "--count=1", "--contains", commit, "refs/remotes")
	return in == "", err
}

// unspoilt reports what was brought and is in commits nevertheless.
func (p *Place) unspoilt(ctx context.Context, head string) error {
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
		err = hint.Errorf("take it out of the commits of "+p.Branch+", and of .gitignore's exceptions",
			"commit %s has %s, which is the user's own and was brought by %s", first, wording.Name(strings.TrimSpace(rest)), include)
	}
	return err
}

// whole reports what is not committed.
func (p *Place) whole(ctx context.Context) error {
	out, err := p.git(ctx, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none")
	if err != nil {
		return err
	}
	var paths []string
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > 3 && !p.isBrought(entry[3:]) {
			paths = append(paths, wording.Path(entry[3:]))
		}
	}
	if len(paths) > 0 {
		return hint.Errorf("look there with git status", "in %s these are not committed: %s", p.Dir, wording.List(paths, 5))
	}
	return nil
}

// marker matches the lines that git leaves in files with conflicts.
var marker = regexp.MustCompile(`^(<{7,} |>{7,} |\|{7,}( |$)|={7}$)`)

// resolved refuses files that had conflicts, and have markers that neither side had.
func (p *Place) resolved(ctx context.Context, ours, theirs string) error {
	out, err := p.git(ctx, "diff-files", "--name-only", "--diff-filter=U", "-z")
	if err != nil {
		return err
	}
	files := strings.Split(strings.Trim(out, "\x00"), "\x00")
	if p.rec.Update != nil && len(p.rec.Update.Files) > 0 {
		files, ours, theirs = append(files, p.rec.Update.Files...), p.rec.Update.Ours, p.rec.Update.Theirs
	}
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only read
	var left []string
	for _, file := range files {
		line, err := p.marked(ctx, root, file, []string{ours, cmp.Or(theirs, ours)})
		if err != nil {
			return err
		}
		if line > 0 {
			left = append(left, fmt.Sprintf("%s:%d", wording.Path(file), line))
		}
	}
	if len(left) > 0 {
		return hint.Errorf("resolve them, and take the markers out", "conflicts are not resolved: %s", wording.List(left, 10))
	}
	return nil
}

// marked returns the number of the first line of a file that is a marker, and is in it on neither side;
// 0 is none.
func (p *Place) marked(ctx context.Context, root *os.Root, file string, sides []string) (int, error) {
	name := filepath.FromSlash(file)
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return 0, nil //nolint:nilerr // it has been removed, which is a resolution
	}
	text, err := root.ReadFile(name)
	if err != nil {
		return 0, err
	}
	var before map[string]bool // the lines of both sides
	for n, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if !marker.MatchString(line) {
			continue
		}
		if before == nil {
			before = make(map[string]bool)
			for _, side := range sides {
				blob, _ := p.git(ctx, "cat-file", "blob", side+":"+file) // which it may not have
				for l := range strings.Lines(blob) {
					before[strings.TrimRight(l, "\r\n")] = true
				}
			}
		}
		if !before[line] {
			return n + 1, ctx.Err()
		}
	}
	return 0, nil
}
