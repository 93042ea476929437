package proc

import "time"

const watchChunk = 32 << 10

// A tail hands on what files grow by.
type tail struct {
	watch  func(stream string, chunk []byte)
	files  []*stream
	growth *growth
	read   []int64 // offsets reached, by file
	buf    []byte
	over   chan struct{}
	done   chan struct{}
}

// startTail begins to follow the files. The caller must call finish.
func startTail(files []*stream, g *growth, watch func(string, []byte)) *tail {
	t := &tail{
		watch:  watch,
		files:  files,
		growth: g,
		read:   make([]int64, len(files)),
		buf:    make([]byte, watchChunk),
		over:   make(chan struct{}),
		done:   make(chan struct{}),
	}
	go t.follow()
	return t
}

func (t *tail) follow() {
	defer close(t.done)
	ticker := time.NewTicker(t.growth.period)
	defer ticker.Stop()
	for {
		select {
		case <-t.growth.text:
			t.drain()
		case <-ticker.C:
			t.drain()
		case <-t.over:
			t.drain()
			return
		}
	}
}

// drain reads up to where each file ends now: a child that writes faster than
// the watch takes it must not keep the other file waiting.
func (t *tail) drain() {
	for i, f := range t.files {
		size, err := f.size()
		if err != nil {
			continue // the capture at the end meets it again and reports it
		}
		if size < t.read[i] {
			t.read[i] = 0 // the child emptied its file
		}
		for t.read[i] < size {
			n, err := f.readAt(t.buf[:min(int64(len(t.buf)), size-t.read[i])], t.read[i])
			if n == 0 || err != nil {
				break
			}
			t.read[i] += int64(n)
			t.watch(f.name, t.buf[:n])
		}
	}
}

// finish hands on the rest and returns when the watch has taken it.
func (t *tail) finish() {
	close(t.over)
	<-t.done
}
