package scenarios

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// A scenario is an interference with a run, with what must hold for it and for its honest twin.
type scenario struct {
	name     string           // "cause/name", followed by the values of its variants
	args     string           // flags of the run, as shell code
	exit     int              // anyFailure if the scenario does not say
	needs    string           // a command that fails if it cannot be played
	in       string           // the directory of the work tree, "repo" by default
	unjudged bool             // the last diff cannot be compared with the tree
	moves    []*regexp.Regexp // paths that change all the time and are not compared
	holds    []*regexp.Regexp
	never    []*regexp.Regexp

	files map[string]string
	twin  map[string]string // the files of its twin; nil if it has none
}

// anyFailure stands for every exit code but 0.
const anyFailure = -1

// twinDir is the directory of the twin's files in a scenario.
const twinDir = "twin/"

// A header is the text above the files of a scenario.
type header struct {
	about    []string
	variants []variant
	noTwin   bool
	lines    [][2]string // key and value
}

// A variant is a placeholder of a scenario with its values.
type variant struct {
	word   string
	values []string
}

// parse reads a scenario, once for each combination of its variants. With twins, each must have one
// or say why not.
func parse(name string, text []byte, twins bool) ([]scenario, error) {
	archive := txtar.Parse(text)
	h, err := parseHeader(string(archive.Comment))
	if err != nil {
		return nil, err
	}
	var all []scenario
	for _, c := range combinations(h.variants) {
		s, err := build(h, archive.Files, c)
		if err != nil {
			return nil, err
		}
		if twins && (s.twin == nil) != h.noTwin {
			return nil, errors.New("it needs files of an honest twin, or else a line `twin: none, because ...`")
		}
		s.name = strings.Join(append([]string{name}, c.values...), "/")
		all = append(all, s)
	}
	return all, nil
}

func parseHeader(text string) (h header, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, ": ")
		value = strings.TrimSpace(value)
		switch {
		case ok && key == "for":
			h.variants = append(h.variants, parseVariant(value))
		case ok && key == "twin":
			h.noTwin = true // with the reason
		case ok && slices.Contains([]string{"args", "exit", "holds", "needs", "never", "moves", "in", "judged"}, key):
			h.lines = append(h.lines, [2]string{key, value})
		case len(h.lines) > 0 && line != "":
			return h, fmt.Errorf("%q is not a header line", line)
		case line != "":
			h.about = append(h.about, line)
		}
	}
	if len(h.about) == 0 {
		return h, errors.New("it does not describe the scenario")
	}
	return h, nil
}

// parseVariant reads "WORD value value", or "WORD a value | another one".
func parseVariant(text string) variant {
	word, rest, _ := strings.Cut(text, " ")
	values := strings.Fields(rest)
	if strings.Contains(rest, " | ") {
		values = nil
		for v := range strings.SplitSeq(rest, " | ") {
			values = append(values, strings.TrimSpace(v))
		}
	}
	return variant{word, values}
}

// A combination gives every variant one of its values.
type combination struct {
	words  []string // "@WORD@", value, ...
	values []string
}

func combinations(variants []variant) []combination {
	all := []combination{{}}
	for _, v := range variants {
		var next []combination
		for _, c := range all {
			for _, value := range v.values {
				next = append(next, combination{
					words:  append(slices.Clip(c.words), "@"+v.word+"@", value),
					values: append(slices.Clip(c.values), value),
				})
			}
		}
		all = next
	}
	return all
}

func build(h header, files []txtar.File, c combination) (scenario, error) {
	fill := strings.NewReplacer(c.words...)
	s := scenario{exit: anyFailure, in: "repo", files: map[string]string{}}
	for _, line := range h.lines {
		if err := s.set(line[0], fill.Replace(line[1])); err != nil {
			return s, err
		}
	}
	twin := map[string]string{}
	for _, f := range files {
		name, text := fill.Replace(f.Name), fill.Replace(string(f.Data))
		if inTwin, ok := strings.CutPrefix(name, twinDir); ok {
			twin[inTwin] = text
		} else {
			s.files[name] = text
		}
	}
	if len(twin) > 0 {
		s.twin = maps.Clone(s.files)
		maps.Copy(s.twin, twin)
	}
	return s, nil
}

func (s *scenario) set(key, value string) (err error) {
	var re *regexp.Regexp
	switch key {
	case "args":
		s.args = strings.TrimSpace(s.args + " " + value)
	case "exit":
		s.exit, err = strconv.Atoi(value)
	case "needs":
		s.needs = value
	case "in":
		s.in = value
	case "judged":
		s.unjudged = true // with the reason
	case "holds":
		re, err = regexp.Compile("(?m)" + value)
		s.holds = append(s.holds, re)
	case "never":
		re, err = regexp.Compile("(?m)" + value)
		s.never = append(s.never, re)
	case "moves":
		re, err = regexp.Compile(value)
		s.moves = append(s.moves, re)
	}
	return err
}
