package config

import (
	"path"
	"slices"
	"strings"
)

// Environment returns the environment of agents, checks and setup commands: without the variables by
// which a step of a CI job decides about later steps, except those that the globs of env_pass match.
func Environment(environ, envPass []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name) // on Windows, names have no case
		passes := func(glob string) bool {
			ok, _ := path.Match(glob, name) // the schema has checked the glob
			return ok
		}
		return isChannel(name) && !slices.ContainsFunc(envPass, passes)
	})
}

// isChannel reports whether a variable leads to a file or a socket that a CI service reads after a step.
func isChannel(name string) bool {
	service, what, _ := strings.Cut(name, "_")
	switch service {
	case "GITHUB", "GITEA", "FORGEJO":
		return slices.Contains([]string{"ENV", "PATH", "OUTPUT", "STATE", "STEP_SUMMARY"}, what)
	case "GITLAB":
		return what == "ENV"
	case "BUILDKITE":
		return what == "ENV_FILE" || what == "ENV_JSON_FILE" || strings.HasPrefix(what, "AGENT_JOB_API_")
	case "DRONE", "CI":
		return what == "ENV" || what == "OUTPUT"
	case "BITBUCKET":
		return what == "PIPELINES_VARIABLES_PATH"
	case "ENVMAN": // Bitrise
		return what == "ENVSTORE_PATH"
	}
	return false
}
