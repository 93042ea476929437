package config

import "fmt"

// times reads a number of repetitions, of which 1 would be none.
func times(raw any) (any, *fault) {
	n, f := count(0)(raw)
	if f == nil && n == 1 {
		return nil, &fault{problem: "must be at least 2, or 0 for never, but is 1"}
	}
	return n, f
}

// checkConvergence reports a run that would end before the agents are warned.
func (c *Config) checkConvergence() Errors {
	v := c.Convergence
	if v.WarnAfter == 0 || v.StopAfter == 0 || v.StopAfter > v.WarnAfter {
		return nil
	}
	return c.contradiction("convergence.stop_after",
		fmt.Sprintf("is %d, but the agents are warned after %d only", v.StopAfter, v.WarnAfter),
		fmt.Sprintf("set it to at least %d, or convergence.warn_after = 0 to end without a warning", v.WarnAfter+1))
}
