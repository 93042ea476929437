package agent

import (
	"encoding/json"
	"maps"
	"slices"

	"codeloops/internal/file"
)

// Untrusted is what a CLI runs because a work tree says so: hooks, servers, plugins, helpers for
// keys. Instructions alone run nothing.
type Untrusted struct {
	// Files are those from which it does, globs as in path.Match, unless it is started with
	// Args, which come last, and Env.
	Files []string
	Args  []string
	Env   map[string]string
	// Anyway are those from which it does however it is started.
	Anyway []string
	// Trust is where it keeps which directories the user trusts.
	Trust Trust
}

// Trust is a file like that of a [Credential]: a JSON object. Its member Key has a member for each
// directory, in which Is is true if the user trusts it.
type Trust struct{ File, Home, Key, Is string }

// Wary returns the spec for turns in a project that the user does not trust.
func (s Spec) Wary() Spec {
	s.Write = slices.Concat(s.Write, s.Untrusted.Args)
	s.Talk.Write = slices.Concat(s.Talk.Write, s.Untrusted.Args)
	s.Env = maps.Clone(s.Env)
	if s.Env == nil {
		s.Env = map[string]string{}
	}
	maps.Copy(s.Env, s.Untrusted.Env)
	return s
}

// Trusts reports whether the CLI itself was told that the user trusts one of the directories.
func (s Spec) Trusts(dirs, env []string, home string) bool {
	t := s.Untrusted.Trust
	if t.File == "" {
		return false
	}
	data, _, err := file.Read(Credential{File: t.File, Home: t.Home}.path(env, home), file.Options{Max: maxCredentials})
	var all map[string]json.RawMessage
	var of map[string]map[string]json.RawMessage
	if err != nil || json.Unmarshal(data, &all) != nil || json.Unmarshal(all[t.Key], &of) != nil {
		return false
	}
	return slices.ContainsFunc(dirs, func(dir string) bool { return string(of[dir][t.Is]) == "true" })
}
