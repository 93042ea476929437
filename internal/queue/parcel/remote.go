package parcel

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/proc"
	"codeloops/internal/queue/git"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Remote is a git repository that carries what travels instead of the hub. Each machine uses its own credentials.
type Remote struct {
	URL string // without credentials

	way   string            // as this machine's user has written it
	clean *strings.Replacer // removes credentials from git's output; nil if there are none
}

// near matches scp-like addresses. It excludes leading dashes and remote helpers, which could run commands.
var near = wording.Pattern(`^(\w[\w.-]*@)?\w[\w.-]*:[^:]`)

// RemoteAt returns the remote at an address, which may come from another machine.
func RemoteAt(address string) (*Remote, error) {
	r := &Remote{URL: address, way: address}
	wrong := hint.Errorf("let the remote have a URL with https://, ssh://, git:// or file://, or one like git@host:path",
		"the git remote has no address that another machine could use")
	scheme, _, is := strings.Cut(address, "://")
	switch {
	case strings.ContainsFunc(address, func(c rune) bool { return c < ' ' }):
		return nil, wrong
	case !is && (filepath.IsAbs(address) || near().MatchString(address)):
		return r, nil
	case !slices.Contains(strings.Split(protocols, ":"), scheme):
		return nil, wrong
	}
	u, err := url.Parse(address)
	if err != nil { // whose text could show a secret
		return nil, wrong
	}
	if who := u.User; who != nil {
		kept := ""
		if u.User = nil; scheme == "ssh" { // for other schemes the user name may be a token
			u.User = url.User(who.Username())
			kept = u.User.String() + "@"
		}
		r.URL = u.String()
		written, _, _ := strings.Cut(address[len(scheme)+len("://"):], "/")
		r.clean = strings.NewReplacer(written[:strings.LastIndex(written, "@")+1], kept, who.String()+"@", kept, who.Username()+"@", kept)
	}
	return r, nil
}

// protocols are those that git may use: none can run a command.
const protocols = "file:git:http:https:ssh"

// RefsOf is the prefix of a remote's refs for an attempt.
func RefsOf(task string, attempt int) string { return fmt.Sprintf("%s%d/", Away(task), attempt) }

// Away is the prefix of a remote's refs for a task.
func Away(task string) string { return "refs/codeloops/away/" + task + "/" }

// Push pushes all refs of what travels to a remote.
func (r *Room) Push(ctx context.Context, to *Remote, task string, attempt int) error {
	return r.push(ctx, to, []string{"+" + refs + "*:" + RefsOf(task, attempt) + "*"})
}

func (r *Room) push(ctx context.Context, to *Remote, specs []string) error {
	args := []string{"push", "--quiet", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no", "--", to.way}
	_, err := r.remotely(ctx, to, append(args, specs...)...)
	return err
}

// Fetch fetches what travels for an attempt from a remote.
func (r *Room) Fetch(ctx context.Context, from *Remote, task string, attempt int) error {
	_, err := r.remotely(ctx, from, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
		"--", from.way, "+"+RefsOf(task, attempt)+"*:"+refs+"*")
	return err
}

// Forget removes a remote's refs for a task's attempts up to last. A later attempt may be running.
func (r *Room) Forget(ctx context.Context, at *Remote, task string, last int) error {
	out, err := r.remotely(ctx, at, "ls-remote", "--refs", "--", at.way, Away(task)+"*")
	if err != nil {
		return err
	}
	var gone []string
	for line := range strings.Lines(out) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		rest, ours := strings.CutPrefix(name, Away(task))
		attempt, _, _ := strings.Cut(rest, "/")
		if n, err := strconv.Atoi(attempt); ours && err == nil && n <= last {
			gone = append(gone, ":"+name)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return r.push(ctx, at, gone)
}

// remotely runs git with a remote, and removes credentials from its error.
func (r *Room) remotely(ctx context.Context, with *Remote, args ...string) (string, error) {
	c := git.Call{Dir: r.Root, Env: []string{"GIT_ALLOW_PROTOCOL=" + protocols, "LC_ALL=C"}}
	out, err := r.Do(ctx, c, args...)
	exit, failed := errors.AsType[*proc.ExitError](err)
	if !failed {
		return out, err
	}
	text := exit.Error()
	if with.clean != nil {
		text = with.clean.Replace(text)
	}
	text = fmt.Sprintf("the git remote %s: %s", with.URL, text)
	see := "see whether `git " + args[0] + "` can go there without asking for anything"
	switch {
	case strings.Contains(text, "rejected]"):
		return "", hint.Errorf(`let it take refs below refs/codeloops/away, or set queue.transport to "bundle"`, "%s", text)
	case unreachable().MatchString(text):
		return "", hint.Add(&AwayError{text}, see+"; it is tried again until it can be reached")
	}
	return "", hint.Errorf(see+", then `codeloops queue retry`", "%s", text)
}

// An AwayError says that a git remote cannot be reached at the moment.
type AwayError struct{ Problem string }

// Error describes the problem.
func (e *AwayError) Error() string { return e.Problem }

// unreachable matches error messages of git, curl and ssh about a remote that did not answer.
var unreachable = wording.Pattern(`(?i)could not resolve host|temporary failure in name resolution|unable to look up|` +
	`unable to connect to|failed to connect to|couldn't connect to|` +
	`(connection|operation) timed out|connection refused|connection (reset|closed) by|` +
	`no route to host|network is unreachable|returned error: 5\d\d`)
