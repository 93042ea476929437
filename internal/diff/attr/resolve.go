package attr

import "strings"

// A resolution collects the attributes of one path, the ones that count most
// first: what is known stays.
type resolution struct {
	values map[string]Value
	macros map[string][]assignment
}

// resolve returns the attributes that the definitions mention for path.
func (r *Reader) resolve(path string) map[string]Value {
	res := resolution{values: make(map[string]Value), macros: make(map[string][]assignment)}
	layers := r.layers(path)
	for _, l := range layers {
		for name, assign := range l.macros {
			if _, ok := res.macros[name]; !ok {
				res.macros[name] = assign
			}
		}
	}
	for _, l := range layers {
		base := l.path[strings.LastIndexByte(l.path, '/')+1:]
		for i := len(l.rules) - 1; i >= 0; i-- {
			if l.rules[i].pattern.Match(l.path, base, false, r.o.IgnoreCase) {
				res.apply(l.rules[i].assign)
			}
		}
	}
	return res.values
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
			stack = append(stack, res.macros[a.name])
		}
	}
}
