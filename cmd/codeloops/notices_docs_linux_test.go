package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoticesDocs: every recipe of docs/notices.md reaches its service: a program on the PATH, or an address.
func TestNoticesDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/notices.md")
	if err != nil {
		t.Fatal(err)
	}
	const said = `work: success after 1 iteration (say "it's" done)`
	want := map[string]string{
		"notify-send": "codeloops\n" + said + "\n", "osascript": `display notification (item 1 of argv) with title "codeloops"`, "SLACK": `{"text":"` + strings.ReplaceAll(said, `"`, `\"`) + `"}`,
		"sendmail": "To: me@example.com\nSubject: " + said + "\n\nall is done\n\n", "NTFY": said,
	}
	recipes := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(recipes) != len(want) {
		t.Fatalf("%d recipes, want %d", len(recipes), len(want))
	}
	for _, recipe := range recipes {
		for name, text := range want {
			if !strings.Contains(recipe[1], name) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				got := heard(t, recipe[1])
				if !strings.Contains(got, text) {
					t.Errorf("got %q, want %q", got, text)
				}
			})
		}
	}
}

// heard plays a run with a recipe, and returns what the service got in the end.
func heard(t *testing.T, recipe string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan string, 9)
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- strings.ReplaceAll(strings.ReplaceAll(string(body), "\n", ""), `": "`, `":"`)
	}))
	t.Cleanup(service.Close)
	for _, program := range []string{"notify-send", "osascript"} {
		write("bin/"+program, "#!/bin/sh\nprintf '%s\\n' \"$@\" >"+dir+"/got\n", 0o700)
	}
	write("bin/sendmail", "#!/bin/sh\ncat >"+dir+"/got\n", 0o700)
	write("config/codeloops/config.toml", recipe, 0o600)
	write("play.toml", "[[actor]]\nstep = [{ run = \"echo 1 >one\" }]\n[[critic]]\nsay = \"DECISION: DONE\\nSUMMARY: all is done\"\n", 0o600)
	work := filepath.Join(dir, "work")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir+"/config", "XDG_DATA_HOME="+dir+"/data", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", playCodeloops+"=1",
		"PATH="+dir+"/bin:"+os.Getenv("PATH"), "SLACK_WEBHOOK_URL="+service.URL, "NTFY_URL="+service.URL+"/topic")
	for _, argv := range [][]string{
		{"git", "init", "-q", "-b", "main", work},
		{"git", "-C", work, "commit", "-q", "--allow-empty", "-m", "start"},
		{self, "-a", "scripted", "--script", dir + "/play.toml", "-q", "-d", work, `say "it's" done`},
	} {
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Env, cmd.Dir = env, dir
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "hook") {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
	}
	if file, err := os.ReadFile(filepath.Join(dir, "got")); err == nil {
		return string(file)
	}
	select {
	case text := <-got:
		return text
	default:
		t.Fatal("nothing came")
	}
	return ""
}
