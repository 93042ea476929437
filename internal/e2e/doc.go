// Package e2e runs codeloops with the real agent CLIs against scripted models.
//
// It consists of tests, which do nothing unless E2E_AGENTS names agents or is "all". Start
// them with `make e2e`; docs/adding-agents.md explains what they check.
package e2e
