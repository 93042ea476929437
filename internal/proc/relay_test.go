package proc

import (
	"slices"
	"strings"
	"testing"
)

// TestRelayChunks: what has waited for a slow watch comes in chunks that are not too long, and
// in the order in which it came.
func TestRelayChunks(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	var sizes []int
	begun, slow := make(chan struct{}, 1), make(chan struct{})
	r := startRelay(func(_ string, chunk []byte) {
		if got.Len() == 0 {
			begun <- struct{}{}
			<-slow
		}
		got.Write(chunk)
		sizes = append(sizes, len(chunk))
	})
	r.put("stdout", []byte("begin "))
	<-begun
	want := strings.Repeat("0123456789", 10_000)
	for part := range slices.Chunk([]byte(want), 1000) {
		r.put("stdout", part)
	}
	close(slow)
	r.finish()
	if got.String() != "begin "+want || slices.Max(sizes) > watchChunk {
		t.Errorf("the watch got %d bytes in chunks of %d", got.Len(), sizes)
	}
}
