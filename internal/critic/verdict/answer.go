package verdict

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// said matches what a critic says about one or several findings:
//
//	F1: settled
//	F2, F4-F6: settled, and how that is to be seen
//	F3: withdrawn, because it was wrong
//
// It must be at the beginning of a line or follow another match.
var said = wording.Pattern(`(?i)(?:^(?:(?:open )?findings\s*:\s*)?|[;.,|]\s*|\band\s+)` +
	`(F\d+(?:\s*(?:,\s*and|,|and|&|/|-|–|to|through|\.\.+)\s*F?\d+)*)` + // names
	`(?:\s*\([^)]*\))?[\s:=|–—→>✅✔☑✓\x{FE0F}-]*(?:(?:is|are)\s+)?(settled|fixed|resolved|withdrawn|open|not|still|partly)\b`)

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

// spoken reads the answers of a line.
func spoken(line string) (found []loop.Answer) {
	line, _ = skipMarkup(line)
	line = strings.TrimLeft(strings.NewReplacer("*", "", "_", "", "`", "").Replace(line), "|[( ")
	at := said().FindAllStringIndex(line, -1)
	if len(at) == 0 || at[0][0] > 0 {
		return nil
	}
	at = append(at, []int{len(line)})
	for i, m := range said().FindAllStringSubmatch(line, -1) {
		found = append(found, answer(m[1], m[2], line[at[i][1]:at[i+1][0]])...)
	}
	return found
}

// answer returns what is said about some findings: nothing if it withdraws them without a reason.
func answer(names, word, rest string) (found []loop.Answer) {
	why := strings.TrimFunc(oneLine(rest), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",:;.-–—|()", r) })
	state := loop.FindingOpen
	switch strings.ToLower(word) {
	case "settled", "fixed", "resolved":
		state = loop.FindingClosed
	case "withdrawn":
		if state = loop.FindingWithdrawn; !strings.ContainsFunc(why, unicode.IsLetter) {
			return nil
		}
	}
	for _, id := range named(names) {
		found = append(found, loop.Answer{ID: id, State: state, Why: why})
	}
	return found
}

// nameIn matches the name of a finding, or its number, and a dash or the like before it.
var nameIn = wording.Pattern(`(?i)(-|–|to|through|\.\.+)?\s*F?(\d+)`)

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

// answers reads the member "findings": a list of objects with "id", "state" and a reason,
// a list of lines as in a text, or an object that maps names to states.
func (o object) answers() (found []loop.Answer) {
	say := func(id string, state any) {
		text := textOf(state)
		if m, ok := state.(map[string]any); ok {
			text = cmp.Or(textOf(m["state"]), textOf(m["status"])) + ": " + detail(m)
			id = cmp.Or(textOf(m["id"]), id)
		}
		if id != "" {
			text = id + ": " + text
		}
		found = append(found, spoken(oneLine(text))...)
	}
	switch v := o.value("findings").(type) {
	case []any:
		for _, item := range v {
			say("", item)
		}
	case map[string]any:
		for _, id := range slices.Sorted(maps.Keys(v)) {
			say(id, v[id])
		}
	}
	return settle(found)
}
