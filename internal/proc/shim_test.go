package proc

import (
	"path/filepath"
	"slices"
	"testing"
)

// What npm 10 writes for a script, and for a program.
const (
	shimOfScript = "@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n\r\n" +
		"IF EXIST \"%dp0%\\node.exe\" (\r\n  SET \"_prog=%dp0%\\node.exe\"\r\n) ELSE (\r\n  SET \"_prog=node\"\r\n  SET PATHEXT=%PATHEXT:;.JS;=;%\r\n)\r\n\r\n" +
		"endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & \"%_prog%\"  \"%dp0%\\node_modules\\@anthropic-ai\\claude-code\\cli.js\" %*\r\n"
	shimOfProgram = "@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n\"%dp0%\\node_modules\\x\\bin\\x.exe\"   %*\r\n"
)

func TestUnshim(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{shimOfScript, []string{"node", filepath.Join("bin", "node_modules", "@anthropic-ai", "claude-code", "cli.js")}},
		{shimOfProgram, []string{filepath.Join("bin", "node_modules", "x", "bin", "x.exe")}},
		{"@echo off\r\npython %~dp0\\agent.py %*\r\n", nil},
		{"@echo off\r\n\"%dp0%\\x.exe\" --fixed %*\r\n", nil},
		{"@echo off\r\n\"%dp0%\\x.exe\" %1\r\n", nil},
		{"@python \"%dp0%\\x.py\" %*\r\n", nil},
		{"@node \"%~dp0\\x.js\" %*\r\n", []string{"node", filepath.Join("bin", "x.js")}},
		{"", nil},
	} {
		got, ok := unshim(c.text, "bin")
		if ok != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v", c.text, got, ok)
		}
	}
}
