package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/attest"
	"codeloops/internal/command"
	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/session"
	"codeloops/internal/session/accept"
	"codeloops/internal/session/export"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// notes is the reference of the notes that hold statements, as `git notes --ref` takes it.
const notes = "codeloops"

// inRepository runs git in the current directory.
func (r *Restorer) inRepository(ctx context.Context, stdin []byte, env []string, args ...string) ([]byte, error) {
	return git.Git{Environ: r.Environ}.Run(ctx, git.Call{Dir: r.Dir, Args: args, Stdin: stdin, Env: env})
}

// tree returns the tree of a commit in the current repository, "" if it is not there.
func (r *Restorer) tree(ctx context.Context, commit string) string {
	out, err := r.inRepository(ctx, nil, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{tree}")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// private returns the directory of a session's checkpoints, "" if there is none.
func private(log string, b loop.Base) string {
	store, err := session.NewStore(filepath.Dir(log))
	if err != nil {
		return ""
	}
	return store.Checkpoints(b.Checkpoints)
}

func newAttestCmd(r *Restorer) *cobra.Command {
	l := r.Logs()
	var o struct {
		output, key, commit   string
		unsigned, note, force bool
	}
	cmd := onRun(&cobra.Command{
		Use:         "attest [ID]",
		Annotations: command.Exits("the statement was written", ""),
		Short:       "State what the last run was judged by, for others to verify",
		Long: `Write a statement of what a run was judged by: the tree, a commit that has it, the checks,
the critic, the rules, the digest of the log. It is an in-toto statement in a DSSE
envelope, signed with an SSH key: that of --key, else the one that git signs with,
else one in ~/.ssh. Only a run that was approved can be attested.

` + "`codeloops verify`" + ` derives all of it again (codeloops help verify).

` + lastHelp,
		Example: `  codeloops commit && codeloops attest -o verdict.json
  codeloops attest --note`,
		PreRunE: r.UsersCommand,
	}, l, func(ctx context.Context, ref string) error {
		one, err := l.Find(ref)
		if err != nil {
			return err
		}
		s, err := r.state(ctx, one, o.commit)
		if err != nil {
			return err
		}
		if o.key == "" && !o.unsigned {
			o.key = r.signingKey(ctx)
		}
		e, err := attest.Seal(ctx, s, attest.Key{File: o.key, In: r.In, Err: r.Err}, r.Environ)
		if err != nil {
			return err
		}
		if len(e.Signatures) == 0 {
			r.Tell("the statement is not signed: whoever verifies it is told so (--key FILE signs it)")
		}
		if s.Commit() == "" {
			r.Tell("the statement names no commit, because none that is known here has the tree that was judged")
		}
		if o.note {
			if s.Commit() == "" {
				return hint.Errorf("codeloops commit makes one", "there is no commit to add the note to")
			}
			_, err := r.inRepository(ctx, e.Lines(), nil, "notes", "--ref="+notes, "add", "-f", "-F", "-", s.Commit())
			return err
		}
		if o.output == "" || o.output == "-" {
			return r.Print(func(w io.Writer) error { _, err := w.Write(e.Lines()); return err })
		}
		_, err = export.WriteFile(r.Path(o.output), o.force, r.Secrets, func(w io.Writer) error { _, err := w.Write(e.Lines()); return err })
		return err
	})
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "write to `file`; - is standard output")
	f.BoolVar(&o.force, "force", false, "replace an existing file")
	f.BoolVar(&o.note, "note", false, "add it to the commit as a note (refs/notes/codeloops), where verify COMMIT finds it")
	f.StringVar(&o.commit, "commit", "", "the `commit` that has the tree (default: that of codeloops commit, or HEAD)")
	f.StringVar(&o.key, "key", "", "sign with the SSH key in `file`")
	f.BoolVar(&o.unsigned, "unsigned", false, "do not sign it")
	return cmd
}

// state derives the statement about a session.
func (r *Restorer) state(ctx context.Context, one session.Overview, commit string) (s attest.Statement, err error) {
	base := func(b loop.Base) string {
		for _, dir := range []string{private(one.Path, b), r.Dir} {
			if dir == "" || b.Checkpoint == "" {
				continue
			}
			if out, err := (git.Git{Environ: r.Environ}).In(ctx, dir, "rev-parse", "--verify", "--quiet", b.Checkpoint+"^{tree}"); err == nil {
				return strings.TrimSpace(string(out))
			}
		}
		return ""
	}
	if s, err = attest.Of(one.Path, base, ""); err != nil {
		return s, err
	}
	names := []string{commit}
	if commit == "" {
		names = []string{"refs/heads/" + branches + one.ID, "HEAD"}
	}
	for _, name := range names {
		if r.tree(ctx, name) == s.Tree() {
			out, err := r.inRepository(ctx, nil, nil, "rev-parse", "--verify", name+"^{commit}")
			s.Subject = append(s.Subject, attest.Subject{Name: attest.CommitName, Digest: attest.Digest{"gitCommit": strings.TrimSpace(string(out))}})
			return s, err
		}
	}
	if commit != "" {
		return s, hint.Errorf("git diff "+commit+" "+s.Tree()+" shows the difference", "%s does not have the tree that was judged, %.12s", wording.Quote(commit, 80), s.Tree())
	}
	return s, nil
}

// signingKey is the user's SSH key, "" if there is none. What the repository's settings say does not count.
func (r *Restorer) signingKey(ctx context.Context) string {
	g := git.Git{Environ: r.Environ}
	if format, _ := g.UserSetting(ctx, r.Dir, "gpg.format"); format == "ssh" {
		if key, ok := g.UserSetting(ctx, r.Dir, "user.signingKey"); ok && !strings.HasPrefix(key, "key::") {
			return r.fromHome(key)
		}
	}
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		key := filepath.Join(r.Home(), ".ssh", name)
		if _, err := os.Stat(key); err == nil && r.Home() != "" {
			return key
		}
	}
	return ""
}

func (r *Restorer) fromHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(r.Home(), rest)
	}
	return path
}

func newVerifyCmd(r *Restorer) *cobra.Command {
	l := r.Logs()
	var o struct {
		log, signers string
		run, asJSON  bool
	}
	cmd := &cobra.Command{
		Use:         "verify FILE|COMMIT",
		Annotations: command.Exits("verified: all of it holds", "unverified: something does not hold, is not signed, or could not be checked"),
		Short:       "Verify a statement of what a run was judged by",
		Long: `Verify the statement in a file, or about a commit, and believe none of it: its signature
counts only if a file of allowed signers names the key, the log is run through the state
machine to the same DONE, the statement is derived from it again, and the tree and the
diff come from git. What could not be checked is named, and then it reads UNVERIFIED.

The checks are run again only with --run-checks, in a clone with nothing but the tree,
and only if the statement holds so far: it says what is run.`,
		Example: `  codeloops verify verdict.json --log session.jsonl
  codeloops verify HEAD --run-checks`,
		PreRunE: r.UsersCommand,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return hint.Errorf("name one of them", "%s takes a file with a statement, or a commit", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			v := r.verifier(ctx, l, o.log, o.signers)
			if o.run {
				v.Run = r.runCheck
			}
			e, s, err := r.stated(ctx, v, args[0])
			if err != nil {
				return err
			}
			report := v.Verify(ctx, e, s)
			if err := r.Show(o.asJSON, report, report.Text()); err != nil || report.Verified {
				return err
			}
			return command.ErrShort
		},
	}
	cmd.Flags().StringVar(&o.log, "log", "", "the session's log is in `file` (default: it is looked for among your sessions)")
	cmd.Flags().StringVar(&o.signers, "signers", "", "`file` of allowed signers (default: git's gpg.ssh.allowedSignersFile)")
	cmd.Flags().BoolVar(&o.run, "run-checks", false, "run the checks again")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the report as JSON: session, tree, commit, verified, steps")
	cmd.Flags().StringVar(&l.Dir, "session-dir", "", "look for its log in `dir`")
	return cmd
}

func (r *Restorer) verifier(ctx context.Context, l *command.Logs, log, signers string) *attest.Verifier {
	v := &attest.Verifier{Environ: r.Environ, Git: r.inRepository}
	if file, ok := (git.Git{Environ: r.Environ}).UserSetting(ctx, r.Dir, "gpg.ssh.allowedSignersFile"); signers != "" {
		v.Allowed = r.Path(signers)
	} else if ok {
		v.Allowed = r.fromHome(file)
	}
	if where, err := git.Open(r.Dir, r.Environ); err == nil {
		v.GitDir = where.CommonDir
	}
	v.Log = func(id string) string {
		path := ""
		if log != "" {
			path = r.Path(log)
		} else if one, err := l.Find(id); err == nil && one.ID == id {
			path = one.Path
		}
		if own := private(path, session.Look(path).Session.Base); path != "" && own != "" {
			v.Objects = []string{filepath.Join(own, "objects")}
		}
		return path
	}
	return v
}

// stated finds the statement in a file, or about a commit. Of a commit without one, e is nil, and s follows from the log.
func (r *Restorer) stated(ctx context.Context, v *attest.Verifier, name string) (e *attest.Envelope, s attest.Statement, err error) {
	if text, err := os.ReadFile(r.Path(name)); err == nil {
		sealed, s, err := attest.Open(text)
		if err != nil {
			err = fmt.Errorf("%s cannot be verified: %w", wording.Quote(name, 80), err)
		}
		return &sealed, s, err
	}
	out, err := r.inRepository(ctx, nil, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return nil, s, hint.Errorf("is the name right?", "there is no file and no commit %s", wording.Quote(name, 80))
	}
	commit := strings.TrimSpace(string(out))
	if text, err := r.inRepository(ctx, nil, nil, "notes", "--ref="+notes, "show", commit); err == nil {
		sealed, s, err := attest.Open(text)
		if err == nil && s.Commit() != commit {
			err = errors.New("its statement is about another commit")
		}
		if err != nil {
			err = fmt.Errorf("the note of the commit %.12s cannot be verified: %w", commit, err)
		}
		return &sealed, s, err
	}
	out, err = r.inRepository(ctx, nil, nil, "show", "--no-patch", "--format=%(trailers:key="+accept.SessionTrailer+",valueonly)", commit)
	id := strings.TrimSpace(string(out))
	if err != nil || id == "" {
		return nil, s, hint.Errorf("codeloops attest --note states one", "the commit %.12s has no statement, and names no session of codeloops", commit)
	}
	path := v.Log(id)
	if path != "" {
		if s, err = attest.Of(path, func(loop.Base) string { return "" }, commit); err == nil {
			return nil, s, nil
		}
	}
	s.Predicate.Session, s.Predicate.Log.Name = id, id+".jsonl"
	s.Subject = []attest.Subject{{Name: attest.TreeName, Digest: attest.Digest{"gitTree": r.tree(ctx, commit)}}, {Name: attest.CommitName, Digest: attest.Digest{"gitCommit": commit}}}
	return nil, s, nil
}

// runCheck runs a check, and leaves no process of it.
func (r *Restorer) runCheck(ctx context.Context, dir string, argv []string) (int, error) {
	runner := proc.NewRunner(r.Now)
	defer runner.Close() //nolint:errcheck // it has ended what it started
	res, err := runner.Run(ctx, proc.Command{Invocation: proc.Invocation{Argv: argv, Dir: dir, Env: r.Environ}})
	return res.ExitCode, err
}
