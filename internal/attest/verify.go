package attest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/run/check"
	"codeloops/internal/session"
	"codeloops/internal/session/replay"
	"codeloops/internal/wording"
)

// A Result is what came of one step of a verification.
type Result string

// The results.
const (
	Holds     Result = "ok"
	Fails     Result = "fails"
	Unchecked Result = "unchecked"
)

// A Step is one thing that was looked at.
type Step struct {
	What   string `json:"what"`
	Result Result `json:"result"`
	Why    string `json:"why"`
}

// A Report says what holds of a statement.
type Report struct {
	Session  string `json:"session"`
	Tree     string `json:"tree"`
	Commit   string `json:"commit"`
	Verified bool   `json:"verified"` // nothing fails, and nothing that has to be checked is unchecked
	Steps    []Step `json:"steps"`
}

// A Verifier derives again what a statement says.
type Verifier struct {
	Environ []string
	// Git runs git in the repository that the statement is about.
	Git func(ctx context.Context, stdin []byte, env []string, args ...string) ([]byte, error)
	// GitDir is its common directory.
	GitDir string
	// Log finds the session's log; "" if it is not here.
	Log func(session string) string
	// Objects are the directories of further objects: those of checkpoints.
	Objects []string
	// Allowed is the file of allowed signers; "": there is none.
	Allowed string
	// Run are the commands of the checks to be run again, in a directory with the judged tree; nil: they are not run.
	Run func(ctx context.Context, dir string, argv []string) (exitCode int, err error)
}

func (r *Report) note(what string, err error, held string) bool {
	one := Step{what, Holds, held}
	if missing, is := errors.AsType[*missingError](err); is {
		one.Result, one.Why = Unchecked, missing.Error()
	} else if err != nil {
		one.Result, one.Why = Fails, err.Error()
	}
	r.Steps = append(r.Steps, one)
	return err == nil
}

// A missingError says why something could not be checked.
type missingError struct{ why string }

func (e *missingError) Error() string { return e.why }

func missing(format string, args ...any) error { return &missingError{fmt.Sprintf(format, args...)} }

// Verify verifies a statement. A nil envelope is one that does not exist: s was derived from the log, and nobody states it.
func (v *Verifier) Verify(ctx context.Context, e *Envelope, s Statement) Report {
	r := Report{Session: s.Predicate.Session, Tree: s.Tree(), Commit: s.Commit()}
	who, err := v.signer(ctx, e)
	signed := r.note("signature", err, "by "+who)
	path := v.Log(s.Predicate.Session)
	logged := r.note("log", v.log(path, s), s.Predicate.Log.Name)
	if logged {
		logged = r.note("state machine", v.replay(ctx, path), "the log leads to the same DONE")
		again, err := Of(path, func(loop.Base) string { return s.Predicate.Base.Tree }, s.Commit())
		logged = r.note("statement", same(again, s, err), "says what the log says") && logged
	}
	r.note("commit", v.commit(ctx, s), "has the tree "+s.Tree())
	r.note("diff", v.diff(ctx, path, s, logged), "the base with the log's diff is the tree")
	if len(s.Predicate.Checks) == 0 {
		r.note("checks", nil, "there were none")
	} else {
		r.note("checks", v.checks(ctx, s, signed && logged), wording.Count(len(s.Predicate.Checks), "check")+" again with the same exit code")
	}
	r.Verified = true
	for _, one := range r.Steps {
		r.Verified = r.Verified && (one.Result == Holds || one.What == "checks" && one.Result == Unchecked && v.Run == nil)
	}
	return r
}

// signer returns who states it.
func (v *Verifier) signer(ctx context.Context, e *Envelope) (string, error) {
	if e == nil {
		return "", missing("nobody states it: there is only the session's log on this machine")
	}
	if len(e.Signatures) == 0 {
		return "", missing("it is not signed")
	}
	return e.signer(ctx, v.Allowed, v.Environ)
}

// log looks whether the log is the one that is stated, byte for byte.
func (v *Verifier) log(path string, s Statement) error {
	if path == "" {
		return missing("the log %s is not on this machine (--log FILE)", wording.Quote(s.Predicate.Log.Name, 120))
	}
	is, err := digestOf(path)
	if err == nil && is["sha256"] != s.Predicate.Log.Digest["sha256"] {
		err = fmt.Errorf("%s is another log, or was changed: its SHA-256 is %.16s…, and %.16s… is stated", path, is["sha256"], s.Predicate.Log.Digest["sha256"])
	}
	return err
}

// replay runs the state machine on the log.
func (v *Verifier) replay(ctx context.Context, path string) error {
	r, err := replay.VerifyFile(ctx, path)
	switch {
	case err != nil:
		return err
	case len(r.Differences) > 0:
		return errors.New(wording.List(r.Differences, 3))
	case r.Partly != "":
		return missing("%s", r.Partly)
	case r.Outcome == nil || r.Outcome.Result != loop.Success:
		return errors.New("the log does not lead to DONE")
	}
	return nil
}

// same compares what is stated with what the log says.
func same(derived, stated Statement, err error) error {
	if err != nil {
		return err
	}
	a, b := parts(derived), parts(stated)
	var differ []string
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			differ = append(differ, name)
		}
	}
	if len(differ) == 0 && len(a) == len(b) {
		return nil
	}
	slices.Sort(differ)
	return fmt.Errorf("the log says something else: %s", strings.Join(differ, ", "))
}

// parts returns the fields of a statement and of its predicate.
func parts(s Statement) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, part := range []any{s.Predicate, struct {
		Subject []Subject `json:"subject"`
	}{s.Subject}} {
		text, _ := json.Marshal(part) // it came from JSON
		_ = json.Unmarshal(text, &all)
	}
	return all
}

// commit looks whether the commit holds the tree that was judged.
func (v *Verifier) commit(ctx context.Context, s Statement) error {
	if s.Commit() == "" {
		return missing("no commit is stated: the tree may be in none")
	}
	out, err := v.Git(ctx, nil, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", s.Commit()+"^{tree}")
	if _, said := errors.AsType[*proc.ExitError](err); said {
		return missing("the commit %.12s is not in this repository", s.Commit())
	}
	if tree := strings.TrimSpace(string(out)); err == nil && tree != s.Tree() {
		err = fmt.Errorf("the commit %.12s has the tree %.12s, and %.12s was judged", s.Commit(), tree, s.Tree())
	}
	return err
}

// diff applies the log's diff to the base. Nothing is written to the repository.
func (v *Verifier) diff(ctx context.Context, path string, s Statement, logged bool) error {
	if !logged {
		return missing("it is in the log")
	}
	base := s.Predicate.Base.Tree
	if b := s.Predicate.Base; b.Dirty == 0 && !b.Judged { // git knows it
		base = cmp.Or(b.Commit, "--empty")
	} else if base == "" {
		return missing("the tree that the session began with is not known")
	}
	patch := ""
	for entry, err := range session.Read(path) {
		if whole, is := entry.Event.(loop.IterationFinished); is && err == nil {
			patch = whole.Round.Change.ApplicablePatch()
		}
	}
	dir, err := os.MkdirTemp("", "codeloops-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	objects := filepath.Join(dir, "objects")
	if err := os.Mkdir(objects, 0o700); err != nil {
		return err
	}
	env := []string{
		"GIT_INDEX_FILE=" + filepath.Join(dir, "index"), "GIT_OBJECT_DIRECTORY=" + objects,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + strings.Join(append([]string{filepath.Join(v.GitDir, "objects")}, v.Objects...), string(os.PathListSeparator)),
	}
	if _, err := v.Git(ctx, nil, env, "read-tree", base); err != nil {
		return missing("the base %.12s is not in this repository", base)
	}
	if patch != "" {
		if _, err := v.Git(ctx, []byte(patch), env, "apply", "--cached", "--binary", "--whitespace=nowarn", "-"); err != nil {
			return fmt.Errorf("the log's diff does not apply to the base (one with secrets or very large files does not): %w", err)
		}
	}
	out, err := v.Git(ctx, nil, env, "write-tree")
	if tree := strings.TrimSpace(string(out)); err == nil && tree != s.Tree() {
		err = fmt.Errorf("the base with the log's diff is the tree %.12s, and %.12s was judged", tree, s.Tree())
	}
	return err
}

// checks runs the checks again, on the tree alone. A statement of nobody who counts runs nothing.
func (v *Verifier) checks(ctx context.Context, s Statement, trusted bool) error {
	switch {
	case v.Run == nil:
		return missing("%s not run again (--run-checks)", wording.Count(len(s.Predicate.Checks), "check"))
	case !trusted:
		return missing("not run, because the statement does not hold so far, and it says what is run")
	}
	dir, err := os.MkdirTemp("", "codeloops-checks-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	if err := v.checkOut(ctx, s, dir); err != nil {
		return err
	}
	for _, c := range s.Predicate.Checks {
		code, err := v.Run(ctx, dir, check.Shell(c.Command))
		if err != nil {
			return err
		}
		if code != c.ExitCode {
			return fmt.Errorf("%s ends with %d, and ended with %d", wording.Quote(c.Command, 80), code, c.ExitCode)
		}
	}
	return nil
}

// checkOut makes a clone with the judged tree, which shares the repository's objects.
func (v *Verifier) checkOut(ctx context.Context, s Statement, dir string) error {
	_, err := v.Git(ctx, nil, nil, "clone", "--quiet", "--shared", "--no-checkout", "--template=", "--", v.GitDir, dir)
	if err == nil {
		_, err = v.Git(ctx, nil, nil, "-C", dir, "read-tree", "--reset", "-u", s.Tree())
	}
	if err != nil {
		err = missing("the tree %.12s is not in this repository: %v", s.Tree(), err)
	}
	return err
}

// Text is the report for people.
func (r Report) Text() string {
	var b strings.Builder
	for _, one := range r.Steps {
		fmt.Fprintf(&b, "%-10s %-14s %s\n", one.Result, one.What, wording.Line(one.Why))
	}
	word := "VERIFIED"
	if !r.Verified {
		word = "UNVERIFIED"
	}
	about := "the tree " + r.Tree
	if r.Commit != "" {
		about = "the commit " + r.Commit
	}
	fmt.Fprintf(&b, "%s: %s, approved in session %s\n", word, wording.Line(about), wording.Line(r.Session))
	return b.String()
}
