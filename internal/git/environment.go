package git

import (
	"slices"
	"strings"

	"codeloops/internal/proc"
)

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
	named, err := find(dir, env)
	if err != nil {
		return env
	}
	found, err := find(dir, without)
	other := err != nil || named.GitDir != found.GitDir || named.CommonDir != found.CommonDir || named.ObjectsDir != found.ObjectsDir
	if _, tree := proc.LookupEnv(env, "GIT_WORK_TREE"); other || tree && named.WorkTree != found.WorkTree {
		return env
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
