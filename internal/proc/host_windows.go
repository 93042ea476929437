package proc

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// A host starts commands as children of this process, each in a job object of
// its own (learn.microsoft.com, "Job Objects").
type host struct{}

func newHost() *host { return &host{} }

func (*host) close() error { return nil }

func (*host) start(s spawn) (*child, error) {
	job, err := newJobObject()
	if err != nil {
		return nil, fmt.Errorf("make a job object: %w", err)
	}
	// It starts suspended, so that it cannot have children outside the job.
	p, err := os.StartProcess(s.Path, s.Argv, &os.ProcAttr{
		Dir:   s.Dir,
		Env:   s.Env,
		Files: []*os.File{s.io.stdin, s.io.stdout.theirs, s.io.stderr.theirs},
		Sys: &syscall.SysProcAttr{
			CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP,
			HideWindow:    true,
		},
	})
	if err != nil {
		job.close()
		return nil, startError(s.Path, err)
	}
	if err := job.adopt(p); err != nil {
		_ = p.Kill()
		_, _ = p.Wait()
		job.close()
		return nil, &StartError{Path: s.Path, Err: err}
	}
	c := &child{job: job, pid: p.Pid, exited: make(chan map[int]bool, 1), swept: make(chan struct{}), ended: make(chan report, 1)}
	go c.mind(p)
	return c, nil
}

// A child is a command that this process runs.
type child struct {
	job    jobObject
	pid    int
	leader *leader
	exited chan map[int]bool // one
	swept  chan struct{}     // closed when the leftovers may be ended
	ended  chan report       // one

	mu      sync.Mutex
	over    bool // its own process has ended
	closed  bool // the job object has been closed
	stopped bool // the command was told to end before its own process had ended
}

// sweep is called once, after exited: the leftovers may be ended.
func (c *child) sweep() { close(c.swept) }

// terminate sends Ctrl+Break, which a console program can catch.
func (c *child) terminate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.stopped = true
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(c.pid))
}

func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = c.stopped || !c.over
	if !c.closed {
		c.job.terminate()
	}
}

// mind waits for the command and ends what it leaves.
func (c *child) mind(p *os.Process) {
	state, err := p.Wait()
	c.mu.Lock()
	c.over = true
	r := report{Result: Result{ExitCode: -1}, Stopped: c.stopped, err: err}
	c.mu.Unlock()
	if err == nil {
		r.ExitCode = state.ExitCode()
	}
	c.exited <- nil
	<-c.swept
	r.Leftovers, r.Survivors = c.clear()
	c.mu.Lock()
	c.closed = true
	c.job.close()
	c.mu.Unlock()
	c.ended <- r
}

func (c *child) clear() (leftovers, survivors []Process) {
	leftovers = c.job.members()
	c.job.terminate()
	const pause, limit = 5 * time.Millisecond, 5 * time.Second
	for waited := time.Duration(0); waited < limit; waited += pause {
		if survivors = c.job.members(); len(survivors) == 0 {
			break
		}
		time.Sleep(pause)
	}
	return leftovers, survivors
}
