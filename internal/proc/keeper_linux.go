package proc

import (
	"encoding/gob"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	keeperName   = "codeloops-keeper" // its argv[0]
	keeperSocket = 3
)

// Keep is the first thing that main does, and TestMain in the tests of
// packages that run commands. It returns true when this process was started to
// be a keeper and has done its work; main then returns.
func Keep() bool {
	if !isKeeper() {
		return false
	}
	// A command dies with the thread that forked it (PR_SET_PDEATHSIG), so
	// all are forked from this one, which lasts as long as the keeper.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return true // the host sees the socket close
	}
	closeOnExec()
	ignoreSignals()
	k := &keeper{tasks: make(chan *task)}
	go k.listen()
	host := gob.NewEncoder(&k.socket)
	send := func(m message) { _ = host.Encode(m) } // a host that is gone is noticed by listen
	for t := range k.tasks {
		send(t.run(send))
	}
	return true
}

func isKeeper() bool {
	if len(os.Args) != 1 || os.Args[0] != keeperName {
		return false
	}
	kind, err := unix.GetsockoptInt(keeperSocket, unix.SOL_SOCKET, unix.SO_TYPE)
	return err == nil && kind == unix.SOCK_STREAM
}

// closeOnExec sees to it that a command gets no file but its three, whatever
// this program has inherited itself.
func closeOnExec() {
	const first = keeperSocket
	if unix.CloseRange(first, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, err := os.ReadDir("/proc/self/fd") // before Linux 5.11
	if err != nil {
		unix.CloseOnExec(first)
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}

// ignoreSignals makes the keeper outlast signals that are meant for others.
// They are caught, not ignored: commands would inherit an ignored signal.
func ignoreSignals() {
	signal.Notify(make(chan os.Signal, 1),
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM)
}

// A keeper runs one command at a time, so that whoever descends from it
// belongs to that command.
type keeper struct {
	socket endpoint
	tasks  chan *task
}

// listen takes the host's messages until the host is gone.
func (k *keeper) listen() {
	defer close(k.tasks)
	var current *task
	host := gob.NewDecoder(&k.socket)
	for {
		var m message
		err := host.Decode(&m)
		if err == nil && m.Kind == msgStart {
			current, err = newTask(m.Start, k.socket.take())
		}
		switch {
		case err != nil:
			if current != nil {
				current.kill()
				current.release()
			}
			return
		case m.Kind == msgStart:
			k.tasks <- current
		case m.Kind == msgSweep && current != nil:
			current.release()
		case m.Kind == msgTerminate && current != nil:
			current.terminate()
		case m.Kind == msgKill && current != nil:
			current.kill()
		}
	}
}

// A task is a job in a keeper.
type task struct {
	job
	spawn
	files    []int  // stdin, stdout, stderr
	release  func() // lets what is left be told to end
	released chan struct{}
}

func newTask(o *order, files []int) (*task, error) {
	if o == nil || len(o.Argv) == 0 || len(files) != 3 {
		return nil, errMessage
	}
	t := &task{spawn: o.spawn(), files: files, released: make(chan struct{})}
	t.release = sync.OnceFunc(func() { close(t.released) })
	t.list = func() []int { return descendants(os.Getpid()) }
	return t, nil
}

// run runs the command and returns the message that says how it ended. The others
// go by send.
func (t *task) run(send func(message)) (end message) {
	defer func() { end.Spent = !lift(t.View) }()
	if err := lay(t.View); err != nil {
		return message{Kind: msgUnlaid, Why: err.Error()}
	}
	if err := t.begin(t.fork); err != nil {
		errno, _ := errors.AsType[syscall.Errno](err)
		return message{Kind: msgFailed, Errno: errno}
	}
	send(message{Kind: msgStarted, PIDs: []int{t.leader}})
	status, outlived := waitFor(t.leader)
	e := &ended{ExitCode: status.ExitStatus(), Stopped: t.end()}
	if !reap(func(pid int) { outlived = append(outlived, pid) }) {
		outlived = append(outlived, t.list()...)
	}
	send(message{Kind: msgExited, PIDs: outlived})
	<-t.released // whoever is told to end prints something, perhaps
	if status.Signaled() {
		e.Signal = status.Signal().String()
	}
	e.Leftovers, e.Survivors = t.sweep(func() bool { return reap(func(int) {}) })
	return message{Kind: msgEnded, Ended: e}
}

func (t *task) fork() (pid int, err error) {
	attr := &syscall.ProcAttr{
		Dir: t.Dir,
		Env: t.Env,
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	for _, fd := range t.files {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	pid, err = syscall.ForkExec(t.path, t.Argv, attr)
	// Only the command may hold them: a pipe has to break when it closes it.
	for _, fd := range t.files {
		_ = syscall.Close(fd)
	}
	return pid, err
}

// waitFor waits for a child, and reaps the others that end before it: those that
// may have ended after it, as both had when they were seen, have outlived it.
func waitFor(child int) (status syscall.WaitStatus, outlived []int) {
	for {
		got, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case got == child || errors.Is(err, syscall.ECHILD):
			return status, outlived
		case got > 0 && hasEnded(child):
			outlived = append(outlived, got)
		}
	}
}

// hasEnded reports whether a child waits to be reaped, or is about to.
func hasEnded(child int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, child, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0 || ending(child)
}

// reap reaps all children that have ended, tells each, and reports whether those
// were all there were. A subreaper without children has no descendants either.
func reap(tell func(pid int)) bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.ECHILD) {
			return true
		}
		if pid == 0 {
			return false
		}
		if pid > 0 {
			tell(pid)
		}
	}
}
