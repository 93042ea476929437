package verdict

import (
	"strconv"
	"strings"

	"codeloops/internal/wording"
)

// admissions matches, in the words of a sentence, an admission that the work is not done.
var admissions = wording.Pattern(`\b(?:` + strings.NewReplacer(
	"BE", `(?:is|are|its|thats|remains?|stays?)`,
	"NOT", `(?:(?:is|are|its|thats)(?: still| yet)? not|isnt|arent)(?: yet| all| fully| really| quite)?`,
	"FAIL", `(?:fails?|crash(?:es)?|hangs?|times? out)`,
	"BAD", `(?:failing|red|broken|missing|unfinished|incomplete|untested)`,
).Replace(strings.Join([]string{
	`i will`, `i shall`, `let me (?:check|look|read|run|see|test|try|verify)`, `tbd`, `to be (?:verified|confirmed)`, `(?:BE|still|currently) in progress`, `still running`, `running the tests now`,
	`NOT (?:done|finished|complete|completed|implemented|there|met|satisfied|solved|fixed|ready)`, `(?:not|hasnt|havent)(?: yet)? been (?:done|implemented|finished|completed|fixed)`,
	`(?:does not|do not|doesnt|dont) (?:build|compile|work|pass)(?: (?:yet|on|in|with|here|at all)\b|$)`, `cannot be (?:built|compiled)$`,
	`still (?:fails?|failing|broken|red|missing)`, `(?:bug|fault|problem|issue|error)s? (?:is|are) still`,
	`(?:half|partly|partially) done`, `only (?:a )?part of`, `not all (?:of )?(?:the )?(?:tests?|task|requirements|work)`, `no part of`, `nothing (?:was|has been) done$`,
	`(?:tests?|builds?|suite|checks?|it|they|two|one|some|others?) FAIL$`, `BE BAD$`, `there (?:is|are) BAD`,
	`work is needed`, `needs? (?:more )?work`, `(?:have|has) yet to`, `remains? to be`, `i (?:still )?(?:need|have) to (?:check|look|read|run|see|test|try|verify)`, `i (?:cannot|cant) (?:approve|accept)`,
	`^(?:not (?:yet )?(?:done|finished|complete|ready)|incomplete|unfinished|placeholder|todo|wip)(?: yet)?$`,
	`^(?:approved|lgtm)\b.* (?:if|once|provided|assuming|pending|subject to|conditional on)`,
	`(?:assuming|pending|subject to|conditional on|provided)(?: that)?(?: the| all)? (?:tests?|ci|build|checks?)(?: \w+){0,2} (?:pass\w*|green|succeed\w*)`, `(?:did not|didnt) do the`, `(?:has|have) not done`,
}, `|`)) + `)`)

// excused matches what reverses an admission that follows it: a denial, or a condition
// under which the program does something.
var excused = wording.Pattern(`\b(?:no|none|nothing|zero|0|neither|nor|never|without|if|when|once|unless|until|whether|which|that|who|where|why|how)\b`)

// tally matches a count of passing tests, such as "38 of 40 tests pass".
var tally = wording.Pattern(`\b(\d{1,6})(?: ?/ ?| (?:out )?of (?:the )?)(\d{1,6})\b[^.;]*\b(?:pass\w*|met|green|done)\b`)

// failures matches a count of tests that failed, beside one of those that passed or alone.
var failures = wording.Pattern(`\d pass\w*\b.*\b[1-9]\d* fail\w*|\b[1-9]\d* fail\w*\b.*\d pass|^(?:tests )?(?:there (?:is|are) )?[1-9]\d* (?:tests? )?fail(?:s|ed|ing|ures?)?(?: tests?)?$`)

// told matches what a program says, as a summary quotes it.
var told = wording.Pattern("\"[^\"\n]*\"|`[^`\n]*`|“[^”\n]*”")

// admission returns the first sentence of a text that says that the work is not done, ""
// for none.
func admission(text string) string {
	text = told().ReplaceAllString(text, `""`)
	for _, sentence := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(".!?;\n。", r) }) {
		said := phrase(sentence)
		at := admissions().FindStringIndex(said)
		if at != nil && !excused().MatchString(said[:at[0]]) || fewer(fold(sentence)) || failures().MatchString(said) && !has(words(said), "before", "previously", "without") {
			return strings.TrimSpace(sentence)
		}
	}
	return ""
}

// fewer reports whether a sentence says that not all tests pass: "38 of 40 tests pass".
func fewer(sentence string) bool {
	for _, m := range tally().FindAllStringSubmatch(sentence, -1) {
		some, _ := strconv.Atoi(m[1])
		if all, _ := strconv.Atoi(m[2]); some < all {
			return true
		}
	}
	return false
}
