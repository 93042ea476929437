package diff_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"codeloops/internal/diff/checkpoint"
)

// TestCheckpointSaysWhatIsOnTheDisk: a checkpoint records permissions that the umask does
// not give, and the bytes of files that git converts.
func TestCheckpointSaysWhatIsOnTheDisk(t *testing.T) { //nolint:gocyclo // one fact after the other
	t.Parallel()
	s := newRepo(t)
	s.git("config", "filter.up.clean", "tr a-z A-Z")
	s.write(".gitattributes", "*.up filter=up\n*.txt text=auto\n")
	s.write("a.up", "abc\n")
	s.write("a.txt", "a\r\nb\r\n")
	s.write("mixed.txt", "a\r\nb\n")
	s.write("plain.txt", "a\nb\n")
	s.write("none", "a\r\n")
	s.commit("first")
	for name, mode := range map[string]os.FileMode{"none": 0o600, "a.txt": 0o444, "plain.txt": 0o700} {
		s.chmod(name, mode)
	}
	tree := s.begin()
	first := s.disk(tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "start"))
	wantPerms := map[string]fs.FileMode{"none": 0o600, "a.txt": 0o444, "plain.txt": 0o700}
	for name, want := range wantPerms {
		if got, ok := first.Perms[name]; !ok || got != want {
			t.Errorf("permissions of %s: %o, want %o", name, got, want)
		}
	}
	if len(first.Perms) != len(wantPerms) {
		t.Errorf("permissions of %v", first.Perms)
	}
	if len(first.Raw) != 3 || !first.Raw["a.txt"].CRLF || first.Raw["mixed.txt"].ID.IsZero() {
		t.Errorf("raw: %+v", first.Raw)
	}
	if got := s.keptGit("cat-file", "blob", first.Raw["a.up"].ID.String()); got != "abc" {
		t.Errorf("the bytes of a.up are %q", got)
	}

	s.write("mixed.txt", "a\nb\n")
	s.append("plain.txt", "c\r\n")
	s.chmod("none", 0o644)
	change, err := tree.Capture(t.Context())
	s.must(err)
	commit, err := tree.Checkpoint(t.Context(), change.State, "s/1", "one")
	second := s.disk(commit, err)
	if _, odd := second.Perms["none"]; odd || len(second.Perms) != 2 {
		t.Errorf("permissions of %v", second.Perms)
	}
	if _, raw := second.Raw["mixed.txt"]; raw || second.Raw["plain.txt"].ID.IsZero() || len(second.Raw) != 3 {
		t.Errorf("raw: %+v", second.Raw)
	}
	s.keptGit("repack", "-q", "-a", "-d")
	s.keptGit("prune", "--expire=now")
	for name, raw := range second.Raw {
		if !raw.CRLF {
			s.keptGit("cat-file", "-e", raw.ID.String())
			continue
		}
		if name != "a.txt" {
			t.Errorf("%s is all CRLF", name)
		}
	}
}

// TestCheckpointOfOtherPermissions: a state that git cannot tell from an earlier one is
// stored with its latest permissions.
func TestCheckpointOfOtherPermissions(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", "a\n")
	s.commit("first")
	tree := s.begin()
	s.chmod("a", 0o600)
	change, err := tree.Capture(t.Context())
	s.must(err)
	disk := s.disk(tree.Checkpoint(t.Context(), change.State, "s/1", "one"))
	if got := disk.Perms["a"]; got != 0o600 {
		t.Errorf("permissions of %o, want 600", got)
	}
}

// disk reads what a checkpoint records about the disk.
func (s *sandbox) disk(commit string, err error) *checkpoint.Disk {
	s.t.Helper()
	s.must(err)
	kept := checkpoint.DiskOf(s.keptGit("log", "-1", "--format=%B", commit))
	if kept == nil || strings.Contains(commit, " ") {
		s.t.Fatalf("checkpoint %s says nothing of the disk", commit)
	}
	return kept
}
