//go:build unix

package diff_test

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestRepackedMeanwhile: the user's git, or another program, packs the repository anew while a session looks at its files.
func TestRepackedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	for i := range 200 {
		s.write(fmt.Sprintf("d%d/f%d", i%20, i), fmt.Sprintf("%d\n", i))
	}
	s.commit("first")
	s.git("gc", "-q")
	objects := s.root
	s.git("clone", "-q", "-s", ".", s.base+"/task")
	s.root = s.base + "/task"
	tree := s.begin()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			for j := range 5 {
				_, _ = s.run(ctx, objects, nil, []byte(fmt.Sprint(i, j)), "hash-object", "-w", "--stdin")
				_, _ = s.run(ctx, objects, nil, nil, "repack", "-d", "-q")
			}
			_, _ = s.run(ctx, objects, nil, nil, "repack", "--geometric=2", "-d", "-q")
		}
	}()
	began := time.Now()
	for i := 0; time.Since(began) < time.Second && i < 200; i++ {
		s.write(fmt.Sprintf("d%d/f%d", i%20, i), fmt.Sprintf("changed %d\n", i))
		c, err := tree.Capture(t.Context())
		if err != nil || len(c.Files) != i+1 {
			t.Errorf("with %d changes: %d files, %v", i+1, len(c.Files), err)
			break
		}
	}
	stop()
	<-done
}
