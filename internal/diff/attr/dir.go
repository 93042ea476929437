package attr

import (
	"maps"
	"slices"
)

// A Dir is what defines the attributes of the files in one directory. It is
// safe for concurrent use.
type Dir struct {
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

// Root reads what is defined for the whole work tree and returns its root.
// mayHaveFile is false when the caller has listed the directory and seen no
// .gitattributes in it; this saves a look.
func (r *Reader) Root(mayHaveFile bool) *Dir {
	own := r.inside("", mayHaveFile)
	info, user, system := readOutside(r.o.Info), readOutside(r.o.User), readOutside(r.o.System)
	o := &outside{above: info.rules, below: slices.Concat(system.rules, user.rules)}
	o.macros = make(map[string][]assignment)
	for _, d := range []*definitions{builtIn(), system, user, own, info} {
		maps.Copy(o.macros, d.macros)
	}
	d := &Dir{reader: r, outside: o}
	if len(own.rules) > 0 {
		d.layers = []layer{{rules: own.rules}}
	}
	return d
}

// Sub reads what the subdirectory of that name defines, and returns it. See Root
// for mayHaveFile.
func (d *Dir) Sub(name string, mayHaveFile bool) *Dir {
	path := d.path + name + "/"
	sub := &Dir{reader: d.reader, path: path, layers: d.layers, outside: d.outside}
	if own := d.reader.inside(path, mayHaveFile); len(own.rules) > 0 {
		sub.layers = append([]layer{{rules: own.rules, from: len(path)}}, d.layers...)
	}
	return sub
}

// Of returns the attributes of the file of that name that bear on its
// conversion.
func (d *Dir) Of(name string) Attrs {
	if len(d.above)+len(d.below)+len(d.layers) == 0 {
		return Attrs{}
	}
	values := d.resolve(name)
	return Attrs{
		Text:     values["text"],
		CRLF:     values["crlf"],
		EOL:      values["eol"],
		Ident:    values["ident"],
		Filter:   values["filter"],
		Encoding: values["working-tree-encoding"],
	}
}
