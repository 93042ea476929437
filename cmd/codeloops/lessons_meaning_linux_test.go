package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// An oracle is an embeddings endpoint for which all texts about greetings mean the same.
type oracle struct {
	mu    sync.Mutex
	asked []string
}

func (o *oracle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string
		Input []string
	}
	if r.Header.Get("Authorization") != "Bearer swordfish-swordfish" || json.NewDecoder(r.Body).Decode(&asked) != nil || asked.Model != "small" {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	var data []map[string]any
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, text := range asked.Input {
		o.asked = append(o.asked, text)
		vector := []float64{0, 1}
		if strings.Contains(text, "greeting") || strings.Contains(text, "hello") {
			vector = []float64{1, 0}
		}
		data = append(data, map[string]any{"index": i, "embedding": vector})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

// TestLessonsByMeaning: a run recalls lessons that mean the same as its task in other words, or, if
// the endpoint does not answer, those with the same words. The key is sent nowhere else.
func TestLessonsByMeaning(t *testing.T) {
	t.Parallel()
	o := &oracle{}
	server := httptest.NewServer(o)
	defer server.Close()
	s := newStage(t, `
[[actor]]
say = "one"
step = [{ write = "a", content = "good\n" }]
[[critic]]
say = "DECISION: DONE"
[[role.evaluator]]
say = "score: 0.9\nyes"
`)
	s.env = append(s.env, "XDG_CACHE_HOME="+s.dir, "CODELOOPS_STRATEGY_LESSONS=user", "EMBEDDINGS_KEY=swordfish-swordfish",
		"CODELOOPS_LESSONS_EMBEDDINGS_URL="+server.URL, "CODELOOPS_LESSONS_EMBEDDINGS_MODEL=small", "CODELOOPS_LESSONS_EMBEDDINGS_KEY_ENV=EMBEDDINGS_KEY")
	plain := func(args ...string) *exec.Cmd {
		cmd := s.codeloops()
		cmd.Args = append(cmd.Args[:1:1], args...)
		return cmd
	}
	for _, l := range [][]string{{"say hello", "Be polite."}, {"paint the file green", "Mind the colour."}} {
		if out, err := plain("lessons", "add", "--task", l[0], l[1]).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	run := func(task string) string {
		t.Helper()
		out, err := s.codeloops("--strategy", "reflexion", "--check", "test -s a", task).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_ = os.Remove(filepath.Join(s.dir, "work", "a"))
		_, recalled, _ := strings.Cut(string(out), "lessons recalled")
		recalled, _, _ = strings.Cut(recalled, "copied: ")
		return recalled
	}
	if got := run("put a greeting into the file, not swordfish-swordfish"); !strings.Contains(got, " Be polite.\n") || strings.Contains(got, "!") || strings.Contains(got, "colour") {
		t.Errorf("recalled %q", got)
	}
	if out, err := plain("lessons", "list", "--for", "a greeting").Output(); err != nil || !strings.HasSuffix(string(out), "\t1 of 1 done\tBe polite.\n") {
		t.Errorf("%v, %q", err, out)
	}
	server.Close()
	if got := run("put a greeting into the file"); !strings.Contains(got, "! embeddings: ") || !strings.Contains(got, " Mind the colour.\n") {
		t.Errorf("without the endpoint: %q", got)
	}
	if text := strings.Join(o.asked, "\n"); strings.Contains(text, "swordfish") || strings.Count(text, "Be polite") != 1 {
		t.Errorf("asked %q", o.asked)
	}
	found, _ := exec.Command("grep", "-rl", "swordfish-", filepath.Join(s.dir, "sessions"), filepath.Join(s.dir, "codeloops")).Output()
	if len(found) > 0 {
		t.Errorf("the key is in %s", found)
	}
}
