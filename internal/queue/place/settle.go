package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/view"
	"codeloops/internal/wording/hint"
)

// settle mends what keeps git from working in a place that was whole, and leaves the files alone.
func (p *Place) settle(ctx context.Context) error {
	if info, err := os.Lstat(p.Dir); err != nil || !info.IsDir() { // a link would lead to others' files
		return cmp.Or(err, hint.Errorf("was it the agent? Move that away", "%s is no longer a directory", p.Dir))
	}
	if err := p.branch(ctx); err != nil {
		return err
	}
	if err := p.link(ctx); err != nil {
		return err
	}
	if err := p.unlock(); err != nil {
		return err
	}
	if p.rec.Update == nil || !p.rec.Update.Begun {
		return nil
	}
	// A merge was cut off. All that is not committed is what it has written, beside what was brought.
	if _, err := p.git(ctx, "reset", "--hard", "--quiet"); err != nil {
		return err
	}
	args := []string{"clean", "-d", "--force", "--quiet"}
	escape := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
	for _, path := range p.rec.Brought {
		args = append(args, "--exclude=/"+escape.Replace(path))
	}
	if _, err := p.git(ctx, args...); err != nil {
		return err
	}
	p.rec.Update = nil
	return p.save()
}

// git runs git in the place.
func (p *Place) git(ctx context.Context, args ...string) (string, error) {
	return p.repo.Run(ctx, p.Dir, args...)
}

// branch makes the branch again, where it is gone: at the last commit that the work tree was at.
func (p *Place) branch(ctx context.Context) error {
	_, there, err := p.repo.Commit(ctx, p.ref())
	if err != nil || there {
		return err
	}
	admin, err := p.repo.Admin(p.Dir)
	if err != nil {
		return err
	}
	last := p.rec.Base
	log, _ := os.ReadFile(filepath.Join(admin, "logs", "HEAD")) // there may be none
	for line := range strings.Lines(string(log)) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.Trim(fields[1], "0") != "" {
			last = fields[1]
		}
	}
	if _, there, err = p.repo.Commit(ctx, last); err == nil && !there {
		last = p.rec.Base
	}
	if err == nil {
		_, err = p.repo.Run(ctx, p.repo.Root, "update-ref", p.ref(), last, "")
	}
	return err
}

// link has the work tree lead to the repository again, and the repository to the work tree.
func (p *Place) link(ctx context.Context) error {
	admin, err := p.repo.Admin(p.Dir)
	if err != nil {
		return err
	}
	at, err := p.git(ctx, "rev-parse", "--path-format=absolute", "--git-dir")
	if ctx.Err() != nil {
		return err
	}
	if is, _ := filepath.EvalSymlinks(filepath.FromSlash(at)); err == nil && admin != "" && is == admin {
		return nil
	}
	link := filepath.Join(p.Dir, ".git")
	if info, err := os.Lstat(link); err == nil && !info.Mode().IsRegular() { // a repository that an agent made there
		if err := os.Rename(link, p.aside()); err != nil {
			return err
		}
	}
	if admin != "" {
		return os.WriteFile(link, []byte("gitdir: "+filepath.ToSlash(admin)+"\n"), 0o600)
	}
	twin := p.twin()
	if err := p.repo.AddTree(ctx, twin, p.Branch); err != nil {
		return err
	}
	if err := errors.Join(os.Rename(filepath.Join(twin, ".git"), link), view.Remove(twin)); err != nil {
		return err
	}
	if err := p.repo.Repair(ctx, p.Dir); err != nil {
		return err
	}
	_, err = p.git(ctx, "reset", "--quiet")
	return err
}

// twin is a work tree that is made for its link alone.
func (p *Place) twin() string { return p.Dir + "~" } // no task is called that

// aside is a path at which there is nothing, for a repository that was found in the place.
func (p *Place) aside() string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.git-%d", filepath.Join(p.site.records, p.Task), n)
		if _, err := os.Lstat(name); err != nil {
			return name
		}
	}
}

// attach has HEAD be the place's branch, as far as nothing is lost by it, and returns the last
// commit.
func (p *Place) attach(ctx context.Context) (head string, err error) {
	admin, err := p.repo.Admin(p.Dir)
	if err != nil {
		return "", err
	}
	for _, rebase := range []string{"rebase-merge", "rebase-apply"} {
		if _, err := os.Lstat(filepath.Join(admin, rebase)); err == nil {
			return "", hint.Errorf("git rebase --continue, or --abort, there", "a rebase is in progress in %s", p.Dir)
		}
	}
	if head, err = p.git(ctx, "rev-parse", "--verify", "HEAD^{commit}"); err != nil {
		return "", err
	}
	on, err := p.git(ctx, "rev-parse", "--symbolic-full-name", "HEAD")
	if err != nil || on == p.ref() {
		return head, err
	}
	tip, _, err := p.repo.Commit(ctx, p.ref())
	if err != nil {
		return "", err
	}
	if on, err := p.repo.Contains(ctx, head, tip); err != nil || !on {
		return "", cmp.Or(err, hint.Errorf("git switch "+p.Branch+" there, and merge what is needed",
			"%s has left its branch %s, whose commits are not among those that it is at (%.12s)", p.Dir, p.Branch, head))
	}
	if _, err = p.git(ctx, "update-ref", p.ref(), head, tip); err == nil {
		_, err = p.git(ctx, "symbolic-ref", "HEAD", p.ref())
	}
	return head, err
}
