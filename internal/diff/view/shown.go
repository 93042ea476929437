package view

import (
	"context"
	"os"
	"path/filepath"
	"strconv"

	"codeloops/internal/proc"
)

// shown returns where commands find something of the work tree.
func (p *Place) shown(of string) string {
	for _, b := range p.Binds {
		if rel, err := filepath.Rel(b.Of, of); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(b.Dir, rel)
		}
	}
	return of
}

// Shown has commands find the copy at another path, as that of the work tree that it was made
// of. That is not seen then, but for its objects, which git takes from where they are lent.
func (c *Replica) Shown(at string) ([]proc.Bind, error) {
	binds := []proc.Bind{{Dir: at, Of: c.Root}}
	lent, err := os.ReadDir(c.of.lent)
	if err != nil {
		return nil, err
	}
	for _, e := range lent {
		if e.IsDir() {
			continue
		}
		name := filepath.Join(c.of.lent, e.Name())
		objects, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		binds = append(binds, proc.Bind{Dir: name + ".d", Of: string(objects)})
	}
	return binds, nil
}

// lend makes the place where a directory with objects of the user's is found, too, by those
// who see the copy in the place of the work tree.
func (c *copied) lend(objects string) (at string, err error) {
	entries, err := os.ReadDir(c.lent)
	if err != nil {
		return "", err
	}
	name := filepath.Join(c.lent, strconv.Itoa(len(entries)))
	if err := os.WriteFile(name, []byte(objects), 0o600); err != nil {
		return "", err
	}
	return name + ".d", os.Mkdir(name+".d", 0o700)
}

// A Bound is a [Starter] whose commands find directories elsewhere.
type Bound struct {
	Starter
	Binds []proc.Bind
}

// Run runs a command.
func (b Bound) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	c.Binds = append(c.Binds, b.Binds...)
	return b.Starter.Run(ctx, c)
}
