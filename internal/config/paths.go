package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"codeloops/internal/file"
)

// projectFile is the name of a project's configuration file.
const projectFile = "codeloops.toml"

// Paths are the locations of configuration and data, all absolute; "" if unknown because
// there is no home directory.
type Paths struct {
	Global   string `json:"global"`   // the user's file, whether it exists or not
	Project  string `json:"project"`  // the project file that applies; "" when there is none
	Data     string `json:"data"`     // codeloops' own directory for data
	Sessions string `json:"sessions"` // session logs, unless session_dir is set
	Trust    string `json:"trust"`    // the project files that the user trusts
}

// Locate computes the paths without reading any configuration. It fails only if a
// directory on the way up from the working directory cannot be searched.
func Locate(o Options) (Paths, error) {
	return locate(o, runtime.GOOS)
}

func locate(o Options, goos string) (Paths, error) {
	var p Paths
	env := environment(o.Env, goos)
	if dir := configHome(env, o.Home, goos); dir != "" {
		p.Global = filepath.Join(dir, "codeloops", "config.toml")
	}
	if p.Data = dataDir(env, o.Home, goos); p.Data != "" {
		p.Sessions = filepath.Join(p.Data, "sessions")
		p.Trust = filepath.Join(p.Data, "trust.json")
	}
	project, err := findProject(o.WorkingDir, o.RepositoryRoot)
	p.Project = project
	return p, err
}

// DataDir returns codeloops' own directory for data; "" without a home directory.
func DataDir(env []string, home string) string {
	return dataDir(environment(env, runtime.GOOS), home, runtime.GOOS)
}

func dataDir(env map[string]string, home, goos string) string {
	if dir := base(env, goos, "XDG_DATA_HOME", "LOCALAPPDATA", home, ".local", "share"); dir != "" {
		return filepath.Join(dir, "codeloops")
	}
	return ""
}

func configHome(env map[string]string, home, goos string) string {
	below := []string{home, ".config"}
	if goos == "darwin" {
		below = []string{home, "Library", "Application Support"}
	}
	return base(env, goos, "XDG_CONFIG_HOME", "APPDATA", below...)
}

// base follows the XDG base directory specification, or the conventions of the
// system if the XDG variable is not set: the place below home is the last resort.
func base(env map[string]string, goos, xdg, windows string, place ...string) string {
	switch {
	case filepath.IsAbs(env[xdg]): // XDG says to ignore a relative one
		return env[xdg]
	case goos == "windows" && filepath.IsAbs(env[windows]):
		return env[windows]
	case !filepath.IsAbs(place[0]):
		return ""
	}
	return filepath.Join(place...)
}

// environment converts a list of NAME=value to a map; the last entry of a name counts. On
// Windows names are case-insensitive.
func environment(list []string, goos string) map[string]string {
	env := make(map[string]string, len(list))
	for _, entry := range list {
		name, value, _ := strings.Cut(entry, "=")
		if goos == "windows" {
			name = strings.ToUpper(name)
		}
		env[name] = value
	}
	return env
}

// findProject returns the nearest project file from dir up to root, or "". If dir is not
// below root, only dir itself is searched.
func findProject(dir, root string) (string, error) {
	if dir == "" {
		return "", nil
	}
	dir, root = resolved(dir), resolved(root)
	if rest, err := filepath.Rel(root, dir); root == "" || err != nil || !filepath.IsLocal(rest) {
		root = dir
	}
	for ; ; dir = filepath.Dir(dir) {
		candidate := filepath.Join(dir, projectFile)
		// Lstat: a broken link must not be skipped, because the user meant it to apply.
		_, err := os.Lstat(candidate)
		switch {
		case err == nil:
			return candidate, nil
		case !file.Missing(err):
			return "", unreadable(candidate, err)
		case dir == root || dir == filepath.Dir(dir):
			return "", nil
		}
	}
}

// resolved returns a path without symbolic links, so that two spellings of it compare
// equal. A path that cannot be resolved is only cleaned.
func resolved(name string) string {
	if name == "" {
		return ""
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		return target
	}
	return filepath.Clean(name)
}

// absolute resolves a directory in a setting against base. It expands "~/", because no
// shell does that in files and variables.
func absolute(dir, base, home string) (string, *fault) {
	if dir == "" || filepath.IsAbs(dir) {
		return dir, nil
	}
	if rest, ok := strings.CutPrefix(dir, "~/"); ok || dir == "~" {
		if home == "" {
			return "", &fault{problem: "begins with ~, but the home directory is unknown", hint: "set HOME, or write an absolute path"}
		}
		return filepath.Join(home, strings.TrimPrefix(rest, "~")), nil
	}
	return filepath.Join(base, dir), nil
}
