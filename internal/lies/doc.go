// Package lies plays what an attacker would try to have bad work end as DONE.
//
// Everything is in its tests. The scenarios stand in testdata/lies, and the
// README there tells their form. Without CODELOOPS_BIN the tests only read
// them; `make lies` builds the program and plays them all.
package lies
