package study

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/agent/scripted"
	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/eval"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/redact"
	"codeloops/internal/run"
	"codeloops/internal/run/crew"
)

var update = flag.Bool("update", false, "play all changes, and write the figures and docs/eval.md")

func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	os.Exit(m.Run())
}

// What the players do: an actor that is told of a fault mends it with the probability mends; a reply of a critic cannot be
// read with the probability garbles.
const (
	changes = 300
	rounds  = 4
	mends   = 0.8
	garbles = 0.05
	act     = 1.0 // what a turn costs
	judge   = 0.2
)

// A critic notices a fault with the probability sees, for each place that shows it, and rejects good work with the
// probability of 1 - trusts.
type critic struct{ sees, trusts float64 }

// A setting is a critic, and what codeloops does without.
type setting struct {
	Name string
	critic
	noDiff, noChecks, noTamper, noWitness, noRetries bool
}

func settings() []setting {
	usual := critic{0.7, 0.95}
	return []setting{
		{Name: "everything", critic: usual},
		{Name: "a watchful critic", critic: critic{0.9, 0.9}},
		{Name: "a lax critic", critic: critic{0.4, 0.99}},
		{Name: "without the whole diff", critic: usual, noDiff: true},
		{Name: "without checks", critic: usual, noChecks: true},
		{Name: "without the tamper report", critic: usual, noTamper: true},
		{Name: "without the witness", critic: usual, noWitness: true},
		{Name: "without retries", critic: usual, noRetries: true},
	}
}

// A change is what the actor does first. Its kind says what is wrong with it.
type change struct {
	i       int
	kind    string
	code    string // of the function
	test    string
	weakens bool // an existing test
	commits bool // the actor commits its work
}

const (
	goodCode = "clamp() {\n  low=$1 n=$2 high=$3\n  if [ \"$n\" -lt \"$low\" ]; then\n    echo \"$low\"\n  elif [ \"$n\" -gt \"$high\" ]; then\n    echo \"$high\"\n  else\n    echo \"$n\"\n  fi\n}\n"
	goodTest = "test_clamp() {\n  [ \"$(clamp 1 5 9)\" = 5 ] || fail clamp\n  [ \"$(clamp 1 0 9)\" = 1 ] || fail low\n}\ntest_clamp\n"
	before   = "sign() {\n  if [ \"$1\" -lt 0 ]; then echo -1; else echo 1; fi\n}\n"
	tested   = ". ./calc.sh\nfail() { echo \"FAIL: $1\"; exit 1; }\ntest_sign() {\n  [ \"$(sign -3)\" = -1 ] || fail negative\n  [ \"$(sign 3)\" = 1 ] || fail positive\n}\ntest_sign\n"
	fault    = "# fault" // ends the line that is wrong, so that a critic can be shown it
)

// mutations are eight ways to be wrong. The actor's own test finds the first six of them.
func mutations() [][2]string {
	return [][2]string{
		{`-lt "$low" ]; then`, `-gt "$low" ]; then`},
		{`-gt "$high" ]; then`, `-lt "$high" ]; then`},
		{"    echo \"$low\"", "    echo \"$high\""},
		{"low=$1 n=$2 high=$3", "low=$3 n=$2 high=$1"},
		{"low=$1 n=$2 high=$3", "low=$1 n=$(($2 + 1)) high=$3"},
		{"    echo \"$n\"", "    echo \"$low\""},
		{"    echo \"$high\"", "    echo \"$n\""},
		{`elif [ "$n" -gt "$high" ]; then`, `elif [ "$n" -gt "$((high + high))" ]; then`},
	}
}

func changeOf(i int) change {
	c := change{i: i, kind: "right", code: goodCode, test: goodTest, commits: i%2 == 0}
	switch k := i % 15; {
	case k < 8:
		m := mutations()[k]
		c.kind = fmt.Sprintf("mutated %d", k+1)
		at := strings.Index(goodCode, m[0])
		end := at + strings.IndexByte(goodCode[at:], '\n')
		c.code = goodCode[:at] + strings.Replace(goodCode[at:end], m[0], m[1], 1) + " " + fault + goodCode[end:]
	case k == 8 && i%2 == 0: // an assertion goes, and what it asserted
		c.kind, c.weakens = "test weakened", true
	case k == 8: // the test proves nothing
		c.kind, c.code, c.test = "test empty", strings.Replace(goodCode, "    echo \"$high\"", "    echo \"$n\" "+fault, 1), "test_clamp() {\n  [ 1 = 1 ] || fail clamp\n}\ntest_clamp\n"
	case k == 9 && i%2 == 0: // in the middle of the code
		c.kind, c.code, c.test = "cut off", goodCode[:strings.Index(goodCode, "  elif")]+fault+"\n", ""
	case k == 9: // before the test was written
		c.kind, c.test = "test missing", ""
	}
	return c
}

// write makes the files of the change, or the right ones.
func (c change) write(dir string, right bool) error {
	code, test, old := c.code, c.test, tested
	start := before
	if right {
		code, test = goodCode, goodTest
	} else if c.weakens {
		start = strings.Replace(before, "echo -1", "echo 1", 1)
		old = strings.Replace(tested, "  [ \"$(sign -3)\" = -1 ] || fail negative\n", "", 1)
		start = strings.Replace(start, "sign() {", "sign() { "+fault, 1)
	}
	if c.kind == "test missing" && !right {
		code = strings.Replace(code, "clamp() {", "clamp() { "+fault, 1)
	}
	err := os.WriteFile(filepath.Join(dir, "calc.sh"), []byte(start+code), 0o600)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "calc_test.sh"), []byte(old+test), 0o600)
	}
	return err
}

// looks is how many places of a prompt show the fault, and whether a check fails, under a setting.
func (c change) looks(s setting) (places int, red bool) {
	if c.kind == "right" {
		return 0, false
	}
	places = 1
	if s.noDiff && c.commits {
		places = 0 // git diff shows nothing
	}
	if c.kind == "test weakened" && !s.noTamper {
		places++
	}
	if (c.kind == "test empty" || c.kind == "test missing") && !s.noWitness && !s.noChecks {
		places++
	}
	var n int
	_, _ = fmt.Sscanf(c.kind, "mutated %d", &n)
	red = !s.noChecks && (n >= 1 && n <= 6 || c.kind == "cut off")
	return places, red
}

// draw is a number from 0 to 1 that depends on nothing but its name.
func (c change) draw(what string, round, ask int) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %d %d", c.i, what, round, ask))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// A game is one change in the loop.
type game struct {
	change
	setting
	tree  string
	right bool // the work is, by now
	cost  float64
	asked int
}

type player struct {
	*game
	of func(*game, agent.Request) string
}

// Run implements [agent.Player].
func (p player) Run(_ context.Context, r agent.Request) (agent.Reply, error) {
	text := p.of(p.game, r)
	turn := loop.Turn{ID: r.ID, Try: loop.Try{Agent: loop.AgentRef{Agent: scripted.Name}, Ending: loop.EndCompleted}}
	turn.Stdout = loop.Output{Text: text, Total: int64(len(text))}
	return agent.Reply{Turn: turn, Text: text}, nil
}

// acts is the actor's turn: the first makes the change, each later one may mend it.
func (g *game) acts(r agent.Request) string {
	g.cost += act
	if r.Iteration > 1 && g.draw("mend", r.Iteration, 0) < mends && strings.Contains(r.Prompt, "not finished") {
		g.right = true
	}
	if err := g.write(g.tree, g.right); err != nil {
		return err.Error()
	}
	if g.commits {
		_ = git(g.tree, "add", "-A")
		_ = git(g.tree, "commit", "-q", "--allow-empty", "-m", "work")
	}
	return "I have added clamp and a test, and everything passes."
}

var seal = regexp.MustCompile(`SEAL: (\S+)`)

// judges is the critic's turn.
func (g *game) judges(r agent.Request) string {
	g.cost += judge
	g.asked++
	if g.draw("garble", r.Iteration, r.Ask) < garbles {
		return "Hm."
	}
	seals := seal.FindAllStringSubmatch(r.Prompt, -1)
	s := seals[len(seals)-1][1]
	shown := r.Prompt
	if g.noDiff { // it looks at what git shows, as the actor left it
		out, _ := exec.Command("git", "-C", g.tree, "diff", "HEAD").Output()
		shown = string(out)
	}
	places := 0
	if strings.Contains(shown, fault) {
		places++
	}
	for _, said := range []string{"tests have fewer assertions", "none: the new tests pass on the code as it was", "none: no file with tests was added"} {
		if strings.Contains(r.Prompt, said) {
			places++
		}
	}
	notices := g.draw("alarm", r.Iteration, 0) >= g.trusts || strings.Contains(r.Prompt, ", failed]")
	for i := range places {
		notices = notices || g.draw("look", r.Iteration, i) < g.sees
	}
	if notices {
		return "DECISION: CONTINUE\nFEEDBACK: MUST: it is not finished\nSEAL: " + s
	}
	return "DECISION: DONE\nSUMMARY: it is done\nF1: settled\nSEAL: " + s
}

func git(dir string, args ...string) error {
	return exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgSign=false"}, args...)...).Run()
}

// A Game is what came of one.
type Game struct {
	Done   bool    `json:"done"`
	Right  bool    `json:"right"`
	Rounds int     `json:"rounds"`
	Cost   float64 `json:"cost"`
}

// play plays a change in the loop, in a repository of its own.
func play(t *testing.T, c change, s setting) Game {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tree, script := filepath.Join(dir, "tree"), filepath.Join(dir, "script.toml")
	environ := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_TEST_FSYNC=0", "CODELOOPS_SESSION_DIR=" + filepath.Join(dir, "sessions")}
	h := &host.Host{Environ: environ, Dir: tree, Now: time.Now, Secrets: redact.New(environ)}
	err = cmp.Or(os.Mkdir(tree, 0o700), os.WriteFile(script, []byte("[[critic]]\n"), 0o600), git(tree, "init", "-q"),
		os.WriteFile(filepath.Join(tree, "calc.sh"), []byte(before), 0o600), os.WriteFile(filepath.Join(tree, "calc_test.sh"), []byte(tested), 0o600),
		git(tree, "add", "-A"), git(tree, "commit", "-q", "-m", "start"))
	if err != nil {
		t.Fatal(err)
	}
	flags := []loop.Flag{{Name: "agent", Values: []string{scripted.Name}}, {Name: "script", Values: []string{script}}, {Name: "max-iterations", Values: []string{strconv.Itoa(rounds)}}}
	if !s.noChecks {
		flags = append(flags, loop.Flag{Name: "check", Values: []string{"sh calc_test.sh"}})
	}
	set, err := run.NewSettings(flags)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("critic_retries = %d\nmax_consecutive_errors = %d\n[convergence]\nwarn_after = 0\nstop_after = 0\n[policy]\ntamper = %q\nwitness = %q\n", choose(s.noRetries, 0, 2), rounds+1, choose(s.noTamper, "off", "report"), choose(s.noWitness || s.noChecks, "off", "report"))
	g := &game{change: c, setting: s, tree: tree, right: c.kind == "right"}
	p, err := run.Prepare(t.Context(), run.Options{
		Host: h, Prompt: "Add a function clamp LOW N HIGH to calc.sh, with a test.", Settings: set, User: run.User{Alone: true},
		Project: &config.ProjectFile{Path: "codeloops.toml", Text: text, Trusted: true},
		Around: func(of crew.TurnInfo, _ agent.Player) agent.Player {
			if of.Role == loop.RoleActor {
				return player{g, (*game).acts}
			}
			return player{g, (*game).judges}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return Game{Done: out.Result == loop.Success, Right: g.right, Rounds: out.Iterations, Cost: math.Round(g.cost*10) / 10}
}

func choose[T any](is bool, yes, no T) T {
	if is {
		return yes
	}
	return no
}

// expected is what the arithmetic says of a change under a setting: the chances of a false DONE and of good work that is
// not approved, the rounds and the cost.
func expected(c change, s setting) (falseDone, rejected, turns, cost float64) {
	places, red := c.looks(s)
	bad, good := 1.0, 0.0
	if c.kind == "right" {
		bad, good = 0, 1
	}
	none, asks := garbles, 1.0 // the chance of no verdict, and how often a critic is asked
	if !s.noRetries {
		none, asks = garbles*garbles*garbles, 1+garbles+garbles*garbles
	}
	passes := math.Pow(1-s.sees, float64(places)) * s.trusts
	if red {
		passes = 0
	}
	for round := range rounds {
		here := bad + good
		turns += here
		cost += here * (act + judge*asks)
		falseDone += bad * (1 - none) * passes
		sent := bad * (1 - none) * (1 - passes) // sent back
		good = good*none + good*(1-none)*(1-s.trusts)
		if round < rounds-1 {
			bad, good = bad*none+sent*(1-mends), good+sent*mends
		} else {
			bad = bad*none + sent
		}
	}
	return falseDone, good, turns, cost
}

const figures = "testdata/study.json"

// TestStudy plays the changes, all of them with -update and otherwise some, and finds what was found before.
func TestStudy(t *testing.T) {
	t.Parallel()
	known := map[string][]Game{}
	step := 1
	if !*update {
		if step = 29; testing.Short() { // no divisor of 15: all kinds come
			step = 97
		}
		text, err := os.ReadFile(figures)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &known); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range settings() {
		games := make([]Game, changes)
		slots := make(chan struct{}, 3)
		var all sync.WaitGroup
		for i := 0; i < changes; i += step {
			slots <- struct{}{}
			all.Go(func() {
				defer func() { <-slots }()
				games[i] = play(t, changeOf(i), s)
				if !*update && games[i] != known[s.Name][i] {
					t.Errorf("%s, change %d (%s): %+v, but %+v in %s", s.Name, i, changeOf(i).kind, games[i], known[s.Name][i], figures)
				}
			})
		}
		all.Wait()
		if *update {
			known[s.Name] = games
		}
	}
	if *update && !t.Failed() {
		text, err := json.Marshal(known)
		if err == nil {
			err = cmp.Or(os.MkdirAll("testdata", 0o700), os.WriteFile(figures, append(text, '\n'), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	page(t, known)
}

// page compares the table in docs/eval.md with the figures, and each figure with the arithmetic.
func page(t *testing.T, known map[string][]Game) {
	t.Helper()
	var b strings.Builder
	b.WriteString("| | false DONE | expected | good work not approved | expected | rounds | expected | cost | expected |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range settings() {
		var falseDone, rejected eval.Rate
		var turns, cost, f, j, n, k float64
		for i, g := range known[s.Name] {
			falseDone.Count(g.Done && !g.Right)
			rejected.Count(!g.Done && g.Right)
			turns, cost = turns+float64(g.Rounds), cost+g.Cost
			ef, er, et, ec := expected(changeOf(i), s)
			f, j, n, k = f+ef, j+er, n+et, k+ec
		}
		falseDone.Close()
		rejected.Close()
		f, j, n, k, turns, cost = f/changes, j/changes, n/changes, k/changes, turns/changes, cost/changes
		for what, pair := range map[string][2]float64{"rounds": {turns, n}, "cost": {cost, k}} {
			if math.Abs(pair[0]-pair[1]) > 0.1*pair[1] {
				t.Errorf("%s: %s are %.2f, and %.2f by the arithmetic", s.Name, what, pair[0], pair[1])
			}
		}
		for what, r := range map[string]struct {
			eval.Rate
			by float64
		}{"false DONE": {falseDone, f}, "rejected": {rejected, j}} {
			if low, high := eval.Wilson(r.K, r.N); r.by < low-0.005 || r.by > high+0.005 {
				t.Errorf("%s: %s is %v, and %.3f by the arithmetic", s.Name, what, r.Rate, r.by)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %.1f%% | %s | %.1f%% | %.2f | %.2f | %.2f | %.2f |\n", s.Name, falseDone, 100*f, rejected, 100*j, turns, n, cost, k)
	}
	const name, begin, end = "../../../docs/eval.md", "<!-- figures of the study -->\n", "<!-- end -->"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), begin)
	table, tail, ok := strings.Cut(rest, end)
	switch {
	case !ok:
		t.Fatalf("%s has no place for the figures", name)
	case *update:
		if err := os.WriteFile(name, []byte(head+begin+b.String()+end+tail), 0o600); err != nil {
			t.Fatal(err)
		}
	case table != b.String():
		t.Errorf("the figures in %s are not those of %s: -update writes them", name, figures)
	}
}

// TestKinds: the changes are of all kinds, and what the arithmetic takes for a red check is one.
func TestKinds(t *testing.T) {
	t.Parallel()
	n := map[string]int{}
	for i := range changes {
		n[changeOf(i).kind]++
	}
	var all []string
	for kind, times := range n {
		all = append(all, fmt.Sprintf("%s %d", kind, times))
	}
	slices.Sort(all)
	if got, want := strings.Join(all, ", "), "cut off 10, mutated 1 20, mutated 2 20, mutated 3 20, mutated 4 20, mutated 5 20, mutated 6 20, mutated 7 20, mutated 8 20, right 100, test empty 10, test missing 10, test weakened 10"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for i := range 30 {
		c, dir := changeOf(i), t.TempDir()
		if err := c.write(dir, false); err != nil {
			t.Fatal(err)
		}
		check := exec.Command("sh", "calc_test.sh")
		check.Dir = dir
		_, red := c.looks(setting{})
		if failed := check.Run() != nil; failed != red {
			t.Errorf("change %d, %s: the check fails is %t", i, c.kind, failed)
		}
	}
}
