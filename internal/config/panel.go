package config

import (
	"fmt"
	"strconv"
)

// Needs returns how many members have to say DONE.
func (p Judge) Needs() int {
	switch p.Quorum {
	case "all":
		return len(p.Members)
	case "majority":
		return len(p.Members)/2 + 1
	}
	n, _ := strconv.Atoi(p.Quorum) // checked by quorum
	return n
}

// quorum reads how many members of a panel must agree.
func quorum(raw any) (any, *fault) {
	said, ok := asText(raw)
	if n, isNumber := raw.(int64); isNumber {
		said, ok = strconv.FormatInt(n, 10), true
	}
	if !ok {
		return nil, &fault{problem: `must be "all", "majority" or a number, not ` + typeName(raw)}
	}
	if said == "all" || said == "majority" {
		return said, nil
	}
	if n, err := strconv.Atoi(said); err != nil || n < 1 {
		return nil, &fault{problem: fmt.Sprintf(`must be "all", "majority" or a number from 1, not %q`, short(said))}
	}
	return said, nil
}

// checkQuorum reports a panel that can never agree.
func (c *Config) checkQuorum() Errors {
	if n := len(c.Critic.Members); n == 0 || c.Critic.Needs() <= n {
		return nil
	}
	return c.contradiction("critic.quorum", fmt.Sprintf("is %s, but the panel has %d members", c.Critic.Quorum, len(c.Critic.Members)), `set a lower one, or "all"`)
}

// lowerQuorum reports whether a quorum may be lower than before. "all" is the highest;
// "majority" may be lower or higher than a number.
func lowerQuorum(was, is any) bool {
	before, errBefore := strconv.Atoi(fmt.Sprint(was))
	after, errAfter := strconv.Atoi(fmt.Sprint(is))
	if errBefore == nil && errAfter == nil {
		return after < before
	}
	return is != was && is != "all"
}

// otherPanel reports whether a panel was replaced. A single critic is not a panel.
func otherPanel(was, is any) bool {
	before, _ := was.([]string)
	return len(before) > 0 && differs(was, is)
}
