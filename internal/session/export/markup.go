package export

import (
	"crypto/sha256"
	_ "embed" // the style
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/words"
)

//go:embed style.css
var style ours

// A markup is an HTML page. Strings reach it only through in, which escapes them, between
// tags or in an attribute in double quotes. Should something slip through, the page's content
// security policy lets a browser load nothing at all and use no style but the page's own.
type markup struct{ sheet }

func (m *markup) faint(said string) { m.in(`<p class="faint">`, said, "</p>") }

func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

func (m *markup) head(s loop.Session) {
	status := string(m.opts.Session.Status)
	m.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
`)
	m.in(`<meta http-equiv="Content-Security-Policy" content="`, policy(), `">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="generator" content="codeloops">
`)
	m.in("<title>", title(s), "</title>\n")
	m.put("<style>", style, "</style>\n</head>\n<body>\n<header>\n")
	m.in("<h1>", title(s), "</h1>\n")
	m.in(`<p><span class="badge `+class(status)+`">`, line(words.Outcome(status)), `</span> `)
	m.in(`<span class="faint">`, line(m.id), "</span></p>\n")
	m.facts(facts(s, m.opts))
	m.put("</header>\n<section>\n<h2>Prompt</h2>\n")
	m.text(m.words("", s.Prompt))
	m.put("</section>\n")
}

func (m *markup) facts(all []fact) {
	m.put("<dl>\n")
	for _, f := range all {
		m.put("<dt>", f.Name, "</dt>")
		m.in("<dd>", f.Value, "</dd>\n")
	}
	m.put("</dl>\n")
}

func (m *markup) text(t text) {
	switch {
	case t.Body == "":
	case t.Long:
		m.in(`<details><summary class="faint">`, t.Name+" ("+t.Size+")", "</summary>")
		m.in("<pre>", t.Body, "</pre></details>")
	default:
		if t.Name != "" {
			m.faint(t.Name)
		}
		m.in("<pre>", t.Body, "</pre>")
	}
	if t.Note != "" {
		m.faint(t.Note)
	}
	m.put("\n")
}

func (m *markup) notes(all []string) {
	for _, note := range all {
		m.in(`<p class="warn">`, line(note), "</p>\n")
	}
}

func (m *markup) turns(all []turn) {
	for _, t := range all {
		m.in("<h3>", t.Role, "</h3>\n")
		m.faint(t.What)
		m.put("\n")
		m.notes(t.Notes)
		reply := m.words("", t.reply.Text)
		reply.Long = reply.Long || len(all) > mostOpen
		m.text(reply)
	}
}

func (m *markup) alone(t turn) {
	m.put("<section>\n")
	m.turns([]turn{t})
	m.put("</section>\n")
}

func (m *markup) iteration(s iteration) {
	n := ours(strconv.Itoa(s.Iteration))
	m.put(`<section id="i`, n, `">
<div class="head"><h2>Iteration `, n, "</h2>")
	m.in(`<span class="badge `+class(string(s.Verdict.Decision))+`">`, line(s.Verdict.Word()), "</span>")
	m.in(`<span class="faint">`, render.Span(s.Attempt.Duration+s.Review.Duration), "</span></div>\n")
	m.turns(s.turns)
	said, guidance := m.essence(s.Round) // what matters most takes its room first
	m.put("<h3>Actor</h3>\n")
	m.faint(acted(s.Attempt))
	m.put("\n")
	m.text(said)
	m.text(m.output("standard error", s.Attempt.Stderr))
	m.notes(s.notes)
	m.put("<h3>Changes</h3>\n")
	m.faint(render.Stat(s.own.Shape()))
	m.put("\n")
	m.diff(s.own, true)
	m.checks(s.Checks)
	m.put("<h3>Critic</h3>\n")
	m.faint(judged(s.Round))
	m.put("\n")
	reply := m.words("the whole reply", s.Review.Reply)
	reply.Long = true // the essential part is shown below it
	m.text(reply)
	m.text(guidance)
	m.put("</section>\n")
}

func (m *markup) checks(all []loop.CheckResult) {
	if len(all) > 0 {
		m.put("<h3>Checks</h3>\n")
	}
	for _, c := range all {
		kind, result := ours("good"), "passed"
		if !c.Passed() {
			kind, result = "bad", strings.Join(append([]string{render.Failure(c)}, c.Remarks()...), "; ")
		}
		m.in(`<p><span class="`+kind+`">`, line(result), "</span> ")
		m.in("<code>", line(c.Command), "</code> ")
		m.in(`<span class="faint">`, render.Span(c.Duration), "</span></p>\n")
		m.text(m.output("output", c.Output))
	}
}

// diff writes a change file by file. With open, the first small ones are unfolded.
func (m *markup) diff(c loop.Change, open bool) {
	room := mostOfDiff
	for i, f := range c.Files {
		if i == mostOfFiles {
			m.left(fmt.Sprintf("%d more files are left out here; all of them are in %s.jsonl", len(c.Files)-i, line(m.id)))
			break
		}
		patch, note := m.take(f.Patch, max(room, mostOfRest))
		room -= len(patch)
		m.put("<details")
		if open && i < mostOpen && len(patch) < openFile {
			m.put(" open")
		}
		letter, path, stat := titled(f)
		m.in("><summary><code>", letter+" "+path, "</code> ")
		m.in(`<span class="faint">`, stat, "</span></summary>\n")
		m.hunks(patch)
		m.left(note)
		m.put("</details>\n")
	}
}

// hunks writes a patch without its header, as the file's name is shown above. Consecutive lines
// of one class share an element.
func (m *markup) hunks(patch string) {
	last := ours("")
	for l := range loop.PatchLines(patch) {
		class := ours("same")
		switch l.Op {
		case '@':
			class = "hunk"
		case '+':
			class = "add"
		case '-':
			class = "del"
		}
		switch last {
		case class:
		case "":
			m.put(`<pre class="diff"><span class="`, class, `">`)
		default:
			m.put(`</span><span class="`, class, `">`)
		}
		m.in("", string(l.Op)+l.Text, "")
		last = class
	}
	if last != "" {
		m.put("</span></pre>\n")
	}
}

// left says what is left out of a diff.
func (m *markup) left(note string) {
	if note != "" {
		m.faint(note)
		m.put("\n")
	}
}

func (m *markup) unfinished(s iteration, what string) {
	m.put(`<section><div class="head"><h2>Iteration `, ours(strconv.Itoa(s.Iteration)), "</h2>")
	m.in(`<span class="badge warn">`, what, "</span></div>\n")
	m.turns(s.turns)
	m.notes(s.notes)
	m.put("</section>\n")
}

func (m *markup) resumed(r loop.Resumed) {
	m.put("<section>")
	m.faint(after(r))
	m.put("</section>\n")
}

func (m *markup) end(e ending) {
	status, summary := string(m.opts.Session.Status), text{}
	if e.outcome != nil {
		status, summary = string(e.outcome.Result), m.words("", e.outcome.Summary)
	}
	if len(e.Closed) != 1 && len(e.change.Files) > 0 { // else the iteration's diff shows all of it
		m.put("<section>\n<h2>Everything that changed</h2>\n")
		m.faint(render.Stat(e.change.Shape()))
		m.put("\n")
		m.diff(e.change, false)
		m.put("</section>\n")
	}
	m.put("<section>\n")
	m.in(`<div class="head"><h2>End</h2><span class="badge `+class(status)+`">`, line(words.Outcome(status)), "</span></div>\n")
	m.notes(e.notes)
	m.facts(e.facts())
	m.text(summary)
	m.put("</section>\n")
	m.in("<footer>Written by codeloops ", line(m.opts.Session.Session.Version), " from the log of session ")
	m.in("", line(m.id), ". Values of secret variables read [redacted].</footer>\n</body>\n</html>\n")
}
