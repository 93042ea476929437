package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/git"
)

// A shadow is a git directory of a session's own, in which git looks at the user's files without touching the user's
// repository. No settings, filters or attributes of anybody count in it: git takes files as they are on the disk.
type shadow struct {
	dir     string
	kept    string // the private repository
	environ []string
	now     func() time.Time
	number  *atomic.Int64
	// The last comparisons: after a critic's turn, a look mostly finds what it found before.
	compared [2]comparison
}

// A comparison is what git has printed of two trees.
type comparison struct{ args, sections []string }

// shadowName begins the names of shadows in a private repository.
const shadowName = "codeloops-shadow-"

// Sweep removes what killed processes have left in a private repository that nobody uses.
func Sweep(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, shadowName+"*"))
	for _, name := range left {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
}

// newShadow makes one in a private repository.
func newShadow(kept string, environ []string, now func() time.Time) (*shadow, error) {
	dir, err := os.MkdirTemp(kept, shadowName)
	if err != nil {
		return nil, err
	}
	s := &shadow{dir: dir, kept: kept, environ: git.Alone(environ), now: now, number: &atomic.Int64{}}
	for _, name := range []string{"info", "objects", "refs"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	for name, text := range map[string]string{
		"HEAD": "ref: refs/heads/none\n",
		"config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tbigFileThreshold = 20m\n\tuntrackedCache = false\n" +
			"\tfsync = none\n[gc]\n\tauto = 0\n",
		"info/attributes": "* -text -filter -ident -working-tree-encoding !diff !whitespace\n",
	} {
		if err == nil { // of a full disk one sentence is enough
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
		}
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// file returns the path of a new file in the shadow.
func (s *shadow) file(what string) string {
	return filepath.Join(s.dir, what+"-"+strconv.FormatInt(s.number.Add(1), 10))
}

// A view is how git looks at a work tree in a shadow.
type view struct {
	*shadow
	root  string   // the work tree
	index string   // a file
	flags []string // settings
	also  []string // directories of objects besides those of the private repository
}

// run runs git. Says is what it says on its standard error.
func (v *view) run(ctx context.Context, says io.Writer, stdin []byte, args ...string) ([]byte, error) {
	var also []string
	for _, dir := range append([]string{filepath.Join(v.kept, "objects")}, v.also...) {
		also = append(also, quotedPath(dir))
	}
	env := []string{
		"GIT_DIR=" + v.dir, "GIT_OBJECT_DIRECTORY=" + filepath.Join(v.dir, "objects"), "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + strings.Join(also, string(filepath.ListSeparator)),
	}
	dir := v.dir
	if v.root != "" {
		env, dir = append(env, "GIT_WORK_TREE="+v.root, "GIT_INDEX_FILE="+v.index), v.root
	}
	return git.Git{Environ: v.environ}.Run(ctx, git.Call{Dir: dir, Args: append(v.flags, args...), Env: env, Stdin: stdin, Says: says})
}

// zs joins paths as git reads them with -z.
func zs(paths []string) []byte {
	if len(paths) == 0 {
		return nil
	}
	return []byte(strings.Join(paths, "\x00") + "\x00")
}

// fields splits what git prints with -z.
func fields(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// info is a line for `git update-index -z --index-info`. An entry of mode 0 removes a path.
func info(mode uint32, id fmt.Stringer, path string) string {
	return fmt.Sprintf("%o %s 0\t%s\x00", mode, id, path)
}

// update changes entries of the index, given lines of info and paths to read from the disk.
func (v *view) update(ctx context.Context, lines string, paths []string) error {
	if lines != "" {
		if _, err := v.run(ctx, nil, []byte(lines), "update-index", "--add", "--replace", "-z", "--index-info"); err != nil {
			return err
		}
	}
	if len(paths) == 0 {
		return nil
	}
	_, err := v.run(ctx, nil, zs(paths), "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	return err
}

// copyIndex copies an index with its time, by which git tells which entries it cannot trust. There may be none.
func copyIndex(from, to string) error {
	in, stamp, err := file.Open(from, file.Options{Max: math.MaxInt64})
	if file.Missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	var content bytes.Buffer
	if _, err := content.ReadFrom(in); err != nil {
		return err
	}
	if err := os.WriteFile(to, content.Bytes(), 0o600); err != nil {
		return err
	}
	at := time.Unix(0, stamp.Mtime)
	return os.Chtimes(to, at, at)
}
