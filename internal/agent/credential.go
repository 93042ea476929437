package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Credential is something that a CLI may be signed in with: a variable, or a
// file below the user's home that it writes when somebody signs in.
type Credential struct {
	// Env is the name of a variable. A CLI is given it also where secrets are
	// kept from it.
	Env string
	// File is relative to the user's home, with slashes. Where Home names a
	// variable that is set, that is the directory File's last part lies in. Where
	// XDG_DATA_HOME or XDG_CONFIG_HOME is set, that is what File means by
	// .local/share or .config.
	File string
	Home string
	// Key is what File, then a JSON object, has to hold; "": anything.
	Key string
}

// maxCredentials bounds a file that is looked into, in bytes.
const maxCredentials = 8 << 20

// SignedIn says by what a CLI seems to be signed in, as a word or two for a
// person; "" when nothing of it can be seen. It starts nothing and asks nobody:
// what it finds may have expired, and a key in a system's keyring is not found.
// home is the user's home directory.
func (s Spec) SignedIn(env []string, home string) string {
	for _, c := range s.Credentials {
		if c.Env != "" {
			if lookup(env, c.Env) != "" {
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

// Remedy says what to do when the CLI says that it is not signed in, as a
// sentence's end; "" when nothing is known.
func (s Spec) Remedy(env []string) string {
	first := ""
	for _, c := range s.Credentials {
		if c.Env != "" && lookup(env, c.Env) != "" {
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
		if dir := lookup(env, c.Home); dir != "" {
			return filepath.Join(dir, filepath.Base(filepath.FromSlash(c.File)))
		}
	}
	for below, name := range map[string]string{".local/share/": "XDG_DATA_HOME", ".config/": "XDG_CONFIG_HOME"} {
		rest, ok := strings.CutPrefix(c.File, below)
		// The specification has relative ones passed over.
		if dir := lookup(env, name); ok && filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(rest))
		}
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(c.File))
}

func (c Credential) holds(path string) bool {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() == 0 || st.Size() > maxCredentials {
		return false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	if c.Key == "" {
		return !slices.Contains(nothing(), strings.TrimSpace(string(data)))
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return false
	}
	value := strings.TrimSpace(string(object[c.Key]))
	return !slices.Contains(nothing(), value)
}

// nothing is what stands in a file, or under a key, before anybody has signed
// in; some CLIs write it the first time that they are started.
func nothing() []string { return []string{"", "null", `""`, "{}", "[]", "false"} }

// lookup finds a variable; the last of a name counts.
func lookup(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// providerKeys are the variables with which CLIs that work with many services
// sign in to the most common ones.
func providerKeys() []Credential {
	var all []Credential
	for _, name := range []string{
		"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "OPENROUTER_API_KEY",
		"GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY", "AZURE_OPENAI_API_KEY",
		"CEREBRAS_API_KEY", "ZAI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK",
	} {
		all = append(all, Credential{Env: name})
	}
	return all
}
