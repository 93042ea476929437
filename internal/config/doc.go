// Package config computes the effective configuration of a run.
//
// A value comes from the highest layer that sets it:
//
//	flag > CODELOOPS_* variable > project codeloops.toml > global config.toml > default
//
// The project file is the nearest one from the working directory up to the repository's
// root, never above it. Layers are merged key by key; a list replaces a list, and an
// agent's table replaces the whole table of that name. Within each layer, a role without
// its own agent or model takes the general one, so that `--agent codex` overrides a
// file's `[actor] agent`. A model belongs to the agent that it was set for: a role with
// another agent does not get the model of a lower layer or of the general agent.
//
// Every key is declared once, by the tags of its field, which [Key] explains. Files are read strictly: an
// unknown key, a wrong type or a bad value is an [*Error] with file, line and the nearest valid key. All
// problems of a file are reported at once, as [Errors].
//
// Keys that run commands or loosen safety take effect in a project file, which may come with a repository that
// the user merely cloned, only if the user has trusted exactly that content with [Trust]; until then they are
// an error that wraps [ErrUntrusted].
//
// This package does not read the process's environment or working directory: both are
// passed in [Options].
package config
