package attr

// A resolution collects the attributes of one path, the ones that count most
// first: what is known stays.
type resolution struct {
	dir        *Dir
	path, name string // from the root; in its directory
	values     map[string]Value
}

// resolve returns the attributes that the definitions mention for the file of
// that name.
func (d *Dir) resolve(name string) map[string]Value {
	res := resolution{dir: d, path: d.path + name, name: name, values: make(map[string]Value)}
	res.match(d.above, 0)
	for _, l := range d.layers {
		res.match(l.rules, l.from)
	}
	res.match(d.below, 0)
	return res.values
}

// match applies the rules that match, which are of the directory whose path is
// that long.
func (res *resolution) match(rules []rule, from int) {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].pattern.Match(res.path[from:], res.name, false, res.dir.reader.o.IgnoreCase) {
			res.apply(rules[i].assign)
		}
	}
}

// apply takes over the assignments of a line, the last one first. A macro that
// is set brings its own with it; it may name other macros, but each attribute
// is taken once, so that this ends.
func (res *resolution) apply(assign []assignment) {
	stack := [][]assignment{assign}
	for len(stack) > 0 {
		top := len(stack) - 1
		last := len(stack[top]) - 1
		if last < 0 {
			stack = stack[:top]
			continue
		}
		a := stack[top][last]
		stack[top] = stack[top][:last]
		if _, known := res.values[a.name]; known {
			continue
		}
		res.values[a.name] = a.value
		if a.value.State == Set {
			stack = append(stack, res.dir.macros[a.name])
		}
	}
}
