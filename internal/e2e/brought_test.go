package e2e

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"codeloops/internal/agent"
	"codeloops/internal/e2e/model"
)

//go:embed testdata/brought.txtar
var brought []byte

var broughtMark = regexp.MustCompile(`brought-[a-z-]+`)

// bring commits what a repository may bring along, and returns the directory in which a file shows
// each thing of it that has run.
func (s *stage) bring() string {
	s.t.Helper()
	marks := filepath.Join(s.dir, "marks")
	s.must(os.Mkdir(marks, 0o700))
	for _, f := range txtar.Parse(brought).Files {
		s.write(filepath.Join("work", f.Name), strings.ReplaceAll(string(f.Data), "MARKS", marks))
		if strings.HasPrefix(string(f.Data), "#!") {
			s.must(os.Chmod(filepath.Join(s.work, f.Name), 0o700))
		}
	}
	s.git("add", "-A", "-f")
	s.git("commit", "-q", "-m", "what is brought along")
	return marks
}

// TestBroughtForCritic: what the work tree brings along for agents, which an actor may have
// written, neither runs beside a critic nor speaks to its model, unless the catalogue says so.
func TestBroughtForCritic(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		var told said
		s := newStage(t, c, turns(func(q turn) model.Answer {
			told.add(q)
			if len(q.results) == 0 {
				return use(q.Run("cat README.md"))
			}
			return model.Answer{Text: done}
		}))
		marks := s.bring()
		s.employ("echo hello >" + greeting)
		r := s.start("greet the world")
		e := r.wait()
		if e.code != 0 || len(e.critic) == 0 {
			t.Errorf("exit code %d, %+v\n%s", e.code, e.result, r.events.text())
		}
		ran, err := os.ReadDir(marks)
		s.must(err)
		var names []string
		for _, f := range ran {
			names = append(names, f.Name())
		}
		spec, err := agent.Find(c.name)
		s.must(err)
		if some := len(names)+len(told.words) > 0; some != (spec.WithoutProject.Except != "") {
			t.Errorf("ran: %q; told: %q; the catalogue says that it takes only %q", names, told.words, spec.WithoutProject.Except)
		}
		table.notef(c.name, "critic: what the tree brings", "%s %s", names, told.words)
	})
}

// TestBroughtForActor: an actor in a project that the user does not trust runs nothing that the work
// tree brings along, unless the catalogue says that nothing keeps it from that; in a project that the user
// trusts it runs all of it. Its words reach the model of an agent that is started as usual, and those of
// CLAUDE.md also otherwise.
func TestBroughtForActor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		spec, err := agent.Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		var ran [2][]string
		for i, trust := range []bool{false, true} {
			var told said
			s := newStage(t, c, turns(func(q turn) model.Answer {
				told.add(q)
				if len(q.results) == 0 {
					return use(q.Run("cat README.md"))
				}
				return model.Answer{Text: "I have read it."}
			}))
			marks := s.bring()
			s.judge(done)
			if trust {
				s.trust()
			}
			r := s.start("-n", "1", "greet the world")
			if e := r.wait(); e.code != 0 {
				t.Errorf("exit code %d, %+v\n%s", e.code, e.result, r.events.text())
			}
			files, err := os.ReadDir(marks)
			s.must(err)
			for _, f := range files {
				ran[i] = append(ran[i], f.Name())
			}
			some, u := len(spec.Untrusted.Files)+len(spec.Untrusted.Anyway) > 0, spec.Untrusted
			said := strings.Contains(r.events.text(), "config trust")
			if said != (some && !trust) || !trust && len(ran[i]) > 0 != (len(u.Anyway) > 0) || trust && len(ran[i]) > 0 != some {
				t.Errorf("trusted: %t, ran: %q, said: %t; the catalogue names %q and %q", trust, ran[i], said, u.Files, u.Anyway)
			}
			if c.name == "claude" && !slices.Contains(told.words, "brought-claude-md") {
				t.Errorf("trusted: %t, told: %q", trust, told.words)
			}
		}
		table.notef(c.name, "actor: what the tree runs", "untrusted %s, trusted %s", ran[0], ran[1])
	})
}

// trust trusts the project.
func (s *stage) trust() {
	s.t.Helper()
	cmd := exec.Command(os.Getenv(binaryVar), "config", "trust")
	cmd.Dir, cmd.Env = s.work, s.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("config trust: %v\n%s", err, out)
	}
}

// said collects the words of what was brought along in requests to a model.
type said struct {
	mu    sync.Mutex
	words []string
}

func (h *said) add(q turn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, word := range broughtMark.FindAllString(string(q.Body), -1) {
		if !slices.Contains(h.words, word) {
			h.words = append(h.words, word)
		}
	}
}
