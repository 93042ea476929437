package place

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/wording/hint"
)

// settle repairs what keeps git from working in a ready place. It leaves the files alone.
func (p *Place) settle(ctx context.Context) error {
	if info, err := os.Lstat(p.Dir); err != nil || !info.IsDir() { // a link would lead to others' files
		return cmp.Or(err, hint.Errorf("was it the agent? Move that away", "%s is no longer a directory", p.Dir))
	}
	if err := p.branch(ctx, p.rec.Base); err != nil {
		return err
	}
	if err := p.link(ctx, p.aside()); err != nil {
		return err
	}
	if err := p.unlock(); err != nil {
		return err
	}
	if p.rec.Update == nil || !p.rec.Update.Begun {
		return nil
	}
	// A merge was interrupted. Everything uncommitted comes from it, apart from brought files.
	if _, err := p.git(ctx, "reset", "--hard", "--quiet"); err != nil {
		return err
	}
	args := []string{"clean", "-d", "--force", "--quiet"}
	escape := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
	for _, path := range p.rec.Brought {
		args = append(args, "--exclude=/"+escape.Replace(path))
	}
	if _, err := p.git(ctx, args...); err != nil {
		return err
	}
	p.rec.Update = nil
	return p.rec.save()
}

// aside returns a free path for a repository that was found in the place.
func (p *Place) aside() string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.git-%d", filepath.Join(p.site.records, p.Task), n)
		if _, err := os.Lstat(name); err != nil {
			return name
		}
	}
}
