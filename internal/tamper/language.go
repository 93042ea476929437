package tamper

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// A language is what is known of one: how its comments and strings look, and
// what tests and their assertions look like in it. A nil expression matches
// nothing.
type language struct {
	ext     []string
	line    string // begins a comment to the end of the line
	block   bool   // has comments between /* and */
	quotes  string
	isTest  *regexp.Regexp // matches the paths of files with tests
	declare *regexp.Regexp // a test, with its name as the one group that is not empty
	call    *regexp.Regexp // is no declaration, though declare matches it
	mark    *regexp.Regexp // stands before what declare matches; nil: declare is enough
	skip    *regexp.Regexp // keeps a test from being run, or all others
	exclude *regexp.Regexp // the same in a comment
	sweep   *regexp.Regexp // decides over all tests around it, in a new test as well
	assert  *regexp.Regexp
	exact   *regexp.Regexp // compares with one value
	inexact *regexp.Regexp // is none of exact after all
	loose   *regexp.Regexp // is content with many values
	idle    *regexp.Regexp // asserts what is always so
	silence *regexp.Regexp // a comment that keeps a tool quiet
	allow   *regexp.Regexp // code that does
}

func (l *language) has(file string) bool {
	return slices.Contains(l.ext, strings.ToLower(path.Ext(file)))
}

// tongues are the languages that are known.
type tongues struct {
	languages []*language
	otherTest *regexp.Regexp // the paths of files with tests in other languages
}

func languages() tongues {
	return tongues{
		languages: []*language{golang(), python(), javascript(), rust(), java(), ruby(), shell(), c()},
		otherTest: re(`[._-](?:test|spec)\.\w+$|_test\.(?:exs|dart|clj)$|\.(?:bats|feature|robot)$` +
			`|(?:^|/)(?:__tests__|tests?|specs?)/[^/]*\.(?:exs?|lua|clj[cs]?|hs|ml|dart|jl|R|erl|pl|t)$`),
	}
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
		return l.isTest.MatchString(file)
	}
	return t.otherTest.MatchString(file)
}

func golang() *language {
	return &language{
		ext: []string{".go"}, line: "//", block: true, quotes: "\"'`",
		isTest:  re(`_test\.go$`),
		declare: re(`^func\s+(?:\([^)]*\)\s*)?((?:Test|Benchmark|Fuzz|Example)\w*)\s*\(|\bt\.Run\(\s*"([^"]*)"`),
		skip:    re(`\b\w+(?:\(\))?\.(?:Skip|Skipf|SkipNow)\(|\bos\.Exit\(0\)`),
		exclude: re(`^//go:build\b|^//\s*\+build\b`),
		sweep:   re(`\bos\.Exit\(0\)|^func\s+TestMain\(`),
		assert:  re(`\b(?:t|b|f|tb)\.(?:Errorf?|Fatalf?|Fail|FailNow)\(|\b(?:assert|require|qt|is|must)\.\w+\(|\bExpect\(`),
		exact: re(`\b(?:reflect\.DeepEqual|cmp\.(?:Diff|Equal)|slices\.Equal|maps\.Equal|bytes\.Equal|errors\.Is)\(` +
			`|\b(?:assert|require)\.(?:Equal|Exactly|ErrorIs|JSONEq|YAMLEq|ElementsMatch|Len|Same|InDelta|InEpsilon)\w*\(` +
			`|\.To\((?:Equal|BeIdenticalTo)\(|\bif\b.*!=`),
		inexact: re(`!=\s*nil\s*(?:\{|$|&&|\|\|)`),
		loose: re(`\bstrings\.(?:Contains|HasPrefix|HasSuffix|EqualFold)\(|\bif\b.*==\s*nil\b|\blen\([^)]*\)\s*(?:==\s*0|<\s*1)` +
			`|\b(?:assert|require)\.(?:NotNil|NotEmpty|NotZero|Contains|True|False|NotEqual|Greater|Less|Regexp|Error|NoError|IsType)\w*\(` +
			`|\.(?:To|NotTo|ToNot)\((?:BeNil|BeEmpty|ContainSubstring|HaveOccurred|BeTrue)\(`),
		idle:    re(`\b(?:assert|require)\.True\(\s*\w+,\s*true\b|\bassert\.(?:Equal)\(\s*\w+,\s*(?:1,\s*1|true,\s*true)\s*\)`),
		silence: re(`^//\s*nolint\b|^//lint:(?:file-)?ignore\b|#nosec\b`),
	}
}

func python() *language {
	return &language{
		ext: []string{".py", ".pyi"}, line: "#", quotes: `"'`,
		isTest:  re(`(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$|(?:^|/)tests?/.*\.py$`),
		declare: re(`^\s*(?:async\s+)?def\s+(test\w*)\s*\(|^\s*class\s+(Test\w*)\b|^\s*class\s+(\w+)\(.*\bTestCase\b`),
		skip: re(`@?\bpytest\.mark\.(?:skip|skipif|xfail)\b|\bpytest\.(?:skip|xfail|importorskip)\(|\bunittest\.(?:skip\w*|expectedFailure)\b` +
			`|^\s*@(?:skip\w*|expectedFailure)\b|\bself\.skipTest\(|\braise\s+(?:unittest\.)?SkipTest\b|\b__test__\s*=\s*False\b|\bcollect_ignore\w*\s*=|\bdef\s+pytest_collection_modifyitems\b`),
		sweep:   re(`\bcollect_ignore\w*\s*=|\bdef\s+pytest_(?:collection_modifyitems|ignore_collect|runtest_\w+|pyfunc_call|sessionfinish)\b|\bos\._exit\(0\)`),
		assert:  re(`^\s*assert\b|\bself\.(?:assert\w+|fail)\(|\bpytest\.(?:raises|fail|warns)\(|\.assert_(?:called|not_called|any_call|has_calls|awaited)\w*\(|\bassert_\w+\(`),
		exact:   re(`^\s*assert\b.*(?:==|\bis\s+(?:True|False|None)\b)|\bself\.assert(?:Equals?|(?:List|Dict|Set|Tuple|Sequence|Count|MultiLine)Equal|Is|AlmostEqual|Raises)\(|\.assert_(?:called|awaited)(?:_once)?_with\(|\bpytest\.(?:raises|approx)\(`),
		inexact: re(`^\s*assert\b.*\bor\s+(?:True|1)\b`),
		loose: re(`^\s*assert\b.*\b(?:is\s+not\s+None|in|isinstance\(|or\s+True)\b|^\s*assert\b.*(?:!=|>|<)|^\s*assert\s+[\w.()\[\] ]+$|^\s*assert\s+isinstance\(` +
			`|\bself\.assert(?:True|False|IsNotNone|In|NotIn|IsInstance|Greater|Less|NotEqual|GreaterEqual|LessEqual|Regex)\(|\.assert_called(?:_once)?\(\)`),
		idle:    re(`^\s*assert\s+(?:True|1)\s*(?:,|$)|\bself\.assertTrue\(\s*(?:True|1)\s*[,)]|^\s*assert\b.*\bor\s+(?:True|1)\b|^\s*assert\s+1\s*==\s*1\b`),
		silence: re(`#\s*(?:noqa\b|type:\s*ignore\b|ruff:\s*noqa\b|flake8:\s*noqa\b|mypy:\s*ignore-errors\b|pylint:\s*disable\b|pyright:\s*ignore\b|pragma:\s*no\s?cover\b|nosec\b)`),
	}
}

func javascript() *language {
	const runs = `(?:it|test|describe|context|suite|specify)`
	return &language{
		ext: []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"}, line: "//", block: true, quotes: "\"'`",
		isTest:  re(`\.(?:test|spec|cy|e2e)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?|specs?|e2e|cypress)/.*\.[cm]?[jt]sx?$`),
		declare: re(`^\s*[fx]?` + runs + "(?:\\.\\w+)*\\s*\\(\\s*(?:\"([^\"]*)\"|'([^']*)'|`([^`]*)`)"),
		skip:    re(`\b` + runs + `(?:\.\w+)*\.(?:skip|skipIf|todo|fixme|failing|fails|only)\b|\b(?:x|f)(?:it|test|describe|context|specify)\s*\(|\bthis\.skip\(\)|\bpending\(\s*\)`),
		sweep:   re(`\bprocess\.exit\(0?\)`),
		assert:  re(`\bexpect(?:\.\w+)*\(|\bassert(?:\.\w+)*\(|\.should(?:\.|\()|\bt\.(?:is|deepEqual|true|throws|like)\(`),
		exact:   re(`\.(?:toBe|toEqual|toStrictEqual|toHaveBeenCalledWith|toHaveBeenLastCalledWith|toHaveBeenCalledTimes|toHaveLength|toBeCloseTo|toMatchInlineSnapshot|toHaveTextContent)\(|\bassert\.(?:equal|strictEqual|deepEqual|deepStrictEqual)\(|\.to\.(?:deep\.)?(?:equal|eql)\(|\.toThrow(?:Error)?\([^)]|\bt\.(?:is|deepEqual)\(`),
		inexact: re(`\.not\.to(?:Be|Equal|StrictEqual)\(|\bexpect\.(?:anything\(\)|any\()`),
		loose: re(`\.(?:toBeDefined|toBeTruthy|toBeFalsy|toBeInstanceOf|toContain|toMatch|toMatchObject|toHaveBeenCalled|toBeGreaterThan|toBeLessThan|toBeGreaterThanOrEqual|toBeLessThanOrEqual|toHaveProperty|toBeInTheDocument)\(` +
			`|\.not\.(?:toBe|toBeNull|toBeUndefined|toEqual|toThrow|toStrictEqual)\(|\bexpect\.(?:anything\(\)|any\()|\bassert(?:\.ok|\.exists|\.isDefined|\.notEqual|\.match|\.isOk)?\(|\.to\.(?:exist|be\.ok|be\.true|include|contain)|\.toThrow(?:Error)?\(\)|\bt\.(?:true|truthy|like)\(`),
		idle:    re(`\bexpect\(\s*(?:true|1)\s*\)\.(?:toBe\(\s*(?:true|1)\s*\)|toBeTruthy\(\)|toEqual\(\s*(?:true|1)\s*\))|\bassert(?:\.ok)?\(\s*true\s*\)`),
		silence: re(`\beslint-disable|@ts-(?:ignore|nocheck|expect-error)\b|\bbiome-ignore\b|\bistanbul ignore\b|\b[cv]8 ignore\b|\btslint:disable`),
	}
}
