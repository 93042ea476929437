package proc

import (
	"os"
	"strconv"
	"strings"
)

// Kept reports whether this process descends from a keeper: it is a part of what a
// runner of another process runs.
func Kept() bool {
	for pid := os.Getppid(); pid > 0; {
		if strings.HasPrefix(readHead("/proc/"+strconv.Itoa(pid)+"/cmdline", maxCommandLine), keeperName+"\x00") {
			return true
		}
		_, pid = status(pid)
	}
	return false
}
