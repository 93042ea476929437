// Package attest states what a session was judged by, so that others can check it without trusting who states it: an
// in-toto statement (https://in-toto.io/Statement/v1) in a DSSE envelope, signed with an SSH key. What is stated follows
// from the session's log and from git, and whoever verifies derives it again from these.
package attest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// The types that a statement names.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "urn:codeloops:verdict:v1"
)

// A Digest holds hashes by the names of their algorithms, as in-toto spells them.
type Digest map[string]string

// A Subject is something that a statement is about.
type Subject struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
}

// A Statement says that a tree was judged.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// A Predicate is how it was judged. All of it follows from the log; docs/verify.md describes it.
type Predicate struct {
	Session    string   `json:"session"`
	Versions   []string `json:"versions"` // of codeloops: one for each run of the session
	Log        Subject  `json:"log"`
	Task       Digest   `json:"task"`
	Base       Base     `json:"base"`
	Diff       Diff     `json:"diff"`
	Outcome    string   `json:"outcome"`
	StopReason string   `json:"stopReason"`
	Iterations int      `json:"iterations"`
	Checks     []Check  `json:"checks"`
	Critic     Critic   `json:"critic"`
	Policy     Policy   `json:"policy"`
}

// A Base is what the work was measured from.
type Base struct {
	Commit string `json:"commit"`
	Tree   string `json:"tree"`   // "": not known
	Dirty  int    `json:"dirty"`  // files that differed from the commit
	Judged bool   `json:"judged"` // the session has only judged work that was there, since the tree
}

// A Diff is what led from the base to the tree.
type Diff struct {
	Digest     Digest `json:"digest"` // of the patch in the log
	Files      int    `json:"files"`
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
}

// A Check is a command of the project's that was run on the tree.
type Check struct {
	Command  string `json:"command"`
	ExitCode int    `json:"exitCode"`
	Passed   bool   `json:"passed"`
	Output   Digest `json:"output"` // of what the log keeps of it
}

// A Critic is who judged the tree.
type Critic struct {
	Agent      string   `json:"agent"`
	Model      string   `json:"model"`
	Decision   string   `json:"decision"`
	Confidence *float64 `json:"confidence"`
	Seal       string   `json:"seal"` // right: the decision repeats the secret word of the critic's prompt
	Reply      Digest   `json:"reply"`
}

// A Policy is what a verdict had to keep.
type Policy struct {
	Profile string `json:"profile"`
	Rules   []Rule `json:"rules"` // that are not at their defaults
}

// A Rule is a setting of a run.
type Rule struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// TreeName and CommitName are the names of subjects.
const (
	TreeName   = "tree"
	CommitName = "commit"
)

// Of returns the statement that follows from a log. baseTree finds the tree of the checkpoint at the session's start, and
// commit, unless it is "", is one with the judged tree.
func Of(path string, baseTree func(loop.Base) string, commit string) (Statement, error) {
	s := Statement{Type: StatementType, PredicateType: PredicateType}
	p := &s.Predicate
	var last loop.Round
	for entry, err := range session.Read(path) {
		if err != nil {
			return s, hint.Add(fmt.Errorf("the log has a line that cannot be read: %w", err), "only a whole log can be attested")
		}
		if entry.Changed {
			return s, fmt.Errorf("somebody else has written to the log of session %s during its run: it proves nothing", p.Session)
		}
		switch e := entry.Event.(type) { //nolint:gochecksumtype // the others are in the log, whose digest is stated
		case loop.Started:
			p.begin(e.Session, baseTree)
		case loop.Resumed:
			p.Versions = append(p.Versions, e.Session.Version)
			p.rules(e.Session)
			p.Outcome, p.StopReason = "", ""
		case loop.IterationFinished:
			last = e.Round
		case loop.Finished:
			p.Outcome, p.StopReason, p.Iterations = string(e.Outcome.Result), string(e.Outcome.Reason), e.Outcome.Iterations
		}
	}
	switch {
	case p.Session == "":
		return s, fmt.Errorf("%s is no log of a session of codeloops", path)
	case p.Outcome != string(loop.Success):
		return s, hint.Errorf("codeloops sessions show "+p.Session+" says how it ended", "no critic has approved what session %s has changed", p.Session)
	case last.Change.State == "":
		return s, fmt.Errorf("the log of session %s does not name the tree that was judged", p.Session)
	}
	p.judged(last)
	s.Subject = append(s.Subject, Subject{TreeName, Digest{"gitTree": last.Change.State}})
	if commit != "" {
		s.Subject = append(s.Subject, Subject{CommitName, Digest{"gitCommit": commit}})
	}
	sum, err := digestOf(path)
	p.Log = Subject{p.Session + ".jsonl", sum}
	return s, err
}

func (p *Predicate) begin(s loop.Session, baseTree func(loop.Base) string) {
	p.Session, p.Versions, p.Task = s.ID, []string{s.Version}, sha(s.Prompt)
	p.Base = Base{s.BaseCommit, baseTree(s.Base), s.Dirty, s.Judged}
	p.Critic.Agent, p.Critic.Model = s.Critic.Agent, s.Critic.Model
	p.rules(s)
}

// rules takes over those of the last run of the session.
func (p *Predicate) rules(s loop.Session) {
	p.Policy = Policy{Profile: s.Policy.Profile, Rules: []Rule{}}
	for _, r := range s.Rules {
		p.Policy.Rules = append(p.Policy.Rules, Rule{r.Key, append([]string{}, r.Values...)})
	}
}

func (p *Predicate) judged(r loop.Round) {
	p.Diff = Diff{sha(r.Change.ApplicablePatch()), len(r.Change.Files), r.Change.Insertions, r.Change.Deletions}
	p.Checks = []Check{}
	for _, c := range r.Checks {
		p.Checks = append(p.Checks, Check{c.Command, c.ExitCode, c.Passed(), sha(c.Output.Text)})
	}
	if a := r.Review.Agent; a.Agent != "" {
		p.Critic.Agent, p.Critic.Model = a.Agent, a.Model
	}
	p.Critic.Decision, p.Critic.Confidence, p.Critic.Seal, p.Critic.Reply = string(r.Verdict.Decision), r.Verdict.Confidence, string(r.Review.Sealed), sha(r.Review.Reply)
}

// digest returns what a subject's hash is, "" if the statement has none.
func (s Statement) digest(name, algorithm string) string {
	for _, one := range s.Subject {
		if one.Name == name {
			return one.Digest[algorithm]
		}
	}
	return ""
}

// Tree is the tree that was judged.
func (s Statement) Tree() string { return s.digest(TreeName, "gitTree") }

// Commit is a commit with that tree, "" if none is stated.
func (s Statement) Commit() string { return s.digest(CommitName, "gitCommit") }

func sha(text string) Digest {
	sum := sha256.Sum256([]byte(text))
	return Digest{"sha256": hex.EncodeToString(sum[:])}
}

func digestOf(path string) (Digest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return Digest{"sha256": hex.EncodeToString(h.Sum(nil))}, nil
}
