// Package scenarios plays what others do to a run, with real processes and real git:
// what an attacker would try to have bad work end as DONE (testdata/lies), and what
// users do in their work trees while a run goes on (testdata/users).
//
// Everything is in its tests. The READMEs of the two directories tell the form of a
// scenario. Without CODELOOPS_BIN the tests only read them; `make lies` and `make
// users` build the program and play them all.
package scenarios
