package config

import "fmt"

// Convergence is when a loop that does not get on is warned and ended: the
// table [convergence]. docs/limits.md tells of the signs.
type Convergence struct {
	WarnAfter  int     `mapstructure:"warn_after"` // 0: never
	StopAfter  int     `mapstructure:"stop_after"` // 0: never
	Similarity float64 `mapstructure:"similarity"` // 0 to 1
}

func convergence() schema {
	return schema{
		{
			key: "convergence.warn_after", value: times, byDefault: 2,
			doc: "So many times of one sign that the loop does not get on warn both agents: turns\nthat change nothing, a state that the work tree had before, the same feedback,\na finding that comes up again. 0 is never.",
		}, {
			key: "convergence.stop_after", value: times, byDefault: 4,
			doc: "So many times, in spite of a warning, end the run as stuck; 0 is never.",
		}, {
			key: "convergence.similarity", value: fraction, byDefault: 0.8,
			doc: "How alike, from 0 to 1, two texts must be to count as the same feedback.",
		},
	}
}

// times reads how often something may happen; once is nothing to speak of.
func times(raw any) (any, *fault) {
	n, f := count(0)(raw)
	if f == nil && n == 1 {
		return nil, &fault{problem: "must be at least 2, or 0 for never, but is 1"}
	}
	return n, f
}

// endsUnwarned reports a run that would end before anybody is warned.
func (c *Config) endsUnwarned() Errors {
	v := c.Convergence
	if v.WarnAfter == 0 || v.StopAfter == 0 || v.StopAfter > v.WarnAfter {
		return nil
	}
	const key = "convergence.stop_after"
	origin := c.Origin(key)
	return Errors{{
		File: origin.File, Line: origin.Line, Key: key,
		Problem: fmt.Sprintf("%s is %d, but the agents are warned after %d only", key, v.StopAfter, v.WarnAfter),
		Hint:    fmt.Sprintf("set it to at least %d, or convergence.warn_after = 0 to end without a warning", v.WarnAfter+1),
	}}
}
