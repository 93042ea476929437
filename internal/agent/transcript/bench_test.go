package transcript

import (
	"bytes"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// BenchmarkDecoder reads recorded output of real CLIs, and a stream of short messages.
func BenchmarkDecoder(b *testing.B) {
	words := []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat("words ", 40) + `"}]}}` + "\n")
	inputs := []sample{{"claude/messages", "claude-stream-json", words}}
	for _, s := range samples(b) {
		if strings.Contains(s.name, "/actor-") {
			inputs = append(inputs, s)
		}
	}
	for _, s := range inputs {
		b.Run(s.name, func(b *testing.B) {
			text := bytes.Repeat(s.stdout, 1+(256<<10)/len(s.stdout))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				d, _ := New(s.format, 64<<10, func(loop.Notice) {})
				for rest := text; len(rest) > 0; {
					n := min(len(rest), 32<<10)
					_, _ = d.Write(rest[:n])
					rest = rest[n:]
				}
				d.Report()
			}
		})
	}
}
