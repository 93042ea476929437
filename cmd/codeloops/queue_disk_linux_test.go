package main

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/queue"
)

// TestQueueLongWorkerDisk: a worker whose disk is full says so, takes no more tasks for a while, and
// loses nothing. A task waits and is done when there is space, whether or not it had started when the
// disk became full.
func TestQueueLongWorkerDisk(t *testing.T) {
	soaking(t)
	t.Setenv("QUEUE_HUB", "apart")
	s := newQueueStage(t, 2*time.Second, `
say begin
case $CODELOOPS_ROLE in
critic) echo "DECISION: DONE";;
*) test ! -e $STAGE/fill || cat /dev/zero >$HOME/ballast; echo done >"$task";;
esac
say end
`)
	noise := make([]byte, 2<<20)
	_, _ = rand.Read(noise)
	s.Write("noise", string(noise))
	s.Save("noise")
	home := s.homeOf(1)
	ballast, keep, fill := filepath.Join(home, "ballast"), filepath.Join(s.dir, "keep"), filepath.Join(s.dir, "fill")
	shell(t, "mv", home, keep)
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", home, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(home, syscall.MNT_DETACH) })
	shell(t, "cp", "-a", keep+"/.", home)
	hub := s.hub()
	on := s.board()
	one := s.worker(1)
	var ids []string
	for name, full := range map[string]func(){
		"before": func() { shell(t, "sh", "-c", "! cat /dev/zero >"+ballast) },
		"within": func() { s.Put(s.dir, "fill", "") },
	} {
		said := strings.Count(s.Text(s.dir, "worker-1.log"), "its disk is full")
		full()
		id := s.add("task " + name)
		ids = append(ids, id)
		s.await("what it says of a disk that is full "+name, func() bool {
			return strings.Count(s.Text(s.dir, "worker-1.log"), "its disk is full") > said
		})
		if r := s.all(on)[id]; r.State != queue.Waiting || !strings.Contains(r.Why, "its disk is full") {
			t.Errorf("%s is %s: %s", id, r.State, r.Why)
		}
		_ = os.Remove(fill)
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		s.await("its end when there is room", func() bool { return s.all(on)[id].State == queue.Finished })
	}
	two := s.worker(0)
	s.await("the merges", func() bool { return over(s.all(on)) == len(ids) })
	s.settled(on, ids)
	s.stop(one, two)
	hub.stop()
}

func shell(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}
