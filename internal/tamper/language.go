package tamper

import (
	"path"
	"slices"
	"strings"
)

// A language is what is known of one: how its comments and strings look, and
// what tests and their assertions look like in it. A nil expression matches
// nothing.
type language struct {
	ext       []string
	line      string // begins a comment to the end of the line
	block     bool   // has comments between /* and */
	quotes    string
	spans     []span // what may go on over lines, beside those comments
	documents bool   // a string literal that is a statement is a comment
	marks     string // characters without which a line is nothing but code

	// Of paths.
	isTest   *probe // files with tests
	passes   *probe // those among them that no runner takes
	collects *probe // where a runner looks, by convention; see [tongues.lost]

	// Of declarations.
	declare *probe // a test, with its name as the one group that is not empty
	call    *probe // is no declaration, though declare or begin matches it
	mark    *probe // stands before what declare matches; nil: declare is enough
	begin   *probe // any function
	part    *probe // such a function that is a part of the test around it
	only    *probe // nothing but tests stands below
	unrun   *probe // declares a test, or a class of them, in a way in which none is run
	module  *probe // makes a file a part of the program, with its name

	// Of what keeps tests from being run.
	skip    *probe // a marker, for one or all
	exclude *probe // the same in a comment
	sweep   *probe // decides over all tests around it, in a new test as well
	leave   *probe // ends a function, or a loop or a turn of it, without a failure
	catch   *probe // catches a failed assertion

	// Of assertions.
	assert  *probe
	exact   *probe // compares with one value
	inexact *probe // is none of exact after all
	loose   *probe // is content with many values
	idle    *probe // asserts what is always so
	bind    *probe // takes what asserts from somewhere, with that as a group
	called  *probe // the names by which one asserts
	shadow  *probe // declares one of them
	replace *probe // puts something in the place of a module, with its path as the group
	speak   *probe // tells something to a person, or names what is used

	silence *probe // a comment that keeps a tool quiet
	allow   *probe // code that does
}

func (l *language) has(file string) bool {
	return l != nil && slices.Contains(l.ext, strings.ToLower(path.Ext(file)))
}

// tongues are the languages that are known.
type tongues struct {
	languages []*language
	otherTest *probe // the paths of files with tests in other languages
	setup     *probe // files that are read before all tests
}

func languages() tongues {
	t := tongues{
		languages: []*language{golang(), python(), javascript(), rust(), java(), ruby(), php(), csharp(), shell(), c()},
		otherTest: re(`[._-](?:test|spec)\.\w+$|_test\.(?:exs|dart|clj)$|\.(?:feature|robot)$` +
			`|(?:^|/)(?:__tests__|tests?|specs?)/[^/]*\.(?:exs?|lua|clj[cs]?|hs|ml|dart|jl|R|erl|pl|t)$`),
		setup: re(`(?:^|/)(?:conftest\.py|(?:spec|rails|test)_helper\.rb|(?:jest|vitest|mocha|test)[._-]?setup[^/]*\.[cm]?[jt]sx?|setup[._-]?[tT]ests?\.[cm]?[jt]sx?` +
			`|tests?/(?:__init__\.py|bootstrap\.php|setup\.[cm]?[jt]s))$`),
	}
	for _, l := range t.languages {
		if l.block {
			l.spans = append(l.spans, span{begin: "/*", end: "*/"})
		}
		l.marks = l.quotes + l.line + "/*"
		for _, s := range l.spans {
			l.marks += s.begin[:1]
		}
	}
	return t
}

func (t tongues) of(file string) *language {
	for _, l := range t.languages {
		if l.has(file) {
			return l
		}
	}
	return nil
}

// isTest reports whether a file is one that a test runner reads.
func (t tongues) isTest(file string, l *language) bool {
	if l != nil {
		return l.isTest.match(file) && !l.passes.match(file)
	}
	return t.otherTest.match(file)
}

// lost says why tests that move from one file to another are run no more, or not
// everywhere; "" when they are.
func (l *language) lost(from, to string) string {
	if l.collects.match(from) && !l.collects.match(to) {
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

func golang() *language {
	return &language{
		ext: []string{".go"}, line: "//", block: true, quotes: `"'`, spans: []span{{"`", "`", true}},
		isTest:  re(`_test\.go$`),
		passes:  re(`(?:^|/)(?:testdata|vendor|[._][^/]*)/|(?:^|/)[._][^/]*$`),
		declare: re(`^func\s+(\([^)]*\)\s*)?((?:Test|Benchmark|Fuzz|Example)(?:[\p{Lu}\p{Lt}\p{Lo}\d_][\pL\d_]*)?)\s*\(|\bt\.Run\(\s*"([^"]*)"`),
		begin:   re(`\bfunc\b.*\{\s*$`),
		part:    re(`\b\w+\.(?:Run|Fuzz)\(|\bsynctest\.Test\(`),
		skip:    re(`\b\w+(?:\(\))?\.(?:Skip|Skipf|SkipNow)\(|\bos\.Exit\(0\)|^\s*if\s+false\b`),
		exclude: re(`^//go:build\b|^//\s*\+build\b`),
		sweep:   re(`\b(?:os|syscall)\.Exit\(0\)|^func\s+TestMain\(|\bflag\.Set\(|\bos\.Args\s*=`),
		leave:   re(`^\s*(?:return|continue|break)\s*$|\{\s*return\s*\}\s*$|\bruntime\.Goexit\(\)`),
		catch:   re(`\brecover\(\)`),
		assert:  re(`\b(?:t|b|f|tb)\.(?:Errorf?|Fatalf?|Fail|FailNow)\(|\b(?:assert|require|qt|is|must)\.\w+\(|\bExpect\(`),
		exact: re(`\b(?:reflect\.DeepEqual|cmp\.(?:Diff|Equal)|slices\.Equal|maps\.Equal|bytes\.Equal|errors\.Is)\(` +
			`|\b(?:assert|require)\.(?:Equal|Exactly|ErrorIs|JSONEq|YAMLEq|ElementsMatch|Len|Same|InDelta|InEpsilon)\w*\(` +
			`|\.To\((?:Equal|BeIdenticalTo)\(|\bif\b.*!=`),
		inexact: re(`!=\s*nil\s*(?:\{|$|&&|\|\|)`),
		loose: re(`\bstrings\.(?:Contains|HasPrefix|HasSuffix|EqualFold)\(|\bif\b.*==\s*nil\b|\blen\([^)]*\)\s*(?:==\s*0|<\s*1)` +
			`|\b(?:assert|require)\.(?:NotNil|NotEmpty|NotZero|Contains|True|False|NotEqual|Greater|Less|Regexp|Error|NoError|IsType)\w*\(` +
			`|\.(?:To|NotTo|ToNot)\((?:BeNil|BeEmpty|ContainSubstring|HaveOccurred|BeTrue)\(`),
		idle:    re(`\b(?:assert|require)\.True\(\s*\w+,\s*true\b|\|\|\s*true\b|\btrue\s*\|\||&&\s*false\b|\bfalse\s*&&`),
		speak:   re(`\b(?:t|b|f|tb)\.(?:Errorf?|Fatalf?|Logf?|Skipf?)\(|\b(?:fmt\.F?[pP]rint|log\.)|^\s*(?:import|package)\b`),
		bind:    re(`^\s*(?:import\s+)?(?:(?:assert|require)\s+"([^"]*)"|"([^"]*/(?:assert|require))")\s*$`),
		called:  re(`\b(?:assert|require)\b`),
		silence: re(`^//\s*nolint\b|^//lint:(?:file-)?ignore\b|#nosec\b`),
	}
}

func python() *language {
	return &language{
		ext: []string{".py", ".pyi"}, line: "#", quotes: `"'`, documents: true,
		spans:    []span{{`"""`, `"""`, true}, {`'''`, `'''`, true}},
		isTest:   re(`(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$|(?:^|/)tests?/.*\.py$`),
		passes:   re(`(?:^|/)(?:\.[^/]+|build|dist|venv|node_modules|CVS|_darcs|[^/]*\.egg)/`),
		collects: re(`(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$`),
		declare:  re(`^\s*(?:async\s+)?def\s+(test\w*)\s*\(|^\s*class\s+(Test\w*)\b|^\s*class\s+(\w+)\(.*\bTestCase\b`),
		begin:    re(`^\s*(?:async\s+)?def\s`),
		skip: re(`@?\bpytest\.mark\.(?:skip|skipif|xfail)\b|\bpytest\.(?:skip|xfail|importorskip)\(|\bunittest\.(?:skip\w*|expectedFailure)\b` +
			`|^\s*@(?:skip\w*|expectedFailure|nottest)\b|\bself\.skipTest\(|\braise\s+(?:unittest\.)?SkipTest\b|\b__test__\s*=\s*False\b|\bcollect_ignore\w*\s*=|\bdef\s+pytest_collection_modifyitems\b` +
			`|^\s*(?:if|while)\s+(?:False|0|not\s+True)\s*:|\bparametrize\(.*,\s*[\[(]\s*[\])]|^\s*del\s+[tT]est\w*\s*$|^\s*[tT]est\w*\s*=\s*None\s*$`),
		sweep: re(`\bcollect_ignore\w*\s*=|\bdef\s+pytest_(?:collection_modifyitems|ignore_collect|collect_file|runtest_\w+|pyfunc_call|sessionfinish|report_\w+|itemcollected|fixture_setup|cmdline_main|exception_interact)\b` +
			`|\bos\._exit\b|\b(?:sys\.exit|exit|quit)\(\s*0?\s*\)|\bpytest\.exit\(|\braise\s+SystemExit\b|\bos\.kill\(\s*os\.getpid\(` +
			`|\bbuiltins\.\w+\s*=[^=]|\bsys\.modules\[[^\]]*\]\s*=[^=]|\b(?:TestCase|unittest\.\w+)\.\w+\s*=[^=]|\bautouse\s*=\s*True\b`),
		leave: re(`^\s*(?:return(?:\s+None)?|continue|break)\s*$|^\s*(?:if|elif|else|while|for|with)\b.*:\s*(?:return|continue|break)\b`),
		catch: re(`^\s*except\s*(?::|[^:]*\b(?:Exception|BaseException|AssertionError)\b)|\bsuppress\([^)]*\b(?:Exception|BaseException|AssertionError)\b` +
			`|\b(?:raises|assertRaises)\(\s*(?:BaseException|AssertionError)\b`),
		assert:  re(`^\s*assert\b|\bself\.(?:assert\w+|fail)\(|\bpytest\.(?:raises|fail|warns)\(|\.assert_(?:called|not_called|any_call|has_calls|awaited)\w*\(|\bassert_\w+\(`),
		exact:   re(`^\s*assert\b.*(?:==|\bis\s+(?:True|False|None)\b)|\bself\.assert(?:Equals?|(?:List|Dict|Set|Tuple|Sequence|Count|MultiLine)Equal|Is|AlmostEqual|Raises)\(|\.assert_(?:called|awaited)(?:_once)?_with\(|\bpytest\.(?:raises|approx)\(`),
		inexact: re(`^\s*assert\b.*\bor\s+(?:True|1)\b`),
		loose: re(`^\s*assert\b.*\b(?:is\s+not\s+None|in|isinstance\(|or\s+True)\b|^\s*assert\b.*(?:!=|>|<)|^\s*assert\s+[\w.()\[\] ]+$|^\s*assert\s+isinstance\(` +
			`|\bself\.assert(?:True|False|IsNotNone|In|NotIn|IsInstance|Greater|Less|NotEqual|GreaterEqual|LessEqual|Regex)\(|\.assert_called(?:_once)?\(\)`),
		idle: re(`^\s*assert\s*\(?\s*(?:True|1|not\s+(?:False|None|0))\s*(?:,|\)|$)|\bself\.assertTrue\(\s*(?:True|1)\s*[,)]|^\s*assert\b.*\bor\s+(?:True|1)\b|^\s*assert\s+(?:not\s+)?\(?(?:True|1)\s+or\b` +
			`|^\s*assert\s*\([^()]*(?:\([^()]*\)[^()]*)*,[^()]*\)\s*$|^\s*assert\s*["'][^"']*["']\s*$`),
		speak:   re(`\b(?:print|logging\.\w+|log(?:ger)?\.\w+|warnings\.warn)\(|^\s*(?:import|from)\b`),
		bind:    re(`^\s*import\s+(\S+)\s+as\s+(?:pytest|unittest)\b|^\s*import\s+(pytest|unittest)\b|^\s*from\s+(\S+)\s+import\s+.*\b(?:TestCase|pytest|unittest|approx|raises)\b`),
		called:  re(`\b(?:TestCase|pytest|unittest|approx|raises)\b`),
		shadow:  re(`\bdef\s+assert(?:Equals?|True|False|Raises|Is|In)\s*\(`),
		unrun:   re(`^\s+def\s+__(?:init|new)__\s*\(`),
		silence: re(`#\s*(?:noqa\b|type:\s*ignore\b|ruff:\s*noqa\b|flake8:\s*noqa\b|mypy:\s*ignore-errors\b|pylint:\s*disable\b|pyright:\s*ignore\b|pragma:\s*no\s?cover\b|nosec\b)`),
	}
}

func javascript() *language {
	const runs = `(?:it|test|describe|context|suite|specify)`
	return &language{
		ext: []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"}, line: "//", block: true, quotes: `"'`,
		spans:    []span{{"`", "`", true}},
		isTest:   re(`\.(?:test|spec|cy|e2e)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?|specs?|e2e|cypress)/.*\.[cm]?[jt]sx?$`),
		passes:   re(`(?:^|/)(?:node_modules|\.[^/]+)/`),
		collects: re(`\.(?:test|spec|cy|e2e)\.[cm]?[jt]sx?$|(?:^|/)__tests__/`),
		declare:  re(`^\s*[fx]?` + runs + "(?:\\.\\w+)*\\s*\\(\\s*(?:\"([^\"]*)\"|'([^']*)'|`([^`]*)`)"),
		call:     re(`^\s*(?:if|for|while|switch|catch|with|else)\b|^\s*\}`),
		begin:    re(`(?:=>\s*\{|\bfunction\b[^{]*\{)\s*$|^\s*(?:async\s+|static\s+|\*)*[\w$]+\s*\([^()]*\)\s*\{\s*$`),
		part:     re(`\b` + runs + `\b|\]\)\(|\.forEach\(`),
		skip: re(`\b` + runs + `(?:\.\w+)*\.(?:skip|skipIf|runIf|todo|fixme|failing|fails|only)\b|\b(?:x|f)(?:it|test|describe|context|specify)\s*\(|\bthis\.skip\(\)|\bpending\(\s*\)` +
			`|^\s*if\s*\(\s*(?:false|0)\s*\)|\.each\(\s*\[\s*\]\s*\)`),
		sweep: re(`\bprocess\.(?:exit|reallyExit|abort)\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0|\b(?:global|globalThis|window)\.(?:expect|it|test|describe|assert)\s*=[^=]` +
			`|\bassert\.\w+\s*=[^=>]|^\s*function\s+(?:expect|it|test|describe)\b|^\s*(?:const|let|var)\s+(?:expect|it|test|describe)\s*=\s*(?:\(|function\b|async\b)`),
		leave:   re(`^\s*(?:if\s*\(.*\)\s*)?\{?\s*(?:return(?:\s+(?:undefined|null|true|done\(\)|Promise\.resolve\(\)))?|continue)\s*;?\s*\}?\s*$`),
		catch:   re(`\bcatch\s*(?:\(|\{)|\.catch\(`),
		assert:  re(`\bexpect(?:\.\w+)*\(|\bassert(?:\.\w+)*\(|\.should(?:\.|\()|\bt\.(?:is|deepEqual|true|throws|like)\(`),
		exact:   re(`\.(?:toBe|toEqual|toStrictEqual|toHaveBeenCalledWith|toHaveBeenLastCalledWith|toHaveBeenCalledTimes|toHaveLength|toBeCloseTo|toMatchInlineSnapshot|toHaveTextContent)\(|\bassert\.(?:equal|strictEqual|deepEqual|deepStrictEqual)\(|\.to\.(?:deep\.)?(?:equal|eql)\(|\.toThrow(?:Error)?\([^)]|\bt\.(?:is|deepEqual)\(`),
		inexact: re(`\.not\.to(?:Be|Equal|StrictEqual)\(|\bexpect\.(?:anything\(\)|any\()`),
		loose: re(`\.(?:toBeDefined|toBeTruthy|toBeFalsy|toBeInstanceOf|toContain|toMatch|toMatchObject|toHaveBeenCalled|toBeGreaterThan|toBeLessThan|toBeGreaterThanOrEqual|toBeLessThanOrEqual|toHaveProperty|toBeInTheDocument)\(` +
			`|\.not\.(?:toBe|toBeNull|toBeUndefined|toEqual|toThrow|toStrictEqual)\(|\bexpect\.(?:anything\(\)|any\()|\bassert(?:\.ok|\.exists|\.isDefined|\.notEqual|\.match|\.isOk)?\(|\.to\.(?:exist|be\.ok|be\.true|include|contain)|\.toThrow(?:Error)?\(\)|\bt\.(?:true|truthy|like)\(|\bexpect\([^()]*(?:\([^()]*\)[^()]*)*\)\s*;?\s*$|\.to(?:Be|Equal|StrictEqual|Have\w+|Match\w*|Throw\w*)\s*;?\s*$`),
		idle:    re(`\bexpect\(\s*(?:true|1)\s*\)\.(?:toBeTruthy|toBeDefined)\(\)|\bassert(?:\.ok)?\(\s*true\s*\)|\|\|\s*true\b|\btrue\s*\|\|`),
		bind:    re(`\b(?:expect|assert|it|test|describe)\b.*(?:\bfrom\s*|\brequire\(\s*)["']([^"']*)["']`),
		called:  re(`\b(?:expect|assert|it|test|describe)\b`),
		replace: re(`\b(?:jest|vi)\.(?:mock|doMock)\(\s*["'](\.[^"']*)["']`),
		speak:   re(`\bconsole\.\w+\(|^\s*(?:import|export)\b|\brequire\(`),
		silence: re(`\beslint-disable|@ts-(?:ignore|nocheck|expect-error)\b|\bbiome-ignore\b|\bistanbul ignore\b|\b[cv]8 ignore\b|\btslint:disable`),
	}
}
