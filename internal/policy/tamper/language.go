package tamper

import (
	"path"
	"slices"
	"strings"
)

// A language is what is known of one: how its comments and strings look, and the
// expressions by which its tests and their assertions are told. One that it has not
// matches nothing.
type language struct {
	notation
	placement
	declaring
	skippers
	asserting
	talking
}

// A notation says how comments and strings look.
type notation struct {
	Ext       []string
	Line      string // begins a comment to the end of the line
	Block     bool   // has comments between /* and */
	Quotes    string
	Spans     []span // what may go on over lines, beside those comments
	Documents bool   // a string literal that is a statement is a comment
	marks     string // characters without which a line is nothing but code
}

// A placement tells the files with tests by their paths.
type placement struct {
	Test     *probe
	Passes   *probe // those among them that no runner takes
	Collects *probe // where a runner looks, by convention; see [language.lost]
}

// Declaring is what declares something.
type declaring struct {
	Declare *probe // a test, with its name as the one group that is not empty
	Call    *probe // is no declaration, though Declare or Begin matches it
	Mark    *probe // stands before what Declare matches; nil: Declare is enough
	Begin   *probe // any function
	Part    *probe // such a function that is a part of the test around it
	Only    *probe // nothing but tests stands below
	Unrun   *probe // declares a test, or a class of them, in a way in which none is run
	Module  *probe // makes a file a part of the program, with its name
}

// Skippers keep tests from being run.
type skippers struct {
	Skip    *probe // a marker, for one or all
	Exclude *probe // the same in a comment
	Sweep   *probe // decides over all tests around it, in a new test as well
	Leave   *probe // ends a function, or a loop or a turn of it, without a failure
	Catch   *probe // catches a failed assertion
}

// Asserting is what assertions are made of.
type asserting struct {
	Assert  *probe
	Exact   *probe // compares with one value
	Inexact *probe // is none of Exact after all
	Loose   *probe // is content with many values
	Idle    *probe // asserts what is always so
	Bind    *probe // takes what asserts from somewhere, with that as a group
	Called  *probe // the names by which one asserts
	Shadow  *probe // declares one of them
	Replace *probe // puts something instead of a module, with its path as the group
}

// Talking is what people and tools are told.
type talking struct {
	Speak   *probe // tells something to a person, or names what is used
	Silence *probe // a comment that keeps a tool quiet
	Allow   *probe // code that does
}

func (l *language) has(file string) bool {
	return l != nil && slices.Contains(l.Ext, strings.ToLower(path.Ext(file)))
}

// complete works out what follows from the rest.
func (l *language) complete() {
	if l.Block {
		l.Spans = append(l.Spans, span{Begin: "/*", End: "*/"})
	}
	l.marks = l.Quotes + l.Line + "/*"
	for _, s := range l.Spans {
		l.marks += s.Begin[:1]
	}
}

func (t *tables) of(file string) *language {
	for _, l := range t.Languages {
		if l.has(file) {
			return l
		}
	}
	return nil
}

// isTest reports whether a file is one that a test runner reads.
func (t *tables) isTest(file string, l *language) bool {
	if l != nil {
		return l.Test.match(file) && !l.Passes.match(file)
	}
	return t.OtherTest.match(file)
}

// lost says why tests that move from one file to another are run no more, or not
// everywhere; "" when they are.
func (l *language) lost(from, to string) string {
	if l.Collects.match(from) && !l.Collects.match(to) {
		return "where a test runner looks for none"
	}
	if now := builtFor(to); l.has("x.go") && now != "" && now != builtFor(from) {
		return "which is built for " + now + " alone"
	}
	return ""
}

// builtFor returns the system and the processor that the name of a Go file is
// for, "" for all; see go/build.
func builtFor(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".")
	words := strings.Split(strings.TrimSuffix(name, "_test"), "_")[1:] // what stands before the first one is no condition
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
