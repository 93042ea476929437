package proc

import (
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
	for t := range k.tasks {
		k.socket.send(t.run(k.socket.send))
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

// listen takes the host's frames until the host is gone.
func (k *keeper) listen() {
	defer close(k.tasks)
	var current *task
	for {
		kind, fields, files, err := k.socket.receive()
		if err == nil && kind == frameStart {
			current, err = newTask(fields, files)
		}
		switch {
		case err != nil:
			if current != nil {
				current.kill()
				current.release()
			}
			return
		case kind == frameStart:
			k.tasks <- current
		case kind == frameSweep && current != nil:
			current.release()
		case kind == frameTerminate && current != nil:
			current.terminate()
		case kind == frameKill && current != nil:
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

func newTask(fields []string, files []int) (*task, error) {
	sp, err := decodeStart(fields)
	if err != nil || len(files) != 3 {
		return nil, errFrame
	}
	t := &task{spawn: sp, files: files, released: make(chan struct{})}
	t.release = sync.OnceFunc(func() { close(t.released) })
	t.list = func() []int { return descendants(os.Getpid()) }
	return t, nil
}

// run runs the command and returns the frame that says how it ended. The others
// go by send.
func (t *task) run(send func(frame []byte)) []byte {
	if err := t.begin(t.fork); err != nil {
		errno, _ := errors.AsType[syscall.Errno](err)
		return encodeFailed(errno)
	}
	send(encodePIDs(frameStarted, t.leader))
	status, outlived := waitFor(t.leader)
	r := report{exitCode: status.ExitStatus(), stopped: t.end()}
	if !reap(func(pid int) { outlived = append(outlived, pid) }) {
		outlived = append(outlived, t.list()...)
	}
	send(encodePIDs(frameExited, outlived...))
	<-t.released // whoever is told to end prints something, perhaps
	if status.Signaled() {
		r.signal = status.Signal().String()
	}
	var survivors []Process
	r.leftovers, survivors = t.sweep(func() bool { return reap(func(int) {}) })
	return encodeEnded(r, survivors)
}

func (t *task) fork() (pid int, err error) {
	attr := &syscall.ProcAttr{
		Dir: t.dir,
		Env: t.env,
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	for _, fd := range t.files {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	pid, err = syscall.ForkExec(t.path, t.argv, attr)
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

// hasEnded reports whether a child waits to be reaped.
func hasEnded(child int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, child, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
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
