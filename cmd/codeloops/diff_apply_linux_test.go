package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// TestDiffApplies runs sessions that change random files in random dirty work trees. The output of
// `sessions diff`, applied by git to the initial state, must give the final state, byte for byte.
func TestDiffApplies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 11))
			s := newStage(t, "[[actor]]\nstep = [{ run = \"find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} + && cp -a ../end/. .\" }]\n"+
				"[[critic]]\nsay = \"DECISION: DONE\"\n")
			tree := map[string]node{}
			for range 4 + rnd.IntN(8) {
				change(rnd, tree)
			}
			s.plant("work", tree)
			s.sh("cd work && git add -A && git -c user.name=A -c user.email=a@example.com commit -q --allow-empty -m more")
			for range rnd.IntN(6) { // dirty
				change(rnd, tree)
			}
			s.sh("cd work && find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +")
			s.plant("work", tree)
			if rnd.IntN(2) == 0 {
				s.sh("cd work && git add -A")
			}
			s.sh("cp -a work base")
			for range 1 + rnd.IntN(12) {
				change(rnd, tree)
			}
			s.plant("end", tree)

			if out, err := s.codeloops("--", "task").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			show := s.codeloops()
			show.Args = []string{show.Args[0], "sessions", "diff", "latest"}
			patch, err := show.Output()
			if err != nil {
				t.Fatal(err)
			}
			s.write("patch", string(patch))
			if len(patch) > 0 {
				s.sh("cd base && git apply --whitespace=nowarn ../patch")
			}
			got, want := s.harvest("base"), s.harvest("end")
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(s.harvest("work"), want) {
				t.Errorf("applied %+v\nwant %+v", got, want)
			}
		})
	}
}

// A node is a file, or, if link is set, a symbolic link to its content.
type node struct {
	content string
	exec    bool
	link    bool
}

// change adds, edits, moves or removes something in a tree.
func change(rnd *rand.Rand, tree map[string]node) {
	names := []string{
		"a.txt", "b c.txt", `quo"te`, "new\nline", "tab\tbed", "ünï/语.txt", "\xff\xfe.bin", "-dash", "dir/one", "dir/two",
		"dir/sub/three", "link", "back\\slash", "a.txt.orig", " lead", "trail ",
	}
	contents := []string{
		"", "one line\n", "no end", "a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nD\ne\nf\ng\nh\n", "crlf\r\nends\r\n", "\x00\x01\x02binary\xff", "\xff\xfe not UTF-8\n",
		strings.Repeat("a long file\n", 200) + strconv.Itoa(rnd.IntN(9)), strings.Repeat("\x00\xf0", 3000) + strconv.Itoa(rnd.IntN(9)), "diff --git a/x b/x\n--- a/x\n+++ b/x\n",
	}
	name := names[rnd.IntN(len(names))]
	old, there := tree[name]
	switch rnd.IntN(6) {
	case 0:
		delete(tree, name)
	case 1:
		if there {
			old.exec = !old.exec && !old.link
			tree[name] = old
		}
	case 2:
		if to := names[rnd.IntN(len(names))]; there {
			delete(tree, name)
			tree[to] = old
		}
	case 3:
		tree[name] = node{content: []string{"a.txt", "no/where", "dir", "../outside"}[rnd.IntN(4)], link: true}
	default:
		tree[name] = node{content: contents[rnd.IntN(len(contents))], exec: rnd.IntN(4) == 0}
	}
}

// plant writes a tree into a directory of the stage.
func (s *stage) plant(dir string, tree map[string]node) {
	s.t.Helper()
	for name, n := range tree {
		path := filepath.Join(s.dir, dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		mode := fs.FileMode(0o644)
		if n.exec {
			mode = 0o755
		}
		switch {
		case err != nil:
		case n.link:
			err = os.Symlink(n.content, path)
		default:
			err = os.WriteFile(path, []byte(n.content), mode)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(s.dir, dir), 0o700); err != nil {
		s.t.Fatal(err)
	}
}

// harvest reads a directory of the stage back into a tree.
func (s *stage) harvest(dir string) map[string]node {
	s.t.Helper()
	tree := map[string]node{}
	root := filepath.Join(s.dir, dir)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && entry.Name() != ".git" {
			return err
		}
		if entry.IsDir() {
			return fs.SkipDir
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.Type() == fs.ModeSymlink {
			target, err := os.Readlink(path)
			tree[name] = node{content: target, link: true}
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		st, err := entry.Info()
		if err == nil {
			tree[name] = node{content: string(content), exec: st.Mode()&0o100 != 0}
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return tree
}

// sh runs a line of shell code in the stage.
func (s *stage) sh(line string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "/bin/sh", "-c", line)
	cmd.Dir, cmd.Env = s.dir, s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatal(fmt.Errorf("%s: %w\n%s", line, err, out))
	}
}
