package patch_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"codeloops/internal/diff/patch"
)

// oddNames returns paths that git quotes, paths that git ends with a tab, and ordinary
// ones.
func oddNames() []string {
	return []string{
		"plain.txt", "with space.txt", " lead", "trail ", "tab\there", "new\nline", "quote\"d", "back\\slash",
		"ünïcode.go", "日本語/ファイル.txt", "latin1-\xe9", "bell\a\b\v\f\r", "esc\x1b\x7f\x01", "é with space",
		"dir/sub dir/file", "-dash", "a/b", "'single'", "$dollar", "tilde~", "#hash", ":colon", "*star?[x]",
	}
}

// generatedHistory returns commits with random edits of random files. It always returns
// the same ones.
func generatedHistory(commits int) []commit {
	g := &generator{rand.New(rand.NewPCG(1, 2)), map[string]file{}}
	history := make([]commit, commits)
	for i := range history {
		history[i] = g.commit()
	}
	return history
}

type generator struct {
	*rand.Rand
	tree map[string]file
}

func (g *generator) commit() commit {
	c := commit{}
	names := oddNames()
	for range 1 + g.IntN(5) {
		path := fmt.Sprintf("d%d/%s", g.IntN(3), names[g.IntN(len(names))])
		f := g.change(g.tree[path])
		c[path], g.tree[path] = f, f
	}
	return c
}

// change returns what a file may change to.
func (g *generator) change(f file) file {
	if f.mode == patch.Absent {
		return g.create()
	}
	switch n := g.IntN(40); {
	case n == 0:
		return file{}
	case n == 1:
		return g.create()
	case n < 4 && f.mode == patch.Regular:
		f.mode = patch.Executable
	case n < 4 && f.mode == patch.Executable:
		f.mode = patch.Regular
	}
	switch f.mode {
	case patch.Gitlink:
		return g.gitlink()
	case patch.Symlink:
		f.content += "/x"
	default:
		f.content = g.edit(f.content)
	}
	return f
}

func (g *generator) create() file {
	switch g.IntN(24) {
	case 0:
		return g.gitlink()
	case 1:
		return file{patch.Symlink, g.word()}
	case 2:
		return file{patch.Regular, ""}
	case 3:
		return file{patch.Executable, "\x7fELF\x00" + g.text(3)}
	case 4:
		// Git does not look for a NUL this far into a file.
		return file{patch.Regular, strings.Repeat("long ", 2000) + "\n\x00\n" + g.text(10)}
	case 5:
		return file{patch.Regular, strings.ReplaceAll(g.text(40), "\n", "\r\n")}
	default:
		return file{patch.Regular, g.text(g.IntN(120))}
	}
}

func (g *generator) gitlink() file {
	return file{patch.Gitlink, fmt.Sprintf("%040x", g.Uint64())}
}

// edit changes some lines, in blocks, as people do.
func (g *generator) edit(content string) string {
	lines := strings.SplitAfter(content, "\n")
	for range 1 + g.IntN(6) {
		at := g.IntN(len(lines) + 1)
		end := min(at+g.IntN(8), len(lines))
		var put []string
		switch g.IntN(6) {
		case 0: // delete
		case 1: // move
			to := g.IntN(len(lines) + 1)
			put = append(put, lines[to:min(to+5, len(lines))]...)
		case 2: // duplicate
			put = append(append(put, lines[at:end]...), lines[at:end]...)
		case 3: // insert
			put = append(strings.SplitAfter(g.text(1+g.IntN(6)), "\n"), lines[at:end]...)
		case 4: // add or remove the final newline
			put = append(put, strings.TrimSuffix(strings.Join(lines[at:end], ""), "\n"))
		default: // replace
			put = strings.SplitAfter(g.text(1+g.IntN(6)), "\n")
		}
		lines = append(append(append([]string(nil), lines[:at]...), put...), lines[end:]...)
	}
	return strings.Join(lines, "")
}

// text returns lines like those of a program, many of them equal.
func (g *generator) text(lines int) string {
	var b strings.Builder
	depth := 0
	for range lines {
		switch g.IntN(9) {
		case 0:
			b.WriteString(strings.Repeat(" ", g.IntN(3)) + "\n")
		case 1:
			fmt.Fprintf(&b, "%sif %s {\n", strings.Repeat("\t", depth), g.word())
			depth++
		case 2:
			depth = max(depth-1, 0)
			b.WriteString(strings.Repeat("\t", depth) + "}\n")
		case 3:
			depth = 0
			fmt.Fprintf(&b, "func %s(%s) {\n", g.word(), g.parameters())
		default:
			fmt.Fprintf(&b, "%s%s = %d\n", strings.Repeat("    ", depth), g.word(), g.IntN(4))
		}
	}
	return b.String()
}

func (g *generator) word() string {
	words := []string{"alpha", "beta", "gamma", "delta", "größe", "имя", "名前", "_x", "$y", "9z"}
	return words[g.IntN(len(words))]
}

// parameters are often too long for a hunk header, and sometimes not valid UTF-8.
func (g *generator) parameters() string {
	var b strings.Builder
	for range g.IntN(12) {
		b.WriteString(g.word())
		b.WriteString([]string{" ", ", ", "\t", "\xff", "\ufffe", "\xed\xa0\x80", "😀", "  "}[g.IntN(8)])
	}
	return b.String()
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// worktree returns files for a work tree, without gitlinks, and with names that every
// Unix file system allows.
func (g *generator) worktree() commit {
	c := commit{}
	for _, name := range oddNames() {
		if !utf8.ValidString(name) {
			continue
		}
		f := g.change(g.tree[name])
		for f.mode == patch.Gitlink {
			f = g.create()
		}
		if g.tree[name] = f; f.mode != patch.Absent {
			c[name] = f
		}
	}
	return c
}
