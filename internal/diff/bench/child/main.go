//go:build linux

// Command child is the process that the benchmark of captures measures: a
// program of its own, as git is one. Its arguments are what to do in the current
// directory, the checkpoint that the session began with, and a file for how much
// memory that took at most; the last two may be missing.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
)

func main() {
	args := append(os.Args[1:], "", "", "")
	err := job(context.Background(), args[0], args[1])
	if err == nil && args[2] != "" {
		err = tellPeak(args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// tellPeak copies what the system says of this process: what wait4(2) tells may be
// the peak of the parent.
func tellPeak(name string) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	return os.WriteFile(name, status, 0o600)
}

// job does one job in the current directory.
func job(ctx context.Context, mode, session string) (err error) {
	if mode == "nothing" {
		return nil
	}
	tree, err := diff.Open(ctx, ".", diff.Options{Env: os.LookupEnv, Now: time.Now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	switch mode {
	case "baseline":
		return tree.Baseline(ctx)
	case "first":
		return first(ctx, tree)
	case "begin":
		return begin(ctx, tree)
	}
	if err := tree.Resume(ctx, session); err != nil {
		return err
	}
	if mode == "serve" {
		return serve(ctx, tree)
	}
	c, err := tree.Capture(ctx)
	if err != nil {
		return err
	}
	_, err = io.WriteString(os.Stdout, c.Patch())
	return err
}

// begin begins a session and tells its first checkpoint.
func begin(ctx context.Context, tree *diff.Tree) error {
	if err := tree.Baseline(ctx); err != nil {
		return err
	}
	id, err := tree.Checkpoint(ctx, tree.BaseState(), "bench/begin", "bench")
	fmt.Println(id)
	return err
}

// first is what a session's first look finds, as a difference to HEAD. The
// index counts here, as it does for git.
func first(ctx context.Context, tree *diff.Tree) error {
	if err := tree.Baseline(ctx); err != nil {
		return err
	}
	head, err := tree.Recall(ctx, tree.BaseCommit())
	if err != nil {
		return err
	}
	c, err := tree.Between(ctx, loop.Change{State: head}, loop.Change{})
	if err != nil {
		return err
	}
	_, err = io.WriteString(os.Stdout, c.Patch())
	return err
}

// serve does what standard input says and tells what each took.
func serve(ctx context.Context, tree *diff.Tree) error {
	lowest, err := newFloor()
	if err != nil {
		return err
	}
	lines, state := bufio.NewScanner(os.Stdin), ""
	for n := 0; lines.Scan(); n++ {
		cpu, at := used(), time.Now()
		switch lines.Text() {
		case "capture":
			c, err := tree.Capture(ctx)
			if err != nil {
				return err
			}
			state = c.State
		case "floor":
			if err := lowest.run(); err != nil {
				return err
			}
		case "checkpoint":
			if _, err := tree.Checkpoint(ctx, state, fmt.Sprintf("bench/%d", n), "bench"); err != nil {
				return err
			}
		}
		fmt.Println(time.Since(at).Nanoseconds(), (used() - cpu).Nanoseconds())
	}
	return lines.Err()
}

func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
