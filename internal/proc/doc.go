// Package proc runs commands and leaves nothing of them running.
//
// A command ends when the process started for it exits, not when its output closes.
// Whatever it left running is then ended, even what moved to a session of its own. Its
// output ends with that process, too. Output goes through channels with large buffers,
// because programs lose output in small ones, and is kept in memory as it arrives, so
// that nobody can change what has been read.
//
// A sealed output is one that other processes can neither write to nor drain: on Linux
// a socket, because a pipe can be reopened through /proc/<pid>/fd. What is printed after
// the end goes to a separate file. These files are records; they are never read back.
//
// On Linux, commands are children of a keeper: this same program, started again as a
// small process that adopts every orphan among its descendants (PR_SET_CHILD_SUBREAPER,
// prctl(2)) and kills them all when the program that started it is gone, even by
// SIGKILL. That is why the program's main begins with [Keep]. Elsewhere this program
// watches the processes itself: on macOS by walking the process table, on Windows with a
// job object. If this program is killed with SIGKILL, Windows ends the processes; macOS
// may leave some running.
package proc
