// Package codeloops holds the pages of the documentation that the program itself shows.
package codeloops

import "embed"

// Pages are the files of docs that are topics of `codeloops help`, and
// codeloops.toml.example.
//
//go:embed codeloops.toml.example docs/adding-agents.md docs/ci.md docs/ends.md docs/eval.md docs/gate.md docs/limits.md docs/notices.md docs/policy.md docs/pr.md docs/prompts.md docs/queue-sources.md docs/reviews.md docs/scripted-agent.md docs/session-format.md docs/steering.md docs/strategies.md docs/templates.md docs/troubleshooting.md docs/verify.md
var Pages embed.FS
