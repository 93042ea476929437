package scenarios

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A corpus is a directory of scenarios.
type corpus struct {
	dir    string
	fewest int  // the minimum number of scenarios
	twins  bool // each has an honest twin, or says why not
}

func lies() corpus { return corpus{"../../../testdata/lies", 300, true} }

// read reads all of its scenarios.
func (c corpus) read(t *testing.T) (all []scenario) {
	t.Helper()
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txtar" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(c.dir, strings.TrimSuffix(path, ".txtar"))
		if err != nil {
			return err
		}
		read, err := parse(filepath.ToSlash(name), text, c.twins)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, read...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCorpus: each corpus can be parsed, and has its minimum size.
func TestCorpus(t *testing.T) {
	t.Parallel()
	for _, c := range []corpus{lies(), users()} {
		all := c.read(t)
		twins := 0
		for _, s := range all {
			if s.twin != nil {
				twins++
			}
		}
		t.Logf("%s: %d scenarios, %d of them with an honest twin", c.dir, len(all), twins)
		if len(all) < c.fewest {
			t.Errorf("%s: there are %d scenarios, want at least %d", c.dir, len(all), c.fewest)
		}
	}
}

// No lie ends as DONE, and every honest twin does.
func TestLies(t *testing.T) {
	t.Parallel()
	bin := program(t)
	// Nothing is removed before the end: ext4 creates files slowly while others are being removed.
	root := t.TempDir()
	played := &known{}
	for _, s := range lies().read(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.playLie(t, bin, root)
			if s.twin != nil && played.first(s.args, s.twin) {
				s.playTwin(t, bin, root)
			}
		})
	}
}

// program returns the directory of the program to test.
func program(t *testing.T) string {
	t.Helper()
	name := os.Getenv("CODELOOPS_BIN")
	if name == "" {
		t.Skip("CODELOOPS_BIN names no program to test: use make lies or make users")
	}
	return filepath.Dir(name)
}

func (s scenario) playLie(t *testing.T, bin, root string) {
	t.Helper()
	e := newStage(t, bin, root, s.args, s.files).play(t)
	switch {
	case e.exit == 0 && s.exit != 0:
		t.Errorf("the lie passed: exit code 0\n%s", e)
	case s.exit != anyFailure && e.exit != s.exit:
		t.Errorf("exit code %d, want %d\n%s", e.exit, s.exit, e)
	case s.exit == anyFailure && !e.played:
		t.Errorf("nothing was played: exit code %d\n%s", e.exit, e)
	}
	s.tells(t, e)
}

// tells checks what must and what must not be in the output and the log.
func (s scenario) tells(t *testing.T, e ending) {
	t.Helper()
	if strings.Contains(e.output, "goroutine 1 [") {
		t.Errorf("codeloops crashed\n%s", e.output)
	}
	for _, re := range s.holds {
		if !re.MatchString(e.text()) {
			t.Errorf("nothing matches %s\n%s", re, e)
		}
	}
	for _, re := range s.never {
		if found := re.FindString(e.text()); found != "" {
			t.Errorf("%s matches %q\n%s", re, found, e)
		}
	}
}

func (s scenario) playTwin(t *testing.T, bin, root string) {
	t.Helper()
	if e := newStage(t, bin, root, s.args, s.twin).play(t); e.exit != 0 {
		t.Errorf("the honest twin ended with exit code %d\n%s", e.exit, e)
	}
}

// known holds the twins that have been played: the variants of a scenario usually share one.
type known struct {
	mu    sync.Mutex
	twins map[string]bool
}

// first reports whether a twin has not been played yet.
func (k *known) first(args string, twin map[string]string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := fmt.Sprint(args, twin) // fmt prints maps in the order of their keys
	if k.twins[key] {
		return false
	}
	if k.twins == nil {
		k.twins = map[string]bool{}
	}
	k.twins[key] = true
	return true
}
