// Package prompt has the building blocks of prompts: the boundary around what others
// wrote, excerpts of limited size, and the user's templates.
//
// No excerpt leaves anything out silently: every cut says how many bytes and lines are
// missing, and for a change which files and hunks. No cut falls inside a UTF-8 character.
// All budgets are in bytes.
package prompt
