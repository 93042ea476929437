package sessions

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/command"
	"codeloops/internal/forge"
	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/session/accept"
	"codeloops/internal/session/export"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/putback"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/wording/hint"
)

// branches is the prefix of the branches that commit makes.
const branches = "codeloops/"

// A branchOptions says how a run becomes commits.
type branchOptions struct {
	branch  string // "": the one checked out, if commit has made it, or one of the session's own
	message string
	each    bool
	yes     bool
	asJSON  bool
}

func (o *branchOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.branch, "branch", "", "the branch's `name` (default: codeloops/ID; or the one checked out, if it begins so)")
	f.StringVarP(&o.message, "message", "m", "", "the last commit's message `text`")
	f.BoolVar(&o.each, "each", false, "a commit for each iteration")
}

const branchHelp = `The branch begins at the commit that the run began at, and holds what the run has
changed, without what you had changed before it. If the branch exists and its last
commit is of a session, the new commits go on top. HEAD, the index and the work
tree stay as they are, unless the branch is checked out: then it is as with accept.

The message is the critic's summary; its trailers name the session, and the tree
that the critic saw (codeloops help verify).`

func newCommitCmd(r *Restorer) *cobra.Command {
	l := r.Logs()
	o := &branchOptions{}
	cmd := onRun(&cobra.Command{
		Use:         "commit [ID]",
		Annotations: command.Exits("the run's change is on the branch", ""),
		Short:       "Commit what the last run has changed to a branch of its own",
		Long:        "Commit what a run has changed to a branch of its own, for a pull request.\n\n" + branchHelp + "\n\n" + lastHelp,
		Example: `  codeloops commit
  codeloops commit --branch iso-weeks --each`,
		PreRunE: r.UsersCommand,
	}, l, func(ctx context.Context, ref string) error {
		store, e, err := ended(ctx, l, ref)
		if err != nil {
			return err
		}
		o.settle(r, e)
		done, err := r.commit(ctx, store, e, o, ref)
		if err != nil {
			return err
		}
		return r.Show(o.asJSON, done, accepted(done, o.message))
	})
	o.addFlags(cmd.Flags())
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask before committing in another work tree")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "say what was committed as JSON: session, commit, branch, files, left")
	return cmd
}

// settle finds the branch and the message.
func (o *branchOptions) settle(r *Restorer, e putback.Ended) {
	if o.branch == "" {
		if o.branch = r.checkedOut(e.Dir); !strings.HasPrefix(o.branch, branches) {
			o.branch = branches + e.Session
		}
	}
	o.message = r.Secrets.String(cmp.Or(strings.TrimSpace(o.message), accept.Message(e)))
}

// checkedOut returns the branch of a directory's work tree, "" if there is none.
func (r *Restorer) checkedOut(dir string) string {
	where, err := git.Open(dir, r.Environ)
	if err != nil {
		return ""
	}
	head, _ := where.Head() // what cannot be read is no branch
	return head.Branch
}

// commit brings the run's change to the branch.
func (r *Restorer) commit(ctx context.Context, store *session.Store, e putback.Ended, o *branchOptions, ref string) (accept.Done, error) {
	if o.branch != r.checkedOut(e.Dir) {
		return accept.Branch{Run: e, Name: o.branch, Message: o.message, Each: o.each}.Do(ctx, r.desk(true), store)
	}
	if o.each {
		return accept.Done{}, hint.Errorf("name another branch, or leave out --each", "the branch %s is checked out: what the run has changed becomes one commit there", o.branch)
	}
	c := accept.Commit{Run: e, Message: o.message, Named: true, In: r.In, Err: r.Err}
	return c.Do(ctx, r.desk(o.yes), store, func(root string) error {
		return r.confirmOtherTree(ctx, root, ref, "commit there what session "+e.Session+" has changed", o.yes)
	})
}

// RequestOptions say how a run becomes a pull request.
type RequestOptions struct {
	branchOptions

	Draft  bool
	base   string // "": the branch that is checked out, if the remote has it; else the remote's default
	remote string
}

// Target finds where a run in a directory would open its request, before it begins.
func (r *Restorer) Target(ctx context.Context, dir string) (*forge.Target, error) {
	return forge.Find(ctx, &r.Host, dir, "", nil)
}

// A Requested is a request that was opened, or brought up to date.
type Requested struct {
	forge.Request

	Session string      `json:"session"`
	Updated bool        `json:"updated"` // it was open before
	Done    accept.Done `json:"-"`
	noun    string
}

// Text tells people of it.
func (q Requested) Text() string {
	what, draft := "opened", ""
	if q.Updated {
		what = "brought up to date:"
	}
	if q.Draft {
		draft = " (draft)"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s #%d%s, %s into %s\n%s\n", what, q.noun, q.Number, draft, term.Line(q.Head), term.Line(q.Base), term.Line(q.URL))
	for _, sentence := range q.Done.Left {
		b.WriteString(sentence + "\n")
	}
	return b.String()
}

// Request commits what the run has changed, pushes the branch, and opens a request or brings it up to date. Before the
// first of these steps it has seen that the others can be done.
func (r *Restorer) Request(ctx context.Context, l *command.Logs, ref string, o RequestOptions, was *forge.Target) (q Requested, err error) {
	store, e, err := ended(ctx, l, ref)
	if err != nil {
		return q, err
	}
	if approved := e.Outcome != nil && e.Outcome.Result == loop.Success; !approved && !o.Draft {
		return q, hint.Errorf("codeloops pr --draft "+e.Session+" opens it as a draft, which says so", "no critic has approved what session %s has changed", e.Session)
	}
	titled := o.message != ""
	o.settle(r, e)
	t, err := forge.Find(ctx, &r.Host, e.Dir, o.remote, was)
	if err != nil {
		return q, err
	}
	standing, err := t.Standing(ctx, o.branch)
	if err != nil {
		return q, err
	}
	body, err := r.body(ctx, l, e.Session)
	if err != nil {
		return q, err
	}
	if q.Done, err = r.commit(ctx, store, e, &o.branchOptions, ref); err != nil {
		return q, err
	}
	g := git.Git{Environ: r.Environ}
	tip, err := g.In(ctx, e.Dir, "rev-parse", "--verify", "--quiet", "refs/heads/"+o.branch)
	if err != nil {
		return q, hint.Errorf("codeloops sessions show "+e.Session+" says what it did", "session %s has changed nothing: there is nothing to ask for", e.Session)
	}
	if err := t.Push(ctx, e.Dir, strings.TrimSpace(string(tip)), o.branch); err != nil {
		return q, err
	}
	want := forge.Request{Title: subject(o.message), Body: body, Head: o.branch, Base: o.base, Draft: o.Draft}
	if standing.Number != 0 && !titled {
		want.Title = ""
	} else if want.Base == "" {
		want.Base = r.into(ctx, e.Dir, t, o.branch)
	}
	q.Request, err = t.Publish(ctx, standing, want)
	q.Session, q.Updated, q.noun = e.Session, standing.Number != 0, t.Place.Kind.Noun()
	return q, err
}

// RequestResult opens a request with the result of a session that is a commit of a repository already, to be merged into a
// branch, or brings the one from its branch up to date. One that was merged, or was closed, is left as it is.
func (r *Restorer) RequestResult(ctx context.Context, l *command.Logs, id, dir, commit string, want forge.Request) (forge.Request, error) {
	t, err := r.Target(ctx, dir)
	if err != nil {
		return forge.Request{}, err
	}
	all, err := t.Server.From(ctx, want.Head)
	if err != nil || len(all) > 0 && all[0].State != forge.Open {
		return append(all, forge.Request{})[0], err
	}
	standing := append(all, forge.Request{Head: want.Head})[0]
	if want.Body, err = r.body(ctx, l, id); err != nil {
		return standing, err
	}
	if err := t.Push(ctx, dir, commit, want.Head); err != nil {
		return standing, err
	}
	if standing.Number != 0 {
		want.Title = "" // people may have changed it
	}
	return t.Publish(ctx, standing, want)
}

// into returns the branch that a new request is for.
func (r *Restorer) into(ctx context.Context, dir string, t *forge.Target, from string) string {
	name := r.checkedOut(dir)
	if name != "" && name != from && !strings.HasPrefix(name, branches) && t.Has(ctx, dir, name) {
		return name
	}
	return t.Default
}

func subject(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return first
}

// body is the session as the text of a request.
func (r *Restorer) body(ctx context.Context, l *command.Logs, id string) (string, error) {
	one, err := l.Find(id)
	if err != nil {
		return "", err
	}
	one = export.RedactedOverview(one, r.Secrets)
	var b bytes.Buffer
	safe := r.Secrets.Writer(&b)
	err = lookup.Read(ctx, one, l.Tell, func(entries sessionview.Entries) error {
		return export.Write(safe, export.Redacted(entries, r.Secrets), export.Options{Format: export.Markdown, Session: one, Zone: r.Now().Location()})
	})
	if err == nil {
		err = safe.Close()
	}
	return b.String(), err
}

func newPrCmd(r *Restorer) *cobra.Command {
	l := r.Logs()
	o := &RequestOptions{}
	cmd := onRun(&cobra.Command{
		Use:         "pr [ID]",
		Annotations: command.Exits("the request is open, and says what the session did", ""),
		Short:       "Open a pull request with what the last run has changed",
		Long: `Open a pull request, or on GitLab a merge request, with what a run has changed: commit it
to a branch as ` + "`codeloops commit`" + ` does, push that branch, and open the request. Its text
is the session, without the diff. If there is an open request from the branch, it is
brought up to date; what people have written around codeloops' text stays.

What no critic has approved is opened only as a draft.

The token comes from the environment (GH_TOKEN, GITHUB_TOKEN, GH_ENTERPRISE_TOKEN,
GITLAB_TOKEN), ` + "`gh auth token`" + `, or git's credential helper. Servers other than github.com
and gitlab.com are named by GH_HOST or GITLAB_HOST.

` + lastHelp,
		Example: `  codeloops pr
  codeloops pr --draft --base develop
  codeloops pr feedback > task.md && codeloops --prompt-file task.md --pr`,
		PreRunE: r.UsersCommand,
	}, l, func(ctx context.Context, ref string) error {
		q, err := r.Request(ctx, l, ref, *o, nil)
		if err != nil {
			return err
		}
		return r.Show(o.asJSON, q, q.Text())
	})
	cmd.AddCommand(newPrFeedbackCmd(r))
	f := cmd.Flags()
	o.addFlags(f)
	f.BoolVar(&o.Draft, "draft", false, "open it as a draft")
	f.StringVar(&o.base, "base", "", "the `branch` to merge into (default: the one checked out if the remote has it, else the remote's default)")
	f.StringVar(&o.remote, "remote", "", "the `name` of the git remote to push to (default: origin, or the only one)")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask before committing in another work tree")
	f.BoolVar(&o.asJSON, "json", false, "print the request as JSON: number, url, title, branch, base, state, draft, commit, session, updated")
	return cmd
}
