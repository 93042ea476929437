package main

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const databasePassword = "correct-horse-battery"

// database starts a PostgreSQL server, and returns the URL of its database without the password. It
// skips the test if PostgreSQL is not installed.
func database(t *testing.T) (url string) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		t.Skip("PostgreSQL's server (initdb) is not installed")
	}
	dir, err := os.MkdirTemp("/tmp", "pg-") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var as *syscall.SysProcAttr
	if os.Geteuid() == 0 { // the server refuses to run as root
		nobody, err := user.Lookup("nobody")
		if err != nil {
			t.Skip("PostgreSQL does not run as root, and there is no other user: ", err)
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Skip("PostgreSQL does not run as root: ", err)
		}
	}
	server := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(filepath.Dir(found[len(found)-1]), name), args...)
		cmd.Dir, cmd.SysProcAttr, cmd.Env = dir, as, []string{"LC_ALL=C", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
		return cmd
	}
	word := filepath.Join(dir, "password")
	if err := errors.Join(os.WriteFile(word, []byte(databasePassword), 0o600), os.Chmod(word, 0o644)); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	if out, err := server("initdb", "-N", "-D", data, "-U", "team", "-A", "scram-sha-256", "--pwfile", word, "-E", "UTF8").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := server("postgres", "-D", data, "-k", dir, "-F", "-c", "listen_addresses=")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		_ = cmd.Wait()
	})
	return "postgres://team@/postgres?host=" + dir
}

// TestLessonsInPostgres: a team's lessons can be kept in a database with the same guarantees as in
// a file; the password is only in its variable.
func TestLessonsInPostgres(t *testing.T) { //nolint:gocyclo // one fact after the other
	t.Parallel()
	url := database(t)
	s := newStage(t, `
[[actor]]
say = "one"
step = [{ write = "a", content = "bad\n" }]
[[actor]]
say = "two"
step = [{ write = "a", content = "good\n" }]
[[critic]]
say = "DECISION: DONE"
[[role.evaluator]]
say = "score: 0.3\nno"
[[role.evaluator]]
say = "score: 0.9\nyes"
[[role.reflector]]
say = "Write good, not `+databasePassword+`."
`)
	s.env = append(s.env, "PGPASSWORD="+databasePassword, "CODELOOPS_STRATEGY_LESSONS="+url)
	plain := func(args ...string) *exec.Cmd {
		cmd := s.codeloops()
		cmd.Args = append(cmd.Args[:1:1], args...)
		return cmd
	}
	lessons := func(args ...string) string {
		t.Helper()
		out, err := plain(append([]string{"lessons", "--in", url}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("lessons %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	s.await("the server", func() bool { return plain("lessons", "--in", url, "list").Run() == nil })

	// Several processes add lessons at the same time, some of them equal.
	var all []*exec.Cmd
	for i := range 4 {
		cmd := plain("lessons", "--in", url, "add", "--everywhere", "--task", "parsers & lexers", fmt.Sprintf("Mind the escape %d.", i/2))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if got := lessons("list"); strings.Count(got, "\n") != 2 || !strings.Contains(got, "\tnot told yet\tMind the escape 1.") {
		t.Errorf("listed %q", got)
	}
	if got := lessons("list", "--for", "a lexer's bug"); strings.Count(got, "Mind the escape") != 2 {
		t.Errorf("recalled %q", got)
	}
	if got := lessons("list", "--for", "& | ! ( 'paint"); got != "" {
		t.Errorf("recalled %q", got)
	}
	for line := range strings.Lines(lessons("list")) {
		if id, _, _ := strings.Cut(line, "\t"); lessons("rm", "--yes", id) != "removed 1 lesson\n" {
			t.Errorf("%s was not removed", id)
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "more.jsonl"), []byte(`{"lesson":"one"}`+"\n"+`{"lesson":"o'ne\u001b[2J two","attempt":3}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := lessons("import", filepath.Join(s.dir, "more.jsonl")); got != "added 2 lessons, 0 there already\n" {
		t.Errorf("imported: %q", got)
	}

	// One run learns, a second recalls; both replay without the database.
	for _, task := range []string{"write the word good", "put good words into it"} {
		out, err := s.codeloops("--strategy", "reflexion", "--check", "test -s a", task).CombinedOutput()
		if err != nil || strings.Contains(string(out), "! ") {
			t.Fatalf("%v\n%s", err, out)
		}
		_ = os.Remove(filepath.Join(s.dir, "work", "a"))
	}
	got := lessons("list")
	if !strings.Contains(got, "\t1 of 1 done\tWrite good, not [redacted].") || strings.Count(got, "Write good") != 2 {
		t.Errorf("listed %q", got)
	}
	if out, err := plain("replay", "--verify", filepath.Join(s.dir, "sessions")).CombinedOutput(); err != nil || strings.Count(string(out), "same") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
	logs, _ := filepath.Glob(filepath.Join(s.dir, "sessions", "*.jsonl"))
	var text strings.Builder
	for _, log := range logs {
		one, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(one)
	}
	if strings.Contains(text.String(), databasePassword) || !strings.Contains(text.String(), `"name":"reflexion.recall"`) {
		t.Error("the log has the password, or no lessons")
	}

	// A wrong password is reported, and one in a place where it would be visible is rejected.
	cmd := plain("lessons", "--in", url, "list")
	cmd.Env = append(cmd.Env, "PGPASSWORD=wrong-"+databasePassword)
	if out, err := cmd.CombinedOutput(); err == nil || strings.Contains(string(out), databasePassword) || !strings.Contains(string(out), "authentication failed") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, address := range []string{strings.Replace(url, "team@", "team:secret-word@", 1), url + "&password=secret-word"} {
		for _, cmd := range []*exec.Cmd{plain("lessons", "--in", address, "list"), plain("config", "check")} {
			cmd.Env = append(cmd.Env, "CODELOOPS_STRATEGY_LESSONS="+address)
			out, err := cmd.CombinedOutput()
			if err == nil || strings.Contains(string(out), "secret-word") || !strings.Contains(string(out), "PGPASSWORD") {
				t.Errorf("%v\n%s", err, out)
			}
		}
	}

	// A database that does not answer does not end the run.
	cmd = s.codeloops("--strategy", "reflexion", "--check", "test -s a", "write the word good")
	cmd.Env = append(cmd.Env, "CODELOOPS_STRATEGY_LESSONS=postgres://team@/postgres?host="+s.dir)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "lessons recalled: ! lessons: failed to connect") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestLessonsInPgvector: a database with pgvector compares the meaning of lessons itself; without
// it, or without permission for it, codeloops does.
func TestLessonsInPgvector(t *testing.T) { //nolint:gocyclo // likewise
	t.Parallel()
	if _, err := exec.LookPath("psql"); err != nil {
		t.Skip("PostgreSQL's client (psql) is not installed")
	}
	url := database(t)
	o := &oracle{}
	server := httptest.NewServer(o)
	defer server.Close()
	s := newStage(t, "[[actor]]\n[[critic]]\n")
	s.env = append(s.env, "PGPASSWORD="+databasePassword, "XDG_CACHE_HOME="+s.dir, "EMBEDDINGS_KEY=swordfish-swordfish",
		"CODELOOPS_LESSONS_EMBEDDINGS_URL="+server.URL, "CODELOOPS_LESSONS_EMBEDDINGS_MODEL=small", "CODELOOPS_LESSONS_EMBEDDINGS_KEY_ENV=EMBEDDINGS_KEY")
	lessons := func(url string, args ...string) (string, error) {
		cmd := s.codeloops()
		cmd.Args = append(cmd.Args[:1:1], append([]string{"lessons", "--in", url}, args...)...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	s.await("the server", func() bool { _, err := lessons(url, "list"); return err == nil })
	add := func(task, lesson string) {
		t.Helper()
		if out, err := lessons(url, "add", "--everywhere", "--task", task, lesson); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	add("say hello", "Be polite.")
	add("paint the file green", "Mind the colour.")
	ask := func(statement string) string {
		t.Helper()
		cmd := exec.Command("psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", statement, url) // beside the server
		cmd.Env = s.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", statement, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	recalled := func(url, how string) {
		t.Helper()
		out, err := lessons(url, "list", "--for", "a greeting")
		if err != nil || !strings.HasPrefix(out, "lessons are found by what they mean, which "+how) || !strings.HasSuffix(out, "\tnot told yet\tBe polite.\n") || strings.Contains(out, "colour") {
			t.Errorf("%v, %q", err, out)
		}
	}

	// A user who may not install pgvector, and one who need not because it is installed.
	ask("CREATE ROLE guest LOGIN PASSWORD '" + databasePassword + "'; GRANT ALL ON ALL TABLES IN SCHEMA public TO guest")
	guest := strings.Replace(url, "team@", "guest@", 1)
	recalled(guest, "codeloops compares: the database has no pgvector")
	if ask("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'") == "0" {
		recalled(url, "codeloops compares: the database has no pgvector")
		t.Skip("the server has no pgvector")
	}
	for range 2 {
		recalled(url, "the database compares (pgvector)")
	}
	ask("GRANT ALL ON ALL TABLES IN SCHEMA public TO guest")
	recalled(guest, "the database compares (pgvector)")
	if n := ask("SELECT count(*) FROM codeloops_lesson_vectors"); n != "2" {
		t.Errorf("%s vectors are kept", n)
	}
	// Vectors of another model, and of lessons that are gone, are removed.
	ask("INSERT INTO codeloops_lesson_vectors SELECT lesson, 'other', '[1,2,3]' FROM codeloops_lesson_vectors")
	ask("UPDATE codeloops_lesson_vectors SET meaning = '[1,2,3]' WHERE lesson IN (SELECT id FROM codeloops_lessons WHERE lesson LIKE 'Mind%')")
	add("say hello to the world", "Be brief.")
	if out, err := lessons(url, "list", "--for", "a greeting"); err != nil || !strings.Contains(out, "Be polite.") || !strings.Contains(out, "Be brief.") || strings.Contains(out, "colour") {
		t.Errorf("%v, %q", err, out)
	}
	ask("DELETE FROM codeloops_lessons")
	if n := ask("SELECT count(*) FROM codeloops_lesson_vectors"); n != "0" {
		t.Errorf("%s vectors are left", n)
	}
	server.Close()
	if out, err := lessons(url, "list", "--for", "a greeting"); err != nil || !strings.Contains(out, "lessons are found by their words") {
		t.Errorf("%v, %q", err, out)
	}
}
