//go:build unix

package proc_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"codeloops/internal/proc"
)

// BenchmarkRun measures the minimum cost of a command; BenchmarkExec measures the
// system's share.
func BenchmarkRun(b *testing.B) {
	cmd := command(b, []string{"/bin/true"})
	r := newRunner(b)
	for b.Loop() {
		if res, err := r.Run(b.Context(), cmd); err != nil || res.ExitCode != 0 {
			b.Fatal(res, err)
		}
	}
}

func BenchmarkExec(b *testing.B) {
	cmd := command(b, []string{"/bin/true"})
	for b.Loop() {
		out, err := os.Create(cmd.Stdout)
		if err != nil {
			b.Fatal(err)
		}
		c := exec.CommandContext(b.Context(), cmd.Argv[0])
		c.Dir, c.Env, c.Stdout, c.Stderr = cmd.Dir, cmd.Env, out, out
		if err := c.Run(); err != nil {
			b.Fatal(err)
		}
		if err := out.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRunner measures the life of a runner that runs a single command.
func BenchmarkRunner(b *testing.B) {
	cmd := command(b, []string{"/bin/true"})
	for b.Loop() {
		r := proc.NewRunner(time.Now)
		if res, err := r.Run(b.Context(), cmd); err != nil || res.ExitCode != 0 {
			b.Fatal(res, err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
