// Package config works out the effective configuration of a run.
//
// A value comes from the highest layer that sets it:
//
//	flag > CODELOOPS_* variable > project codeloops.toml > global config.toml > default
//
// The project file is the nearest one from the working directory up to the
// repository's root, never above it. Layers are merged key by key; a list
// replaces a list, and an agent's table replaces the whole table of that name.
// Within each layer a role without an agent or a model of its own takes the
// general one, so that `--agent codex` wins over a file's `[actor] agent`. A
// model goes with the agent that it was set for: where a role gets another agent,
// a model from below, or of the general agent beside it, does not come along.
//
// Every key is declared once, in the schema, with its reader and default; flags,
// variables, files and [Write] go by it, and codeloops.toml.example is held to it. Files
// are read strictly: an unknown key, a wrong type or a bad value is an
// [*Error] with file, line and the nearest valid key, and a file's problems
// are reported all at once as [Errors].
//
// # Trust
//
// A project file may come with a repository that the user merely cloned. Its
// keys that run commands or loosen safety (agents, checks, env_deny,
// session_dir, templates, the policy) count only once the user has trusted that very content with
// [Trust]; until then they are an error that is [ErrUntrusted].
//
// Nothing here reads the process's environment or working directory: both come
// in through [Options].
package config
