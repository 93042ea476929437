package verdict

import "codeloops/internal/loop"

// Terms returns the names of all terms of contracts.
func Terms() (names []string) {
	for name := range (Contract{Structured: &loop.CritiquePolicy{}}).terms(loop.Verdict{}) {
		names = append(names, name)
	}
	return names
}

// Without returns c without one term.
func Without(c Contract, name string) Lacking { return Lacking{c, name} }

// Lacking is a contract with one term switched off.
type Lacking struct {
	Contract
	name string
}

// Check is [Contract.Check].
func (l Lacking) Check(v loop.Verdict) string {
	for name, problem := range l.terms(v) {
		if name != l.name && problem != "" {
			return problem
		}
	}
	return ""
}

// Parse reads a verdict by the grammar in the package comment. The error is
// always a [ReplyError].
func Parse(reply string) (loop.Verdict, error) { return Parser{}.Parse(reply) }

// Parse reads a verdict without checking it against the contract; only whether it must be structured matters. It
// takes time and memory in proportion to the reply.
func (p Parser) Parse(reply string) (loop.Verdict, error) {
	c, err := p.parse(reply)
	return c.verdict, err
}
