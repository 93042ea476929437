package store

import (
	"bytes"
	"fmt"
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

// TestPacks reads every object of a pack, with the bases of the deltas by
// offset and by name.
func TestPacks(t *testing.T) {
	t.Parallel()
	for _, config := range [][]string{nil, {"-c", "repack.useDeltaBaseOffset=false"}} {
		git, objects := packedRepo(t, config...)
		p := packs{objects: strings.TrimSpace(git("rev-parse", "--path-format=absolute", "--git-path", "objects"))}
		for id, want := range objects {
			content, err := p.read(want.kind, want.id)
			if err != nil || !bytes.Equal(content, want.content) {
				t.Fatalf("%s %s: %d bytes, %v; want %d", want.kind, id, len(content), err, len(want.content))
			}
			if !p.has(want.id) || want.kind != plumbing.TreeObject && has(&p, plumbing.TreeObject, id) {
				t.Errorf("%s %s is found wrong", want.kind, id)
			}
		}
		if missing := strings.Repeat("1", 40); p.has(plumbing.NewHash(missing)) || has(&p, plumbing.BlobObject, missing) {
			t.Error("what is not there is found")
		}
		if len(p.list) != 1 || p.close() != nil {
			t.Errorf("%d packs", len(p.list))
		}
	}
}

func has(p *packs, kind plumbing.ObjectType, id string) bool {
	_, err := p.read(kind, plumbing.NewHash(id))
	return err == nil
}

// TestPacksDamaged: an object is as its name says or it is not returned.
func TestPacksDamaged(t *testing.T) {
	t.Parallel()
	git, objects := packedRepo(t)
	where := strings.TrimSpace(git("rev-parse", "--path-format=absolute", "--git-path", "objects"))
	names, err := os.ReadDir(filepath.Join(where, "pack"))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "pack"), 0o700); err != nil {
		t.Fatal(err)
	}
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
		p := packs{objects: dir}
		for id, o := range objects {
			content, err := p.read(o.kind, o.id)
			if err == nil && Sum(o.kind, content) != o.id {
				t.Errorf("%s is %d other bytes", id, len(content))
			}
		}
		_ = p.close()
	}
}

func FuzzPatch(f *testing.F) {
	f.Add([]byte("base"), []byte{4, 6, 0x90, 4, 2, 'x', 'y'})
	f.Add([]byte("base"), []byte{4, 3, 0x91, 1, 3})
	f.Add([]byte{}, []byte{0, 0})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		result, err := patch(base, delta)
		if err != nil {
			return
		}
		if _, n := sizeVarint(delta); len(result) > Large || n == 0 {
			t.Errorf("%d bytes", len(result))
		}
	})
}

func TestPatch(t *testing.T) {
	t.Parallel()
	got, err := patch([]byte("base"), []byte{4, 6, 0x90, 4, 2, 'x', 'y'})
	if err != nil || !bytes.Equal(got, []byte("basexy")) {
		t.Errorf("%q, %v", got, err)
	}
}
