package verdict

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/wording"
)

// This file tells whether a sentence plans, quotes or takes something back. It knows
// English only, and finds nothing in other languages.

// clauseEnd matches what ends a clause.
var clauseEnd = wording.Pattern(`[.,:;!?\n…。！？]`)

// words returns the words of a folded text, without apostrophes and with "will" and the
// like in full. A "." stands for whatever ends a clause.
func words(text string) []string {
	text = fold(strings.ReplaceAll(text, "’", "'"))
	text = strings.NewReplacer("'ll", " will", "'d", " would", "'m", " am", "'re", " are", "'", "").Replace(text)
	all := strings.FieldsFunc(clauseEnd().ReplaceAllString(text, " . "), func(r rune) bool {
		return r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return slices.CompactFunc(all, func(a, b string) bool { return a == "." && b == "." })
}

// phrase returns the words of a text, without the ends of clauses.
func phrase(text string) string {
	return strings.Join(slices.DeleteFunc(words(text), func(w string) bool { return w == "." }), " ")
}

// has reports whether words contain one of the phrases.
func has(all []string, phrases ...string) bool {
	text := " . " + strings.Join(all, " ") + " "
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, " "+p+" ") })
}

// plans reports whether words announce what is to be done next.
func plans(all []string) bool {
	for i, w := range all {
		doing := slices.Contains([]string{
			"running", "rerunning", "checking", "rechecking", "verifying", "testing", "building", "starting", "waiting", "executing", "trying",
			"proceeding", "continuing", "investigating", "examining", "reviewing", "inspecting", "compiling", "looking", "reading", "working", "fixing",
		}, w)
		if doing && (i == 0 || slices.Contains([]string{".", "now", "am", "still", "currently", "then", "first", "next"}, all[i-1])) {
			return true
		}
	}
	return has(all, "i will", "i shall", "we will", "going to", "about to", "let me", "let us", "lets", "i run", "i check", "i test", "i verify", "we run",
		". first", ". next", ". then", ". now to", ". now i", "hold on", "one moment", "in progress", "tbd", "to be confirmed", "yet to",
		"placeholder", "provisional", "provisionally", "preliminary", "tentative", "tentatively")
}

// depends reports whether words state a condition.
func depends(all []string) bool {
	return has(all, "if", "once", "unless", "until", "as soon as", "provided", "assuming", "conditional on", "subject to", "awaiting", "pending", "at best")
}

// planned reports whether a sentence above a decision speaks of it as something to come.
// introduces is set if the sentence leads to the decision directly, title if it is a title.
func planned(said string, introduces, title bool) bool {
	all := words(said)
	if !introduces {
		return (depends(all) || has(all, "when")) && has(all, "i will", "i shall", "i would", "i can say", "i can answer", "i can approve", "i may say", "my answer", "my reply", "my verdict", "my decision")
	}
	if plans(all) || depends(all) || has(all, "would", "when") {
		return true
	}
	if !title { // a sentence without its end: "It is not", "I refuse to say"
		return has(all[max(0, len(all)-1):], "not", "never", "cannot", "say", "write", "print")
	}
	form := has(all, "format", "form", "block") && !decides(all)
	return form || has(all, "will", "shall", "should", "could", "not", "never", "cannot", "cant", "isnt", "instead",
		"example", "sample", "draft", "template", "skeleton", "expected", "guess", "plan", "option", "case", "scenario", "outcome", "outcomes", "later", "after", "on success")
}

// decides reports whether words speak of the speaker's own decision.
func decides(all []string) bool {
	return !has(all, "actor", "actors", "critic", "critics", "previous", "earlier", "last") && has(all, "decision", "decide", "verdict", "conclusion", "conclude",
		"judgment", "judgement", "assessment", "evaluation", "review", "my answer", "my reply", "here it is", "finally", "overall", "therefore", "thus", "hence", "so")
}

// quotes reports whether words introduce somebody else's words.
func quotes(all []string) bool {
	return has(all, "said", "says", "say", "wrote", "writes", "write", "printed", "prints", "print", "claims", "claimed", "reported", "reports", "output", "outputs",
		"contains", "reads", "shows", "states", "stated", "quote", "quoting", "ends with", "ended with", "according to")
}

// leadIn returns the last sentence above a decision. It introduces the decision if it is a
// title, which ends in a colon or is a heading, or an unfinished sentence right above.
func leadIn(text string) (said string, introduces, title bool) {
	adjacent := !strings.HasSuffix(text, "\n\n")
	text = strings.TrimSpace(text)
	if at := len(text) - len(openTag); at >= 0 && strings.EqualFold(text[at:], openTag) {
		text = strings.TrimSpace(text[:at])
	}
	text = strings.TrimRight(text, "*_`~#-\n ")
	const most = 400
	text = text[max(0, len(text)-most):]
	if at := strings.LastIndex(text, "\n\n"); at >= 0 {
		text = text[at+2:]
	}
	first, _, _ := strings.Cut(text, "\n")
	last := text[strings.LastIndexByte(text, '\n')+1:]
	if name, _ := splitLabel(first); name != "" || strings.HasPrefix(last, "<") && strings.HasSuffix(last, ">") {
		return "", false, false // a value of the block itself, or a tag
	}
	whole := strings.TrimRight(text, ".!")
	for _, end := range []string{". ", "! ", "? ", ".\n", "!\n", "?\n"} {
		if at := strings.LastIndex(whole, end); at >= 0 {
			whole, text = whole[at+2:], text[at+2:]
		}
	}
	title = strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：") || strings.HasPrefix(last, "#")
	return strings.TrimSpace(text), title || adjacent && whole == text && !listed(last), title
}

// listed reports whether a line is an item of a list or a row of a table.
func listed(line string) bool {
	mark, n := utf8.DecodeRuneInString(line)
	return mark == '|' || decoration(mark) || number(line) > 0 || strings.ContainsRune("*-+•–", mark) && spaceAfter(line[n:])
}

// courtesies matches courtesies among words, each to the end of its clause.
var courtesies = wording.Pattern(`(?:^| )(?:i did not (?:change|modify)|i have not (?:changed|modified)|let (?:me|us) know|feel free|(?:happy|glad) to` +
	`|if you (?:have|need|want|would)|i hope|hope this)(?: [^.]*|$)`)

// takesBack reports whether a remark after a decision announces more work, or says that
// something is not as it should be.
func takesBack(remark string) bool {
	harmless := strings.NewReplacer("error handling", "handling", "error message", "message", "previously failing", "former", "formerly failing", "former")
	all := strings.Fields(courtesies().ReplaceAllString(harmless.Replace(strings.Join(words(remark), " ")), " "))
	if plans(all) || depends(all) || admission(remark) != "" || has(all, "would", "second thought", "second thoughts", "another round", "the above", "above is", "is a bug", "please fix", "fix the") {
		return true
	}
	denied := 0 // words that a "no" before them still covers
	for _, w := range all {
		switch {
		case w == ".":
			denied = 0
		case slices.Contains([]string{"no", "nothing", "none", "zero", "0", "without"}, w):
			denied = 4
		case denied > 0:
			denied--
		case slices.Contains([]string{
			"but", "however", "although", "though", "except", "not", "never", "cannot", "cant", "dont", "doesnt", "didnt", "isnt", "arent", "wasnt",
			"wont", "wouldnt", "havent", "hasnt", "fail", "fails", "failed", "failing", "failure", "failures", "wrong", "incorrect", "false", "untrue",
			"broken", "missing", "incomplete", "unfinished", "untested", "unverified", "todo", "disagree", "reject", "rejected", "refuse", "still",
			"remain", "remains", "remaining", "wait", "actually", "instead", "claims", "claimed", "wrote", "continue", "error", "revise", "escalate",
			"red", "crash", "crashes", "hang", "hangs", "kidding", "ignore", "scratch", "revert", "withdrawn", "need", "needs", "needed", "template", "quotation", "example",
		}, w):
			return true
		}
	}
	return false
}

// stands reports whether a line is in one of the texts, which are [spelled]. Only letters
// and digits count, so that markers of quotations or added lines do not matter.
func stands(line string, texts []string) bool {
	said := spelled(line)
	return said == " " || slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, said) })
}

// spelled returns the letters and digits of a text, with one blank between words and at
// both ends. An escaped line break such as \n separates words, too.
func spelled(text string) string {
	var b strings.Builder
	b.WriteByte(' ')
	text = strings.NewReplacer(`\n`, " ", `\r`, " ", `\t`, " ").Replace(text)
	text = strings.Map(func(r rune) rune {
		if invisible(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		b.WriteString(w + " ")
	}
	return b.String()
}
