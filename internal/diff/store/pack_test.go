package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// packedRepo is a git directory in which one pack has all objects, most of them
// as deltas, by name.
func packedRepo(t *testing.T, config ...string) (git func(args ...string) string, objects map[string]object) {
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
	objects = map[string]object{}
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
		objects[id] = object{kind: parsed, id: plumbing.NewHash(id), content: []byte(rest[:size])}
		all = rest[size+1:]
	}
	return git, objects
}

func objectsDir(git func(args ...string) string) string {
	return strings.TrimSpace(git("rev-parse", "--path-format=absolute", "--git-path", "objects"))
}

// checkObjects reads every object in all ways.
func checkObjects(t *testing.T, d *database, objects map[string]object) {
	t.Helper()
	for id, want := range objects {
		content, err := d.content(t.Context(), want.kind, want.id)
		if err != nil || !bytes.Equal(content, want.content) {
			t.Fatalf("%s %s: %d bytes, %v; want %d", want.kind, id, len(content), err, len(want.content))
		}
		if size, err := d.size(t.Context(), want.id); err != nil || size != int64(len(want.content)) {
			t.Errorf("%s %s: size %d, %v; want %d", want.kind, id, size, err, len(want.content))
		}
		content, err = streamed(t.Context(), d, want)
		if err != nil || !bytes.Equal(content, want.content) {
			t.Errorf("%s %s as a stream: %d bytes, %v; want %d", want.kind, id, len(content), err, len(want.content))
		}
		other := map[bool]plumbing.ObjectType{true: plumbing.TreeObject, false: plumbing.CommitObject}[want.kind != plumbing.TreeObject]
		if _, err := d.content(t.Context(), other, want.id); !errors.Is(err, errKind) || !d.has(t.Context(), want.id) {
			t.Errorf("%s %s as a %s: %v", want.kind, id, other, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(d.objects, "tmp_*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

func streamed(ctx context.Context, d *database, o object) ([]byte, error) {
	r, err := d.stream(ctx, o.kind, o.id)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(r)
	return content, errors.Join(err, r.Close())
}

// TestPacks reads every object of a pack, with the bases of the deltas by
// offset, which are 64 bits long in the index, and by name; and of one with an
// index of version 1.
func TestPacks(t *testing.T) {
	t.Parallel()
	for _, config := range [][]string{nil, {"-c", "repack.useDeltaBaseOffset=false"}, {"-c", "pack.indexVersion=1"}} {
		git, objects := packedRepo(t, config...)
		if config == nil {
			withLongOffsets(t, git)
		}
		d := newDatabase(place{objects: objectsDir(git)})
		checkObjects(t, d, objects)
		missing := plumbing.NewHash(strings.Repeat("1", 40))
		if _, err := d.content(t.Context(), plumbing.BlobObject, missing); !errors.Is(err, plumbing.ErrObjectNotFound) || d.has(t.Context(), missing) {
			t.Errorf("what is not there: %v", err)
		}
		if len(d.listing.dirs) != 1 || len(d.listing.dirs[0].packs) != 1 || d.close() != nil {
			t.Errorf("%d directories", len(d.listing.dirs))
		}
	}
}

// TestPackFind: one of many names that begin alike is found, in an index of either
// version.
func TestPackFind(t *testing.T) {
	t.Parallel()
	const many = 5 * few
	old, p := make([]byte, fanoutSize), packing{sum: make([]byte, nameSize)}
	for first := 7; first < 256; first++ {
		binary.BigEndian.PutUint32(old[4*first:], many)
	}
	for i := range uint32(many) {
		id := plumbing.Hash{7, byte(i >> 6), byte(i << 2)}
		p.entries = append(p.entries, packEntry{id: id, offset: i + 12})
		old = append(binary.BigEndian.AppendUint32(old, i+12), id[:]...)
	}
	var index bytes.Buffer
	if err := p.writeIndex(&index); err != nil {
		t.Fatal(err)
	}
	for version, content := range map[int][]byte{1: old, 2: index.Bytes()} {
		found := &pack{path: filepath.Join(t.TempDir(), "x")}
		if err := os.WriteFile(found.path+".idx", content, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, e := range p.entries {
			if at, err := found.find(e.id); err != nil || at != int64(e.offset) {
				t.Fatalf("version %d: %s is at %d: %v", version, e.id, at, err)
			}
			e.id[2]++
			if at, err := found.find(e.id); !errors.Is(err, plumbing.ErrObjectNotFound) {
				t.Fatalf("version %d: %s is at %d: %v", version, e.id, at, err)
			}
		}
		if err := found.close(); err != nil {
			t.Error(err)
		}
	}
}

// withLongOffsets makes the offsets in the index of the pack 64 bits long.
func withLongOffsets(t *testing.T, git func(args ...string) string) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(strings.NewReplacer("[", `\[`).Replace(objectsDir(git)), "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("packs %s, %v", packs, err)
	}
	index := strings.TrimSuffix(packs[0], "pack") + "idx"
	before, err := os.Stat(index)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	git("index-pack", "--index-version=2,0x40", packs[0])
	if after, err := os.Stat(index); err != nil || after.Size() <= before.Size() {
		t.Fatalf("an index of %d bytes, not more: %v", after.Size(), err)
	}
}

// TestPackDeep: git lets as many deltas build on each other as it is told to.
func TestPackDeep(t *testing.T) {
	t.Parallel()
	git, objects := packedRepo(t)
	var commands bytes.Buffer
	text := []byte(strings.Repeat("a line of the file\n", 20))
	for version := range 4095 {
		text = fmt.Appendf(text[:20*19], "version %d\n", version)
		fmt.Fprintf(&commands, "blob\ndata %d\n%s\n", len(text), text)
	}
	dir := strings.TrimSpace(git("rev-parse", "--show-toplevel"))
	cmd := exec.CommandContext(t.Context(), "git", "-C", dir, "fast-import", "--quiet", "--depth=4095")
	cmd.Stdin = &commands
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v: %s", err, out)
	}
	last := object{kind: plumbing.BlobObject, id: Sum(plumbing.BlobObject, text), content: text}
	objects[last.id.String()] = last
	d := newDatabase(place{objects: objectsDir(git)})
	checkObjects(t, d, objects)
	for _, p := range d.listing.dirs[0].packs {
		if at, err := p.find(last.id); err == nil {
			chain, err := packedObject{pack: p, at: at}.chain(t.Context(), last.kind)
			if len(chain) < 4000 || err != nil {
				t.Errorf("git made a chain of %d, %v", len(chain), err)
			}
		}
	}
}

// TestPacksDamaged: an object is as its name says or it is not returned.
func TestPacksDamaged(t *testing.T) {
	t.Parallel()
	git, objects := packedRepo(t)
	where := objectsDir(git)
	names, err := os.ReadDir(filepath.Join(where, "pack"))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "pack"), 0o700); err != nil {
		t.Fatal(err)
	}
	read, refused := 0, 0
	for range 8 {
		for _, name := range names {
			content, err := os.ReadFile(filepath.Join(where, "pack", name.Name()))
			if err != nil {
				t.Fatal(err)
			}
			for range 20 {
				content[random.IntN(len(content))] ^= byte(1 + random.IntN(255))
			}
			content = content[:len(content)-random.IntN(2)*random.IntN(len(content)/2)]
			to := filepath.Join(dir, "pack", name.Name())
			_ = os.Remove(to)
			if err := os.WriteFile(to, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d := newDatabase(place{objects: dir})
		for id, o := range objects {
			_, _ = d.size(t.Context(), o.id) // it may be wrong
			for _, get := range []func() ([]byte, error){
				func() ([]byte, error) { return d.content(t.Context(), o.kind, o.id) },
				func() ([]byte, error) { return streamed(t.Context(), d, o) },
			} {
				content, err := get()
				if err == nil && Sum(o.kind, content) != o.id {
					t.Errorf("%s is %d other bytes", id, len(content))
				}
				if err == nil {
					read++
				} else {
					refused++
				}
			}
		}
		_ = d.close()
	}
	if read == 0 || refused == 0 {
		t.Errorf("%d were read, %d refused", read, refused)
	}
}

// TestRoom fills the memory of many contents, of which none has a byte of another.
func TestRoom(t *testing.T) {
	t.Parallel()
	var z inflater
	var contents [][]byte
	for i := range 100 {
		size := i * i
		content := z.room(int64(size))
		if content == nil || len(content) != 0 || cap(content) < size || size <= 1<<10 && cap(content) != size {
			t.Fatalf("room for %d bytes has %d of %d bytes (nil: %t)", size, len(content), cap(content), content == nil)
		}
		contents = append(contents, append(content, bytes.Repeat([]byte{byte(i)}, size)...))
	}
	for i, content := range contents {
		if !bytes.Equal(content, bytes.Repeat([]byte{byte(i)}, i*i)) {
			t.Errorf("the content of %d bytes has become another", i*i)
		}
	}
}

// patched applies a delta in memory.
func patched(ctx context.Context, base, delta []byte) ([]byte, error) {
	instructions := bufio.NewReader(bytes.NewReader(delta))
	from, to, err := deltaSizes(instructions)
	if err != nil || from != int64(len(base)) || to > Large {
		return nil, errors.Join(err, errDamaged)
	}
	made, err := tools{z: &inflater{}}.piece(to)
	if err != nil {
		return nil, err
	}
	if err := patch(ctx, made, &piece{size: from, memory: base}, instructions); err != nil {
		return nil, err
	}
	return made.memory, made.flush()
}

func FuzzPatch(f *testing.F) {
	f.Add([]byte("base"), []byte{4, 6, 0x90, 4, 2, 'x', 'y'})
	f.Add([]byte("base"), []byte{4, 3, 0x91, 1, 3})
	f.Add([]byte{}, []byte{0, 0})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		result, err := patched(t.Context(), base, delta)
		if err != nil {
			return
		}
		if _, to, _ := deltaSizes(bytes.NewReader(delta)); int64(len(result)) != to {
			t.Errorf("%d bytes, not %d", len(result), to)
		}
	})
}

func TestPatch(t *testing.T) {
	t.Parallel()
	got, err := patched(t.Context(), []byte("base"), []byte{4, 6, 0x90, 4, 2, 'x', 'y'})
	if err != nil || !bytes.Equal(got, []byte("basexy")) {
		t.Errorf("%q, %v", got, err)
	}
	for _, delta := range [][]byte{
		{4, 6, 0x90, 4, 1, 'x'}, {4, 6, 0x90, 4, 0x90, 4}, {4, 6, 0x90, 4, 3, 'x', 'y', 'z'}, {4, 6, 0x91, 1, 4}, {4, 6, 0x90, 4, 0}, {3, 3, 0x90, 3},
	} {
		if got, err := patched(t.Context(), []byte("base"), delta); err == nil {
			t.Errorf("%d makes %q", delta, got)
		}
	}
}
