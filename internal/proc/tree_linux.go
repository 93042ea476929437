package proc

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
)

// descendants returns the children of a process, their children, and so on, including
// zombies. It reads /proc (proc(5)).
func descendants(pid int) []int {
	children := childrenOf
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		children = parentTable() // a kernel without CONFIG_PROC_CHILDREN
	}
	all := children(pid)
	for i := 0; i < len(all); i++ {
		all = append(all, children(all[i])...)
	}
	return all
}

func childrenOf(pid int) []int {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []int
	for _, t := range threads {
		text, _ := os.ReadFile(dir + t.Name() + "/children")
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// parentTable builds the children of each process from every process's parent.
func parentTable() func(pid int) []int {
	table := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			_, parent := status(pid)
			table[parent] = append(table[parent], pid)
		}
	}
	return func(pid int) []int { return table[pid] }
}

// status returns the state letter and the parent of a process; zeros when there is no
// such process.
func status(pid int) (state byte, parent int) {
	fields := stat("/proc/" + strconv.Itoa(pid))
	if len(fields) < 2 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(fields[1])
	return fields[0][0], parent
}

// stat returns the fields of a process or thread, from its state on (proc_pid_stat(5));
// none when it does not exist. The name before them, in parentheses, may hold anything.
func stat(dir string) []string {
	text, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// commandLine returns the arguments of a running process, "" for any other.
func commandLine(pid int) string {
	dir := "/proc/" + strconv.Itoa(pid)
	state, _ := status(pid)
	if state == 0 || state == 'Z' || state == 'X' {
		return ""
	}
	if line := readHead(dir+"/cmdline", 4*maxCommandLine); line != "" {
		return strings.ReplaceAll(line, "\x00", " ")
	}
	return "[" + strings.TrimSpace(readHead(dir+"/comm", maxCommandLine)) + "]"
}

func readHead(path string, limit int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, _ := io.ReadAll(io.LimitReader(f, limit))
	return string(text)
}
