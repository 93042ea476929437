// Package e2e runs codeloops with the real agent CLIs, against scripted models.
//
// Everything is in its tests, which do nothing unless E2E_AGENTS names agents,
// or says "all". `make e2e` is how to start them; docs/adding-agents.md tells
// what they show.
package e2e
