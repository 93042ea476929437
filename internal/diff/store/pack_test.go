package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// A packed is an object in a repository.
type packed struct {
	kind    plumbing.ObjectType
	id      plumbing.Hash
	content []byte
}

// packedRepo makes a git directory whose objects are in one pack, most of them as deltas.
// It returns the objects by name.
func packedRepo(t *testing.T, config ...string) (git func(args ...string) string, objects map[string]packed) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "[a] repo")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	git = func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", args, err)
		}
		return string(out)
	}
	git("init", "-q")
	random := rand.New(rand.NewPCG(1, 2))
	var text []string
	for version := range 40 {
		for range 20 {
			text = append(text, fmt.Sprintf("line %d", random.Int()))
		}
		text[random.IntN(len(text))] = "changed"
		for _, name := range []string{"a", "b"} {
			content := name + strings.Join(text, "\n")
			if err := os.WriteFile(filepath.Join(work, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "-A")
		git("commit", "-q", "-m", strconv.Itoa(version))
	}
	git("tag", "-a", "-m", "tag", "t")
	git(append(config, "repack", "-q", "-a", "-d", "-f", "--depth=50")...)
	objects = map[string]packed{}
	for all := git("cat-file", "--batch-all-objects", "--batch"); all != ""; {
		var id, kind string
		var size int
		head, rest, _ := strings.Cut(all, "\n")
		if _, err := fmt.Sscan(head, &id, &kind, &size); err != nil {
			t.Fatal(err)
		}
		parsed, err := plumbing.ParseObjectType(kind)
		if err != nil {
			t.Fatal(err)
		}
		objects[id] = packed{kind: parsed, id: plumbing.NewHash(id), content: []byte(rest[:size])}
		all = rest[size+1:]
	}
	return git, objects
}

func objectsDir(git func(args ...string) string) string {
	return strings.TrimSpace(git("rev-parse", "--path-format=absolute", "--git-path", "objects"))
}

// checkObjects reads every object in every way.
func checkObjects(t *testing.T, d *directory, objects map[string]packed) {
	t.Helper()
	for id, want := range objects {
		content, err := d.content(t.Context(), want.kind, want.id)
		if err != nil || !bytes.Equal(content, want.content) {
			t.Fatalf("%s %s: %d bytes, %v; want %d", want.kind, id, len(content), err, len(want.content))
		}
		if size, err := d.size(want.id); err != nil || size != int64(len(want.content)) {
			t.Errorf("%s %s: size %d, %v; want %d", want.kind, id, size, err, len(want.content))
		}
		content, err = streamed(t.Context(), d, want)
		if err != nil || !bytes.Equal(content, want.content) {
			t.Errorf("%s %s as a stream: %d bytes, %v; want %d", want.kind, id, len(content), err, len(want.content))
		}
		other := map[bool]plumbing.ObjectType{true: plumbing.TreeObject, false: plumbing.CommitObject}[want.kind != plumbing.TreeObject]
		if _, err := d.content(t.Context(), other, want.id); !errors.Is(err, errKind) || !d.has(want.id) {
			t.Errorf("%s %s as a %s: %v", want.kind, id, other, err)
		}
	}
}

func streamed(ctx context.Context, d *directory, o packed) ([]byte, error) {
	r, err := d.stream(ctx, o.kind, o.id)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(r)
	return content, errors.Join(err, r.Close())
}

// TestPacks: every object of a pack can be read, whether its delta refers to its base by
// offset or by ID.
func TestPacks(t *testing.T) {
	t.Parallel()
	for _, config := range [][]string{nil, {"-c", "repack.useDeltaBaseOffset=false"}} {
		git, objects := packedRepo(t, config...)
		d := &directory{path: objectsDir(git)}
		checkObjects(t, d, objects)
		missing := plumbing.NewHash(strings.Repeat("1", 40))
		if _, err := d.content(t.Context(), plumbing.BlobObject, missing); !errors.Is(err, plumbing.ErrObjectNotFound) || d.has(missing) {
			t.Errorf("a missing object: %v", err)
		}
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPackWithoutIndex: a pack without an index, which a killed process may leave, is
// ignored.
func TestPackWithoutIndex(t *testing.T) {
	t.Parallel()
	git, objects := packedRepo(t)
	dir := filepath.Join(objectsDir(git), "pack")
	packs, err := fs.Glob(os.DirFS(dir), "*.pack")
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	pack, err := os.ReadFile(filepath.Join(dir, packs[0]))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{strings.Repeat("0", 39) + "1", strings.Repeat("f", 40)} { // sorted before and after the real pack
		if err := os.WriteFile(filepath.Join(dir, "pack-"+name+".pack"), pack[:len(pack)/2], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := &directory{path: objectsDir(git)}
	defer d.close()
	checkObjects(t, d, objects)
	if d.has(plumbing.NewHash(strings.Repeat("a", 40))) {
		t.Error("it has an object that does not exist")
	}
}

// TestPacksDamaged: an object of a damaged pack is returned only if its content matches
// its ID.
func TestPacksDamaged(t *testing.T) {
	t.Parallel()
	git, objects := packedRepo(t)
	where := objectsDir(git)
	names, err := os.ReadDir(filepath.Join(where, "pack"))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	dir := filepath.Join(t.TempDir(), "objects")
	if err := os.MkdirAll(filepath.Join(dir, "pack"), 0o700); err != nil {
		t.Fatal(err)
	}
	read, refused := 0, 0
	for round := range 8 {
		for _, name := range names {
			content, err := os.ReadFile(filepath.Join(where, "pack", name.Name()))
			if err != nil {
				t.Fatal(err)
			}
			for range 20 * max(round%2, strings.Count(name.Name(), ".pack")) {
				content[random.IntN(len(content))] ^= byte(1 + random.IntN(255))
			}
			if round%2 == 1 {
				content = content[:len(content)-random.IntN(2)*random.IntN(len(content)/2)]
			}
			to := filepath.Join(dir, "pack", name.Name())
			_ = os.Remove(to)
			if err := os.WriteFile(to, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d := &directory{path: dir}
		r, f := checkRead(t, d, objects)
		read, refused = read+r, refused+f
		_ = d.close()
	}
	if read == 0 || refused == 0 {
		t.Errorf("%d were read, %d refused", read, refused)
	}
}

// checkRead reads all objects, and counts the successful and the failed reads.
func checkRead(t *testing.T, d *directory, objects map[string]packed) (read, refused int) {
	t.Helper()
	for id, o := range objects {
		_, _ = d.size(o.id) // the size may be wrong
		for _, get := range []func() ([]byte, error){
			func() ([]byte, error) { return d.content(t.Context(), o.kind, o.id) },
			func() ([]byte, error) { return streamed(t.Context(), d, o) },
		} {
			content, err := get()
			if err == nil && Sum(o.kind, content) != o.id {
				t.Errorf("%s has %d wrong bytes", id, len(content))
			}
			if err == nil {
				read++
			} else {
				refused++
			}
		}
	}
	return read, refused
}
