//go:build unix

package diff_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
)

// TestLargeFileStorage: a file of Git LFS is what it is on the disk, not the pointer that git has, in diffs and restores.
func TestLargeFileStorage(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.home(".gitconfig", "[filter \"lfs\"]\n\tclean = echo pointer\n\tsmudge = echo content\n\trequired = true\n")
	s.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	s.write("big.bin", "content\n")
	s.commit("first")
	tree, o := s.begin(), newOracle(s)
	if c := o.capture(tree); !c.Empty() {
		t.Errorf("changed at once:\n%s", c.Patch())
	}
	s.append("big.bin", "more\n")
	if c := o.capture(tree); !strings.Contains(c.Patch(), "\n content\n+more\n") {
		t.Errorf("captured %s", c.Patch())
	}
	s.restore(tree, loop.Change{State: tree.BaseState()})
	if content, err := os.ReadFile(s.path("big.bin")); err != nil || string(content) != "content\n" {
		t.Errorf("restored %q, %v", content, err)
	}
}

// TestPartialSparse: a session begins in a partial clone whose sparse checkout leaves out what was never fetched, and
// shows the change of a file that is fetched later.
func TestPartialSparse(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a/f", "a\n")
	s.write("b/f", "b\n")
	s.commit("first")
	s.git("config", "uploadpack.allowFilter", "true")
	clone := filepath.Join(s.base, "clone")
	s.git("clone", "-q", "--filter=blob:none", "--sparse", "file://"+s.root, clone)
	s.root = clone
	s.git("sparse-checkout", "set", "a")
	tree := s.begin()
	began := s.kept(tree, "0")
	if c := s.capture(tree); !c.Empty() {
		t.Errorf("changed at once:\n%s", c.Patch())
	}
	s.git("sparse-checkout", "add", "b")
	if c := s.capture(tree); !c.Empty() {
		t.Errorf("widened:\n%s", c.Patch())
	}
	s.append("b/f", "more\n")
	for _, tree := range []interface {
		Capture(ctx context.Context) (loop.Change, error)
	}{tree, s.resumed(began)} {
		if c, err := tree.Capture(t.Context()); err != nil || !strings.Contains(c.Patch(), "\n b\n+more\n") {
			t.Errorf("captured %s, %v", c.Patch(), err)
		}
	}
}

// TestWrittenMeanwhile: captures while a file is written to show some content of it, and the next one its last.
func TestWrittenMeanwhile(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "f\n")
	s.commit("first")
	tree, o := s.begin(), newOracle(s)
	end, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for n := 0; ; n++ {
			select {
			case <-end:
				return
			default:
				_ = os.WriteFile(s.path("f"), []byte(strings.Repeat("line\n", n%1000)), 0o600)
			}
		}
	}()
	for range 3 {
		if c, err := tree.Capture(t.Context()); err != nil || summary(c) != "M f\n" && summary(c) != "" {
			t.Errorf("meanwhile: %q, %v", summary(c), err)
		}
	}
	close(end)
	<-over
	s.write("f", "last\n")
	o.capture(tree)
}

// TestHeldCapture: a capture whose git hangs ends with its context, leaves no git behind, and the next one sees everything.
// The test runs itself with another git on the PATH.
func TestHeldCapture(t *testing.T) {
	t.Parallel()
	const held = "CODELOOPS_TEST_HELD"
	if os.Getenv(held) == "" {
		program, err := exec.LookPath("git")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		text := "#!/bin/sh\ncase \"$* \" in *\" status \"*) test ! -e \"$" + held + "/hold\" || { touch \"$" + held + "/waits\"; exec sleep 60; };; esac\nexec " + program + " \"$@\"\n"
		if err := os.WriteFile(filepath.Join(dir, "git"), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), held+"="+dir, "PATH="+dir+":"+os.Getenv("PATH"))
		testedBy(t, cmd)
		return
	}
	s := newRepo(t)
	s.env = append(s.env, held+"="+os.Getenv(held))
	s.write("f", "f\n")
	s.commit("first")
	tree := s.begin()
	s.write("f", "changed\n")
	s.must(os.WriteFile(filepath.Join(os.Getenv(held), "hold"), nil, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(os.Getenv(held), "waits")); err == nil {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	began := time.Now()
	if _, err := tree.Capture(ctx); !errors.Is(err, context.Canceled) || time.Since(began) > 20*time.Second {
		t.Errorf("ended after %v: %v", time.Since(began), err)
	}
	s.must(os.Remove(filepath.Join(os.Getenv(held), "hold")))
	if c := s.capture(tree); summary(c) != "M f\n" {
		t.Errorf("captured %q", summary(c))
	}
}
