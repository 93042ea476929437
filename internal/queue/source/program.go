package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"codeloops/internal/proc"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// taken is the exit code of a program when somebody else has claimed an item.
const taken = 3

// A Program is a user's program that connects to a tracker. It is called as
//
//	PROGRAM list            prints the items: [{"key": "…", "prompt": "…"}, …]
//	PROGRAM claim KEY       exits with 3 when somebody else has taken it
//	PROGRAM done KEY        reads a [Result], in JSON
//	PROGRAM failed KEY      likewise
//
// An item may also have "after", "priority" and "done". Exit code 0 is success.
type Program struct {
	Means

	Path    string        // a name that is looked up in the PATH of Env, or a path relative to Dir
	Timeout time.Duration // of each call
}

var _ Source = (*Program)(nil)

// Kind implements [Source].
func (*Program) Kind() string { return "command" }

// Name implements [Source].
func (p *Program) Name() string {
	if strings.ContainsAny(p.Path, "/"+string(filepath.Separator)) && !filepath.IsAbs(p.Path) {
		return filepath.Join(p.Dir, p.Path)
	}
	return p.Path
}

// List implements [Source].
func (p *Program) List(ctx context.Context) ([]Item, error) {
	out, err := p.call(ctx, nil, "list", "")
	if err != nil {
		return nil, err
	}
	var listed []struct {
		Key      string   `json:"key"`
		Prompt   string   `json:"prompt"`
		After    []string `json:"after"`
		Priority int      `json:"priority"`
		Done     bool     `json:"done"`
	}
	what := "what " + wording.Path(p.Name()) + " list has printed"
	if len(bytes.TrimSpace(out)) == 0 {
		return nil, hint.Errorf("for no items, print an empty list: []", "%s list has printed nothing", wording.Path(p.Name()))
	}
	if err := json.Unmarshal(out, &listed, json.RejectUnknownMembers(true)); err != nil {
		return nil, jsonError(what, out, err)
	}
	if len(listed) > most {
		return nil, hint.Errorf("list fewer", "%s are %d items, more than %d", what, len(listed), most)
	}
	items, keys := make([]Item, len(listed)), make([]string, 0, len(listed))
	for i, item := range listed {
		switch {
		case !plain(item.Key):
			return nil, hint.Errorf("a key is one word that does not begin with a hyphen", "%s has %s as a key",
				what, wording.Quote(item.Key, 80))
		case slices.Contains(keys, item.Key):
			return nil, hint.Errorf("give each item a key of its own", "%s has the key %s twice", what, item.Key)
		case strings.TrimSpace(item.Prompt) == "":
			return nil, hint.Errorf(`say in "prompt" what is to be done`, "%s has no prompt for %s", what, item.Key)
		}
		keys = append(keys, item.Key)
		items[i] = Item(item)
		items[i].Prompt = strings.TrimSpace(item.Prompt)
	}
	return items, nil
}

// Claim implements [Source].
func (p *Program) Claim(ctx context.Context, key string) error {
	return p.tell(ctx, nil, "claim", key)
}

// Done implements [Source].
func (p *Program) Done(ctx context.Context, key string, r Result) error {
	return p.tell(ctx, &r, "done", key)
}

// Failed implements [Source].
func (p *Program) Failed(ctx context.Context, key string, r Result) error {
	return p.tell(ctx, &r, "failed", key)
}

func (p *Program) tell(ctx context.Context, r *Result, verb, key string) (err error) {
	if !plain(key) {
		return fmt.Errorf("%s is no key", wording.Quote(key, 80))
	}
	var details []byte
	if r != nil {
		if details, err = json.Marshal(r); err != nil {
			return err
		}
	}
	_, err = p.call(ctx, details, verb, key)
	return err
}

// plain reports whether a key is safe on a command line.
func plain(key string) bool {
	return key != "" && len(key) <= 200 && key[0] != '-' && utf8.ValidString(key) &&
		!strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
}

// call runs the program.
func (p *Program) call(ctx context.Context, details []byte, verb, key string) ([]byte, error) {
	name, argv := wording.Path(p.Name())+" "+verb, []string{p.Name(), verb}
	if key != "" {
		name, argv = name+" "+key, append(argv, key)
	}
	r, err := p.Runner.Run(ctx, proc.Command{
		Invocation: proc.Invocation{Argv: argv, Dir: p.Dir, Env: p.Env, Stdin: details},
		Limits:     proc.Limits{Timeout: p.Timeout, MaxOutput: largest, Keep: largest},
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		if start, ok := errors.AsType[*proc.StartError](err); ok {
			return nil, hint.Errorf("name a program that can be run", "ask for tasks: %w", start)
		}
		return nil, fmt.Errorf("run %s: %w", name, err)
	case r.Stop == proc.StopTimeout:
		return nil, hint.Errorf("run it yourself to see what it waits for", "%s has not ended within %s%s", name, p.Timeout, complaint(r))
	case r.Stop == proc.StopOutputLimit:
		return nil, hint.Errorf("let it print only the items", "%s prints more than %s", name, wording.Bytes(largest))
	case r.ExitCode == taken && verb == "claim":
		return nil, fmt.Errorf("%s: %w", key, ErrTaken)
	case r.Signal != "":
		return nil, fmt.Errorf("%s was %s%s", name, r.Signal, complaint(r))
	case r.ExitCode != 0:
		return nil, hint.Errorf("run it yourself to see why", "%s: exit code %d%s", name, r.ExitCode, complaint(r))
	}
	return r.Stdout.Text, nil
}

// complaint is the end of what a failed program has printed.
func complaint(r proc.Result) string {
	const most = 400
	text := []rune(wording.Line(string(r.Stderr.Text)))
	if len(text) == 0 {
		return ""
	}
	if len(text) > most {
		text = append([]rune("…"), text[len(text)-most:]...)
	}
	return ": " + string(text)
}

// jsonError names the line of a JSON error.
func jsonError(name string, text []byte, err error) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return hint.Errorf("was the export cut off? Make a new one", "%s holds no JSON", name)
	}
	at := int64(len(text))
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = syntactic.ByteOffset
	} else if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		at = semantic.ByteOffset
	}
	return hint.Errorf("fix it there", "%s, line %d: %s", name, bytes.Count(text[:min(int(at), len(text))], []byte("\n"))+1, wording.Line(err.Error()))
}
