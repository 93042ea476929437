package attr

import (
	"maps"
	"slices"
)

// A dir is what defines the attributes of the files in one directory. It does not
// change.
type dir struct {
	reader *Reader
	path   string  // from the root, with a slash behind; "" for the root
	layers []layer // of the work tree; the ones that count most first

	*outside // the same for all directories
}

// A layer is the rules of one file of the work tree.
type layer struct {
	rules []rule
	from  int // how long the path of its directory is
}

// An outside is what counts more than the work tree's files, what counts less,
// and the macros of all.
type outside struct {
	above, below []rule // the last match counts
	macros       map[string][]assignment
}

// root reads what is defined for the whole work tree and returns its root.
func (r *Reader) root() *dir {
	own := r.inside("")
	info, user, system := readOutside(r.o.Info), readOutside(r.o.User), readOutside(r.o.System)
	o := &outside{above: info.rules, below: slices.Concat(system.rules, user.rules)}
	o.macros = make(map[string][]assignment)
	for _, d := range []*definitions{builtIn(), system, user, own, info} {
		maps.Copy(o.macros, d.macros)
	}
	d := &dir{reader: r, outside: o}
	if len(own.rules) > 0 {
		d.layers = []layer{{rules: own.rules}}
	}
	return d
}

// sub reads what the subdirectory of that name defines, and returns it.
func (d *dir) sub(name string) *dir {
	path := d.path + name + "/"
	sub := &dir{reader: d.reader, path: path, layers: d.layers, outside: d.outside}
	if own := d.reader.inside(path); len(own.rules) > 0 {
		sub.layers = append([]layer{{rules: own.rules, from: len(path)}}, d.layers...)
	}
	return sub
}

// A resolution collects the attributes of one path, the ones that count most
// first: what is known stays.
type resolution struct {
	dir        *dir
	path, name string // from the root; in its directory
	values     map[string]Value
}

// resolve returns the attributes that the definitions mention for the file of
// that name.
func (d *dir) resolve(name string) map[string]Value {
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
