package proc

import (
	"cmp"
	"io/fs"
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
