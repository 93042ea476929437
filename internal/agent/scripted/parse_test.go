package scripted

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
)

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := parse("s.toml", []byte(`
repeat = false

[[actor]]
say = "done"
complain = "hm"
exit = 3
expect = ["a", "b"]
step = [
  { write = "a/b", content = "x", mode = "755" },
  { append = "c" },
  { delete = "d" }, { rename = "e", to = "f" }, { chmod = "g", mode = "000" },
  { symlink = "h", target = "../i" }, { mkdir = "j" },
]

[[actor]]
stdin = "close"
  [[actor.step]]
  run = "ls"
  hide = true
  prompt = true
  own_session = true
  [[actor.step]]
  spawn = "sleep 1"
  hold_output = true
  [[actor.step]]
  commit = "message"

[[critic]]
check = "true"
pass = "yes"
fail = "no"
step = [
  { ignore_term = true }, { say = "s" }, { complain = "c" }, { flood = "2KB", one_line = true, to = "stderr" },
  { sleep = "50ms" }, { wait_for = "w" }, { hang = true },
]
  [[critic.again]]
  say = "sorry"
`))
	if err != nil {
		t.Fatal(err)
	}
	var steps []int
	for _, role := range []loop.Role{loop.RoleActor, loop.RoleCritic} {
		for i, u := range got.roles[role] {
			steps = append(steps, len(u.steps))
			got.roles[role][i].steps = nil // what they do is played in other tests
		}
	}
	if want := []int{7, 3, 7}; !slices.Equal(steps, want) {
		t.Errorf("the turns have %d steps, want %d", steps, want)
	}
	want := scenario{roles: map[loop.Role][]turn{
		loop.RoleActor: {
			{stdin: "read", expect: []string{"a", "b"}, reply: reply{say: "done"}, complain: "hm", exit: 3},
			{stdin: "close"},
		},
		loop.RoleCritic: {{
			stdin: "read", reply: reply{check: "true", pass: "yes", fail: "no"},
			again: []turn{{stdin: "read", reply: reply{say: "sorry"}}},
		}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ in, want string }{
		{"a = ", "s.toml:1: "},
		{"\n\nactr = []", `s.toml:3: a scenario has no key "actr"; its keys are repeat, actor, critic`},
		{"repeat = 1", "s.toml:1: repeat must be true or false"},
		{"actor = 1", "s.toml:1: actor must be an array of tables"},
		{"actor = [1]", "s.toml:1: actor must be an array of tables"},
		{"[actor]", "s.toml:1: actor must be an array of tables"},
		{"[[actor]]\nsay = 'a'\n[[actor]]\n\nsay = 1", "s.toml:5: say must be a string"},
		{"[[actor]]\nexit = 256", "s.toml:2: exit must be a number from 0 to 255"},
		{"[[actor]]\nexit = 1.5", "s.toml:2: exit must be a number"},
		{"[[actor]]\nexpect = 'a'", "s.toml:2: expect must be an array of strings"},
		{"[[actor]]\nexpect = ['a', 1]", "s.toml:2: expect must be an array of strings"},
		{"[[actor]]\nstdin = 'shut'", `s.toml:2: stdin must be "read", "close" or "ignore", not "shut"`},
		{"[[actor]]\nstdin = 'close'\nexpect = ['a']", `s.toml:3: expect needs the prompt`},
		{"[[critic]]\n\npass = 'a'", "s.toml:3: pass needs a check that chooses it"},
		{"[[critic]]\npass = 'a'\nfail = 'b'\ncheck = 'c'\nsay = 'd'", "s.toml:5: a turn has either say, or check"},
		{"[[critic]]\npass = 'a'\ncheck = 'c'", "s.toml:3: check needs both pass and fail"},
		{"[[critic]]\n[[critic.again]]\n[[critic.again.again]]", `s.toml:3: a turn that is asked again has no key "again"`},
		{"[[actor]]\nstep = [\n  { write = 'a' },\n  { wrte = 'b' },\n]", "s.toml:4: a step needs one of write, append, "},
		{"[[actor]]\nstep = [{ write = 'a' }, {\nwrite = 'b',\nhide = true }]", `s.toml:4: a write step has no key "hide"; its keys are write, content, mode`},
		{"[[actor]]\n[[actor.step]]\nwrite = 'a'\nrun = 'b'", "s.toml:4: a step does one thing: either write or run"},
		{"[[actor]]\nstep = [{ rename = 'a' }]", `s.toml:2: the step needs "to" as well`},
		{"[[actor]]\nstep = [{ write = '/etc/passwd' }]", `s.toml:2: write must be a path inside the working directory, not "/etc/passwd"`},
		{"[[actor]]\nstep = [{ rename = 'a', to = 'b/../../c' }]", `s.toml:2: to must be a path inside the working directory`},
		{"[[actor]]\nstep = [{ write = '' }]", `s.toml:2: write must be a path inside the working directory, not ""`},
		{"[[actor]]\nstep = [{ chmod = 'a', mode = '4755' }]", `s.toml:2: mode must be permission bits`},
		{"[[actor]]\nstep = [{ sleep = '5' }]", `s.toml:2: sleep must be a duration`},
		{"[[actor]]\nstep = [{ sleep = '-5s' }]", `s.toml:2: sleep must be a duration`},
		{"[[actor]]\nstep = [{ flood = 'MB' }]", `s.toml:2: flood must be a size`},
		{"[[actor]]\nstep = [{ flood = '9999999999GB' }]", `s.toml:2: flood must be a size`},
		{"[[actor]]\nstep = [{ flood = '1', to = 'tty' }]", `s.toml:2: to must be "stdout" or "stderr"`},
		{"[[actor]]\nstep = [{ hang = false }]", `s.toml:2: hang can only be true`},
		{"[[critic]]\nsay = 1\n[[actor]]\nsay = 2", "s.toml:2: say must be a string"},
		{strings.Repeat("#", maxScenario+1), "s.toml: larger than"},
		{"a = " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), `s.toml:1: a scenario has no key "a"`},
	} {
		_, err := parse("s.toml", []byte(test.in))
		problem, ok := errors.AsType[*ParseError](err)
		if !ok || !strings.HasPrefix(problem.Error(), test.want) {
			t.Errorf("%.80q:\n got %v\nwant %s…", test.in, err, test.want)
		}
	}
}

// TestLines: the line of each table, step and value is found in any TOML syntax.
func TestLines(t *testing.T) {
	t.Parallel()
	got := lines(`# [[comment]]
top = 1 # a = b
"quoted" = """
[[inside]]
say = "\""
""""
[table]
a.b = 'x'

[[actor]]
say = '''
[[actor]]'''
step = [ # {
  { write = "a", content = "}" }, { run = 'b' },

  {
    sleep = "1s", } ]
[[actor]]
[[actor.step]]
hang = true
[[actor.step]]
[actor.deep]
n = [[1], [2,
3]]
`)
	want := map[string]int{
		"actor": 10, "actor[1].step": 19,
		"top": 2, "quoted": 3, "table": 7, "table.a.b": 8,
		"actor[0]": 10, "actor[0].say": 11, "actor[0].step": 13,
		"actor[0].step[0]": 14, "actor[0].step[0].write": 14, "actor[0].step[0].content": 14,
		"actor[0].step[1]": 14, "actor[0].step[1].run": 14,
		"actor[0].step[2]": 16, "actor[0].step[2].sleep": 17,
		"actor[1]": 18, "actor[1].step[0]": 19, "actor[1].step[0].hang": 20, "actor[1].step[1]": 21,
		"actor[1].deep": 22, "actor[1].deep.n": 23, "actor[1].deep.n[0]": 23, "actor[1].deep.n[0][0]": 23,
		"actor[1].deep.n[1]": 23, "actor[1].deep.n[1][0]": 23, "actor[1].deep.n[1][1]": 24,
	}
	if !reflect.DeepEqual(got, want) {
		for path, line := range want {
			if got[path] != line {
				t.Errorf("%s: line %d, want %d", path, got[path], line)
			}
			delete(got, path)
		}
		t.Errorf("too many: %v", got)
	}
}

func TestTurnSelection(t *testing.T) {
	t.Parallel()
	said := func(s ...string) (turns []turn) {
		for _, text := range s {
			turns = append(turns, turn{reply: reply{say: text}})
		}
		return turns
	}
	asked := turn{reply: reply{say: "c1"}, again: said("again 1", "again 2")}
	s := scenario{repeat: true, roles: map[loop.Role][]turn{loop.RoleActor: said("a1", "a2"), loop.RoleCritic: {asked, {reply: reply{say: "c2"}}}, "planner": said("p1", "p2")}}
	once := s
	once.repeat = false
	for _, test := range []struct {
		s              scenario
		role           loop.Role
		iteration, ask int
		want           string
	}{
		{s, loop.RoleActor, 1, 0, "a1"},
		{s, loop.RoleActor, 2, 0, "a2"},
		{s, loop.RoleActor, 9, 0, "a2"},
		{s, loop.RoleCritic, 1, 0, "c1"},
		{s, loop.RoleCritic, 1, 1, "again 1"},
		{s, loop.RoleCritic, 1, 2, "again 2"},
		{s, loop.RoleCritic, 1, 3, "again 2"},
		{s, loop.RoleCritic, 2, 1, "c2"},
		{s, "planner", 1, 0, "p1"},
		{s, "planner", 1, 1, "p2"},
		{once, loop.RoleActor, 2, 0, "a2"},
		{once, loop.RoleActor, 3, 0, "the scenario has no turn 3 for the actor"},
		{once, loop.RoleCritic, 1, 3, "turn 1 of the critic in the scenario cannot be asked again 3 times"},
		{scenario{repeat: true}, loop.RoleCritic, 1, 0, "the scenario has no turn 1 for the critic"},
	} {
		got, err := test.s.turn(test.role, test.iteration, test.iteration+test.ask, test.ask)
		if err != nil {
			got.say = err.Error()
		}
		if got.say != test.want {
			t.Errorf("%s %d, ask %d: got %q, want %q", test.role, test.iteration, test.ask, got.say, test.want)
		}
	}
}

// Any file is either a scenario, or an error that names a line of it.
func FuzzParse(f *testing.F) {
	demo, err := os.ReadFile(demoScript)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(demo)
	for _, block := range documentedScenarios(f) {
		f.Add([]byte(block))
	}
	f.Add([]byte("[[actor]]\nstep = [{ write = 'a' }, {\nwrite = 'b',\nhide = true }]"))
	f.Add([]byte("a.\"b\" . c = [[1, {d = '''x'''}], []]\n[[e.f]]\n[e.f.g]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parse("s.toml", data)
		if err == nil {
			for i := range s.roles[loop.RoleActor] {
				if _, err := s.turn(loop.RoleActor, i+1, i+1, 0); err != nil {
					t.Error(err)
				}
			}
			return
		}
		problem, ok := errors.AsType[*ParseError](err)
		if !ok || problem.Problem == "" || problem.Line < 0 || problem.Line > strings.Count(string(data), "\n")+1 {
			t.Errorf("%q: %v", data, err)
		}
	})
}

func TestParseFaults(t *testing.T) {
	t.Parallel()
	got, err := parse("s.toml", []byte(`
[[actor]]
fault = "rate_limited"
reason = "slow down"
reset_after = "90s"
usage = { input = 5, output = 6, cache_read = 7, cost = 1 }
[[actor]]
fault = "auth"
usage = { cost = 0.25 }
`))
	want := []turn{
		{
			stdin: "read", fault: fault{"rate_limited", "slow down", 90 * time.Second},
			usage: &usage{Input: 5, Output: 6, CacheRead: 7, Cost: 1, Priced: true},
		},
		{stdin: "read", fault: fault{kind: "auth", reason: "scripted fault: auth"}, usage: &usage{Cost: 0.25, Priced: true}},
	}
	if err != nil || !reflect.DeepEqual(got.roles[loop.RoleActor], want) {
		t.Errorf("got %+v, %v", got.roles[loop.RoleActor], err)
	}
	for in, want := range map[string]string{
		"[[actor]]\nfault = 'bad'":                           "s.toml:2: fault must be one of auth, ",
		"[[actor]]\nreason = 'x'":                            "s.toml:2: reason needs a fault",
		"[[actor]]\nfault = 'auth'\nreset_after = '1s'":      "s.toml:3: reset_after needs fault",
		"[[actor]]\nusage = 5":                               "s.toml:2: usage must be a table",
		"[[actor]]\nusage = { cost = -1 }":                   "s.toml:2: cost must be a number",
		"[[actor]]\nusage = { cost = nan }":                  "s.toml:2: cost must be a number",
		"[[actor]]\nusage = { input = 'a' }":                 "s.toml:2: input must be a number",
		"[[actor]]\nusage = { tokens = 1 }":                  `s.toml:2: usage has no key "tokens"`,
		"[[actor]]\nfault = 'rate_limited'\nreset_after = 1": "s.toml:3: reset_after must be a string",
	} {
		_, err := parse("s.toml", []byte(in))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}
