package deciding

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/loop"
)

// The roles of files.
const (
	Critic = "critic" // the critic's program
	Check  = "check"  // a check runs it
	Agents = "agents" // agents read it before they work, perhaps the critic too
	Rules  = "rules"  // it holds rules for later runs
)

// A ChangedFile is a file that has changed since the session began.
type ChangedFile struct {
	loop.Decider
	Fate string // "added", "changed" or "removed"
}

// AgentFiles matches the paths of agents' instructions and settings.
func AgentFiles() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|/)(?:(?:AGENTS|CLAUDE|GEMINI|QWEN|CRUSH)(?:\.\w+)?\.md|\.(?:cursor|windsurf|cline)rules|\.goosehints|\.mcp\.json|(?:opencode|kilo|\.?crush)\.jsonc?|codeloops\.toml)$` +
		`|(?:^|/)\.(?:claude|codex|gemini|qwen|cursor|opencode|clinerules|continue|factory|kilocode|augment|amp|crush|pi|agents)/|^\.github/(?:copilot-instructions\.md$|instructions/|agents/|prompts/)`)
}

// A Tree reads files of a work tree, and nothing outside through its links. Files with absolute paths are
// outside of it.
type Tree struct {
	Root    string         // absolute
	Dir     string         // where commands are run, absolute
	Outside []loop.Decider // files that decide if they exist
	// Pins are the files that links outside of it led to when the run began, by the links' paths. They are used
	// while they exist, so that an agent that updates itself meanwhile is the same to the run.
	Pins map[string]string
}

// Pinned returns the file to use for a path.
func (t Tree) Pinned(name string) string {
	if target, ok := t.Pins[filepath.ToSlash(name)]; ok {
		if now, err := filepath.EvalSymlinks(name); err != nil || now != target {
			if st, err := os.Stat(target); err == nil && st.Mode().IsRegular() {
				return target
			}
		}
	}
	return name
}

// Take returns the files with the digests of their present content.
func (t Tree) Take(files []loop.Decider) []loop.Decider {
	files = slices.Clone(files)
	t.open(func(root *os.Root) {
		for i := range files {
			if filepath.IsAbs(files[i].Path) {
				files[i].SHA256 = outside(t.Pinned(files[i].Path))
				continue
			}
			files[i].SHA256 = digest(root, files[i].Path)
		}
	})
	return files
}

// Changed compares files with their present content. It includes new files that agents read.
func (t Tree) Changed(files []loop.Decider) []ChangedFile {
	known := map[string]bool{}
	for _, f := range files {
		known[f.Path] = true
	}
	for _, f := range t.Settings() {
		if !known[f.Path] {
			files = append(slices.Clip(files), f)
		}
	}
	var all []ChangedFile
	for i, now := range t.Take(files) {
		switch was := files[i].SHA256; {
		case was == now.SHA256:
		case was == "":
			all = append(all, ChangedFile{files[i], "added"})
		case now.SHA256 == "":
			all = append(all, ChangedFile{files[i], "removed"})
		default:
			all = append(all, ChangedFile{files[i], "changed"})
		}
	}
	return all
}

// Settings returns the instructions and settings that agents read when they work in the
// tree's directory: those in it and above, up to the root, ignored by git or not, and those outside.
func (t Tree) Settings() (files []loop.Decider) {
	dirs := []string{"."}
	if rel, err := filepath.Rel(t.Root, t.Dir); err == nil && filepath.IsLocal(rel) && rel != "." {
		for i, part := range strings.Split(filepath.ToSlash(rel), "/") {
			dirs = append(dirs, path.Join(dirs[i], part))
		}
	}
	for _, f := range t.Outside {
		if _, err := os.Stat(filepath.FromSlash(f.Path)); err == nil {
			files = append(files, f)
		}
	}
	pattern := AgentFiles()
	t.open(func(root *os.Root) {
		for _, dir := range dirs {
			entries, _ := fs.ReadDir(root.FS(), dir)
			for _, e := range entries {
				name := path.Join(dir, e.Name())
				switch {
				case !e.IsDir() && pattern.MatchString(name), e.Type()&fs.ModeSymlink != 0 && pattern.MatchString(name+"/"):
					files = append(files, setting(name))
				case e.IsDir() && (pattern.MatchString(name+"/") || name == ".github"):
					files = append(files, within(root, name, pattern)...)
				}
			}
		}
	})
	return files
}

func setting(name string) loop.Decider {
	if path.Base(name) == "codeloops.toml" {
		return loop.Decider{Path: name, Role: Rules}
	}
	return loop.Decider{Path: name, Role: Agents}
}

// maxSettings limits how many files of a directory of settings are read.
const maxSettings = 1000

// within lists the settings in a directory, without what agents write there themselves, such
// as logs and data.
func within(root *os.Root, dir string, pattern *regexp.Regexp) (files []loop.Decider) {
	_ = fs.WalkDir(root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case e.IsDir():
			if name != dir && slices.Contains([]string{"node_modules", "worktrees", "logs", "cache", "tmp", "sessions", "history", "todos", "state", "projects"}, e.Name()) {
				return fs.SkipDir
			}
		case len(files) == maxSettings:
			return fs.SkipAll
		case pattern.MatchString(name) && told(name):
			files = append(files, setting(name))
		}
		return nil
	}) // what cannot be read does not exist for agents either
	return files
}

// told reports whether a file in a directory of settings is a setting by its extension.
func told(name string) bool {
	return !slices.Contains([]string{".log", ".db", ".db-wal", ".db-shm", ".sqlite", ".jsonl", ".lock", ".pid", ".tmp", ".bak"}, path.Ext(name))
}

func (t Tree) open(use func(*os.Root)) {
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return
	}
	defer root.Close() //nolint:errcheck // it was only read
	use(root)
}

// digest returns a text that identifies the content of a file, "" if it does not exist.
func digest(root *os.Root, name string) string {
	name = filepath.FromSlash(name)
	link := ""
	if st, err := root.Lstat(name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		return "what cannot be read"
	} else if st.Mode()&fs.ModeSymlink != 0 {
		link, _ = root.Readlink(name) // identifies a file outside of the root
	}
	sum := sha256.New()
	_, _ = io.WriteString(sum, link)
	st, err := root.Stat(name)
	switch {
	case err != nil && link != "":
	case err != nil:
		return "what cannot be read"
	case st.IsDir():
		directory(root, name, sum)
	case !st.Mode().IsRegular(): // opening a pipe would block
		_, _ = io.WriteString(sum, st.Mode().Type().String())
	default:
		if err := content(root, name, sum); err != nil {
			return "what cannot be read"
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// maxContent limits how much of a file is read. The rest is identified by the file's size
// and modification time.
const maxContent = 64 << 20

func content(root *os.Root, name string, into io.Writer) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if filepath.Base(name) == "package.json" {
		return scripts(f, into)
	}
	n, err := io.Copy(into, io.LimitReader(f, maxContent))
	if err != nil || n < maxContent {
		return err
	}
	st, err := f.Stat()
	if err == nil {
		_, err = io.WriteString(into, st.ModTime().String()+strconv.FormatInt(st.Size(), 10))
	}
	return err
}

// scripts digests only the scripts of a package.json; the rest of it may change freely.
func scripts(f io.Reader, into io.Writer) error {
	text, err := io.ReadAll(io.LimitReader(f, maxContent))
	if err != nil {
		return err
	}
	var file struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(text, &file) == nil {
		text, err = json.Marshal(file.Scripts) // in the order of their names
	}
	if err == nil {
		_, err = into.Write(text)
	}
	return err
}

// directory digests the files directly in a directory, for a program that is run by its
// directory's name.
func directory(root *os.Root, name string, into io.Writer) {
	entries, _ := fs.ReadDir(root.FS(), filepath.ToSlash(name))
	for i, e := range entries {
		if i == maxSettings {
			return
		}
		if e.Type().IsRegular() {
			_, _ = io.WriteString(into, e.Name()+"\x00")
			_ = content(root, filepath.Join(name, e.Name()), into)
		}
	}
}
