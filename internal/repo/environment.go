package repo

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// environment adds the settings in GIT_CONFIG_COUNT with its numbered variables, then those in
// GIT_CONFIG_PARAMETERS, with which `git -c` passes settings to the programs that it runs.
func (l *loader) environment() error {
	numbered, err := l.numbered()
	if err != nil {
		return err
	}
	parameters, err := parameters(l.env.get("GIT_CONFIG_PARAMETERS"))
	if err != nil {
		return err
	}
	return l.add(append(numbered, parameters...))
}

func (l *loader) numbered() ([]Entry, error) {
	text := l.env.get("GIT_CONFIG_COUNT")
	if text == "" {
		return nil, nil
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 0 {
		return nil, fmt.Errorf("GIT_CONFIG_COUNT is %q, not a count", text)
	}
	var entries []Entry
	for i := range count {
		keyName, valueName := "GIT_CONFIG_KEY_"+strconv.Itoa(i), "GIT_CONFIG_VALUE_"+strconv.Itoa(i)
		key, okKey := l.env(keyName)
		value, okValue := l.env(valueName)
		if !okKey || !okValue || !strings.Contains(key, ".") {
			return nil, fmt.Errorf("GIT_CONFIG_COUNT is %d, but %s with %s is not a setting", count, keyName, valueName)
		}
		entries = append(entries, Entry{Key: canonical(key), Value: value})
	}
	return entries, nil
}

// parameters parses 'key'='value' and 'key=value', separated by spaces and quoted as in a shell.
func parameters(text string) ([]Entry, error) {
	var entries []Entry
	malformed := fmt.Errorf("GIT_CONFIG_PARAMETERS is malformed: %q", text)
	for rest := strings.TrimLeft(text, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		key, after, ok := unquote(rest)
		if !ok {
			return nil, malformed
		}
		e := Entry{Key: key, Implicit: true}
		if after, ok = strings.CutPrefix(after, "="); ok {
			e.Implicit = after == "" || after[0] == ' '
			if !e.Implicit {
				if e.Value, after, ok = unquote(after); !ok {
					return nil, malformed
				}
			}
		} else if key, value, ok := strings.Cut(key, "="); ok {
			e = Entry{Key: key, Value: value}
		}
		if after != "" && after[0] != ' ' {
			return nil, malformed
		}
		e.Key = canonical(e.Key)
		entries = append(entries, e)
		rest = after
	}
	return entries, nil
}

// unquote parses a word in single quotes at the start of s, and returns the rest. Outside the quotes
// it can have \' and \!.
func unquote(s string) (word, rest string, ok bool) {
	var b strings.Builder
	for {
		if s, ok = strings.CutPrefix(s, "'"); !ok {
			return "", "", false
		}
		part, after, ok := strings.Cut(s, "'")
		if !ok {
			return "", "", false
		}
		b.WriteString(part)
		if len(after) < 3 || after[0] != '\\' || after[1] != '\'' && after[1] != '!' || after[2] != '\'' {
			return b.String(), after, true
		}
		b.WriteByte(after[1])
		s = after[2:]
	}
}

// NamesRepository reports whether an environment variable tells git which repository, or which
// part of one, to use. Variables with settings do not.
func NamesRepository(variable string) bool {
	switch variable {
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE",
		"GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE",
		"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT":
		return true
	}
	return false
}

// WithoutRepository returns an environment without the variables that direct git, or a shell, to a
// repository or a directory other than the current one.
func WithoutRepository(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return NamesRepository(name) || name == "PWD" || name == "OLDPWD"
	})
}

// WithoutOwn returns an environment without the variables that name the repository which git finds in
// dir anyway. Git sets them for hooks, aliases and `rebase --exec`, and in any other directory, such as a
// test's repository, they would lead git back. If they name another repository, or objects or a work tree
// of another, they stay.
func WithoutOwn(dir string, env []string) []string {
	without := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return setByGit(name)
	})
	if len(without) == len(env) {
		return env
	}
	named, err := find(dir, lookup(env))
	if err != nil {
		return env
	}
	found, err := find(dir, lookup(without))
	if err != nil || named.gitDir != found.gitDir || named.commonDir != found.commonDir || named.objects != found.objects {
		return env
	}
	if tree := lookup(env).get("GIT_WORK_TREE"); tree != "" {
		own, err := Open(dir, lookup(without))
		if resolved, e := filepath.EvalSymlinks(join(named.start, tree)); err != nil || e != nil || own.WorkTree != resolved {
			return env
		}
	}
	return without
}

// setByGit reports whether git sets a variable for programs that it starts, to name their repository.
func setByGit(variable string) bool {
	switch variable {
	case "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT", "GIT_NAMESPACE":
		return false // the user's
	}
	return NamesRepository(variable)
}

// lookup looks a variable up; the last of a name counts.
func lookup(env []string) Env {
	return func(name string) (value string, ok bool) {
		for _, entry := range env {
			if rest, is := strings.CutPrefix(entry, name+"="); is {
				value, ok = rest, true
			}
		}
		return value, ok
	}
}
