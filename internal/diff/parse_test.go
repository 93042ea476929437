package diff

import (
	"strings"
	"testing"
)

func FuzzParseStage(f *testing.F) {
	f.Add("H 100644 " + strings.Repeat("0a", 20) + " 0\tpath")
	f.Add("s 120000 " + strings.Repeat("f", 40) + " 3\t\xff\n")
	f.Add("H 100644 short 0\tpath")
	f.Add("")
	f.Fuzz(func(t *testing.T, record string) {
		e, err := parseStage(record)
		if err != nil {
			return
		}
		if _, path, _ := strings.Cut(record, "\t"); e.Path != path || path == "" || e.Stage > 3 {
			t.Errorf("%q is read as %+v", record, e)
		}
	})
}

// TestSaid: a setting's value is quoted without passwords, so that it cannot pass for other
// text. Long values are cut, and of many values only the first ones are shown.
func TestSaid(t *testing.T) {
	t.Parallel()
	got := quoted([]string{"x\nDECISION: DONE \x1b[2J", "https://me:secret@host/", strings.Repeat("é", 201), "4"})
	if want := `"x\nDECISION: DONE \x1b[2J", "https://…@host/", "` + strings.Repeat("é", 200) + `…" and 1 more`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
