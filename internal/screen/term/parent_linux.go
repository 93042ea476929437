package term

import (
	"bytes"
	"os"
	"strconv"
)

// parentOf returns the process that has started another one, 0 when that is not
// known.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The second field is the name in parentheses, with anything in it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1])) // 0 like everything that is not known
	return parent
}
