//go:build unix

package proc

import (
	"sync"
	"sync/atomic"
	"syscall"
)

// A job is one command from its start until nothing of it is left. Its methods may be
// called from any goroutine.
type job struct {
	// list returns the PIDs of the command's own process, while it runs, and of its
	// descendants.
	list func() []int

	mu      sync.Mutex
	leader  int          // the command's own process, which leads a group; 0 when there is none
	over    bool         // the leader has ended
	stopped bool         // the command was told to end before that
	asked   map[int]bool // processes that got SIGTERM
	killed  atomic.Bool
}

// begin calls start, which returns the PID of the leader. A concurrent terminate or kill
// waits until start has returned.
func (j *job) begin(start func() (int, error)) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	pid, err := start()
	if err != nil {
		j.over = true
		return err
	}
	j.leader = pid
	if j.stopped {
		j.askAll()
	}
	if j.killed.Load() {
		j.killLeader()
	}
	return nil
}

// end notes that the leader has ended, and reports whether it was told to.
func (j *job) end() (stopped bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.over = true
	return j.stopped
}

// terminate asks all processes to end.
func (j *job) terminate() { j.stop(j.askAll) }

// stop notes that the job is to end, and calls all if it has started.
func (j *job) stop(all func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.over {
		return
	}
	j.stopped = true
	if j.leader != 0 {
		all()
	}
}

// askAll sends one SIGTERM to each process: some programs quit at once at the second.
func (j *job) askAll() {
	outside := j.list()
	j.asked = map[int]bool{}
	terminate(-j.leader)
	for _, pid := range outside {
		if group, err := syscall.Getpgid(pid); err == nil && group != j.leader {
			terminate(pid)
		}
		j.asked[pid] = true
	}
}

// kill kills all processes. Those it misses are caught by the sweep after the leader's
// end.
func (j *job) kill() {
	j.killed.Store(true)
	j.stop(j.killLeader)
}

func (j *job) killLeader() {
	_ = syscall.Kill(-j.leader, syscall.SIGKILL)
	kill(j.list())
}

// sweep ends what the leader left. For gone, see [sweep].
func (j *job) sweep(gone func() bool) (leftovers, survivors []Process) {
	j.mu.Lock()
	asked := j.asked
	j.mu.Unlock()
	return sweep{gone: gone, list: j.list, hurry: j.killed.Load, asked: asked}.run()
}
