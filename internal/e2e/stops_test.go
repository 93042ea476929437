package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
)

// TestStops: a critic's answer that is cut off within a DONE, by its token limit or by the service,
// is no verdict, whatever the agent does with it.
func TestStops(t *testing.T) {
	t.Parallel()
	for _, stop := range []model.Stop{model.StopLength, model.StopFilter} {
		t.Run(string(stop), func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, c cli) {
				switch {
				case c.name == "droid" && stop == model.StopLength:
					t.Skip("the agent keeps asking for the rest, however often that is cut off, too")
				case slices.Contains(silent(stop), c.name):
					t.Skip("the agent does not report it")
				}
				s := newStage(t, c, turns(func(q turn) model.Answer {
					if !q.critic {
						return model.Answer{Text: "I have greeted the world."}
					}
					return model.Answer{Text: done, Stop: stop}
				}))
				s.conf = "max_consecutive_errors = 1\ncritic_retries = 0\n"
				e := s.start("--no-wait", "-n", "1", "greet the world").wait()
				if len(e.critic) != 1 || e.code == 0 || e.critic[0].Ending == loop.EndCompleted {
					t.Fatalf("exit code %d, %+v, the critic %+v", e.code, e.result, e.critic)
				}
				table.notef(c.name, "stop: "+string(stop), "%s", e.critic[0].Ending)
				table.notef(c.name, "stop's reason: "+string(stop), "%.60s", e.critic[0].Reason)
			})
		})
	}
}

// silent lists the agents whose output never shows a stop; docs/limits.md names them.
func silent(stop model.Stop) []string {
	if stop == model.StopFilter {
		return []string{"cn", "copilot", "gemini", "qwen", "cline"}
	}
	return []string{"cn", "copilot", "gemini", "qwen"}
}

// TestLongWords: both models write more than a pipe can hold, right before the agents exit, and all
// of it arrives.
func TestLongWords(t *testing.T) {
	t.Parallel()
	long := words(400_000)
	each(t, func(t *testing.T, c cli) {
		s := newStage(t, c, turns(func(q turn) model.Answer {
			if q.critic {
				return model.Answer{Text: long + "\n\n" + done}
			}
			return model.Answer{Text: long + "The end."}
		}))
		s.conf = "critic_retries = 0\n"
		e := s.start("--no-wait", "-n", "1", "greet the world").wait()
		if e.code != 0 || len(e.actor) != 1 || len(e.critic) != 1 {
			t.Fatalf("exit code %d, %+v\nactor %+v\ncritic %+v", e.code, e.result, ended(e.actor), ended(e.critic))
		}
		for role, turn := range map[string]loop.Turn{"actor": e.actor[0], "critic": e.critic[0]} {
			if turn.Stdout.Total < int64(len(long)) {
				t.Errorf("the %s wrote %d bytes, want %d", role, turn.Stdout.Total, len(long))
			}
		}
		table.notef(c.name, "long words", "%d bytes", e.critic[0].Stdout.Total)
	})
}

// words returns n bytes of text without repetitions: several agents look for models that loop.
func words(size int) string {
	var b strings.Builder
	random := rand.New(rand.NewPCG(1, uint64(size)))
	for b.Len() < size {
		fmt.Fprintf(&b, "%s %x%s", []string{"It", "They", "Some", "All"}[random.IntN(4)], random.Uint64(), []string{" ", ". ", ".\n"}[random.IntN(3)])
	}
	return b.String()
}

// ended returns how turns ended.
func ended(turns []loop.Turn) (all []string) {
	for _, t := range turns {
		all = append(all, string(t.Ending)+": "+t.Reason)
	}
	return all
}
