package proc

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// snapshotPeriod is how often the descendants of a command are listed, so that they are
// still known when their parents are gone. A process that loses its parent and leaves
// its session between two snapshots is not found.
const snapshotPeriod = 500 * time.Millisecond

// A host starts commands as children of this process.
type host struct{}

func newHost() *host { return &host{} }

func (*host) close() error { return nil }

func (*host) start(s spawn) (*child, error) {
	c := &child{exited: make(chan map[int]bool, 1), swept: make(chan struct{}), ended: make(chan report, 1)}
	f := &family{}
	c.list = f.list
	var p *os.Process
	err := c.begin(func() (pid int, err error) {
		p, err = os.StartProcess(s.Path, s.Argv, &os.ProcAttr{
			Dir:   s.Dir,
			Env:   s.Env,
			Files: []*os.File{s.io.stdin, s.io.stdout.theirs, s.io.stderr.theirs},
			Sys:   &syscall.SysProcAttr{Setsid: true},
		})
		if err != nil {
			return 0, startError(s.Path, err)
		}
		f.founder = p.Pid
		return p.Pid, nil
	})
	if err != nil {
		return nil, err
	}
	go c.mind(p)
	return c, nil
}

// A child is a command that this process runs.
type child struct {
	job
	leader *leader
	exited chan map[int]bool // one
	swept  chan struct{}     // closed when the leftovers may be ended
	ended  chan report       // one
}

// sweep is called once, after exited: the leftovers may be ended.
func (c *child) sweep() { close(c.swept) }

// mind waits for the command and ends what it leaves.
func (c *child) mind(p *os.Process) {
	state, err := c.wait(p)
	r := report{Result: Result{ExitCode: -1}, Stopped: c.end()}
	if err != nil {
		r.err = err
	} else {
		status := state.Sys().(syscall.WaitStatus)
		r.ExitCode = status.ExitStatus()
		if status.Signaled() {
			r.Signal = status.Signal().String()
		}
	}
	c.exited <- nil
	<-c.swept
	gone := func() bool { return len(c.list()) == 0 }
	r.Leftovers, r.Survivors = c.job.sweep(gone)
	c.ended <- r
}

// wait waits for the leader and takes snapshots meanwhile.
func (c *child) wait(p *os.Process) (*os.ProcessState, error) {
	over := make(chan struct{})
	var snapshots sync.WaitGroup
	snapshots.Go(func() {
		ticker := time.NewTicker(snapshotPeriod)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				c.list()
			case <-over:
				return
			}
		}
	})
	state, err := p.Wait()
	close(over)
	snapshots.Wait()
	return state, err
}
