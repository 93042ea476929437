package agent

import (
	"fmt"
	"maps"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/redact/secretname"
)

// nested lists the variables that agents set for the processes they run. A CLI that sees
// them takes itself for a part of the outer session: it refuses to start, joins that
// session's editor, or reports to it.
func nested() []string {
	return []string{
		"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_EXECPATH",
		"CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_MESSAGING_*", "CLAUDE_PID",
		"CODEX_THREAD_ID",
		"OPENCODE", "OPENCODE_PID", "OPENCODE_RUN_ID", "OPENCODE_PROCESS_ROLE",
		"CURSOR_AGENT", "CURSOR_INVOKED_AS", "CURSOR_TRACE_ID",
		"GEMINI_CLI", "QWEN_CODE", "COPILOT_CLI", "AMP_CURRENT_THREAD_ID", "AI_AGENT",
	}
}

// environ returns the environment of a turn: that of codeloops without its own
// configuration, the variables of an agent around it, what the user or the spec denies
// and, for some turns, foreign secrets; then the spec's variables and those that identify
// the turn.
func (a *Agent) environ(r Request) []string {
	deny := slices.Concat(nested(), []string{"CODELOOPS_*"}, a.spec.DropEnv, a.at.EnvDeny)
	set := a.spec.env(r.Access)
	var env []string
	for _, entry := range a.at.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if _, replaced := set[name]; !replaced && !matchesAny(name, deny) && !a.withheld(name, r.Access) {
			env = append(env, entry)
		}
	}
	for name, value := range a.spec.DefaultEnv {
		if !slices.ContainsFunc(a.at.Environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") }) {
			set[name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		env = append(env, name+"="+set[name])
	}
	if r.Step != "" {
		env = append(env, "CODELOOPS_STEP="+string(r.Step))
	}
	return append(env,
		"CODELOOPS_SESSION="+a.at.Session,
		"CODELOOPS_RUN="+strconv.Itoa(a.at.Run+1),
		"CODELOOPS_ROLE="+string(r.Role),
		"CODELOOPS_ITERATION="+strconv.Itoa(r.Iteration),
		"CODELOOPS_ASK="+strconv.Itoa(r.Ask+r.Leg+r.Try),
	)
}

// withheld reports whether a variable is a secret that this turn must not see.
func (a *Agent) withheld(name string, access loop.Access) bool {
	if access == loop.Write || !a.at.HideSecrets || !secretname.Is(name) {
		return false
	}
	own := slices.ContainsFunc(a.spec.Credentials, func(c Credential) bool { return c.Env == name })
	return !own && !matchesAny(name, a.at.EnvPass)
}

func matchesAny(name string, globs []string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		if runtime.GOOS == "windows" { // where names are case-insensitive
			name, glob = strings.ToUpper(name), strings.ToUpper(glob)
		}
		ok, _ := path.Match(glob, name) // New has checked the glob
		return ok
	})
}

func checkGlobs(globs []string) error {
	for _, glob := range globs {
		if _, err := path.Match(glob, ""); err != nil {
			return fmt.Errorf("%q is not a valid glob for variable names: %w", glob, err)
		}
	}
	return nil
}
