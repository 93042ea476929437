package session

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

// A row is a row of a table in docs/session-format.md.
type row struct {
	typ, present, since string
}

var (
	fieldRow = regexp.MustCompile("^\\| `([^`]+)` \\| ([a-z ]+) \\| ([a-z ]+) \\| ([a-z0-9]+) \\|")
	groupRow = regexp.MustCompile("^\\| \\[([a-z]+)\\]\\(#([a-z]+)\\)(?: of the `([a-z_.]+)`)? \\|")
)

// documented returns the fields of each section of the page, by name.
func documented(t *testing.T) map[string]map[string]row {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "session-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string][]string{}
	name := ""
	for line := range strings.Lines(string(page)) {
		if heading, ok := strings.CutPrefix(line, "### `"); ok {
			name, _, _ = strings.Cut(heading, "`")
		} else if strings.HasPrefix(line, "#") {
			name = ""
		}
		sections[name] = append(sections[name], strings.TrimSpace(line))
	}
	tables := map[string]map[string]row{}
	for name := range sections {
		tables[name] = map[string]row{}
		expand(t, sections, name, "", tables[name])
	}
	return tables
}

// expand adds the fields of a section, and of the groups that it names.
func expand(t *testing.T, sections map[string][]string, name, prefix string, into map[string]row) {
	t.Helper()
	for _, line := range sections[name] {
		switch field, group := fieldRow.FindStringSubmatch(line), groupRow.FindStringSubmatch(line); {
		case field != nil:
			name := strings.TrimPrefix(prefix+field[1], "_")
			if _, twice := into[name]; !twice { // the original's fields stand before the groups
				into[name] = row{field[2], field[3], field[4]}
			}
		case group != nil:
			inner := group[3]
			if inner == "critic_verdict" || inner == "own" || inner == "review" {
				inner += "."
			}
			if group[1] != group[2] || sections[group[1]] == nil {
				t.Errorf("%s: no group for %q", name, line)
			}
			expand(t, sections, group[1], inner, into)
		case strings.HasPrefix(line, "| `"), strings.HasPrefix(line, "| ["):
			t.Errorf("%s: a row that this test does not understand: %q", name, line)
		}
	}
}

// kinds adds the JSON kinds of an object's fields to into.
func kinds(object map[string]any, prefix string, into map[string]map[string]bool) {
	for name, v := range object {
		kind := "number"
		switch v := v.(type) {
		case nil:
			kind = "null"
		case bool:
			kind = "boolean"
		case string:
			kind = "string"
		case map[string]any:
			kind = "object"
			kinds(v, prefix+name+".", into)
		case []any:
			kind = "list"
			for _, item := range v {
				if inner, ok := item.(map[string]any); ok {
					kinds(inner, prefix+name+"[].", into)
				}
			}
		}
		if into[prefix+name] == nil {
			into[prefix+name] = map[string]bool{}
		}
		into[prefix+name][kind] = true
	}
}

func object(t *testing.T, line []byte) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(line, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// jsonKind returns the JSON kind of a documented type.
func jsonKind(typ string) string {
	switch typ = strings.TrimSuffix(typ, " or null"); {
	case strings.HasPrefix(typ, "list"):
		return "list"
	case typ == "integer", typ == "number", typ == "seconds":
		return "number"
	case typ == "object", typ == "boolean":
		return typ
	}
	return "string"
}

// checkTable compares the documentation of a kind of line with samples of it, and with one in which
// nothing is set.
func checkTable(t *testing.T, table map[string]row, empty []byte, samples [][]byte) {
	t.Helper()
	all := map[string]map[string]bool{}
	for _, line := range samples {
		kinds(object(t, line), "", all)
	}
	nothing := map[string]map[string]bool{}
	kinds(object(t, empty), "", nothing)
	for name := range all {
		if plain, ok := strings.CutSuffix(name, exactSuffix); ok {
			if typ := table[plain].typ; !strings.Contains(typ, "text") && !strings.Contains(typ, "word") {
				t.Errorf("%s has exact bytes, and is documented as %q", plain, typ)
			}
			continue
		}
		if _, ok := table[name]; !ok {
			t.Errorf("%s is not documented", name)
		}
	}
	for name, row := range table {
		want := map[string]bool{jsonKind(row.typ): true}
		if strings.HasSuffix(row.typ, " or null") {
			want["null"] = true
		}
		if row.typ == "number" {
			delete(all[name], "null") // it was not finite
		}
		if !reflect.DeepEqual(all[name], want) {
			t.Errorf("%s is documented as %q, and is written as %v", name, row.typ, all[name])
		}
		if strings.Contains(row.typ, "text") && all[name+exactSuffix] == nil {
			t.Errorf("%s is documented as %q, and cannot hold all bytes", name, row.typ)
		}
		if strings.ContainsAny(name, "[.") {
			continue // inside something that is absent
		}
		if written := nothing[name] != nil; written != (row.present == "always") {
			t.Errorf("%s is documented as present %s; written when empty: %v", name, row.present, written)
		}
	}
}

func TestDocsListEveryField(t *testing.T) {
	t.Parallel()
	tables := documented(t)
	samples := map[string][][]byte{}
	for seed := range uint64(200) {
		stamps, events := randomEvents(seed)
		for i, e := range events {
			entry := Entry{At: stamps[i], Event: e}
			switch e.(type) {
			case loop.CriticFinished:
				entry.Stdout, entry.Stderr, entry.Reply = "\xff", "\xff", "\xff"
			case loop.ActorFinished:
				entry.Stdout, entry.Stderr = "\xff", "\xff"
			case loop.Finished:
				entry.Totals, entry.Changed = &progress.Tally{Raised: progress.Raised{Musts: 2, Mays: 1}}, true
				randomize(rand.New(rand.NewPCG(seed, 2)), reflect.ValueOf(&entry.Totals.Spent).Elem())
			}
			samples[nameOf(e)] = append(samples[nameOf(e)], entry.line())
		}
	}
	for _, e := range everyEvent() {
		t.Run(nameOf(e), func(t *testing.T) {
			t.Parallel()
			table := tables[nameOf(e)]
			if len(table) == 0 {
				t.Fatal("no table")
			}
			maps.Copy(table, tables["every line"])
			checkTable(t, table, Encode(loop.Stamp{}, e), samples[nameOf(e)])
		})
	}
	t.Run("result", func(t *testing.T) {
		t.Parallel()
		rnd := rand.New(rand.NewPCG(1, 1))
		var lines [][]byte
		for n := range 200 {
			var r Result
			randomize(rnd, reflect.ValueOf(&r.Outcome).Elem())
			randomize(rnd, reflect.ValueOf(&r.Spent).Elem())
			randomize(rnd, reflect.ValueOf(&r.Last).Elem())
			r.SessionID, r.Log, r.Musts, r.Mays = randomText(rnd), randomText(rnd), n, n
			r.Branch, r.RequestURL = randomText(rnd), randomText(rnd)
			if n%2 == 0 {
				r.Failure = &Failure{Message: randomText(rnd), Hint: randomText(rnd)}
			}
			lines = append(lines, r.Encode())
		}
		checkTable(t, tables["result"], Result{}.Encode(), lines)
	})
}

// TestOriginalFields compares the documentation, and thereby the codec, with the fields of the
// original's three lines.
func TestOriginalFields(t *testing.T) {
	t.Parallel()
	tables := documented(t)
	for typ, fields := range map[string]string{
		"session_start": "prompt working_dir actor_agent critic_agent actor_model critic_model max_iterations",
		"iteration": "iteration_number actor_output actor_stderr actor_exit_code actor_duration_secs git_diff " +
			"git_files_changed critic_decision feedback",
		typeSessionEnd: "outcome iterations summary confidence duration_secs",
	} {
		want := map[string]bool{}
		for name := range strings.FieldsSeq(fields) {
			want[name] = true
		}
		got := map[string]bool{}
		for name, row := range tables[typ] {
			if row.since == "original" {
				got[name] = true
				if row.present != "always" {
					t.Errorf("%s: %s is present %s", typ, name, row.present)
				}
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the original's fields are %v, want %v", typ, got, want)
		}
	}
}

// nameOf returns the type of line of an event.
func nameOf(e loop.Event) string {
	typ, _ := typeOf(Encode(loop.Stamp{}, e))
	return typ
}
