package config

// profile returns what a profile sets. This layer comes right above the defaults.
func profile(name string) layer {
	l := layer{values: values{}}
	if name == "strict" {
		origin := Origin{Layer: Default, Name: "profile strict"}
		l.values["approval_threshold"] = value{0.9, origin}
		l.values["policy.open_findings"] = value{"refuse", origin}
	}
	return l
}

// profileOf returns the effective profile of the layers, lowest first.
func profileOf(layers []layer) (name string) {
	for _, l := range layers {
		if v, ok := l.values["profile"]; ok {
			name, _ = v.is.(string) // its kind is choice
		}
	}
	return name
}

// checkRevision reports on_violation = "revise" where nothing may be revised.
func (c *Config) checkRevision() Errors {
	if c.Policy.AutoRevise || c.Policy.OnViolation != "revise" {
		return nil
	}
	return c.contradiction("policy.on_violation", `is "revise", but policy.auto_revise lets nothing be revised`,
		`set policy.on_violation = "stop", or policy.auto_revise = true`)
}

// Decisions lists the decisions that a critic may make.
func Decisions() []string { return []string{"done", "continue", "error", "escalate"} }
