package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestCard: the product's owner chose these packages and directories; reasons against one of them
// belong in docs/dependencies.md, and remove none.
func TestCard(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "codeloops/cmd/codeloops").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	for _, p := range []string{
		"github.com/spf13/cobra", "github.com/spf13/viper", "github.com/go-git/go-git/v5", "github.com/BurntSushi/toml",
		"github.com/charmbracelet/lipgloss", "github.com/rs/zerolog",
		"codeloops/internal/loop", "codeloops/internal/actor", "codeloops/internal/critic", "codeloops/internal/diff",
		"codeloops/internal/session", "codeloops/internal/config",
	} {
		if !strings.Contains(" "+strings.Join(linked, " "), " "+p) {
			t.Errorf("the program does not use %s", p)
		}
	}
	for _, name := range []string{"testdata", "go.mod", "go.sum", "codeloops.toml.example", "README.md", "Makefile"} {
		if _, err := os.Stat("../../" + name); err != nil {
			t.Error(err)
		}
	}
}
