// Package scenarios tests runs with interference, with real processes and real git: what
// an attacker would try so that bad work ends as DONE (testdata/lies), and what users do
// in their work trees during a run (testdata/users).
//
// It consists of tests. The READMEs of the two directories describe the format of a
// scenario. Without CODELOOPS_BIN the tests only parse the scenarios; `make lies` and
// `make users` build the program and play them all.
package scenarios
