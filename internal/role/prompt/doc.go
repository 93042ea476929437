// Package prompt has what the prompts of all agents are made of: the boundary around
// what others wrote, excerpts that fit into a size, and the templates of a user.
//
// No excerpt leaves anything out in silence: every cut names what is missing, in
// bytes and lines, and for a change by file and hunk. No cut falls inside a
// UTF-8 character. All budgets are bytes.
package prompt
