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

// Keep must be called first in main, and in TestMain of packages that run commands. It
// returns true when this process was started as a keeper and has done its work; main
// then returns.
func Keep() bool {
	if !isKeeper() {
		return false
	}
	// A command dies with the thread that forked it (PR_SET_PDEATHSIG), so all are
	// forked from this thread, which lives as long as the keeper.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return true // the host sees the socket close
	}
	closeOnExec()
	ignoreSignals()
	socket, err := openEndpoint()
	if err != nil {
		return true
	}
	k := &keeper{socket: socket, tasks: make(chan *task)}
	go k.listen()
	host := gob.NewEncoder(socket)
	send := func(m message) { _ = host.Encode(m) } // listen notices when the host is gone
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

// closeOnExec ensures that a command gets no files but its three, whatever this program
// has inherited.
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

// ignoreSignals makes the keeper survive signals meant for others. It catches them
// because commands would inherit ignored signals.
func ignoreSignals() {
	signal.Notify(make(chan os.Signal, 1),
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM)
}

// A keeper runs one command at a time, so that all of its descendants belong to that
// command.
type keeper struct {
	socket *endpoint
	tasks  chan *task
}

// listen handles the host's messages until the host is gone.
func (k *keeper) listen() {
	defer close(k.tasks)
	var current *task
	host := gob.NewDecoder(k.socket)
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
	release  func() // lets run end the leftovers
	released chan struct{}
}

func newTask(s *spawn, files []int) (*task, error) {
	if s == nil || len(s.Argv) == 0 || len(files) != 3 {
		return nil, errMessage
	}
	t := &task{spawn: *s, files: files, released: make(chan struct{})}
	t.release = sync.OnceFunc(func() { close(t.released) })
	t.list = func() []int { return descendants(os.Getpid()) }
	return t, nil
}

// run runs the command and returns the message that says how it ended. It passes earlier
// messages to send.
func (t *task) run(send func(message)) (end message) {
	defer func() { end.Spent = !unmount(t.View) }()
	if err := mount(t.View); err != nil {
		return message{Kind: msgUnmounted, Why: err.Error()}
	}
	if err := t.begin(t.fork); err != nil {
		errno, _ := errors.AsType[syscall.Errno](err)
		return message{Kind: msgFailed, Errno: errno}
	}
	send(message{Kind: msgStarted, PIDs: []int{t.leader}})
	status, outlived := waitFor(t.leader)
	e := &report{Result: Result{ExitCode: status.ExitStatus()}, Stopped: t.end()}
	if !reap(func(pid int) { outlived = append(outlived, pid) }) {
		outlived = append(outlived, t.list()...)
	}
	if len(outlived) > 0 {
		send(message{Kind: msgExited, PIDs: outlived})
		<-t.released // the outputs must be cut first: a process that is told to end may print something
	}
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
	pid, err = syscall.ForkExec(t.Path, t.Argv, attr)
	// Only the command may hold the files: a pipe must break when the command closes it.
	for _, fd := range t.files {
		_ = syscall.Close(fd)
	}
	return pid, err
}

// waitFor waits for a child and reaps the others that end before it. Of those, the ones
// that were still there when the child had ended count as having outlived it.
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

// hasEnded reports whether a child waits to be reaped, or is exiting.
func hasEnded(child int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, child, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0 || exiting(child)
}

// reap reaps all children that have ended, passes each to tell, and reports whether none
// is left. A subreaper without children has no descendants either.
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
