// Package proc runs commands of which nothing is left when they are over.
//
// A command ends when the process that was started for it exits, not when its
// output closes; whatever it left running is then ended, also what moved to a
// session of its own. Its output ends with that process, too. It goes through
// channels with much room, because programs lose output where there is little, and
// is kept in memory as it comes: nobody can change what has been read.
//
// A sealed output is one that other processes can neither write into nor empty: on Linux
// a socket, as a pipe could be opened through /proc/<pid>/fd. What is printed after the
// end goes to a file of its own. Such files are records, and never read again.
//
// On Linux the commands are children of a keeper: this same program, started
// again as a small process that adopts every orphan among its descendants
// (PR_SET_CHILD_SUBREAPER, prctl(2)) and kills them all when the program that
// started it is gone, even by SIGKILL. The program's main therefore begins
// with [Keep]. Elsewhere the processes are watched from within: on macOS by
// walking the process table, on Windows by a job object; what outlives a SIGKILL of this
// program is not guaranteed on macOS, and ended by the system on Windows.
package proc
