package verdict

import (
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// settling matches what a critic says about one or several findings, in a line of its own:
//
//	F1: settled
//	F2, F4-F6: settled, and how that is to be seen
//	F3: withdrawn, because it was wrong
var settling = wording.Pattern(`(?i)^(F\d+(?:\s*(?:,\s*and|,|and|-|–|to)\s*F?\d+)*)` + // names
	`(?:\s*\([^)]*\))?[\s:：=|–—✅✔☑✓\x{FE0F}-]*(?:(?:is|are)\s+)?(settled|fixed|resolved|withdrawn|open|not|still|partly)\b(.*)$`)

// answers reads what a text says about findings in the critic's own words. The rest is
// the text without those lines.
func answers(text string, b prompt.Boundary) (found []loop.Answer, rest string) {
	var kept strings.Builder
	s := scanner{text: text, boundary: b}
	for l := range s.lines() {
		var here []loop.Answer
		if l.own {
			here = spoken(l.text)
		}
		if found = append(found, here...); here == nil {
			kept.WriteString(l.text + "\n")
		}
	}
	return found, strings.TrimSpace(kept.String())
}

// spoken reads the answers of a line: none if it withdraws findings without a reason.
func spoken(line string) (found []loop.Answer) {
	m := settling().FindStringSubmatch(strings.TrimLeft(strings.NewReplacer("*", "", "`", "").Replace(skipMarkup(line)), "| "))
	if m == nil {
		return nil
	}
	state, why := loop.FindingOpen, strings.Trim(oneLine(m[3]), ",:;.-–—|() ")
	switch strings.ToLower(m[2]) {
	case "settled", "fixed", "resolved":
		state = loop.FindingClosed
	case "withdrawn":
		if state = loop.FindingWithdrawn; why == "" {
			return nil
		}
	}
	for _, id := range named(m[1]) {
		found = append(found, loop.Answer{ID: id, State: state, Why: why})
	}
	return found
}

// nameIn matches the name of a finding, or its number, and a dash before it.
var nameIn = wording.Pattern(`(?i)(-|–|to)?\s*F?(\d+)`)

// named returns the names in a list. A range such as "F4-F6" is one name: only a caller
// who knows the findings can expand it.
func named(list string) (ids []string) {
	for _, m := range nameIn().FindAllStringSubmatch(list, -1) {
		id := "F" + strings.TrimLeft(m[2], "0")
		if last := len(ids) - 1; m[1] != "" && last >= 0 && !strings.Contains(ids[last], "-") {
			ids[last] += "-" + id
		} else {
			ids = append(ids, id)
		}
	}
	return ids
}

// settle leaves one answer per name. A finding with contradicting answers is open.
func settle(all []loop.Answer) (one []loop.Answer) {
	at := map[string]int{}
	for _, a := range all {
		if i, known := at[a.ID]; !known {
			at[a.ID] = len(one)
			one = append(one, a)
		} else if one[i].State != a.State {
			one[i].State = loop.FindingOpen
		}
	}
	return one
}

// answers reads the member "findings": a list of objects with "id", "state" and "why", or of lines as in
// a text.
func (m members) answers() (found []loop.Answer) {
	for _, item := range m.list(memberFindings) {
		text := textOf(item)
		if fields, ok := item.(map[string]any); ok {
			text = textOf(fields["id"]) + ": " + textOf(fields["state"]) + ": " + textOf(fields["why"])
		}
		found = append(found, spoken(oneLine(text))...)
	}
	return settle(found)
}
