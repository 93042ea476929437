package proc

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func isPath(name string) bool { return strings.ContainsAny(name, `:\/`) }

// spellings adds the extensions of PATHEXT to a name that has none of them.
func spellings(path string, env []string) []string {
	exts := cmp.Or(Getenv(env, "PATHEXT"), ".COM;.EXE;.BAT;.CMD")
	var all []string
	for _, ext := range strings.Split(exts, ";") {
		if ext == "" {
			continue
		}
		if strings.EqualFold(filepath.Ext(path), ext) {
			return []string{path}
		}
		all = append(all, path+ext)
	}
	return all
}

func executable(fs.FileInfo) bool { return true }

func sameEnvName(a, b string) bool { return strings.EqualFold(a, b) }

// direct returns what to start in place of a program: for a batch file that npm has written for an agent, what that starts.
func direct(path string, i Invocation) (program string, argv []string) {
	if ext := filepath.Ext(path); !strings.EqualFold(ext, ".cmd") && !strings.EqualFold(ext, ".bat") {
		return path, i.Argv
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return path, i.Argv
	}
	target, ok := unshim(string(text), filepath.Dir(path))
	if !ok {
		return path, i.Argv
	}
	if target[0] == "node" {
		beside := filepath.Join(filepath.Dir(path), "node.exe")
		if checkProgram(beside) == nil {
			target[0] = beside
		} else if target[0], err = LookPath("node", i.Dir, i.Env); err != nil {
			return path, i.Argv
		}
	}
	return target[0], append(target, i.Argv[1:]...)
}
