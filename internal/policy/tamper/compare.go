package tamper

import (
	"slices"
	"strings"

	"codeloops/internal/wording"
)

// operator matches a comparison operator. In ->, => and := there is none.
var operator = wording.Pattern(`(?:^|[^-=<>:])(===|!==|==|!=|<=|>=|<|>)`)

// compared splits a line at its first comparison operator. Operators inside strings do
// not count.
func compared(x parts) (left, by, right string, ok bool) {
	at := operator().FindStringSubmatchIndex(x.bare)
	if at == nil || len(x.code) != len(x.bare) {
		return "", "", "", false
	}
	return x.code[:at[2]], x.code[at[2]:at[3]], x.code[at[3]:], true
}

// matched splits a line at its first matcher call, such as .toBe( or .isEqualTo(: the
// tested value is to the left, the expected one to the right.
func matched(x parts) (left, right string, ok bool) {
	for _, matcher := range []string{
		".toBe(", ".toEqual(", ".toStrictEqual(", ".toHaveLength(", ".toHaveBeenCalledTimes(", ".toHaveBeenCalledWith(", ".toThrow(", ".isEqualTo(", ".isSameAs(",
		".hasSize(", ".containsExactly(", ".to.equal(", ".to.deep.equal(", ".to.eql(", ".to eq(", ".to eql(", ".must_equal(", ".Be(",
	} {
		if i := strings.Index(x.bare, matcher); i >= 0 && len(x.code) == len(x.bare) {
			return x.code[:i], x.code[i+len(matcher):], true
		}
	}
	return "", "", false
}

// comparesWithItself reports whether a line compares something with itself.
func comparesWithItself(x parts) bool {
	if left, right, ok := matched(x); ok {
		of := arguments(right)
		_, subject, _ := strings.Cut(left, "expect(")
		if subject == "" {
			_, subject, _ = strings.Cut(left, "assertThat(")
		}
		return len(of) == 1 && of[0] != "" && strings.TrimSuffix(strings.TrimSpace(subject), ")") == of[0]
	}
	for _, call := range []string{
		"assertEqual(", "assertEquals(", "assertSame(", "assertIs(", "assertStrictEquals(", "assert_eq!(", "assert_equal(", ".equal(", ".strictEqual(", ".deepEqual(",
		".deepStrictEqual(", ".Equal(", ".AreEqual(", ".DeepEqual(", ".EqualValues(", ".Exactly(", ".Same(", "EXPECT_EQ(", "ASSERT_EQ(", "XCTAssertEqual(", "assert_equal ",
	} {
		if _, rest, ok := strings.Cut(x.code, call); ok {
			of := arguments(rest)
			for i := 1; i < len(of); i++ {
				if of[i] != "" && of[i] == of[i-1] {
					return true
				}
			}
			return false
		}
	}
	left, _, right, ok := compared(x)
	if !ok {
		return false
	}
	of := arguments(right)
	if len(of) == 0 {
		return false
	}
	with := strings.TrimRight(of[0], ":{ ")
	before, same := strings.CutSuffix(strings.TrimSpace(left), with)
	before = strings.TrimRight(before, " \t")
	return same && with != "" && (before == "" || slices.ContainsFunc([]string{"(", ";", "&&", "||", "assert", "if", "and", "or", "not"}, func(end string) bool {
		return strings.HasSuffix(before, end)
	}))
}

// arguments splits the text after an open parenthesis at its commas, up to the closing
// parenthesis.
func arguments(rest string) (of []string) {
	depth, from := 0, 0
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '"', '\'', '`':
			i += literalEnd(rest[i:])
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return append(of, strings.TrimSpace(rest[from:i]))
			}
		case ',':
			if depth == 0 {
				of, from = append(of, strings.TrimSpace(rest[from:i])), i+1
			}
		}
	}
	return append(of, strings.TrimSpace(rest[from:]))
}
