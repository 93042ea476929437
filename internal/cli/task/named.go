package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// promptDir is where a repository keeps prompts that have names.
const promptDir = ".codeloops/prompts"

// isName reports whether a prompt can be called so: by nothing that leads elsewhere.
func isName(name string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`).MatchString(name)
}

// A Named is a prompt of a repository that has a name.
type Named struct {
	Name  string
	Title string // its first line
}

// AllNamed are the prompts of a repository that have names. Files that cannot be prompts
// are none.
func AllNamed(root string) (all []Named) {
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(promptDir)))
	if err != nil {
		return nil // there are none
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".md")
		if !ok || !isName(name) {
			continue
		}
		if text, _, err := named(root, name); err == nil {
			line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
			all = append(all, Named{name, strings.TrimLeft(wording.Line(line), "# ")})
		}
	}
	return all
}

// named reads the prompt of that name. It is a text and nothing else: no part of it is
// read as a setting. A repository may be anybody's, so no link leads out of it.
func named(root, name string) (text, from string, err error) {
	if !isName(name) {
		return "", "", hint.Errorf("it is the name of a file below "+promptDir+", without .md", "%s cannot be the name of a prompt", wording.Quote(name, 80))
	}
	file := path.Join(promptDir, name+".md")
	dir, err := os.OpenRoot(root)
	if err != nil {
		return "", file, fmt.Errorf("read the prompt: %w", err)
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	switch st, err := dir.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
		return "", file, unknown(root, name)
	case leadsOut(err):
		return "", file, hint.Errorf("put the text itself there, or name the file: --prompt-file FILE", "%s is a link that leads out of the repository", file)
	case err != nil:
		return "", file, fmt.Errorf("read the prompt: %w", err)
	case !st.Mode().IsRegular():
		return "", file, fmt.Errorf("read the prompt: %s is no file", file)
	}
	f, err := dir.Open(file)
	if err != nil {
		return "", file, fmt.Errorf("read the prompt: %w", err)
	}
	defer f.Close() //nolint:errcheck // opened for reading
	return readAll(f, file)
}

// leadsOut reports whether an [os.Root] has refused a name for the links on its way: errors of
// the system have numbers.
func leadsOut(err error) bool {
	_, system := errors.AsType[syscall.Errno](err)
	return err != nil && !system
}

// unknown says which prompts there are instead.
func unknown(root, name string) error {
	var names []string
	for _, one := range AllNamed(root) {
		names = append(names, one.Name)
	}
	what := "write it: " + promptDir + "/" + name + ".md"
	if near, ok := wording.Nearest(name, names); ok {
		what = "did you mean " + near + "?"
	} else if len(names) > 0 {
		what = "there are " + wording.List(names, 10)
	}
	return hint.Errorf(what, "the repository has no prompt called %s", name)
}
