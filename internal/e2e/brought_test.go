package e2e

import (
	_ "embed"
	"os"
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
