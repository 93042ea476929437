package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// An activity is an event of codeloops about an agent that works or waits.
type activity struct {
	Type string `json:"type"`
	Role string `json:"role"`
	Kind string `json:"kind"`
	Text string `json:"text"`

	Until time.Time `json:"until"`

	heard time.Time
}

// A follower receives the events of a run as they come.
type follower struct {
	over chan struct{} // closed at the end

	mu    sync.Mutex
	lines []string
	all   []activity
}

func follow(r io.Reader) *follower {
	f := &follower{over: make(chan struct{})}
	go func() {
		defer close(f.over)
		for lines := bufio.NewReader(r); ; {
			line, err := lines.ReadString('\n')
			if line != "" {
				f.take(line)
			}
			if err != nil {
				return
			}
		}
	}()
	return f
}

func (f *follower) take(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, line[:min(len(line), 2000)])
	var a activity
	if json.Unmarshal([]byte(line), &a) != nil {
		return
	}
	if a.Type == "wait_start" {
		a.Type, a.Kind = "activity", "wait"
	}
	if a.Type == "activity" {
		a.heard = time.Now()
		f.all = append(f.all, a)
	}
}

// text returns the latest events.
func (f *follower) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.lines[max(0, len(f.lines)-40):], "")
}

// of returns the activities of a kind.
func (f *follower) of(kind string) []activity {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.all), func(a activity) bool { return a.Kind != kind })
}
