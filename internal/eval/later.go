package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/wording"
)

// An ending is work that was approved, and may have come into the history of its repository.
type ending struct {
	id    string // of the case
	dir   string
	at    time.Time
	lines lines
}

// lines are lines of files, by path. Short ones are left out, which any commit may have.
type lines map[string]map[string]bool

// short is the longest line, without its blanks, that says nothing.
const short = 3

func (l lines) add(path, line string) {
	if line = strings.TrimSpace(line); len(line) <= short {
		return
	}
	if l[path] == nil {
		l[path] = map[string]bool{}
	}
	l[path][line] = true
}

func (l lines) count() (n int) {
	for _, of := range l {
		n += len(of)
	}
	return n
}

// shared counts the lines that both have.
func (l lines) shared(others lines) (n int) {
	for path, of := range l {
		for line := range of {
			if others[path][line] {
				n++
			}
		}
	}
	return n
}

// added returns the lines that a change added.
func added(c loop.Change) lines {
	all := lines{}
	for _, f := range c.Files {
		for line := range loop.PatchLines(f.Patch) {
			if line.Op == '+' {
				all.add(f.Path, strings.TrimSuffix(line.Text, "\n"))
			}
		}
	}
	return all
}

// A commit is one of the history.
type commit struct {
	id, subject, body string
	at                time.Time
	added, removed    lines
}

// mends reports whether the commit says that it takes something back or mends it.
func (c commit) mends() bool { return mending().MatchString(c.subject) }

var mending = wording.Pattern(`(?i)^(revert\b|(bug|hot)?fix(es|ed)?\b)`)

// later adds what the repositories and their forges tell of the approved work.
func (g *gathering) later(ctx context.Context) {
	if !slices.Contains(g.Sources, Reverts) && !slices.Contains(g.Sources, CI) {
		return
	}
	of := map[string][]ending{}
	for _, e := range g.ends {
		if r, err := git.Open(e.dir, nil); err == nil { // else it is gone
			of[r.WorkTree] = append(of[r.WorkTree], e)
		}
	}
	for _, root := range slices.Sorted(maps.Keys(of)) {
		commits, err := g.commits(ctx, root, of[root])
		if err != nil {
			g.Tell(fmt.Sprintf("what came later in %s is left out: %v", root, err))
			continue
		}
		for _, e := range of[root] {
			g.stayed(ctx, root, e, commits)
		}
	}
	silent := 0
	for _, of := range g.ci {
		if !of.answered {
			silent++
		}
	}
	if silent > 0 {
		g.Tell("CI of " + wording.Count(silent, "commit") + " is not known: neither gh nor glab tells of it")
	}
}

// commits returns the commits since the first of some endings that touch their files, the oldest first.
func (g *gathering) commits(ctx context.Context, root string, ends []ending) ([]commit, error) {
	first, paths := ends[0].at, map[string]bool{}
	for _, e := range ends {
		if e.at.Before(first) {
			first = e.at
		}
		for path := range e.lines {
			paths[path] = true
		}
	}
	const most = 1000 // arguments have a limit
	if len(paths) == 0 || len(paths) > most {
		clear(paths)
	}
	args := slices.Concat([]string{
		"-c", "core.quotePath=false", "--literal-pathspecs", "log", "--reverse", "--no-merges", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
		"--src-prefix=a/", "--dst-prefix=b/", "-p", "-U0", "--since=" + strconv.FormatInt(first.Unix(), 10), "--format=%x00%H%x00%ct%x00%s%x00%b%x00", "HEAD", "--",
	}, slices.Sorted(maps.Keys(paths)))
	out, err := git.Git{Environ: g.Environ}.Run(ctx, git.Call{Dir: root, Args: args})
	if err != nil {
		return nil, err
	}
	return parse(string(out)), nil
}

// parse reads the output of git log.
func parse(out string) (all []commit) {
	parts := strings.Split(out, "\x00")
	const each = 5 // the four fields, and the patch
	for i := 1; i+each <= len(parts); i += each {
		seconds, _ := strconv.ParseInt(parts[i+1], 10, 64) // git wrote it
		c := commit{id: parts[i], at: time.Unix(seconds, 0), subject: parts[i+2], body: parts[i+3], added: lines{}, removed: lines{}}
		for _, file := range strings.Split("\n"+parts[i+4], "\ndiff --git ")[1:] {
			head, _, _ := strings.Cut(file, "\n@@ ")
			path := ""
			for line := range strings.SplitSeq(head, "\n") {
				if strings.HasPrefix(line, "--- a/") || strings.HasPrefix(line, "+++ b/") {
					path = strings.TrimSuffix(line[len("--- a/"):], "\t")
				}
			}
			for l := range loop.PatchLines(file) {
				switch text := strings.TrimSuffix(l.Text, "\n"); l.Op {
				case '+':
					c.added.add(path, text)
				case '-':
					c.removed.add(path, text)
				}
			}
		}
		all = append(all, c)
	}
	return all
}

// stayed says what became of approved work in the history.
func (g *gathering) stayed(ctx context.Context, root string, e ending, commits []commit) {
	size := e.lines.count()
	at := slices.IndexFunc(commits, func(c commit) bool {
		return c.at.After(e.at.Add(-time.Second)) && size > 0 && 2*e.lines.shared(c.added) >= size
	})
	if at < 0 {
		return // it is not there, or not as it was
	}
	landed := commits[at]
	until := landed.at.Add(g.Within)
	mended := slices.IndexFunc(commits[at+1:], func(c commit) bool {
		return c.at.Before(until) && (strings.Contains(c.body, "This reverts commit "+landed.id) || c.mends() && e.lines.shared(c.removed) > 0)
	})
	switch {
	case mended >= 0:
		by := commits[at+1+mended]
		g.tell(e.id, Evidence{Source: Reverts, Why: fmt.Sprintf("%s takes lines of %s back: %s", brief(by.id), brief(landed.id), wording.Line(by.subject))})
	case g.Now.After(until):
		g.tell(e.id, Evidence{Source: Reverts, Good: true, Why: brief(landed.id) + " has stayed as it is"})
	}
	if slices.Contains(g.Sources, CI) {
		g.tell(e.id, g.status(ctx, root, landed.id)...)
	}
}

func brief(commit string) string { return commit[:min(len(commit), 10)] }

// tell adds evidence to a case.
func (g *gathering) tell(id string, all ...Evidence) {
	if at := slices.IndexFunc(g.cases, func(c Case) bool { return c.ID == id }); at >= 0 {
		g.cases[at].Evidence = append(g.cases[at].Evidence, all...)
	}
}

// A forge is the CLI of one, which knows where the repository lies and who the user is.
type forge struct {
	argv []string // %s: the commit
	read func([]byte) ([]string, error)
}

func forges() []forge {
	return []forge{{[]string{"gh", "api", "repos/{owner}/{repo}/commits/%s/check-runs"}, func(b []byte) (all []string, err error) {
		var doc struct {
			Runs []struct {
				Conclusion string `json:"conclusion"`
			} `json:"check_runs"`
		}
		err = json.Unmarshal(b, &doc)
		for _, r := range doc.Runs {
			all = append(all, r.Conclusion)
		}
		return all, err
	}}, {[]string{"glab", "api", "projects/:id/repository/commits/%s/statuses"}, func(b []byte) (all []string, err error) {
		var doc []struct {
			Status string `json:"status"`
		}
		err = json.Unmarshal(b, &doc)
		for _, s := range doc {
			all = append(all, s.Status)
		}
		return all, err
	}}}
}

// A ci is how CI ended on a commit, as far as a forge knows.
type ci struct {
	answered bool
	all      []Evidence
}

// status asks the forge how CI ended on a commit, once.
func (g *gathering) status(ctx context.Context, root, commit string) []Evidence {
	at := root + " " + commit
	if _, asked := g.ci[at]; !asked {
		g.ci[at] = g.ask(ctx, root, commit)
	}
	return g.ci[at].all
}

func (g *gathering) ask(ctx context.Context, root, commit string) ci {
	for _, f := range forges() {
		argv := slices.Clone(f.argv)
		argv[2] = fmt.Sprintf(argv[2], commit)
		const patience, most = 20 * time.Second, 4 << 20
		res, err := g.Runner.Run(ctx, proc.Command{
			Invocation: proc.Invocation{Argv: argv, Dir: root, Env: g.Environ}, Limits: proc.Limits{Timeout: patience, MaxOutput: most, Keep: most},
		})
		if err != nil || res.ExitCode != 0 {
			continue
		}
		all, err := f.read(res.Stdout.Text)
		if err != nil || len(all) == 0 {
			continue
		}
		if red := slices.IndexFunc(all, func(s string) bool { return slices.Contains([]string{"failure", "failed", "timed_out"}, s) }); red >= 0 {
			return ci{true, []Evidence{{Source: CI, Why: fmt.Sprintf("CI of %s: %s", brief(commit), all[red])}}}
		}
		if !slices.ContainsFunc(all, func(s string) bool { return s != "success" && s != "skipped" && s != "neutral" }) {
			return ci{true, []Evidence{{Source: CI, Good: true, Why: fmt.Sprintf("CI of %s passed", brief(commit))}}}
		}
		return ci{answered: true}
	}
	return ci{}
}
