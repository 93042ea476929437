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
func Locate(o Options) (Paths, error) { return locate(o, runtime.GOOS) }

func locate(o Options, goos string) (Paths, error) {
	env := environment(o.Env, goos)
	data := dirOf("data", env, o.Home, goos)
	project, err := findProject(o)
	return Paths{
		Global: below(dirOf("config", env, o.Home, goos), "config.toml"), Project: project,
		Data: data, Sessions: below(data, "sessions"), Trust: below(data, "trust.json"),
	}, err
}

// Dir returns codeloops' own directory for files of a kind, "config", "data" or "cache"; "" without a home directory.
func Dir(kind string, env []string, home string) string {
	return dirOf(kind, environment(env, runtime.GOOS), home, runtime.GOOS)
}

// dirOf follows the XDG base directory specification, or the conventions of the system if the XDG
// variable is not set: the place below home is the last resort.
func dirOf(kind string, env map[string]string, home, goos string) string {
	place := map[string]struct{ xdg, windows, mac, other string }{
		"config": {"XDG_CONFIG_HOME", "APPDATA", "Library/Application Support", ".config"},
		"data":   {"XDG_DATA_HOME", "LOCALAPPDATA", ".local/share", ".local/share"},
		"cache":  {"XDG_CACHE_HOME", "LOCALAPPDATA", "Library/Caches", ".cache"},
	}[kind]
	switch {
	case filepath.IsAbs(env[place.xdg]): // XDG says to ignore a relative one
		return filepath.Join(env[place.xdg], "codeloops")
	case goos == "windows" && filepath.IsAbs(env[place.windows]):
		return filepath.Join(env[place.windows], "codeloops")
	case !filepath.IsAbs(home):
		return ""
	case goos == "darwin":
		return filepath.Join(home, place.mac, "codeloops")
	}
	return filepath.Join(home, place.other, "codeloops")
}

// below returns a path in a directory, "" if that is unknown.
func below(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
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

// findProject returns the nearest project file, or "".
func findProject(o Options) (string, error) {
	for _, dir := range o.upwards() {
		candidate := filepath.Join(dir, projectFile)
		// Lstat: a broken link must not be skipped, because the user meant it to apply.
		if _, err := os.Lstat(candidate); err == nil {
			return candidate, nil
		} else if !file.Missing(err) {
			return "", unreadable(candidate, err)
		}
	}
	return "", nil
}

// upwards returns the working directory and those above it up to the root of the repository.
func (o Options) upwards() []string {
	if o.WorkingDir == "" {
		return nil
	}
	dir, root := resolved(o.WorkingDir), resolved(o.RepositoryRoot)
	dirs := []string{dir}
	if rel, err := filepath.Rel(root, dir); root == "" || err != nil || !filepath.IsLocal(rel) {
		return dirs
	}
	for dir != root {
		dir = filepath.Dir(dir)
		dirs = append(dirs, dir)
	}
	return dirs
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
	rest, ofHome := strings.CutPrefix(dir+"/", "~/")
	switch {
	case dir == "" || filepath.IsAbs(dir):
		return dir, nil
	case !ofHome:
		return filepath.Join(base, dir), nil
	case home == "":
		return "", &fault{problem: "begins with ~, but the home directory is unknown", hint: "set HOME, or write an absolute path"}
	}
	return filepath.Join(home, rest), nil
}
