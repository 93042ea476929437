//go:build unix

package diff_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"codeloops/internal/diff"
)

// sharedUmask tells a process of this test which umask to take.
const sharedUmask = "CODELOOPS_TEST_UMASK"

// TestShared: what is made in a repository has the permissions that git would have
// given it, whatever core.sharedRepository and the umask are. A umask is that of a
// whole process.
func TestShared(t *testing.T) {
	t.Parallel()
	if umask := os.Getenv(sharedUmask); umask != "" {
		underUmask(t, umask)
		return
	}
	for _, umask := range []string{"000", "022", "027", "077"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestShared$")
		cmd.Env = append(os.Environ(), sharedUmask+"="+umask)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("umask %s: %v\n%s", umask, err, out)
		}
	}
}

func underUmask(t *testing.T, umask string) {
	t.Helper()
	mask, err := strconv.ParseInt(umask, 8, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Umask(int(mask))
	values := []string{"umask", "group", "all", "0660", "0640", "0600", "0666", "0604", "0620"}
	if umask == "077" { // what they stand for is seen under one
		values = append(values, "", "world", "everybody", "true", "off", "0", "1", "2", "01", "0x1b0", "1k",
			"0755", "600", "+0660", "-1", "4660", "0400", "3", "10", "-0660", "GROUP", "0668", "0_660", "99999999999999999999999")
	}
	lines := []string{"", "sharedRepository"}
	for _, value := range values {
		lines = append(lines, "sharedRepository = "+value)
	}
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			checkShared(t, line, umask == "027")
		})
	}
}

func checkShared(t *testing.T, setting string, setgid bool) {
	t.Helper()
	ours, gits := newSharing(t, setting, setgid), newSharing(t, setting, setgid)
	err, gitErr := ours.bySelf(), gits.byGit()
	if (err == nil) != (gitErr == nil) || err != nil && !strings.Contains(strings.ToLower(err.Error()), "core.sharedrepository") {
		t.Fatalf("%v; git: %v", err, gitErr)
	}
	if got, want := ours.modes(), gits.modes(); err == nil && (!maps.Equal(got, want) || len(want) != 8) {
		t.Errorf("made\n%s\ngit makes\n%s", got, want)
	}
	if locks, err := os.Stat(ours.path(".git/codeloops")); err == nil && !setgid {
		if got, want := locks.Mode().String(), ours.modes()["directory of all"]; got != want {
			t.Errorf("the directory of locks is %s, not %s", got, want)
		}
	}
}

// A sharing is a repository in which objects and a reference are to be written.
type sharing struct{ *sandbox }

func newSharing(t *testing.T, setting string, setgid bool) sharing {
	t.Helper()
	s := sharing{newRepo(t)}
	s.remove(".git/objects/pack")
	if setgid {
		s.chmod(".git/objects", 0o770|fs.ModeSetgid)
		s.chmod(".git/refs", 0o770|fs.ModeSetgid)
	}
	s.append(".git/config", "[core]\n\t"+setting+"\n")
	return s
}

// bySelf writes a checkpoint of few objects, and one of many.
func (s sharing) bySelf() error {
	ctx := s.t.Context()
	s.write("f", "few\n")
	tree, err := diff.Open(ctx, s.root, s.options())
	if err != nil {
		return err
	}
	defer tree.Close()
	s.must(tree.Baseline(ctx))
	_, err = tree.Checkpoint(ctx, tree.BaseState(), "s/1", "few")
	s.must(err)
	for i := range 150 {
		s.write(fmt.Sprintf("many/%d", i), strconv.Itoa(i))
	}
	change, err := tree.Capture(ctx)
	s.must(err)
	_, err = tree.Checkpoint(ctx, change.State, "s/2", "many")
	s.must(err)
	_, err = tree.LockDir()
	s.must(err)
	return nil
}

func (s sharing) byGit() error {
	s.write("f", "few\n")
	blob, err := s.run(s.t.Context(), s.root, nil, nil, "hash-object", "-w", "f")
	if err != nil {
		return err
	}
	for _, name := range []string{"s/1", "s/2"} {
		if _, err := s.run(s.t.Context(), s.root, nil, nil, "update-ref", "refs/codeloops/"+name, strings.TrimSpace(string(blob))); err != nil {
			return err
		}
	}
	_, err = s.run(s.t.Context(), s.root, nil, blob, "pack-objects", "-q", s.path(".git/objects/pack/pack"))
	return err
}

// modes returns those of all that was made, by what it is.
func (s sharing) modes() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	for what, pattern := range map[string]string{
		"loose object": "objects/??/*", "directory of some": "objects/??",
		"pack": "objects/pack/*.pack", "index": "objects/pack/*.idx", "directory of packs": "objects/pack",
		"reference": "refs/codeloops/s/*", "directory of some references": "refs/codeloops/s", "directory of all": "refs/codeloops",
	} {
		names, err := filepath.Glob(s.path(".git/" + pattern))
		s.must(err)
		for _, name := range names {
			info, err := os.Lstat(name)
			s.must(err)
			if mode := info.Mode().String(); !strings.Contains(all[what], mode) {
				all[what] += mode
			}
		}
	}
	return all
}
