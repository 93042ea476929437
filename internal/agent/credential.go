package agent

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"codeloops/internal/file"
	"codeloops/internal/proc"
)

// A Credential is one way in which a CLI may be signed in: a variable, or a file below
// the user's home that it writes at sign-in.
type Credential struct {
	// Env is the name of a variable. The CLI gets it even where secrets are hidden from
	// it.
	Env string
	// File is relative to the user's home, with slashes. If Home names a variable that is
	// set, its value is the directory of the file. If XDG_DATA_HOME or XDG_CONFIG_HOME is
	// set, it replaces .local/share or .config in File.
	File string
	Home string
	// Key is a key that File must hold, which is then a JSON object, or TOML; "": anything.
	Key string
}

// maxCredentials bounds a credentials file, in bytes.
const maxCredentials = 8 << 20

// SignedIn names the variable or the file with which a CLI seems to be signed in; "" when
// there is none. It runs nothing: a credential may have expired, and a key in the
// system's keyring is not found. home is the user's home directory.
func (s Spec) SignedIn(env []string, home string) string {
	for _, c := range s.Credentials {
		if c.Env != "" {
			if proc.Getenv(env, c.Env) != "" {
				return c.Env
			}
			continue
		}
		if path := c.path(env, home); path != "" && c.holds(path) {
			return path
		}
	}
	return ""
}

// Remedy says what to do when the CLI says that it is not signed in, as the end of a
// sentence; "" when nothing is known.
func (s Spec) Remedy(env []string) string {
	first := ""
	for _, c := range s.Credentials {
		if c.Env != "" && proc.Getenv(env, c.Env) != "" {
			return "see whether " + c.Env + " is right"
		}
		if first == "" {
			first = c.Env
		}
	}
	if s.SignIn == "" || first == "" || strings.Contains(s.SignIn, first) {
		return s.SignIn
	}
	return s.SignIn + ", or set " + first
}

func (c Credential) path(env []string, home string) string {
	if c.Home != "" {
		if dir := proc.Getenv(env, c.Home); dir != "" {
			return filepath.Join(dir, filepath.Base(filepath.FromSlash(c.File)))
		}
	}
	for below, name := range map[string]string{".local/share/": "XDG_DATA_HOME", ".config/": "XDG_CONFIG_HOME"} {
		rest, ok := strings.CutPrefix(c.File, below)
		// The XDG specification says to ignore relative paths.
		if dir := proc.Getenv(env, name); ok && filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(rest))
		}
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(c.File))
}

func (c Credential) holds(path string) bool {
	data, _, err := file.Read(path, file.Options{Max: maxCredentials})
	if err != nil {
		return false
	}
	if c.Key != "" {
		var object map[string]json.RawMessage
		var table map[string]any
		switch {
		case filepath.Ext(path) == ".toml" && toml.Unmarshal(data, &table) == nil && table[c.Key] != nil:
			data = fmt.Append(nil, table[c.Key])
		case json.Unmarshal(data, &object) == nil:
			data = object[c.Key]
		default:
			return false
		}
	}
	return !slices.Contains(nothing(), strings.TrimSpace(string(data)))
}

// nothing lists what some CLIs write to a file, or under a key, before anybody has
// signed in.
func nothing() []string { return []string{"", "null", `""`, "{}", "[]", "false"} }
