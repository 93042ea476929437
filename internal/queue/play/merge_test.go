//go:build unix

package play_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// If the merger is interrupted while it removes the work tree of a merged task, the next one removes it.
func TestInterruptedWhileRemoving(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	m := w.machines[0]
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin, removing := filepath.Join(m.dir, "bin"), filepath.Join(m.dir, "removing")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *' update-ref --stdin')\n\ttest -e %[1]s || { touch %[1]s; sleep 600; } ;;\nesac\nexec %[2]s \"$@\"\n", removing, git)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	w.play(twoRounds(filepath.Join(m.dir, "turns"), "true"))
	id := w.add("write two parts")
	first := w.process(0, "PATH="+bin+":"+os.Getenv("PATH"))
	w.await("the merger to remove the work tree", func() bool { return w.there(removing) })
	if err := first.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	stop := w.works(0, 1)
	w.merged(id)
	stop()
	w.clean()
}
