package main

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"codeloops/internal/agent"
	"codeloops/internal/critic"
	"codeloops/internal/critique"
	"codeloops/internal/template"
	"codeloops/internal/worktree"
)

// judge is the critic of a run.
func (p *plan) judge(place agent.Place, waiting *lounge, outputs string) (*critic.Critic, error) {
	if p.cfg.CriticWorktree {
		place.Environ = ownRepository(place.Environ)
	}
	judge, err := p.bind(p.critic, place, waiting)
	if err != nil {
		return nil, err
	}
	asked, err := template.ForCritique(p.cfg.CritiqueTemplate)
	if err != nil {
		return nil, err
	}
	c := &critic.Critic{Agent: judge, Dir: outputs, Contract: critique.Of(p.policy()), Template: asked}
	if p.cfg.CriticWorktree {
		c.Worktree = p.copy()
	}
	return c, nil
}

// mayWrite starts critics as actors are: read-only, most of them could not
// build. The user's own agents keep the command that they have for a critic.
func (p *plan) mayWrite(players cast) cast {
	players = slices.Clone(players)
	for i, who := range players {
		if _, own := p.cfg.Agents[who.spec.Name]; !own {
			players[i].spec.Critic = who.spec.Actor
		}
	}
	return players
}

// copy is the copy of the work tree for the critic.
func (p *plan) copy() *worktree.Copy {
	git := gitProgram{env: ownRepository(p.app.env), runner: p.tree.git.runner, note: p.tree.note}
	return &worktree.Copy{
		Git: git.in, Head: p.tree.Head,
		Root: p.tree.Root(), Dir: p.dir, Home: filepath.Join(p.app.cache(), "worktrees"),
	}
}

// cache is codeloops' own directory for what can be made again.
func (a *app) cache() string {
	dir, _ := a.lookupEnv("XDG_CACHE_HOME")
	switch {
	case filepath.IsAbs(dir):
	case runtime.GOOS == "windows":
		dir, _ = a.lookupEnv("LOCALAPPDATA")
	case a.home() == "":
		dir = ""
	case runtime.GOOS == "darwin":
		dir = filepath.Join(a.home(), "Library", "Caches")
	default:
		dir = filepath.Join(a.home(), ".cache")
	}
	return filepath.Join(cmp.Or(dir, os.TempDir()), "codeloops")
}

// ownRepository takes out of an environment what leads git, or a shell, to the
// user's work tree.
func ownRepository(env []string) []string {
	leads := []string{
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_NAMESPACE", "GIT_PREFIX", "GIT_CEILING_DIRECTORIES", "GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT", "PWD", "OLDPWD",
	}
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(leads, name)
	})
}
