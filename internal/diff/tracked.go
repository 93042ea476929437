package diff

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/file"
	"codeloops/internal/git"
	"codeloops/internal/wording"
)

// tracked is what is used of an index of the user's.
type tracked struct {
	file    string     // a copy of it in the shadow, in a plain form; "" if there is no index
	stamp   file.Stamp // of the index
	at      time.Time  // when it was read
	content string     // of the index, as a digest
	entries map[string]trackedEntry
	digest  string // of all entries with their marks
	// Entries that git treats differently from others.
	assumed, skipped marks
}

// A trackedEntry is one of an index. Of a path in conflict it is the last stage.
type trackedEntry struct {
	entry
	tag    byte // as `git ls-files -v` prints it
	staged bool // not in conflict
}

// isCut reports whether a sparse checkout leaves a file out of the work tree. To git nothing is deleted by that, so it is
// no work either: a commit of it would delete files that nobody wanted to delete.
func (e trackedEntry) isCut() bool { return e.tag == 'S' || e.tag == 's' }

func missing(path string) bool {
	_, err := os.Lstat(path)
	return file.Missing(err)
}

// marks are the entries that have a mark in common.
type marks struct {
	some   string // the first names
	digest string // of all; "" if there are none
}

// plain lets git write an index in one file without what a file system monitor, a sparse or a split index add.
var plain = []string{ //nolint:gochecknoglobals // a constant
	"-c", "core.splitIndex=false", "-c", "index.sparse=false", "-c", "core.untrackedCache=false",
	"update-index", "--no-split-index", "--no-untracked-cache", "--no-fsmonitor", "--force-write-index",
}

// read reads the index of a repository, unless it is the one that was read last. A split or sparse one can be read only
// with the rest of the repository.
func (t *tracked) read(ctx context.Context, s *shadow, r *git.Repository, environ []string) error {
	stamp := file.At(r.IndexFile)
	if t.entries != nil && stamp == t.stamp && stamp.Before(t.at.Add(-file.Slack)) {
		return nil
	}
	now := tracked{stamp: stamp, at: s.now(), file: s.file("tracked"), entries: map[string]trackedEntry{}}
	if err := copyIndex(r.IndexFile, now.file); err != nil {
		return err
	}
	content, err := os.ReadFile(now.file)
	now.content = digest(string(content))
	if err == nil && t.file != "" && now.content == t.content {
		t.stamp, t.at = now.stamp, now.at
		return os.Remove(now.file)
	}
	var list []byte
	if file.Missing(err) {
		now.file, err = "", nil
	} else if err == nil {
		list, err = now.list(ctx, s, r, environ, unusual(content))
	}
	if err != nil {
		return err
	}
	now.take(list)
	if t.file != "" {
		_ = os.Remove(t.file)
	}
	*t = now
	return nil
}

// list returns the entries as git lists them. An unusual index is made plain first.
func (t *tracked) list(ctx context.Context, s *shadow, r *git.Repository, environ []string, unusual bool) ([]byte, error) {
	if unusual {
		call := git.Call{Dir: r.GitDir, Args: append([]string{"--git-dir=" + r.GitDir, "--work-tree=" + r.WorkTree}, plain...), Env: []string{"GIT_INDEX_FILE=" + t.file}}
		if _, err := (git.Git{Environ: git.Alone(environ)}).Run(ctx, call); err != nil {
			return nil, err
		}
	}
	v := &view{shadow: s, root: r.WorkTree, index: t.file}
	return v.run(ctx, nil, nil, "ls-files", "-t", "-v", "--stage", "-z")
}

// unusual reports whether an index may have one of the extensions that make it depend on other files or programs.
func unusual(content []byte) bool {
	return slices.ContainsFunc([]string{"link", "sdir\x00\x00\x00\x00", "FSMN", "UNTR"}, func(name string) bool { return bytes.Contains(content, []byte(name)) })
}

// take takes the entries that git has listed: "<tag> <mode> <id> <stage>\t<path>".
func (t *tracked) take(list []byte) {
	t.digest = digest(string(list))
	var assumed, skipped []string
	for _, line := range fields(list) {
		head, path, _ := strings.Cut(line, "\t")
		parts := strings.Fields(head)
		mode, err := strconv.ParseUint(parts[1], 8, 32)
		if err != nil {
			continue
		}
		t.entries[path] = trackedEntry{entry{Mode: uint32(mode), ID: plumbing.NewHash(parts[2])}, parts[0][0], parts[3] == "0"}
		if tag := parts[0][0]; tag >= 'a' {
			assumed = append(assumed, path)
		}
		if t.entries[path].isCut() {
			skipped = append(skipped, path)
		}
	}
	t.assumed, t.skipped = t.marked(assumed), t.marked(skipped)
}

func (t *tracked) marked(paths []string) (m marks) {
	const most = 5
	if paths == nil {
		return m
	}
	var names, all []string
	for _, path := range paths {
		e := t.entries[path]
		names, all = append(names, wording.Name(path)), append(all, fmt.Sprintf("%q %s %o", path, e.ID, e.Mode))
	}
	return marks{wording.List(names, most), digest(strings.Join(all, "\n"))}
}

// links returns the paths of repositories inside, sorted.
func (t *tracked) links() (paths []string) {
	for path, e := range t.entries {
		if e.Mode == Gitlink {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// begin makes an index to begin with of the user's: what git can tell of a file from its stat counts, if the file is
// on the disk what the index says.
func (v *view) begin(ctx context.Context, t *tracked, r opened, environ []string) error {
	if t.file == "" {
		return nil
	}
	if err := copyIndex(t.file, v.index); err != nil {
		return err
	}
	converted, err := convertedIn(ctx, t, r, environ)
	if err != nil {
		return err
	}
	var lines strings.Builder
	var assumed, skipped []string
	for path, e := range t.entries {
		switch {
		case e.Mode == Gitlink:
			lines.WriteString(info(0, plumbing.ZeroHash, path))
		case e.isCut() && missing(filepath.Join(v.root, filepath.FromSlash(path))):
		case !e.staged, converted[path]:
			lines.WriteString(info(0, plumbing.ZeroHash, path) + info(e.Mode, e.ID, path)) // without a stat
		default:
			if e.tag >= 'a' {
				assumed = append(assumed, path)
			}
			if e.isCut() {
				skipped = append(skipped, path)
			}
		}
	}
	for option, paths := range map[string][]string{"--no-assume-unchanged": assumed, "--no-skip-worktree": skipped} {
		if err == nil && paths != nil {
			_, err = v.run(ctx, nil, zs(paths), "update-index", option, "-z", "--stdin")
		}
	}
	return cmp.Or(err, v.update(ctx, lines.String(), nil))
}

// convertedIn returns the files in an index whose content there may not be that on the disk.
func convertedIn(ctx context.Context, t *tracked, r opened, environ []string) (map[string]bool, error) {
	var paths []string
	for path, e := range t.entries {
		if e.isFile() {
			paths = append(paths, path)
		}
	}
	how, err := r.Converts(ctx, git.Git{Environ: environ}, r.Config, t.file, paths)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for path, is := range how {
		all[path] = is > git.Ends
	}
	return all, t.shortened(ctx, r.Repository, environ, how, all)
}

// shortened adds the files whose size on the disk is not the one in git: only the ends of lines make them differ.
func (t *tracked) shortened(ctx context.Context, r *git.Repository, environ []string, how map[string]git.Conversion, into map[string]bool) error {
	var ids strings.Builder
	var names []string
	for path, is := range how {
		if is == git.Ends {
			names = append(names, path)
			ids.WriteString(t.entries[path].ID.String() + "\n")
		}
	}
	if names == nil {
		return nil
	}
	out, err := git.Git{Environ: environ}.Run(ctx, git.Call{
		Dir: r.WorkTree, Args: []string{"--git-dir=" + r.GitDir, "cat-file", "--batch-check=%(objectsize)"}, Stdin: []byte(ids.String()), Env: []string{"GIT_NO_LAZY_FETCH=1"},
	})
	if err != nil {
		return err
	}
	i := 0
	for line := range strings.Lines(string(out)) {
		size, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		info, statErr := os.Lstat(filepath.Join(r.WorkTree, names[i]))
		if err != nil || statErr == nil && info.Size() != size {
			into[names[i]] = true
		}
		i++
	}
	return nil
}
