package agent

import (
	"io"
	"os"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
)

// maxUsage bounds what is read of the file with the counts of a turn, in bytes.
const maxUsage = 1 << 20

// addUsage reads the counts that a CLI has left in a file of its own, which
// goes then. There is none when the turn was cut short.
func (s Spec) addUsage(t *loop.Turn, file string) {
	if !mentions(s.Write, holdUsageFile) {
		return
	}
	f, err := os.Open(file)
	if err != nil {
		return
	}
	document, err := io.ReadAll(io.LimitReader(f, maxUsage))
	_ = f.Close() // opened for reading
	if err == nil {
		t.Usage.Tokens = transcript.Counts(string(s.Output), document)
	}
	_ = os.Remove(file) // it stands beside the outputs and goes with them
}
