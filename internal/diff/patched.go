package diff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"codeloops/internal/proc"
)

var errInTheWay = errors.New("something that is out of scope is in the way")

// Patched has git apply a patch to the baseline, and returns the [loop.Change.State] of the result, for
// [Tree.PlanRestore]. It writes only objects. It is an error if a file is added where there is an ignored one, which is
// in no state.
func (t *Tree) Patched(ctx context.Context, patch string) (state string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	base := t.basis.state
	if base == nil {
		return "", ErrNoBaseline
	}
	v := &view{shadow: t.shadow, root: t.shadow.dir, index: t.shadow.file("patched")}
	links, err := t.withoutLinks(ctx, v, base.tree)
	if err != nil {
		return "", err
	}
	if patch != "" { // of none, git says that it is no patch
		_, err = v.run(ctx, nil, []byte(patch), "-c", "core.quotePath=false", "apply", "--cached", "--whitespace=nowarn", "--no-ignore-whitespace")
	}
	if exit, ok := errors.AsType[*proc.ExitError](err); ok {
		err = errors.New(exit.Stderr) // a line for each file
	}
	if err != nil {
		return "", err
	}
	out, err := v.run(ctx, nil, nil, "write-tree")
	if err != nil {
		return "", err
	}
	s, err := t.linked(plumbing.NewHash(strings.TrimSpace(string(out))), links, base.beside)
	if err != nil {
		return "", err
	}
	if err := t.free(ctx, s); err != nil {
		return "", err
	}
	t.know(s)
	return s.id, nil
}

// withoutLinks makes the index that of a tree, but for the repositories inside, which it returns: there may be files to come
// in their place.
func (t *Tree) withoutLinks(ctx context.Context, v *view, tree plumbing.Hash) (links []listedFile, err error) {
	files, err := t.objects.list(ctx, tree)
	if err == nil {
		err = v.readTree(ctx, tree, "")
	}
	var lines strings.Builder
	for _, f := range files {
		if f.Mode == Gitlink {
			links = append(links, f)
			lines.WriteString(info(0, plumbing.ZeroHash, f.name))
		}
	}
	return links, cmp.Or(err, v.update(ctx, lines.String(), nil))
}

// linked returns the state of a tree with links put back: beside it where there are files in their place.
func (t *Tree) linked(tree plumbing.Hash, links []listedFile, was beside) (*state, error) {
	now := beside{Links: byName[string]{}, Large: maps.Clone(was.Large)}
	maps.Copy(now.Links, was.Links)
	edits := map[string]*object.TreeEntry{}
	for _, link := range links {
		there, err := t.objects.at(tree, link.name)
		switch {
		case err != nil:
			return nil, err
		case there == nil:
			edits[link.name] = &object.TreeEntry{Mode: filemode.Submodule, Hash: link.ID}
		default:
			now.Links[link.name] = link.ID.String()
		}
	}
	tree, err := t.objects.edited(tree, edits)
	if err != nil {
		return nil, err
	}
	return t.objects.named(tree, now)
}

// free returns an error if something that is not in the baseline is where a state has a new file.
func (t *Tree) free(ctx context.Context, s *state) error {
	differ, err := t.objects.compare(ctx, t.basis.state, s)
	problems := []error{err}
	for _, d := range differ {
		if d.before != nil {
			continue
		}
		if _, err := os.Lstat(t.absolute(d.path)); err == nil {
			problems = append(problems, fmt.Errorf("%s: %w", d.path, errInTheWay))
		}
	}
	return errors.Join(problems...)
}
