package agent

import (
	"os"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/file"
	"codeloops/internal/loop"
)

// maxUsage bounds what is read of a usage file, in bytes.
const maxUsage = 1 << 20

// addUsage reads the usage file of a CLI and removes it. There is none if the turn was cut
// short.
func (s Spec) addUsage(t *loop.Turn, name string) {
	if !mentions(s.Write, holdUsageFile) {
		return
	}
	if document, _, err := file.Read(name, file.Options{Max: maxUsage}); err == nil {
		t.Usage.Tokens = transcript.Counts(string(s.Output), document)
	}
	_ = os.Remove(name) // otherwise it is removed with the outputs
}
