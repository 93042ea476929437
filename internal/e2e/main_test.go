package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/agent"
)

// The variables that control these tests.
const (
	chosenVar = "E2E_AGENTS"    // names, or "all"; without it nothing runs
	cacheVar  = "E2E_CACHE"     // where the CLIs are installed; default: in the user's cache directory
	reportVar = "E2E_REPORT"    // a file for the tables, besides standard output
	traceVar  = "E2E_TRACE"     // a directory for the agents' requests and output
	binaryVar = "CODELOOPS_BIN" // the program to test
	insideVar = "E2E_INSIDE"    // set for the tests themselves: to alone if there is no network but loopback
)

// TestMain installs the agents with network access, and runs the tests without it if possible.
func TestMain(m *testing.M) {
	if len(chosen()) == 0 || os.Getenv(insideVar) != "" {
		if err := loopback(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		code := m.Run()
		if err := table.print(); err != nil {
			fmt.Println(err)
			code = max(code, 1)
		}
		os.Exit(code)
	}
	if err := prepare(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	err := rerun(alone)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		fmt.Println("the network cannot be taken away here: the agents' own switches keep them from it")
		err = rerun("switches")
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Println("run the tests without a network:", err)
		os.Exit(1)
	}
}

// alone is the value of [insideVar] without a network.
const alone = "alone"

// rerun runs these tests in a separate process.
func rerun(inside string) error {
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), insideVar+"="+inside)
	if inside == alone {
		if err := isolate(cmd); err != nil {
			return err
		}
	}
	return cmd.Run()
}

// TestAlone: without a network there is no interface but loopback.
func TestAlone(t *testing.T) {
	t.Parallel()
	if os.Getenv(insideVar) != alone {
		t.Skip("the network is not isolated")
	}
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			t.Errorf("there is a network: %s", i.Name)
		}
	}
}

// prepare checks the tests' requirements and installs what is missing.
func prepare() error {
	if path := os.Getenv(binaryVar); !filepath.IsAbs(path) {
		return fmt.Errorf("%s names no program by its whole path: use make e2e", binaryVar)
	}
	for _, tool := range []string{"git", "node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			fmt.Printf("nothing is run: these tests need %s, which is not installed\n", tool)
			os.Exit(0)
		}
	}
	known := clis()
	for name := range strings.FieldsSeq(os.Getenv(chosenVar)) {
		if name != "all" && !slices.ContainsFunc(known, func(c cli) bool { return c.name == name }) {
			return fmt.Errorf("%s names %q, which is not one of the agents here", chosenVar, name)
		}
	}
	return install(chosen())
}

// chosen returns the agents to run.
func chosen() []cli {
	names := strings.Fields(os.Getenv(chosenVar))
	return slices.DeleteFunc(clis(), func(c cli) bool {
		return !slices.Contains(names, c.name) && !slices.Contains(names, "all")
	})
}

// each runs a test with every chosen agent.
func each(t *testing.T, play func(*testing.T, cli)) {
	t.Helper()
	if len(chosen()) == 0 {
		t.Skipf("%s names no agents: use make e2e", chosenVar)
	}
	for _, c := range chosen() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, c)
		})
	}
}

// TestProven: the versions in the catalogue are those that are tested here.
func TestProven(t *testing.T) {
	t.Parallel()
	proven := map[string]string{}
	for _, c := range clis() {
		proven[c.name] = c.version
	}
	proven["claude-gateway"] = proven["claude"] // see TestGateway
	for _, spec := range agent.Catalogue() {
		if spec.Tested != proven[spec.Name] {
			t.Errorf("the catalogue says that %s was tested with %q, the version here is %q", spec.Name, spec.Tested, proven[spec.Name])
		}
	}
}

// services serves every model of this process.
var services = newServer()
