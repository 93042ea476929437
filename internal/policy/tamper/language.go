package tamper

import (
	"path"
	"slices"
	"strings"
)

// A language describes the syntax of comments and strings, and how to recognize tests and
// their assertions. A missing expression matches nothing.
type language struct {
	notation
	placement
	declaring
	skippers
	asserting
	talking
}

// A notation describes comments and strings.
type notation struct {
	Ext       []string
	Line      string // begins a comment to the end of the line
	Block     bool   // has /* */ comments
	Quotes    string
	Joins     bool   // a backslash at the end of a line takes the next one into it
	Spans     []span // other comments and strings that may span lines
	Documents bool   // a string literal used as a statement is a comment
}

// A placement recognizes files with tests by their paths.
type placement struct {
	Test     *probe
	Passes   *probe // exceptions: no test runner runs them
	Hooks    *probe // the lines of a patch that make a file part of the test runner
	Collects *probe // where a runner looks, by convention; see [language.lost]
}

// declaring recognizes declarations.
type declaring struct {
	Declare *probe // a test; its name is the one group that is not empty
	Call    *probe // exceptions to Declare and Begin
	Mark    *probe // must precede what Declare matches; nil: Declare is enough
	Begin   *probe // any function
	Part    *probe // a function that is a part of the test around it
	Only    *probe // everything below is tests
	Unrun   *probe // declares a test, or a class of tests, in a way that keeps it from being run
	Awaits  *probe // what has an async test run
	Plugin  *probe // a plugin of a test runner that does so
	Module  *probe // makes a file a part of the program; its name is the group
}

// skippers recognize what keeps tests from being run.
type skippers struct {
	Skip    *probe // a marker, for one test or all
	Exclude *probe // the same in a comment
	Sweep   *probe // affects all tests around it, even from within a new test
	Trusted *probe // imports a package that is known to run the tests
	Runs    *probe // has it do so
	Leave   *probe // leaves a function, a loop or one turn of it without a failure
	Catch   *probe // catches a failed assertion
}

// asserting recognizes assertions.
type asserting struct {
	Assert  *probe
	Exact   *probe // compares with one value
	Inexact *probe // exceptions to Exact
	Loose   *probe // accepts many values
	Idle    *probe // is always true
	Bind    *probe // imports assertion functions; where from is the group
	Called  *probe // the names of assertion functions
	Shadow  *probe // declares one of them
	Replace *probe // replaces a module; its path is the group
}

// talking recognizes messages to people and to tools.
type talking struct {
	Speak   *probe // a message to a person, or the name of an import
	Silence *probe // a comment that silences a tool
	Allow   *probe // code that silences a tool
}

func (l *language) has(file string) bool {
	return l != nil && slices.Contains(l.Ext, strings.ToLower(path.Ext(file)))
}

func (t *tables) of(file string) *language {
	for _, l := range t.Languages {
		if l.has(file) {
			return l
		}
	}
	return nil
}

// isTest reports whether a test runner runs a file.
func (t *tables) isTest(file string, l *language) bool {
	if l != nil {
		return l.Test.match(file) && !l.Passes.match(file)
	}
	return t.OtherTest.match(file)
}

// lost says why tests that move from one file to another are no longer run, or not on
// all systems; "" when they are.
func (l *language) lost(from, to string) string {
	if l.Collects.match(from) && !l.Collects.match(to) {
		return "where a test runner looks for none"
	}
	if now := builtFor(to); l.has("x.go") && now != "" && now != builtFor(from) {
		return "which is built for " + now + " alone"
	}
	return ""
}

// builtFor returns the operating system and processor that a Go file is built for
// because of its name, "" for all; see go/build.
func builtFor(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".")
	words := strings.Split(strings.TrimSuffix(name, "_test"), "_")[1:] // the first part is no constraint
	systems := strings.Fields("aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos")
	processors := strings.Fields("386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le " +
		"ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm")
	n := len(words)
	switch {
	case n > 1 && slices.Contains(systems, words[n-2]) && slices.Contains(processors, words[n-1]):
		return words[n-2] + "/" + words[n-1]
	case n > 0 && (slices.Contains(systems, words[n-1]) || slices.Contains(processors, words[n-1])):
		return words[n-1]
	}
	return ""
}
