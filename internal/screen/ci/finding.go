package ci

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
)

// mostAnnotations is how many of one level GitHub shows for a step.
const mostAnnotations = 10

// A place is a line of a file.
type place struct {
	path string // relative to the repository's root
	line int
}

// named matches the name of a file and a line in the text of a finding, such as "internal/x.go:12".
var named = wording.Pattern("(?:^|[\\s(\"'`*])((?:[\\w.@+-]+[/\\\\])*[\\w@+-][\\w.@+-]*)(?::|#L)([1-9]\\d{0,6})\\b")

// place returns the first line that a finding names.
func (l *Log) place(f loop.Finding) (at place, ok bool) {
	if l.Locate == nil {
		return at, false
	}
	for _, m := range named().FindAllStringSubmatch(f.Text, -1) {
		if path, ok := l.Locate(strings.ReplaceAll(m[1], `\`, "/")); ok {
			line, _ := strconv.Atoi(m[2]) // it consists of digits
			return place{path, line}, true
		}
	}
	return at, false
}

// findings are the annotations of what is open.
func (l *Log) findings(all []loop.Finding) string {
	var text strings.Builder
	count := map[bool]int{}
	for _, f := range raised(all) {
		at, ok := l.place(f)
		if count[f.May]++; !ok || count[f.May] > mostAnnotations {
			continue
		}
		level := "error"
		if f.May {
			level = "notice"
		}
		text.WriteString(l.annotation(level, "file="+property(at.path)+",line="+strconv.Itoa(at.line)+",", f.ID, f.Text))
	}
	return text.String()
}

func raised(all []loop.Finding) []loop.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f loop.Finding) bool { return !f.Raised() })
}

// annotation is a message of the job; "" if the system has no command for it.
func (l *Log) annotation(level, where, title, message string) string {
	if l.system != GitHub {
		return ""
	}
	if message = term.Clean(message); len(message) > mostMessage {
		message = strings.ToValidUTF8(message[:mostMessage], "") + "…"
	}
	return l.command("::" + level + " " + where + "title=" + property("codeloops: "+title) + "::" + escaped(message))
}

func escaped(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escaped(text))
}

// CodeQuality is the report in which GitLab takes findings, to show them at their lines.
func (l *Log) CodeQuality(all []loop.Finding) ([]byte, error) {
	type lines struct {
		Begin int `json:"begin"`
	}
	type location struct {
		Path  string `json:"path"`
		Lines lines  `json:"lines"`
	}
	type issue struct {
		Description string   `json:"description"`
		Check       string   `json:"check_name"`
		Fingerprint string   `json:"fingerprint"`
		Severity    string   `json:"severity"`
		Location    location `json:"location"`
	}
	report := []issue{}
	for _, f := range raised(all) {
		at, ok := l.place(f)
		if !ok {
			continue
		}
		severity := "major"
		if f.May {
			severity = "info"
		}
		sum := sha256.Sum256([]byte(at.path + "\x00" + f.Text))
		report = append(report, issue{term.Clean(f.Text), "codeloops", hex.EncodeToString(sum[:]), severity, location{at.path, lines{at.line}}})
	}
	return json.Marshal(report)
}
