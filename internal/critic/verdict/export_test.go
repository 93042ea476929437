package verdict

import "codeloops/internal/loop"

// Terms returns the names of all terms of policies.
func Terms() (names []string) {
	for _, t := range terms(loop.Policy{Critique: &loop.CritiquePolicy{}}, loop.Verdict{}) {
		names = append(names, t.name)
	}
	return names
}

// CheckWithout is [Check] with one term switched off.
func CheckWithout(name string, p loop.Policy, v loop.Verdict) string {
	for _, t := range terms(p, v) {
		if t.name != name && t.broken {
			return t.says
		}
	}
	return ""
}

// Parse reads a verdict by the grammar in the package comment. The error is
// always a [ReplyError].
func Parse(reply string) (loop.Verdict, error) { return Parser{}.Parse(reply) }

// Parse reads a verdict without checking it against the policy; only whether it must be structured matters. It
// takes time and memory in proportion to the reply.
func (p Parser) Parse(reply string) (loop.Verdict, error) {
	c, err := p.parse(reply)
	return c.verdict, err
}

// Read reads a verdict that satisfies the policy, and how it is sealed.
func (p Parser) Read(reply string) (v loop.Verdict, sealed loop.Sealed, problem string) {
	v, sealed, _, problem = p.read(reply)
	return v, sealed, problem
}
