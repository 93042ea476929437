package forge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/config/host"
	"codeloops/internal/git"
	"codeloops/internal/proc"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Target is a repository to which branches are pushed, and where requests are opened. [Find] has seen that it is there.
type Target struct {
	Place   Place
	Default string // its default branch
	Server  Server

	remote string
	host   *host.Host
	token  token
}

// Find finds the target of a directory's repository: the named remote, or origin, or the only one. It asks the server
// once, so that a wrong name or token is told before anything is done. was, unless it is nil, is the target as it was found
// before: if the remote leads elsewhere now, nothing is asked there.
func Find(ctx context.Context, h *host.Host, dir, remote string, was *Target) (*Target, error) {
	g := git.Git{Environ: h.Environ}
	if remote == "" {
		out, err := g.In(ctx, dir, "remote")
		if err != nil {
			return nil, fmt.Errorf("list the remotes: %w", err)
		}
		switch all := strings.Fields(string(out)); {
		case slices.Contains(all, "origin"):
			remote = "origin"
		case len(all) == 1:
			remote = all[0]
		case len(all) == 0:
			return nil, hint.Errorf("git remote add origin URL", "the repository has no remote to push to")
		default:
			return nil, hint.Errorf("name one: --remote NAME", "the repository has several remotes, and none is called origin: %s", strings.Join(all, ", "))
		}
	}
	out, err := g.In(ctx, dir, "remote", "get-url", "--push", "--", remote)
	if _, said := errors.AsType[*proc.ExitError](err); said {
		return nil, hint.Errorf("git remote -v lists them", "there is no remote %s", wording.Quote(remote, 80))
	} else if err != nil {
		return nil, err
	}
	p, err := At(strings.TrimSpace(string(out)), h.Getenv)
	if err != nil {
		return nil, err
	}
	if was != nil && was.Place != p {
		return nil, hint.Errorf("look at it: git remote -v; then: codeloops pr", "the remote has changed during the run, from %s to %s: nothing was pushed", was.Place, p)
	}
	t := &Target{Place: p, remote: remote, host: h}
	if t.token, err = tokenFor(ctx, h, p); err != nil {
		return nil, err
	}
	t.Server = (&client{place: p, token: t.token, now: h.Now}).server()
	if t.Default, err = t.Server.Default(ctx); err == nil && t.Default == "" {
		err = hint.Errorf("push a first commit there", "%s is empty", p)
	}
	return t, err
}

// Has reports whether the target had a branch when a directory's repository last looked.
func (t *Target) Has(ctx context.Context, dir, branch string) bool {
	_, err := git.Git{Environ: t.host.Environ}.In(ctx, dir, "rev-parse", "--verify", "--quiet", "refs/remotes/"+t.remote+"/"+branch)
	return err == nil
}

// Push pushes a commit of a directory's repository to a branch of the target, as a fast-forward. It runs in a repository
// of its own that has nothing but the objects: what is configured in the user's is not trusted.
func (t *Target) Push(ctx context.Context, dir, commit, branch string) error {
	program, err := git.Program()
	if err != nil {
		return err
	}
	own, err := t.bare(ctx, dir)
	defer os.RemoveAll(own) //nolint:errcheck // it is temporary
	if err != nil {
		return fmt.Errorf("prepare the push: %w", err)
	}
	argv := []string{program, "--git-dir=" + own}
	if strings.HasPrefix(t.Place.Git, "http") {
		argv = append(argv, "-c", "credential.helper=", "-c", "credential.helper=!f() { echo \"username=$CODELOOPS_PUSH_USER\"; echo \"password=$CODELOOPS_PUSH_TOKEN\"; }; f")
	}
	var said, complained bytes.Buffer
	tool := proc.Tool{
		Argv:   append(argv, "push", "--porcelain", "--no-verify", t.Place.Git, commit+":refs/heads/"+branch),
		Env:    []string{"GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "CODELOOPS_PUSH_USER=" + t.token.user, "CODELOOPS_PUSH_TOKEN=" + t.token.value},
		Stdout: &said, Stderr: &complained,
	}
	code, err := tool.Run(ctx)
	if err != nil || code == 0 {
		return err
	}
	return t.refused(branch, said.String(), strings.ReplaceAll(complained.String(), t.token.value, "[token]"))
}

// refused says why a push was refused.
func (t *Target) refused(branch, said, complained string) error {
	for line := range strings.Lines(said) {
		mark, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		_, why, _ := strings.Cut(rest, "\t")
		switch {
		case mark != "!":
		case strings.Contains(why, "fetch first") || strings.Contains(why, "non-fast-forward"):
			return hint.Errorf("look at it: git fetch "+t.remote+" "+branch+"; or use another one: --branch NAME",
				"nothing was pushed, because the branch %s of %s has moved: it has commits that are not here", branch, t.Place)
		default:
			return hint.Errorf("the rules of the repository say who may push what", "nothing was pushed: %s refuses the branch %s: %s", t.Place, branch, why)
		}
	}
	words := wording.Line(complained)
	if strings.Contains(words, "could not read Username") || strings.Contains(words, "Authentication failed") || strings.Contains(words, "403") {
		return hint.Errorf("it needs write rights to contents", "nothing was pushed: git may not push to %s with the token from %s", t.Place, t.token.from)
	}
	return fmt.Errorf("nothing was pushed to %s: %s", t.Place, wording.Quote(words, 400))
}

// bare makes a repository with the objects of the user's.
func (t *Target) bare(ctx context.Context, dir string) (own string, err error) {
	g := git.Git{Environ: t.host.Environ}
	out, err := g.In(ctx, dir, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-object-format")
	if err != nil {
		return "", err
	}
	common, format, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if own, err = os.MkdirTemp("", "codeloops-push-"); err != nil {
		return "", err
	}
	if _, err = g.In(ctx, own, "init", "--quiet", "--bare", "--template=", "--object-format="+format, own); err != nil {
		return own, err
	}
	info := filepath.Join(own, "objects", "info")
	err = errors.Join(os.MkdirAll(info, 0o700), os.WriteFile(filepath.Join(info, "alternates"), []byte(filepath.Join(common, "objects")+"\n"), 0o600))
	if shallow, e := os.ReadFile(filepath.Join(common, "shallow")); e == nil { // the clone of a CI job
		err = errors.Join(err, os.WriteFile(filepath.Join(own, "shallow"), shallow, 0o600))
	}
	return own, err
}
