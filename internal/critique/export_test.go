package critique

import "codeloops/internal/loop"

// Without returns a contract that asks for all that c does but for one term.
func Without(c Contract, name string) Lacking { return Lacking{c, name} }

// Lacking is a contract with one term switched off.
type Lacking struct {
	Contract
	name string
}

// Check is [Contract.Check].
func (l Lacking) Check(v loop.Verdict) string {
	for _, t := range l.terms() {
		if problem := t.broken(l.Contract, v); t.name != l.name && problem != "" {
			return problem
		}
	}
	return ""
}
