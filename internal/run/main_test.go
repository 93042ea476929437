package run

import (
	"context"
	"os"
	"testing"
	"time"

	"codeloops/internal/agent/scripted"
	"codeloops/internal/proc"
)

// TestMain lets the test binary play the scripted agent and its supervisor.
func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	if len(os.Args) > 1 && os.Args[1] == scripted.Command {
		os.Exit(scripted.Main(context.Background(), scripted.Invocation{
			Args: os.Args[2:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv, Now: time.Now,
		}))
	}
	os.Exit(m.Run())
}
