package restore

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The environment of a test that runs in its own process.
const (
	sceneDir = "RESTORE_SCENE"
	killAt   = "RESTORE_KILL_AT"
	limit    = "RESTORE_LIMIT"
)

// TestPlayed runs a restore in its own process, for other tests.
//
//nolint:paralleltest // its limits are those of the process
func TestPlayed(t *testing.T) {
	dir := os.Getenv(sceneDir)
	if dir == "" {
		t.Skip("only other tests run it")
	}
	s := at(t, dir)
	if n, err := strconv.Atoi(os.Getenv(killAt)); err == nil {
		s.keep.step = func(string) error {
			if n--; n < 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return nil
		}
	}
	todo := changes()
	if bytes, err := strconv.ParseUint(os.Getenv(limit), 10, 64); err == nil {
		todo = append(todo, PathChange{"zz", Nothing, text(File, 0o644, strings.Repeat("0123456789abcdef", 1<<10))})
		s.must(unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: bytes}))
	}
	if os.Getenv("RESTORE_RECOVER") != "" {
		_, err := s.keep.Recover(t.Context(), s.tree())
		s.must(err)
		return
	}
	_, err := s.keep.Restore(t.Context(), s.tree(), Plan{Title: "then", Changes: todo})
	s.must(err)
}

func (s *scene) play(env ...string) ([]byte, error) {
	cmd := exec.CommandContext(s.t.Context(), os.Args[0], "-test.run=^TestPlayed$")
	cmd.Env = append(append(os.Environ(), sceneDir+"="+s.dir), env...)
	return cmd.CombinedOutput()
}

// TestKilled: after a restore, or its recovery, is killed before any step, the next
// recovery leaves the files in either the old or the new state, and no files of ours.
func TestKilled(t *testing.T) {
	t.Parallel()
	all := steps(t)
	for _, cut := range []bool{false, true} { // whether there is a power cut, too
		for n, step := range append(all, "") {
			t.Run(strconv.Itoa(n)+step+strconv.FormatBool(cut), func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				before := state(t, s.tree())
				if out, err := s.play(killAt + "=" + strconv.Itoa(n)); (err == nil) != (n == len(all)) {
					t.Fatalf("%v\n%s", err, out)
				}
				if cut {
					s.lose()
				}
				_, _ = s.play("RESTORE_RECOVER=1", killAt+"="+strconv.Itoa(n%7)) // may be killed, too
				_, err := s.keep.Recover(t.Context(), s.tree())
				s.must(err)
				want := before
				if n > lastIndex(all, "put in place") {
					want = after()
				}
				s.is("recovered", want)
				entries, _ := os.ReadDir(s.keep.Dir)
				for _, e := range entries {
					if !exists(filepath.Join(s.keep.Dir, e.Name(), keptJournal)) && exists(filepath.Join(s.keep.Dir, e.Name(), openJournal)) {
						t.Errorf("%s is still open", e.Name())
					}
				}
			})
		}
	}
}

func lastIndex(all []string, step string) (last int) {
	for i, s := range all {
		if s == step {
			last = i
		}
	}
	return last
}

// lose deletes the files that were moved aside, as a power cut may delete what was not
// synced.
func (s *scene) lose() {
	lost, err := filepath.Glob(filepath.Join(s.tree(), stagePrefix+"*", "old-*"))
	s.must(err)
	for _, path := range lost {
		s.must(os.Remove(path))
	}
}

// TestLimited: if the system refuses to write a file, nothing is changed.
func TestLimited(t *testing.T) {
	t.Parallel()
	for _, bytes := range []string{"0", "100", "10000"} {
		s := newScene(t)
		before := state(t, s.tree())
		out, err := s.play(limit + "=" + bytes)
		if err == nil || !strings.Contains(string(out), "file too large") {
			t.Errorf("%s: %v\n%s", bytes, err, out)
		}
		_, err = s.keep.Recover(t.Context(), s.tree())
		s.must(err)
		s.is("limited to "+bytes, before)
	}
}

// TestFull: if a file system is full, nothing is changed.
func TestFull(t *testing.T) {
	t.Parallel()
	for _, tree := range []bool{true, false} {
		s := newScene(t)
		small := filepath.Join(s.dir, "small")
		s.must(os.Mkdir(small, 0o700))
		if err := unix.Mount("none", small, "tmpfs", 0, "size=64k"); err != nil {
			t.Skipf("no file system can be made here: %v", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(small, unix.MNT_DETACH) })
		big := PathChange{"zz", Nothing, text(File, 0o644, strings.Repeat("x", 1<<20))}
		if tree {
			s.must(os.CopyFS(filepath.Join(small, "tree"), os.DirFS(s.tree())))
			s.must(os.RemoveAll(s.tree()))
			s.must(os.Symlink(filepath.Join(small, "tree"), s.tree()))
		} else {
			s.keep.Dir = filepath.Join(small, "kept")
			s.write("zz", strings.Repeat("x", 1<<20))
			big = PathChange{"zz", File, State{}}
		}
		before := state(t, s.tree()+"/.")
		if _, err := s.keep.Restore(t.Context(), s.tree(), Plan{Title: "then", Changes: append(changes(), big)}); err == nil {
			t.Error("it succeeded on a full file system")
		}
		if got := state(t, s.tree()+"/."); len(got) != len(before) {
			t.Errorf("left %q", got)
		}
	}
}

// TestReadOnly: if a file system becomes read-only during a restore, the old files are
// kept until they can be put back.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	small := filepath.Join(s.dir, "small")
	s.must(os.Mkdir(small, 0o700))
	if err := unix.Mount("none", small, "tmpfs", 0, ""); err != nil {
		t.Skipf("no file system can be made here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(small, unix.MNT_DETACH) })
	s.must(os.Rename(s.tree(), s.tree()+"~"))
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", s.tree()+"~", small+"/tree").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.must(os.Symlink(small+"/tree", s.tree()))
	tree, before := small+"/tree", state(t, small+"/tree")
	s.keep.step = func(step string) error {
		if step == "put in place" && exists(tree+"/l") {
			return unix.Mount("none", small, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, "")
		}
		return nil
	}
	_, err := s.keep.Restore(t.Context(), tree, Plan{Changes: changes()})
	if _, unfinished := errors.AsType[*UnfinishedError](err); !unfinished {
		t.Errorf("error %v", err)
	}
	if _, err := s.keep.Recover(t.Context(), tree); err == nil {
		t.Error("it recovered on a read-only file system")
	}
	s.must(unix.Mount("none", small, "tmpfs", unix.MS_REMOUNT, ""))
	s.keep.step = nil
	_, err = s.keep.Recover(t.Context(), tree)
	s.must(err)
	if got := state(t, tree); !maps.Equal(got, before) {
		t.Errorf("put back %q, want %q", got, before)
	}
}

// TestMounted: files on a mounted file system are moved aside within that file system.
func TestMounted(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	if err := unix.Mount("none", s.path("d"), "tmpfs", 0, ""); err != nil {
		t.Skipf("no file system can be made here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(s.path("d"), unix.MNT_DETACH) })
	s.write("d/g", "old g\n")
	s.must(os.Chmod(s.path("d"), 0o755))
	s.must(os.Chmod(s.path("d/g"), 0o755))
	before := state(t, s.tree())
	_, err := s.restore()
	s.must(err)
	s.is("restored", after())
	one, err := s.keep.Find(s.tree(), "")
	s.must(err)
	back, err := s.keep.Undo(one)
	s.must(err)
	_, err = s.keep.Restore(t.Context(), s.tree(), back)
	s.must(err)
	s.is("undone", before)
}
