package scripted

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/loop"
)

// Name is the name of the agent that plays a scenario instead of asking a model.
const Name = "scripted"

// Command is the codeloops command that runs it.
const Command = "scripted-agent"

// exitTrouble is the exit code when the scenario cannot be played.
const exitTrouble = 2

// An Invocation is what a process was started with. The working directory is that of the
// process itself.
type Invocation struct {
	Args   []string // without the program's name: --script FILE [--format NAME]
	Stdin  io.Reader
	Stdout io.Writer // an *os.File if a scenario leaves processes that hold it
	Stderr io.Writer
	Env    func(string) string
	// Now is the clock for reset_after; nil if no scenario uses it.
	Now func() time.Time
}

// Main plays one turn and returns the exit code of the process. It takes over the
// process: signals get their default effect back, so that SIGTERM kills the agent like
// any other, unless the scenario says otherwise.
//
// The role comes from CODELOOPS_ROLE (default actor). The number of the turn comes from
// CODELOOPS_ITERATION (default 1) for actor and critic, from CODELOOPS_STEP for other
// roles. CODELOOPS_ASK (default 0) says how often the same question was asked before.
func Main(ctx context.Context, in Invocation) int {
	signal.Reset()
	code, err := in.play(ctx)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(in.Stderr, "scripted agent: %v\n", err) //nolint:errcheck // there is nowhere else to report it
		return exitTrouble
	}
	return code
}

func (in Invocation) play(ctx context.Context) (int, error) {
	u, format, err := in.turn()
	if err != nil {
		return 0, err
	}
	speech, err := newSpeech(in.Stdout, format)
	if err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(".")
	if err != nil {
		return 0, fmt.Errorf("open the working directory: %w", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	p := &player{root: root, stdout: in.Stdout, stderr: in.Stderr, speech: speech, now: in.Now}
	if err := p.read(in.Stdin, u); err != nil {
		return 0, err
	}
	return u.exit, p.play(ctx, u)
}

// turn finds the turn of the scenario to play, and its output format.
func (in Invocation) turn() (u turn, format string, err error) {
	flags := flag.NewFlagSet("scripted-agent", flag.ContinueOnError)
	flags.SetOutput(in.Stderr)
	script := flags.String("script", "", "play the scenario in `FILE`")
	flags.StringVar(&format, "format", "text", "print as an agent does whose output has the format `NAME`")
	if err := flags.Parse(in.Args); err != nil {
		return turn{}, "", err
	}
	if *script == "" || flags.NArg() > 0 {
		return turn{}, "", errors.New("call it as codeloops scripted-agent --script FILE [--format NAME]")
	}
	role := cmp.Or(loop.Role(in.Env("CODELOOPS_ROLE")), loop.RoleActor)
	n := numberOf(loop.Step(in.Env("CODELOOPS_STEP")), role)
	first := numberOf(unasked(loop.Step(in.Env("CODELOOPS_STEP"))), role)
	if role == loop.RoleActor || role == loop.RoleCritic {
		if n, err = in.number("CODELOOPS_ITERATION", 1); err != nil {
			return turn{}, "", err
		}
		first = n
	}
	ask, err := in.number("CODELOOPS_ASK", 0)
	if err != nil {
		return turn{}, "", err
	}
	data, err := os.ReadFile(*script)
	if err != nil {
		return turn{}, "", fmt.Errorf("read the scenario: %w", err)
	}
	s, err := parse(*script, data)
	if err != nil {
		return turn{}, "", err
	}
	u, err = s.turn(role, first, n, ask)
	return u, format, err
}

// number reads a variable that is a number of at least least. When it is not set, its
// value is least.
func (in Invocation) number(name string, least int) (int, error) {
	s := in.Env(name)
	if s == "" {
		return least, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < least {
		return 0, fmt.Errorf("%s is %q, not a number of at least %d", name, s, least)
	}
	return n, nil
}

// A player plays one turn.
type player struct {
	root   *os.Root // the working directory
	prompt []byte
	stdout io.Writer
	stderr io.Writer
	speech *speech
	now    func() time.Time
}

// read reads the prompt, unless the turn's stdin says otherwise.
func (p *player) read(stdin io.Reader, u turn) error {
	switch u.stdin {
	case "ignore":
		return nil
	case "close":
		if c, ok := stdin.(io.Closer); ok {
			return c.Close()
		}
		return nil
	}
	var err error
	if p.prompt, err = io.ReadAll(stdin); err != nil {
		return fmt.Errorf("read the prompt: %w", err)
	}
	for _, want := range u.expect {
		if !bytes.Contains(p.prompt, []byte(want)) {
			return fmt.Errorf("the prompt does not contain %q", want)
		}
	}
	return nil
}

func (p *player) play(ctx context.Context, u turn) error {
	for i, s := range u.steps {
		if err := s(ctx, p); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	reply := p.sealed(u.say)
	if u.check != "" {
		output, passed, err := p.output(ctx, u.check)
		if err != nil {
			return fmt.Errorf("check %q: %w", u.check, err)
		}
		reply = u.fail
		if passed {
			reply = u.pass
		}
		// The seal comes first: {seal} in a check's output stays as it is.
		reply = strings.ReplaceAll(p.sealed(reply), "{output}", strings.TrimSpace(output))
	}
	if err := p.speech.say(reply); err != nil {
		return err
	}
	if err := p.end(u); err != nil {
		return err
	}
	return sayLine(p.stderr, u.complain)
}

// sealed replaces {seal} with the seal of the prompt, if it has one.
func (p *player) sealed(text string) string {
	// The form of the reply stands at the end of the prompt, after all evidence.
	form := regexp.MustCompile(`(?m)^(?:SEAL: |\s*"seal": ")([a-z0-9]+)"?,?$`).FindAllSubmatch(p.prompt, -1)
	if len(form) == 0 {
		return text
	}
	return strings.ReplaceAll(text, "{seal}", string(form[len(form)-1][1]))
}

// end prints the closing event, if the format has one.
func (p *player) end(u turn) error {
	c := closing{Usage: u.usage, Fault: u.fault.kind, Reason: u.fault.reason}
	if u.fault.resetAfter > 0 {
		if p.now == nil {
			return errors.New("reset_after needs a clock, and there is none")
		}
		c.Reset = p.now().Add(u.fault.resetAfter).Unix()
	}
	return p.speech.end(c, p.stderr)
}
