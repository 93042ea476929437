package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/index"
	"codeloops/internal/diff/scan"
	"codeloops/internal/file"
	"codeloops/internal/proc"
	"codeloops/internal/repo"
	"codeloops/internal/wording"
)

var errNoGit = errors.New("the git program is needed for this")

// A gitRunner runs the git program in the user's repository, and notes each purpose once.
type gitRunner struct {
	git  Git
	note func(string)
	// global are arguments that name the repository, set if git would not find it from the
	// root of the work tree. With them, git does not check who owns the repository
	// (safe.directory), so it has to accept it first, from start, where the session began.
	global []string
	start  string

	noted    sync.Map // purposes that note was called for
	mu       sync.Mutex
	accepted bool
}

// foundBelow reports whether git finds a repository from the root of its work tree.
func foundBelow(r *repo.Repository, environ []string) bool {
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE"} {
		if _, ok := proc.LookupEnv(environ, name); ok { // it may be relative
			return false
		}
	}
	if r.GitDir == filepath.Join(r.WorkTree, ".git") {
		return true
	}
	at, err := repo.Open(r.WorkTree, environ)
	return err == nil && at.GitDir == r.GitDir && at.WorkTree == r.WorkTree
}

// lead makes git use a repository that it finds from start.
func (g *gitRunner) lead(r *repo.Repository, start string) {
	g.global, g.start = []string{"--git-dir=" + r.GitDir, "--work-tree=" + r.WorkTree}, start
}

// accept lets git find the repository by itself once, before it is told where that is.
func (g *gitRunner) accept(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.accepted || g.global == nil {
		return nil
	}
	_, err := g.git.Run(ctx, GitCall{Dir: g.start, Args: []string{"rev-parse", "--git-dir"}})
	g.accepted = err == nil
	return err
}

// purpose returns the runner for one purpose, as in "to read objects".
func (g *gitRunner) purpose(why string) purpose { return purpose{g, why} }

type purpose struct {
	*gitRunner
	why string
}

// Run runs git without replaced objects.
func (p purpose) Run(ctx context.Context, c GitCall) ([]byte, error) {
	if p.git == nil {
		return nil, errNoGit
	}
	if _, noted := p.noted.LoadOrStore(p.why, true); !noted && p.note != nil {
		p.note("ran the git program " + p.why)
	}
	if err := p.accept(ctx); err != nil {
		return nil, err
	}
	c.Args = slices.Concat([]string{"--no-replace-objects"}, p.global, c.Args)
	return p.git.Run(ctx, c)
}

// runGit runs git at the root of the work tree, with the objects of the store.
func (p *place) runGit(ctx context.Context, why string, stdin []byte, env []string, args ...string) ([]byte, error) {
	objects, err := p.store.Environ()
	if err != nil {
		return nil, err
	}
	return p.git.purpose(why).Run(ctx, GitCall{Dir: p.Root(), Env: append(objects, env...), Args: args, Stdin: stdin})
}

// hashByGit stores files as git converts them, and returns the ids of the blobs. Git may keep line ends,
// depending on the index, so it gets one that holds just the previous versions with CRLF.
func (p *place) hashByGit(ctx context.Context, files []scan.Unconverted) ([]plumbing.Hash, error) {
	var before, paths bytes.Buffer
	for _, f := range files {
		paths.WriteString(f.Path + "\x00")
		if f.Before == nil {
			continue
		}
		if err := p.store.Persist(f.Before.ID); err != nil {
			return nil, err
		}
		fmt.Fprintf(&before, "%o %s\t%s\x00", f.Before.Mode, f.Before.ID, f.Path)
	}
	x, err := p.updateIndex(ctx, "to convert files (filter, ident or encoding)", nil, update{"--index-info", before.Bytes()}, update{"--stdin", paths.Bytes()})
	if err != nil {
		return nil, err
	}
	found := make(map[string]plumbing.Hash)
	for _, e := range x.Entries {
		found[e.Path] = e.ID
	}
	ids := make([]plumbing.Hash, len(files))
	for i, f := range files {
		id, known := found[f.Path]
		if !known {
			return nil, fmt.Errorf("git update-index left out %s", wording.Name(f.Path))
		}
		ids[i] = id
	}
	return ids, nil
}

// An update is one run of git update-index.
type update struct {
	option string
	stdin  []byte
}

// updateIndex lets git update a copy of an index, or an empty one, and returns its entries.
func (p *place) updateIndex(ctx context.Context, why string, content []byte, updates ...update) (*index.Index, error) {
	dir, err := os.MkdirTemp("", "codeloops-index-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	path := filepath.Join(dir, "index")
	if content != nil {
		err = os.WriteFile(path, content, 0o600)
	}
	args := []string{
		"-c", "core.splitIndex=false", "-c", "index.sparse=false", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
		"update-index", "--no-split-index", "--add", "-z",
	}
	for _, u := range updates {
		if err == nil {
			_, err = p.runGit(ctx, why, u.stdin, []string{"GIT_INDEX_FILE=" + path}, append(args, u.option)...)
		}
	}
	if err != nil {
		return nil, err
	}
	x, err := index.Read(path)
	if err != nil {
		return nil, err
	}
	return &index.Index{Entries: x.Entries}, nil
}

// checkedOut returns what a checkout would write for a blob.
func (p *place) checkedOut(ctx context.Context, why, name string, id plumbing.Hash) ([]byte, error) {
	if err := p.store.Persist(id); err != nil {
		return nil, err
	}
	return p.runGit(ctx, why, nil, nil, "cat-file", "--filters", "--path="+name, id.String())
}

// indexByGit lets git rewrite an index that package index cannot read. The stats do not count, so
// each file is compared by content.
func (p *place) indexByGit(ctx context.Context, path string) (*index.Index, error) {
	content, _, err := file.Read(path, file.Options{Max: math.MaxInt64})
	if err != nil {
		return nil, err
	}
	return p.updateIndex(ctx, "to read an unusual index", content, update{"--force-write-index", nil})
}
