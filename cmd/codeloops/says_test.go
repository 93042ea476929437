package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

// said is what the commands have said to the scripts, by name, while golden files are written. The
// scripts run beside each other, so it is written once, when all have ended.
var said sync.Map

// cmdSays compares all that the last command wrote, to stdout and then to stderr, or to one of them,
// with a section of the golden file of its command. So a better sentence is one edit and `make golden`,
// however many scripts come across it: where commands say the same, scripts name the same section.
func cmdSays(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 || strings.Count(args[0], "/") != 1 {
		ts.Fatalf("usage: says COMMAND/SECTION [stdout|stderr]")
	}
	var all strings.Builder
	for _, stream := range []string{"stdout", "stderr"} {
		if len(args) == 2 && args[1] != stream {
			continue
		}
		text := steady(ts.ReadFile(stream), ts.Getenv("WORK"))
		if stream == "stderr" && text != "" {
			all.WriteString("[stderr]\n")
		}
		all.WriteString(text)
	}
	name, got := args[0], all.String()
	if updating() {
		if want, there := said.LoadOrStore(name, got); there && got != want {
			ts.Fatalf("%sanother command says something else by the name of %s", diff.Diff("there", []byte(want.(string)), "here", []byte(got)), name)
		}
		return
	}
	command, _, _ := strings.Cut(name, "/")
	if want, there := sayings(saidBy(command))[name]; !there || got != want {
		ts.Fatalf("%sif that is meant, `make golden` writes it anew", diff.Diff("want "+name, []byte(want), "got", []byte(got)))
	}
}

// updating reports whether golden files are to be written.
func updating() bool { return os.Getenv("UPDATE_SCRIPTS") != "" }

// saidBy returns the path of the golden file of a command.
func saidBy(command string) string { return filepath.Join("testdata", "says", command+".txt") }

// sayings returns the sections of a golden file by their names, or none if there is no such file.
func sayings(path string) map[string]string {
	sections := map[string]string{}
	data, _ := os.ReadFile(path)
	for _, f := range txtar.Parse(data).Files {
		sections[strings.TrimSuffix(filepath.Base(path), ".txt")+"/"+f.Name] = string(f.Data)
	}
	return sections
}

// saysLine is a line of a script that names a section.
var saysLine = regexp.MustCompile(`(?m)^(?:\[[^\]]+\] )*says (\S+)`)

// keepSaid writes to the golden files what the scripts heard, without the sections that no script
// names. If nothing is to be written, such a section is an error. What counts is the text of the
// scripts: on another system, or with -run, less of it is run.
func keepSaid(t *testing.T) {
	t.Helper()
	texts, named := map[string]string{}, map[string]bool{}
	for _, path := range matching(t, saidBy("*")) {
		maps.Copy(texts, sayings(path))
	}
	for _, path := range matching(t, "testdata/script/*.txtar") {
		for _, m := range saysLine.FindAllStringSubmatch(text(t, path), -1) {
			named[m[1]] = true
		}
	}
	said.Range(func(name, text any) bool {
		texts[name.(string)] = text.(string)
		return true
	})
	files := map[string]*txtar.Archive{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		command, section, _ := strings.Cut(name, "/")
		path := saidBy(command)
		if !named[name] {
			if !updating() {
				t.Errorf("%s: no script says %s (make golden takes it out)", path, name)
			}
			continue
		}
		if files[path] == nil {
			files[path] = new(txtar.Archive)
		}
		files[path].Files = append(files[path].Files, txtar.File{Name: section, Data: []byte(texts[name])})
	}
	if !updating() {
		return
	}
	dir := filepath.Dir(saidBy("*"))
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o750)); err != nil {
		t.Fatal(err)
	}
	for path, file := range files {
		if err := os.WriteFile(path, txtar.Format(file), 0o600); err != nil {
			t.Error(err)
		}
	}
}

func matching(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// day is any of the days on which this test can be running.
var day = func() string {
	now := time.Now().UTC()
	var days []string
	for _, hours := range []time.Duration{-24, 0, 24} {
		days = append(days, now.Add(hours*time.Hour).Format(time.DateOnly))
	}
	return "(?:" + strings.Join(days, "|") + ")"
}()

// varies are the parts of what codeloops says that differ from run to run or from system to system,
// and what stands for them. What a script has fixed stays: other days than this one, limits like 5m
// (what was measured is written 1.0 s), tokens that an agent reports.
var varies = []struct {
	part *regexp.Regexp
	sign string
}{
	{regexp.MustCompile(`\b` + day + `T\d\d-\d\d-\d\dZ_[0-9a-f]{6}(-\d+)?\b`), "<session>"},
	{regexp.MustCompile(`\b(` + day + `[T ])?\d\d[:-]\d\d[:-]\d\d(\.\d+)?( UTC|Z(-\d+)?)?\b`), "<time>"},
	{regexp.MustCompile(`\b` + day + `( \d\d:\d\d)?\b`), "<day>"},
	{regexp.MustCompile(`\b(\d+ ms|\d+\.\d s|\d+m \d\ds|\d+h \d\dm)\b`), "<duration>"},
	{regexp.MustCompile(`\b(run|at work for) \d+:\d\d\b`), "$1 <duration>"},
	{regexp.MustCompile(`(?m)^(<session>\t.*\t)\d+\.\d\t`), "$1<seconds>\t"}, // sessions list
	{regexp.MustCompile(`(?m)^((?:[^\t\n]*\t){6})\d+\t`), "$1<seconds>\t"},   // queue list
	{regexp.MustCompile(`<host>/\d+`), "<host>/<pid>"},
	{regexp.MustCompile(`\bprocess \d+\b`), "process <pid>"},
	{regexp.MustCompile(`\b127\.0\.0\.1:\d{5}\b`), "127.0.0.1:<port>"},
	{regexp.MustCompile(`\bSHA256:[\w+/]{43}`), "SHA256:<hash>"},
	{regexp.MustCompile(`\b([0-9a-f]{7}|[0-9a-f]{12,64})\b`), "<hash>"},
	{regexp.MustCompile(`([a-z0-9])-[0-9a-f]{6}\b`), "$1-<id>"},
	{regexp.MustCompile(`(/\.?codeloops-(?:[a-z]+-)?)\d{6,}`), "$1<n>"},
	{regexp.MustCompile(`\S*/testscript-main\d+/bin/`), "<bin>/"},
	{regexp.MustCompile(`\b\d+k? tokens, by estimate\b`), "<n> tokens, by estimate"},
	{regexp.MustCompile(`\b\d+k? of <n> tokens, by estimate\b`), "<n> of <n> tokens, by estimate"},
	{regexp.MustCompile(`\babout \d+k? tokens\b`), "about <n> tokens"},
	{regexp.MustCompile(`\b\d+\.\d KiB\b`), "<size>"},
	{regexp.MustCompile(`(critic [^,\n]* in|critic's view ) an? (overlay|clone|copy)\b`), "$1 <view>"},
	{regexp.MustCompile(`\bgit version \S+`), "git version <version>"},
	{regexp.MustCompile(`\(go1\.[^)]*\)`), "(<go>)"},
}

// steady puts signs in the place of what varies, and an end to the last line, which golden files have.
func steady(text, work string) string {
	if resolved, err := filepath.EvalSymlinks(work); err == nil {
		text = strings.ReplaceAll(text, resolved, "$WORK")
	}
	text = strings.ReplaceAll(text, work, "$WORK")
	if host, err := os.Hostname(); err == nil {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(host)+`\b`).ReplaceAllString(text, "<host>")
	}
	for _, v := range varies {
		text = v.part.ReplaceAllString(text, v.sign)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}
