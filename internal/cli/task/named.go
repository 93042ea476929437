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

// promptDir has the named prompts of a repository.
const promptDir = ".codeloops/prompts"

// isName reports whether a prompt may have this name, which must not lead to another directory.
func isName(name string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`).MatchString(name)
}

// A Named is a named prompt of a repository.
type Named struct {
	Name  string
	Title string // its first line
}

// AllNamed returns the named prompts of a repository. Files that cannot be read as prompts are
// left out.
func AllNamed(root string) (all []Named) {
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(promptDir)))
	if err != nil {
		return nil // no named prompts
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

// named reads a named prompt, as plain text without any settings. The repository may be
// untrusted, so links out of it are not followed.
func named(root, name string) (text, from string, err error) {
	if !isName(name) {
		return "", "", hint.Errorf("use the name of a file in "+promptDir+", without .md", "%s cannot be the name of a prompt", wording.Quote(name, 80))
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
		return "", file, hint.Errorf("replace it by the text itself, or use --prompt-file FILE", "%s is a link that leads out of the repository", file)
	case err != nil:
		return "", file, fmt.Errorf("read the prompt: %w", err)
	case !st.Mode().IsRegular():
		return "", file, fmt.Errorf("read the prompt: %s is not a regular file", file)
	}
	f, err := dir.Open(file)
	if err != nil {
		return "", file, fmt.Errorf("read the prompt: %w", err)
	}
	defer f.Close() //nolint:errcheck // opened for reading
	return readAll(f, file)
}

// leadsOut reports whether an [os.Root] rejected a link that leads out of it. It has no exported
// error for that, but other errors come from the system and have a number.
func leadsOut(err error) bool {
	_, system := errors.AsType[syscall.Errno](err)
	return err != nil && !system
}

// unknown returns an error that suggests existing prompts.
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
