package source

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

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
	name := "what " + wording.Path(p.Name()) + " list has printed"
	var items []Item
	if err := json.Unmarshal(out, &items, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, notJSON(err))
	}
	for i, item := range items {
		if !plain(item.Key) {
			return nil, hint.Errorf("a key is one word that does not begin with a hyphen", "%s has %s as a key", name, wording.Quote(item.Key, 80))
		}
		items[i].Prompt = strings.TrimSpace(item.Prompt)
	}
	return items, check(name, items)
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
	said := wording.Line(string(r.Stderr.Text))
	said = strings.ToValidUTF8(said[max(0, len(said)-400):], "…")
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, hint.Add(fmt.Errorf("ask for tasks: %w", err), "name a program that can be run")
	case r.Stop != proc.StopNone:
		return nil, hint.Errorf("run it yourself to see what it does", "%s was stopped (%s): it may take %s and print %s; it has said %q",
			name, r.Stop, p.Timeout, wording.Bytes(largest), said)
	case r.ExitCode == taken && verb == "claim":
		return nil, fmt.Errorf("%s: %w", key, ErrTaken)
	case r.ExitCode != 0:
		return nil, hint.Add(&proc.ExitError{Program: name, ExitCode: r.ExitCode, Stderr: said}, "run it yourself to see why")
	}
	return r.Stdout.Text, nil
}

// notJSON is the error for a text that cannot be read; the decoder says where.
func notJSON(err error) error {
	return hint.Errorf("fix it there", "it cannot be read as JSON: %s", wording.Line(err.Error()))
}
