package verdict

import (
	"slices"
	"strings"
	"unicode"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// doubt says what contradicts a decision that ends the work. Other decisions are read
// leniently.
func (p Parser) doubt(r *reading, c claim) error {
	switch v := c.verdict; {
	case v.Decision == loop.Error, p.scores(v) && *v.Score < p.Contract.Threshold:
		return nil
	case v.Decision == loop.Continue && !p.scores(v):
		return nil
	case v.Decision == loop.Continue && c.late:
		return problem("the SCORE stands below the FEEDBACK, where it may be a quotation; give it above")
	case v.Decision == loop.Continue:
		return p.scored(r, c)
	}
	for _, check := range []func(*reading, claim) error{contradicted, p.open, p.scored, led, followed, admitted, p.quoted} {
		if err := check(r, c); err != nil {
			return err
		}
	}
	return nil
}

// scores reports whether the score of a verdict decides.
func (p Parser) scores(v loop.Verdict) bool { return p.Contract.Threshold > 0 && v.Score != nil }

// open rejects a DONE beside something that is wrong or unfinished.
func (p Parser) open(_ *reading, c claim) error {
	const say = "the reply says DONE and also names what is open: %s; say CONTINUE if anything is to be done, else DONE without it"
	v := c.verdict
	if name := openStill(v); name != "" {
		return problem(say, quote("finding "+name))
	}
	for _, text := range append([]string{v.Feedback, v.Recovery}, v.Issues...) {
		if !nothing(text) {
			return problem(say, quote(text))
		}
	}
	text := v.Summary
	if !c.object {
		text = c.core + c.tail
	}
	if must := Required(text); must != "" {
		return problem(say, quote(must))
	}
	if p.Contract.Structured == nil && grave(v.Severity) {
		return problem(say, quote("severity "+v.Severity))
	}
	if point := openPoint(text); point != "" {
		return problem(say, quote(point))
	}
	return nil
}

// admitted rejects a DONE whose summary says that the work is not done.
func admitted(_ *reading, c claim) error {
	if said := admission(c.verdict.Summary); said != "" {
		return problem("the reply says DONE, and its summary that it is not: %s; decide when you have seen that the work is done", quote(said))
	}
	return nil
}

// openPoint returns a title of open points with the text after it, or a line that is
// crossed out or not ticked off, "" for none.
func openPoint(text string) string {
	for text != "" {
		var line string
		if line, text, _ = strings.Cut(text, "\n"); crossed(line) {
			return line
		}
		title, said, found := strings.Cut(strings.ReplaceAll(line, "：", ":"), ":")
		bare := strings.TrimSpace(line)
		heading := strings.HasPrefix(bare, "#") || strings.HasPrefix(bare, "**") && strings.HasSuffix(bare, "**")
		if !found && !heading || len(title) > 60 || !titlesOpen().MatchString(phrase(title)) {
			continue
		}
		if strings.Trim(said, "*_` ") == "" {
			said, _ = cutLine(text)
		}
		_, more := answers(said, "")
		if name, _ := splitLabel(said); name == "" && more != "" && !nothing(more) {
			return title + ": " + said
		}
	}
	return ""
}

// crossed reports whether a line begins or ends with a cross or an empty box.
func crossed(line string) bool {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	first, last := strings.IndexFunc(line, word), strings.LastIndexFunc(line, word)
	if first < 0 {
		first = len(line)
	}
	return strings.Contains(line[:first], "[ ]") || strings.ContainsAny(line[:first]+line[last+1:], "❌✗✘✖☐⬜⛔🛑🔴")
}

// titlesOpen matches a title of open points, as a [phrase].
var titlesOpen = wording.Pattern(`^(?:\d+ )?(?:` + strings.NewReplacer(
	"FAULTS", `(?:issues?|problems?|bugs?|failures?|blockers?|concerns?|findings?|todos?)`,
	"POINTS", `(?:tests?|points?|changes?|fixes|work|items?|requirements?)`,
	"STILL", `(?:open|remaining|known|outstanding|unresolved|unmet|required|requested|failing|missing)`,
).Replace(strings.Join([]string{
	`FAULTS(?: (?:found|identified))?`, `STILL(?: (?:FAULTS|POINTS)\b.*)?`, `(?:critical|major|serious|blocking) FAULTS`, `blocking`,
	`(?:FAULTS|POINTS) (?:open|left|remaining|needed|required|requested|to (?:fix|do|make|address))`,
	`next steps?`, `action items?`, `(?:things )?to (?:do|fix)`, `what (?:is|remains) (?:missing|open|left|wrong|to \w+)`, `not (?:yet )?(?:done|met)`,
}, `|`)) + `)$`)

// well matches a sentence, as a [phrase], that only says that all is well.
var well = wording.Pattern(`^(?:all good|looks good(?: to me)?|lgtm|n a|na|nil|null|empty|not (?:applicable|needed|required|necessary)|well done` +
	`|(?:great|good|nice|excellent) (?:work|job)|(?:all|the)(?: the)? (?:requirements|criteria|tests|checks|task|work|implementation)` +
	`(?: is| are| has been| have been)?(?: now)? (?:met|satisfied|fulfilled|done|complete|completed|correct|pass|passing))$`)

// nothing reports whether a text is empty, or says that there is nothing to report.
func nothing(text string) bool {
	sentences := strings.FieldsFunc(strings.ReplaceAll(text, " - ", "\n"), func(r rune) bool { return strings.ContainsRune(".,;!\n—–", r) })
	return !slices.ContainsFunc(sentences, func(s string) bool {
		said := phrase(s)
		return said != "" && !well().MatchString(said) && !denies(said)
	})
}

// denies reports whether a phrase says that there is nothing to report.
func denies(said string) bool {
	denies := false
	for w := range strings.FieldsSeq(said) {
		switch {
		case slices.Contains([]string{"no", "none", "nothing", "zero", "0"}, w):
			denies = true
		case !slices.Contains([]string{
			"at", "all", "else", "more", "further", "other", "open", "known", "major", "remaining", "to", "is", "are", "was", "were", "there", "i", "have",
			"add", "report", "fix", "change", "do", "say", "missing", "wrong", "left", "needed", "necessary", "required", "requested", "found", "remain", "remains",
			"issue", "issues", "problem", "problems", "bug", "bugs", "feedback", "changes", "comment", "comments", "concern", "concerns", "finding", "findings",
			"action", "work",
		}, w):
			return false
		}
	}
	return denies
}

// contradicted rejects a DONE in a reply that decides otherwise anywhere else, even in a
// quotation, in a tag or in the middle of a sentence. If the DONE is sealed, a sentence may
// mention another decision, but no line may begin with it.
func contradicted(r *reading, c claim) error {
	if said := r.otherwise(c.sealed == loop.SealRight); said != "" {
		return problem("the reply says DONE and elsewhere %s; decide once, and repeat no other decision", quote(said))
	}
	return nil
}

// otherDecision matches, in a folded text, a decision other than DONE, and lineHead what
// may precede it at the beginning of a line.
var (
	otherDecision = wording.Pattern(strings.NewReplacer(
		"NAME", `(?:decision|verdict)(?:\s+(?:is|now|remains|stays))?`,
		"ANY", `[^\pL\pN]{0,24}[^\pL\pN\s][^\pL\pN]{0,24}`,
		"COLON", `[^\pL\pN]{0,24}[:=|>→–—-][^\pL\pN]{0,24}`,
		"WORD", `(?:continue|escalate|revise|rejected)(?:[^\pL]|$)`,
		"LIKE", `(?:(?:continu|error|escalat|revis|reject|fail|incomplete|unfinished)\pL*|not)(?:[^\pL]|$)`,
	).Replace(`NAME(?:ANYWORD|COLONLIKE)|(?:decision|verdict)(?:\s*\n\s*|\s+(?:is|remains|stays)\s+)LIKE|"type"\s*:\s*"(?:continue|revise|escalate)"`))
	lineHead = wording.Pattern(`(?:^|\n)[^\pL\n]*(?:(?:my|the|final|own|actual|real|updated|revised|new|last|overall)[^\pL\n]+)*$`)
)

// otherwise returns the first decision other than DONE that the reply names, "" for none;
// lines limits it to the beginnings of lines.
func (r *reading) otherwise(lines bool) string {
	text := fold(r.filled())
	if strings.Count(text, "decision")+strings.Count(text, "verdict") < 2 && !strings.Contains(text, `"type"`) {
		return "" // there is only the decision itself
	}
	for _, at := range otherDecision().FindAllStringIndex(text, -1) {
		const most = 200
		if !lines || lineHead().MatchString(text[max(0, at[0]-most):at[0]]) {
			return text[at[0]:at[1]]
		}
	}
	return ""
}

// filled returns the reply without the blocks that only copy the form.
func (r *reading) filled() string {
	var b strings.Builder
	from := 0
	for i, block := range r.blocks {
		if !block.unfilled {
			continue
		}
		b.WriteString(r.text[from:block.at])
		from = len(r.text)
		if i+1 < len(r.blocks) {
			from = r.blocks[i+1].at
		}
	}
	return b.String() + r.text[from:]
}

// anyScore matches, in a folded text, a score with the words that may precede the number.
var anyScore = wording.Pattern(`scor(?:e|es|ed|ing)(?:[ ](?:of|is|it|this|the|work|was|would|be|at|as|for|now|only|just|a)\b)*[^\pL\pN]{1,12}?(\.?[0-9][0-9.,]*[ ]?%?(?:[ ]?/[ ]?[0-9]+)?)`)

// scored rejects a score that decides if the reply also names another.
func (p Parser) scored(r *reading, c claim) error {
	if !p.scores(c.verdict) {
		return nil
	}
	if quotes(words(c.rated)) || takesBack(c.rated) || strings.Contains(c.rated, "?") {
		return problem("the score reads %s; give the number alone", quote(c.rated))
	}
	for _, other := range anyScore().FindAllStringSubmatch(fold(r.filled()), -1) {
		if n := fraction(other[1]); n == nil || *n != *c.verdict.Score {
			return problem("the reply gives the score %v and elsewhere %s; give it once", *c.verdict.Score, quote(other[0]))
		}
	}
	return nil
}

// led rejects a DONE that is introduced as a plan, or as somebody else's words.
func led(_ *reading, c claim) error {
	said, introduces, title := leadIn(c.lead)
	all := words(said)
	others := introduces && quotes(all) || title && !decides(all) // perhaps somebody else's words
	if planned(said, introduces, title) || c.sealed != loop.SealRight && others {
		return problem("the DONE is led in by %s, as if it were a plan or a quotation; decide when you have seen that the work is done, and without words before it", quote(said))
	}
	return nil
}

// followed rejects a DONE that is followed by more than a closing remark. If the DONE is
// sealed, the remark may have any length.
func followed(_ *reading, c claim) error {
	_, remark := answers(binding(behind(c.tail)), "")
	if remark == "" {
		return nil
	}
	within := strings.HasPrefix(remark, "</") || strings.HasPrefix(remark, "-->") // the DONE is quoted or hidden
	if within || c.sealed != loop.SealRight && !short(remark) || takesBack(remark) {
		return problem("the reply goes on after its DONE: %s; let the block be the last of it", quote(remark))
	}
	return nil
}

// behind returns the text after a decision, without the end of its tag or fence.
func behind(tail string) string {
	tail = strings.TrimLeft(tail, "*_` \n")
	if hasPrefixFold(tail, closeTag) {
		tail = tail[len(closeTag):]
	}
	return strings.TrimSpace(tail)
}

var titleOrTag = wording.Pattern(`(?m)^\W*\pL[^\n.:]{0,30}[:：](?:\s|$)|^\s*</?\pL`)

// short reports whether a text has the length of a remark, and no title.
func short(remark string) bool {
	const most, lines = 240, 4
	return len(remark) <= most && strings.Count(remark, "\n") < lines &&
		!titleOrTag().MatchString(remark)
}

// quoted rejects an unsealed DONE that occurs in the evidence, line by line.
func (p Parser) quoted(_ *reading, c claim) error {
	if c.sealed != loop.SealRight && p.Quoted != nil && p.Quoted(c.lines) {
		return problem("the DONE stands in the evidence word for word, so it may be a quotation; decide in your own words and with the seal")
	}
	return nil
}
