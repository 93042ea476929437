package proc_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/proc"
)

// workDir returns an empty work directory for an overlay.
func workDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	removable(t, dir)
	return dir
}

// removable lets the cleanup remove what an overlay leaves in its work directory, which
// otherwise only root can enter.
func removable(t *testing.T, work string) {
	t.Helper()
	t.Cleanup(func() {
		for _, dir := range []string{"work", "work/incompat", "work/incompat/volatile"} {
			_ = os.Chmod(filepath.Join(work, dir), 0o700) // if it exists
		}
	})
}

// overlaid returns a script that runs in an overlay of its directory, and the upper
// directory. It skips the test if the system does not allow overlays.
func overlaid(t *testing.T, text string) (cmd proc.Command, upper string) {
	t.Helper()
	cmd = script(t, text)
	tree, layers := t.TempDir(), t.TempDir()
	upper = filepath.Join(layers, "upper")
	for _, dir := range []string{upper, filepath.Join(tree, "d")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"a": "a\n", "d/b": "b\n", "d/c": "c\n"} {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Dir = tree
	cmd.Overlays = []proc.Overlay{{Dir: tree, Upper: upper, Work: workDir(t)}}
	_, err := newRunner(t).Run(t.Context(), proc.Command{Invocation: proc.Invocation{Argv: []string{"/bin/true"}, Dir: tree}, View: proc.View{Overlays: cmd.Overlays}})
	cmd.Overlays[0].Work = workDir(t)
	if _, refused := errors.AsType[*proc.OverlayError](err); refused {
		t.Skip(err)
	}
	return cmd, upper
}

// TestOverlay: a command sees what it writes, while the directory stays unchanged.
func TestOverlay(t *testing.T) {
	t.Parallel()
	cmd, upper := overlaid(t, "echo changed >a; rm d/b; echo new >d/new; mv d/c d/moved; cat a d/new; ls d; pwd; id -u")
	res := run(t, cmd)
	want := "changed\nnew\nmoved\nnew\n" + cmd.Dir + "\n" + strconv.Itoa(os.Getuid()) + "\n"
	if got := string(res.Stdout.Text); got != want || res.ExitCode != 0 {
		t.Errorf("it saw %q, want %q: %s", got, want, res.Stderr.Text)
	}
	for name, want := range map[string]string{"a": "a\n", "d/b": "b\n", "d/c": "c\n"} {
		if got, err := os.ReadFile(filepath.Join(cmd.Dir, name)); string(got) != want {
			t.Errorf("%s now holds %q: %v", name, got, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(cmd.Dir, "d/new")); err == nil {
		t.Error("the new file is in the directory")
	}
	if got, err := os.ReadFile(filepath.Join(upper, "d/new")); string(got) != "new\n" {
		t.Errorf("the upper file holds %q: %v", got, err)
	}
	cmd.Argv = []string{"/bin/sh", "-c", "cat a; ls d"}
	cmd.Overlays[0].Work = workDir(t)
	if got := string(run(t, cmd).Stdout.Text); got != "changed\nmoved\nnew\n" {
		t.Errorf("the next command saw %q", got)
	}
}

// TestOverlayOthers: in an overlay, root can change files of other users.
func TestOverlayOthers(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	cmd, _ := overlaid(t, "stat -c %u a; echo changed >a; stat -c %u a; chown 1235 d/b; stat -c %u d/b")
	if err := os.Chown(filepath.Join(cmd.Dir, "a"), 1234, 1234); err != nil {
		t.Fatal(err)
	}
	if got := string(run(t, cmd).Stdout.Text); got != "1234\n1234\n1235\n" {
		t.Errorf("it saw %q", got)
	}
}

// TestOverlayHolds: no command can write below the overlay, not even as root.
func TestOverlayHolds(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]string{
		"unmount":           "umount -l .",
		"unmount elsewhere": "unshare -Urm umount -l $PWD; unshare -Urm sh -c 'umount -l $PWD && echo x >$PWD/a'",
		"another process":   "for p in /proc/[0-9]*; do echo x >$p/root$PWD/a; echo x >$p/cwd/a; done",
		"another namespace": "for p in /proc/[0-9]*; do nsenter -t ${p#/proc/} -m sh -c \"echo x >$PWD/a\"; nsenter -t ${p#/proc/} -U -m sh -c \"echo x >$PWD/a\"; done",
		"bind":              "mkdir -p /tmp/x; mount --bind $PWD /tmp/x; unshare -Urm sh -c 'mount --bind -o nonrecursive $PWD/.. /mnt && echo x >/mnt/$(basename $PWD)/a'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, _ := overlaid(t, "exec 2>/dev/null; cd "+"$PWD; "+way+"; echo x >a; true")
			run(t, cmd)
			if got, err := os.ReadFile(filepath.Join(cmd.Dir, "a")); string(got) != "a\n" {
				t.Errorf("the file holds %q: %v", got, err)
			}
		})
	}
}

// TestOverlayLifted: the next command of the same keeper has none of the previous
// command's mounts. If a process still uses them, the next command gets another keeper.
//
//nolint:paralleltest // other tests would use the keeper, too
func TestOverlayLifted(t *testing.T) {
	first, _ := overlaid(t, "echo changed >a; ls secret; echo $PPID")
	secret, other := filepath.Join(first.Dir, "secret"), t.TempDir()
	if err := os.MkdirAll(filepath.Join(secret, "seen"), 0o700); err != nil {
		t.Fatal(err)
	}
	first.Hidden, first.Binds = []string{secret}, []proc.Bind{{Dir: other, Of: first.Dir}}
	runner := newRunner(t)
	says := func(cmd proc.Command) string {
		t.Helper()
		cmd.Overlays[0].Work = workDir(t)
		res, err := runner.Run(t.Context(), cmd)
		if err != nil {
			t.Fatal(err)
		}
		return string(res.Stdout.Text)
	}
	keeper := says(first)
	second, _ := overlaid(t, "cat "+first.Dir+"/a; ls "+secret+"; ls "+other+"; echo $PPID")
	if got, want := says(second), "a\nseen\n"+keeper; got != want {
		t.Errorf("the next command saw %q, want %q", got, want)
	}
	opened := filepath.Join(t.TempDir(), "held")
	first.Watch = func(string, []byte) {
		held, err := os.Open("/proc/" + strings.TrimSpace(keeper) + "/root" + first.Dir + "/a")
		if err != nil {
			t.Error(err)
		}
		t.Cleanup(func() { _ = held.Close() })
		if err := os.WriteFile(opened, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	first.Argv[2] += "; until [ -e " + opened + " ]; do sleep 0.01; done"
	if got := says(first); got != keeper {
		t.Errorf("the third command has the keeper %q, the others %q", got, keeper)
	}
	if got := says(second); strings.HasSuffix(got, keeper) {
		t.Errorf("the keeper of mounts in use was reused: %q", got)
	}
}

// TestOverlayRefused: if an overlay cannot be mounted, Run returns an error and runs
// nothing.
func TestOverlayRefused(t *testing.T) {
	t.Parallel()
	cmd := script(t, "echo ran >ran")
	cmd.Overlays = []proc.Overlay{{Dir: cmd.Dir, Upper: filepath.Join(cmd.Dir, "missing"), Work: filepath.Join(cmd.Dir, "missing too")}}
	_, err := newRunner(t).Run(t.Context(), cmd)
	if _, is := errors.AsType[*proc.OverlayError](err); !is {
		t.Errorf("error %v", err)
	}
	if _, err := os.Lstat(filepath.Join(cmd.Dir, "ran")); err == nil {
		t.Error("the command ran")
	}
}

// TestOverlayNames: special characters in directory names are taken literally.
func TestOverlayNames(t *testing.T) {
	t.Parallel()
	cmd, upper := overlaid(t, "echo x >a")
	odd := filepath.Join(t.TempDir(), `a,b:c\d "e`)
	for _, dir := range []string{"upper", "work", "tree"} {
		if err := os.MkdirAll(filepath.Join(odd, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	_ = upper
	removable(t, filepath.Join(odd, "work"))
	cmd.Dir = filepath.Join(odd, "tree")
	cmd.Overlays = []proc.Overlay{{Dir: cmd.Dir, Upper: filepath.Join(odd, "upper"), Work: filepath.Join(odd, "work")}}
	run(t, cmd)
	if _, err := os.Lstat(filepath.Join(odd, "upper", "a")); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestBind: a command sees one directory at the path of another, with an overlay above
// it.
func TestBind(t *testing.T) {
	t.Parallel()
	cmd, upper := overlaid(t, "cat a; echo changed > a; cat a; ls; pwd")
	other, place := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "a"), []byte("of the other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Binds = []proc.Bind{{Dir: cmd.Dir, Of: other}, {Dir: place, Of: cmd.Dir}}
	cmd.Argv[2] += "; cat " + place + "/a"
	want := "of the other\nchanged\na\n" + cmd.Dir + "\na\n"
	if got := string(run(t, cmd).Stdout.Text); got != want {
		t.Errorf("it saw %q, want %q", got, want)
	}
	if got, err := os.ReadFile(filepath.Join(upper, "a")); string(got) != "changed\n" {
		t.Errorf("the upper file holds %q: %v", got, err)
	}
	for _, dir := range []string{cmd.Dir, other} {
		if got, err := os.ReadFile(filepath.Join(dir, "a")); string(got) == "changed\n" {
			t.Errorf("%s was written to: %v", dir, err)
		}
	}
	cmd.Overlays = nil
	run(t, cmd)
	if got, err := os.ReadFile(filepath.Join(other, "a")); string(got) != "changed\n" {
		t.Errorf("without an overlay the other file holds %q: %v", got, err)
	}
	cmd.Binds[0].Of = filepath.Join(other, "missing")
	if _, err := newRunner(t).Run(t.Context(), cmd); err == nil {
		t.Error("a missing directory can be bound")
	}
}
