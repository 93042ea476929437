// Package excerpt cuts text to a size that fits into a prompt.
//
// Nothing is ever left out in silence: every cut names what is missing, in
// bytes and lines, and for a change by file and hunk. No cut falls inside a
// UTF-8 character. All budgets are bytes.
package excerpt
