package e2e

import (
	"fmt"
	"strings"
	"testing"

	"codeloops/internal/agent"
	"codeloops/internal/e2e/model"
)

// TestVerbatim: a prompt of 200 kB reaches the model byte for byte, and nothing is added to it,
// although many of its words name a file, a command or a variable. Some agents add the files: the
// catalogue names them.
func TestVerbatim(t *testing.T) {
	t.Parallel()
	const secret = "this line is in a file and in no prompt"
	each(t, func(t *testing.T, c cli) {
		var got string
		var added bool
		s := newStage(t, c, turns(func(q turn) model.Answer {
			got, added = q.prompt, strings.Contains(string(q.Body), secret)
			return model.Answer{Text: "I have read it."}
		}))
		s.judge(done)
		s.write("work/exists.txt", secret+"\n")
		s.write("work/src/example.go", "package src // "+secret+"\n")
		var task strings.Builder
		for i := 0; task.Len() < 200<<10; i++ {
			fmt.Fprintf(&task, `%d "user@example\n" user@exists.txt,@exists.txt (@src/example.go) @src @README.md. \@exists.txt @"exists.txt"
/init the project
/help
!cat exists.txt
!{cat exists.txt} @{exists.txt} $HOME ${HOME} $(cat exists.txt) {{args}} %%s
@@ -1,2 +3,4 @@ func greet(c *gin.Context) {	@Override
-- --version "quoted' \" \\ \t end\
`, i)
		}
		words := strings.TrimSpace(task.String())
		s.write("task.md", words)
		r := s.start("-n", "1", "--prompt-file", "../task.md")
		if e := r.wait(); e.code != 0 {
			t.Errorf("exit code %d, %+v\n%s", e.code, e.result, r.events.text())
		}
		whole := strings.Contains(got, words)
		spec, err := agent.Find(c.name)
		s.must(err)
		if !whole || added != spec.AddsMentions {
			t.Errorf("whole: %t, something added: %t, first difference: %s", whole, added, differs(got, words))
		}
		table.notef(c.name, "prompt: verbatim", "%t", whole && !added)
	})
}

// differs shows where a text that should hold words begins to differ from them.
func differs(text, words string) string {
	_, rest, ok := strings.Cut(text, words[:20])
	if !ok {
		return "it holds nothing of them"
	}
	words = words[20:]
	for i := range min(len(rest), len(words)) {
		if rest[i] != words[i] {
			return fmt.Sprintf("at %d: %.60q instead of %.60q", i, rest[max(0, i-20):], words[max(0, i-20):])
		}
	}
	return "it is cut"
}
