package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/run/worktree"
)

// watchedTree makes a work tree with a baseline, and an onlooker for it.
func watchedTree(t *testing.T) (*stage, onlooker) {
	t.Helper()
	s := newStage(t, "tree")
	s.write("old", "old\n")
	tree, err := worktree.Open(t.Context(), s.host, s.tree, nil)
	if err == nil {
		err = tree.Baseline(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	r := &running{Plan: &Plan{options: Options{Host: s.host}, control: newControl(s.host.Secrets), tree: tree}}
	return s, onlooker{r, tree}
}

// TestLooksWhileWatched: the work tree is only looked at while somebody watches, here or elsewhere.
// Each changed file is reported once, and none after the turn.
func TestLooksWhileWatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := watchedTree(t)
		told := make(chan loop.Notice, 100)
		watch, end := o.attend(t.Context(), func(n loop.Notice) { told <- n })
		tells := func(what string, d time.Duration, want ...loop.Seen) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			var got []loop.Seen
			for len(told) > 0 {
				got = append(got, (<-told).Look.New...)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, want %+v", what, got, want)
			}
		}
		s.write("new", "a\nb\n")
		tells("nobody watches", time.Hour)
		added := loop.Seen{Path: "new", Status: loop.FileAdded, Size: 4, Added: 2}
		o.control.watched(time.Now().Add(betweenLooks)) // each repeated notice counts
		tells("somebody does elsewhere", 2*betweenLooks, added)
		s.write("old", "old\nmore\n")
		tells("nobody any more", time.Hour)
		o.control.Show()
		changed := loop.Seen{Path: "old", Status: loop.FileModified, Size: 9, Added: 1}
		tells("somebody does here", 2*betweenLooks, changed)
		tells("nothing changes", time.Hour)
		s.write("old", "old\n")
		tells("it is as it was", 2*betweenLooks, loop.Seen{Path: "old"})
		if watch(loop.Notice{Kind: loop.NoticeMessage}); (<-told).Kind != loop.NoticeMessage {
			t.Error("the agent's message is lost")
		}
		end()
		s.write("new", "")
		tells("the turn is over", time.Hour)
	})
}

// TestDiffOfFork: while a fork is at work, its diff is shown, without secrets. Between turns it is
// unknown which tree is meant.
func TestDiffOfFork(t *testing.T) {
	t.Parallel()
	s := newStage(t, "tree")
	s.write("old", "old\n")
	s.git("add", ".")
	s.git("commit", "-qm", "first")
	began, goOn := filepath.Join(s.dir, "began"), filepath.Join(s.dir, "go")
	p := s.prepare(`[[actor]]
step = [{ run = "echo $SOME_API_KEY >> old; touch ` + began + `; until [ -e ` + goOn + ` ]; do sleep 0.02; done" }]
[[critic]]
say = "DECISION: DONE\nSEAL: {seal}"
`)
	diff := func() (string, error) { return p.Control().Diff(context.WithoutCancel(t.Context())) }
	if _, err := diff(); !errors.Is(err, errNoTree) {
		t.Errorf("before the run: %v", err)
	}
	p.own.drive = attempts{acted: func() error {
		if _, err := diff(); !errors.Is(err, errNoTree) {
			t.Errorf("between turns: %v", err)
		}
		return nil
	}}
	over := make(chan error)
	go func() {
		_, err := p.Run(t.Context())
		over <- err
	}()
	for _, err := os.Stat(began); err != nil; _, err = os.Stat(began) {
		select {
		case err := <-over:
			t.Fatal("the run is over: ", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	patch, err := diff()
	if err != nil || !strings.Contains(patch, "+[redacted]\n") || strings.Contains(patch, "secret-of-tree") {
		t.Errorf("in the fork: %v\n%s", err, patch)
	}
	if got := s.git("status", "--short"); got != "" {
		t.Errorf("the work tree has\n%s", got)
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
	if _, err := diff(); !errors.Is(err, errNoTree) {
		t.Errorf("after the run: %v", err)
	}
}
