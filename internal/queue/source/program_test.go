//go:build unix

package source

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/proc"
	"codeloops/internal/wording/hint"
)

func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	os.Exit(m.Run())
}

// script writes a shell script into a directory.
func script(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// program opens a user's program as a source. It finds other programs in bin.
func program(t *testing.T, path, bin string) *Program {
	t.Helper()
	runner := proc.NewRunner(time.Now)
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	p, err := Open("command", path, Means{
		Runner: runner, Dir: bin, Env: []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "STATE=" + bin},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p.(*Program)
}

func TestProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := program(t, script(t, dir, "tasks", `case $1 in
list) cat <<'END' ;;
[{"key": "a", "prompt": "--first\n\nmore\n", "priority": 2},
  {"key": "b", "prompt": "second", "after": ["a"], "done": true}]
END
claim) [ "$2" != b ] || exit 3 ;;
*) echo "$@" >>"$STATE/told"; cat >>"$STATE/told"; echo >>"$STATE/told" ;;
esac
`), dir)
	if got, want := listed(t, p), "a \"--first\\n\\nmore\" priority 2\nb \"second\" after a done\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if err := p.Claim(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if err := p.Claim(t.Context(), "b"); !errors.Is(err, ErrTaken) {
		t.Errorf("a task that is taken: got %v", err)
	}
	if err := p.Done(t.Context(), "a", Result{Task: "t", Session: "s", Commit: "c", Summary: "x"}); err != nil {
		t.Error(err)
	}
	if err := p.Failed(t.Context(), "a", Result{Task: "t", Why: "\"no\""}); err != nil {
		t.Error(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "told"))
	want := "done a\n{\"task\":\"t\",\"session\":\"s\",\"commit\":\"c\",\"summary\":\"x\"}\nfailed a\n{\"task\":\"t\",\"why\":\"\\\"no\\\"\"}\n"
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	for _, key := range []string{"", "-x", "a b", "a\nb", strings.Repeat("x", 201)} {
		if err := p.Claim(t.Context(), key); err == nil || !strings.Contains(err.Error(), "is no key") {
			t.Errorf("%q: got %v", key, err)
		}
	}
}

func TestProgramRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want, hint string }{
		"no JSON":    {"echo; echo 'tasks:'", "/tasks list has printed: it cannot be read as JSON: ", "fix it"},
		"not whole":  {"echo '[{\"key\": \"a\"'", "jsontext: unexpected EOF", "fix it"},
		"nothing":    {"true", "unexpected EOF", "fix it"},
		"a number":   {"echo '['; echo '  {\"key\": 7, \"prompt\": \"x\"}]'", `Go string within "/0/key"`, "fix it"},
		"a member":   {"echo '[{\"key\": \"a\", \"promt\": \"x\"}]'", "unknown object member name", "fix it"},
		"a flag":     {"echo '[{\"key\": \"-f\", \"prompt\": \"x\"}]'", `has "-f" as a key`, "one word"},
		"twice":      {"echo '[{\"key\": \"a\", \"prompt\": \"x\"},{\"key\": \"a\", \"prompt\": \"y\"}]'", `the items "x" and "y" cannot be told apart`, "its own"},
		"no prompt":  {"echo '[{\"key\": \"a\"}]'", `the item "a" does not say what is to be done`, "title"},
		"an exit":    {"echo one >&2; echo '\033[31mno login' >&2; exit 4", "/tasks list: exit code 4: one no login", "run it yourself"},
		"a signal":   {"kill -KILL $$", "/tasks list: it was killed", "run it yourself"},
		"much":       {"while :; do echo 0123456789012345678901234567890123456789; done", "was stopped (output_limit): it may take 1m0s and print 8.0 MiB", "what it does"},
		"an endless": {"echo waits >&2; exec sleep 300", `was stopped (timeout): it may take 1s and print 8.0 MiB; it has said "waits"`, "what it does"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := program(t, script(t, dir, "tasks", c.text), dir)
			if name == "an endless" {
				p.Timeout = time.Second
			}
			_, err := p.List(t.Context())
			if tip, _ := hint.Of(err); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(tip, c.hint) {
				t.Errorf("got %v with hint %q, want %q with %q", err, tip, c.want, c.hint)
			}
		})
	}
	p := program(t, "no-such-program", t.TempDir())
	if err := p.Claim(t.Context(), "a"); !errors.Is(err, proc.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	why := errors.New("no time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := p.Claim(ctx, "a"); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	p.Path = "./tasks"
	if got, want := p.Name(), p.Dir+"/tasks"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDocumentedProgram: the example program in the documentation works.
func TestDocumentedProgram(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "queue-sources.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```sh\n#!/bin/sh\n")
	text, rest, _ := strings.Cut(rest, "```\n")
	_, rest, _ = strings.Cut(rest, "```json\n")
	list, _, _ := strings.Cut(rest, "```\n")
	dir := t.TempDir()
	p := program(t, script(t, dir, "tasks", text), dir)
	keep(t, p, "tasks.json", list)
	if got, want := listed(t, p), "W-1 \"Accept ISO weeks\\n\\nwith tests\" priority 1\nW-2 \"Print ISO weeks\" after W-1\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for range 2 {
		if err := p.Claim(t.Context(), "W-1"); err != nil {
			t.Error(err)
		}
	}
	keep(t, p, "claimed-W-2", "elsewhere\n")
	if err := p.Claim(t.Context(), "W-2"); !errors.Is(err, ErrTaken) {
		t.Errorf("got %v", err)
	}
	if err := p.Done(t.Context(), "W-1", Result{Task: "t"}); err != nil || kept(t, p, "done-W-1.json") != `{"task":"t"}` {
		t.Errorf("got %v", err)
	}
}

// recipe opens a script from the documentation, with a fake of the tracker's program.
func recipe(t *testing.T, name, tracker, plays string) *Program {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("the script needs jq")
	}
	path, err := filepath.Abs("../../../docs/queue-sources/" + name)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script(t, bin, tracker, plays)
	return program(t, path, bin)
}

func keep(t *testing.T, p *Program, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func kept(t *testing.T, p *Program, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tell reports everything to a source twice.
func tell(t *testing.T, p *Program, key string) {
	t.Helper()
	for range 2 {
		if err := p.Claim(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := p.Failed(t.Context(), key, Result{Task: "t1", Why: "no way\n/close"}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := p.Done(t.Context(), key, Result{Task: "t1", Commit: "abc", Summary: "-- done"}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBeads runs the script for bd with a fake of it, which answers in every form that bd has: an issue as an object
// or a list, several with or without an envelope, and an error for an issue that is claimed already.
func TestBeads(t *testing.T) {
	t.Parallel()
	for _, envelope := range []string{".", "{schema_version: 1, items: .}"} {
		p := recipe(t, "beads.sh", "bd", `cd "$STATE"
verb=$1 id=${2-}
set_() { jq --arg id "$id" "map(if .id == \$id then $1 else . end)" issues >new && mv new issues; }
case "$*" in
"ready --json --limit 0") jq 'map(select(.status == "open")) | `+envelope+`' issues ;;
"show $id --json") jq --arg id "$id" 'map(select(.id == $id)) | if $id == "bd-a1" then . else .[0] end' issues ;;
"update $id --claim")
	case $(jq -r --arg id "$id" '.[] | select(.id == $id) | .status + " " + (.assignee // "")' issues) in
	"open "* | "in_progress me") set_ '.status = "in_progress" | .assignee = "me"' ;;
	*) echo "Error: issue not claimable" >&2; exit 1 ;;
	esac ;;
"update $id --status blocked --append-notes "*) echo "$*" >>calls; set_ '.status = "blocked"' ;;
"close $id --reason "*) echo "$*" >>calls; set_ '.status = "closed"' ;;
*) echo "unknown: $*" >&2; exit 64 ;;
esac
`)
		keep(t, p, "issues", `[
			{"id": "bd-a1", "title": "First", "description": "--more", "status": "open", "priority": 0, "issue_type": "task"},
			{"id": "bd-b2", "title": "Second", "status": "open", "priority": 3, "issue_type": "bug", "acceptance_criteria": "It works."},
			{"id": "bd-c3", "title": "An epic", "status": "open", "priority": 1, "issue_type": "epic"},
			{"id": "bd-d4", "title": "Another's", "status": "in_progress", "assignee": "you", "priority": 1, "issue_type": "task"}]`)
		want := "bd-a1 \"First\\n\\n--more\" priority 2\nbd-b2 \"Second\\n\\nAcceptance criteria:\\n\\nIt works.\" priority -1\n"
		if got := listed(t, p); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		tell(t, p, "bd-a1")
		if err := p.Claim(t.Context(), "bd-d4"); !errors.Is(err, ErrTaken) {
			t.Errorf("got %v", err)
		}
		if err := p.Claim(t.Context(), "bd-a1"); err == nil || errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), "not claimable") {
			t.Errorf("a closed issue: got %v", err)
		}
		want = "update bd-a1 --status blocked --append-notes codeloops: no way\n/close\nclose bd-a1 --reason codeloops: merged as abc\n"
		if got := kept(t, p, "calls"); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}

// TestGitLab runs the script for glab with a fake of it, whose pages have two issues instead of a hundred.
func TestGitLab(t *testing.T) {
	t.Parallel()
	p := recipe(t, "gitlab.sh", "glab", `cd "$STATE"
iid=${3-}
case "$*" in
"issue list --label ready --output json --per-page 100 --page "*) eval "n=\${$#}"
	jq --argjson n "$n" '[.[] | select(.labels | index("ready"))] | .[($n - 1) * 100 : $n * 100]' issues ;;
"issue update $iid --label in progress --unlabel ready") echo "$*" >>calls ;;
"issue update $iid --label needs a person --unlabel ready,in progress") echo "$*" >>calls ;;
"issue update $iid --unlabel ready,in progress") echo "$*" >>calls ;;
"issue note $iid --message "*) jq --arg body "$5" '. + [{body: $body}]' notes >new && mv new notes ;;
"api --paginate projects/:id/issues/"*"/notes?per_page=100") cat notes ;;
*) echo "unknown: $*" >&2; exit 64 ;;
esac
`)
	var issues []string
	for range 100 {
		issues = append(issues, `{"iid": `+strconv.Itoa(len(issues)+1)+`, "title": "x", "description": null, "labels": ["ready"]}`)
	}
	issues = append(issues, `{"iid": 900, "title": "no task", "labels": []}`, `{"iid": 901, "title": "Last", "description": "--more", "labels": ["bug", "ready"]}`)
	keep(t, p, "issues", "["+strings.Join(issues, ",")+"]")
	keep(t, p, "notes", `[{"body": "seen"}]`)
	if got := listed(t, p); strings.Count(got, "\n") != 101 || !strings.HasPrefix(got, "1 \"x\"\n") || !strings.HasSuffix(got, "\n901 \"Last\\n\\n--more\"\n") {
		t.Errorf("got\n%s", got)
	}
	tell(t, p, "901")
	want := strings.Repeat("issue update 901 --label in progress --unlabel ready\n", 2) +
		strings.Repeat("issue update 901 --label needs a person --unlabel ready,in progress\n", 2) +
		strings.Repeat("issue update 901 --unlabel ready,in progress\n", 2)
	if got := kept(t, p, "calls"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	notes := kept(t, p, "notes")
	if strings.Count(notes, "body") != 3 || !strings.Contains(notes, `it needs a person:\n\n    no way\n    /close"`) || !strings.Contains(notes, `finished this task:\n\n    abc\n    \n    -- done"`) {
		t.Errorf("got %s", notes)
	}
	keep(t, p, "issues", "no JSON")
	if _, err := p.List(t.Context()); err == nil || !strings.Contains(err.Error(), "exit code") {
		t.Errorf("got %v", err)
	}
}

// TestGitHub runs the script for gh with a fake of it.
func TestGitHub(t *testing.T) {
	t.Parallel()
	p := recipe(t, "github.sh", "gh", `cd "$STATE"
n=${3-}
case "$*" in
"issue list --label codeloops --state open --limit 5000 --json number,title,body") jq '[.[] | select(.labels | index("codeloops"))]' issues ;;
"label create "*) exit 1 ;;
"issue view $n --json labels --jq .labels[].name") jq -r --arg n "$n" '.[] | select(.number == ($n | tonumber)) | .labels[]' issues ;;
"issue view $n --json comments --jq .comments[].body") cat comments ;;
"issue comment $n --body-file -") cat >>comments ;;
"issue edit $n --add-label "*) echo "$*" >>calls
	jq --arg n "$n" --arg now "$5" 'map(if .number == ($n | tonumber) then .labels = ["bug", $now] else . end)' issues >new && mv new issues ;;
*) echo "unknown: $*" >&2; exit 64 ;;
esac
`)
	keep(t, p, "issues", `[{"number": 7, "title": "Last", "body": "--more", "labels": ["bug", "codeloops"]}, {"number": 3, "title": "First", "body": null, "labels": ["codeloops"]},
		{"number": 9, "title": "no task", "body": "", "labels": []}]`)
	keep(t, p, "comments", "seen\n")
	if got := listed(t, p); got != "3 \"First\"\n7 \"Last\\n\\n--more\"\n" {
		t.Errorf("got\n%s", got)
	}
	tell(t, p, "7")
	edit := "issue edit 7 --add-label codeloops: "
	want := edit + "in progress --remove-label codeloops\n" + edit + "in progress\n" +
		edit + "needs a person --remove-label codeloops: in progress\n" + edit + "needs a person\n" +
		edit + "done --remove-label codeloops: needs a person\n" + edit + "done\n"
	if got := kept(t, p, "calls"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	comments := kept(t, p, "comments")
	if strings.Count(comments, "<!-- codeloops") != 2 || !strings.Contains(comments, "it needs a person:\n\n    no way\n    /close\n") || !strings.Contains(comments, "finished this task:\n\n    abc\n    \n    -- done\n") {
		t.Errorf("got %s", comments)
	}
}

// TestJira runs the script for jira with a fake of it, whose descriptions are texts and trees.
func TestJira(t *testing.T) {
	t.Parallel()
	p := recipe(t, "jira.sh", "jira", `cd "$STATE"
key=${3-}
case "$*" in
'issue list --jql labels = "codeloops" AND statusCategory != Done --paginate 0:100 --raw')
	! grep -q "no JSON" issues || exit 1
	jq -e '[.[] | select(.fields.labels | index("codeloops"))] | if . == [] then empty else . end' issues || { echo 'No result found for given query in project "W"' >&2; exit 1; } ;;
"issue view $key --raw --comments 100") jq -n --rawfile body comments '{fields: {comment: {comments: [{body: {content: [{text: $body}]}}]}}}' ;;
"issue comment add "*" --no-input --template -") cat >>comments ;;
"issue edit $key --no-input --label "*) echo "$*" >>calls ;;
*) echo "unknown: $*" >&2; exit 64 ;;
esac
`)
	keep(t, p, "issues", `[{"key": "W-10", "fields": {"summary": "Last", "labels": ["codeloops"], "description": {"type": "doc", "content": [
		{"type": "paragraph", "content": [{"type": "text", "text": "--more"}, {"type": "hardBreak"}, {"type": "text", "text": "lines"}]},
		{"type": "bulletList", "content": [{"type": "listItem", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "end"}]}]}]}]}}},
		{"key": "W-9", "fields": {"summary": "First", "labels": ["codeloops", "bug"], "description": "plain"}},
		{"key": "W-1", "fields": {"summary": "no task", "labels": [], "description": null}}]`)
	keep(t, p, "comments", "seen\n")
	if got := listed(t, p); got != "W-9 \"First\\n\\nplain\"\nW-10 \"Last\\n\\n--more\\nlines\\nend\"\n" {
		t.Errorf("got\n%s", got)
	}
	tell(t, p, "W-10")
	edit := func(now string, others ...string) string {
		return strings.Repeat("issue edit W-10 --no-input --label codeloops-"+now+" --label -codeloops --label -codeloops-"+strings.Join(others, " --label -codeloops-")+"\n", 2)
	}
	want := edit("in-progress", "done", "needs-a-person") + edit("needs-a-person", "in-progress", "done") + edit("done", "in-progress", "needs-a-person")
	if got := kept(t, p, "calls"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	comments := kept(t, p, "comments")
	if strings.Count(comments, "codeloops: ") != 2 || !strings.Contains(comments, "it needs a person:\n\n    no way\n    /close\n") || !strings.Contains(comments, "finished this task:\n\n    abc\n    \n    -- done\n") {
		t.Errorf("got %s", comments)
	}
	keep(t, p, "issues", "[]")
	if items, err := p.List(t.Context()); err != nil || len(items) > 0 {
		t.Errorf("without issues: %v, %v", items, err)
	}
	keep(t, p, "issues", "no JSON")
	if items, err := p.List(t.Context()); err == nil {
		t.Errorf("got %v", items)
	}
}
