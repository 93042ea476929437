// Package standing describes where a run stands, in a document for other processes: what is
// under way and since when, what was spent, what was requested.
package standing

import (
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

// A Standing is where a run stands at one moment. Its texts are as users and agents wrote
// them: they must be cleaned before they are shown.
type Standing struct {
	Session  string    `json:"session"`
	PID      int       `json:"pid"` // of codeloops
	WorkTree string    `json:"work_tree"`
	Log      string    `json:"log"`
	Prompt   string    `json:"prompt"`   // its first line
	Strategy string    `json:"strategy"` // "": that of an actor and a critic
	Began    time.Time `json:"began"`    // the run, which may have resumed an earlier one
	Now      Now       `json:"now"`
	Change   Diffstat  `json:"change"`
	Spent    Spent     `json:"spent"`
	Limits   Limits    `json:"limits"`
	Asked    Asked     `json:"asked"`
}

// A Now is what is under way.
type Now struct {
	Iteration int       `json:"iteration"` // 0: none
	Phase     string    `json:"phase"`     // a [loop.State]
	Since     time.Time `json:"since"`     // of the phase
	Paused    bool      `json:"paused"`
	Question  string    `json:"question,omitempty"` // that waits for the user's answer
	Turns     []Turn    `json:"turns"`              // in the order in which they began
}

// A Turn is a turn of an agent.
type Turn struct {
	Role    string    `json:"role"`
	Agent   string    `json:"agent"`
	Model   string    `json:"model"`
	Began   time.Time `json:"began"`
	Does    string    `json:"does"` // a [loop.NoticeKind]; "": unknown yet
	What    string    `json:"what"`
	Waiting time.Time `json:"waiting_until,omitzero"` // for a service
}

// A Diffstat is the size of what has changed since the session began, as of the last capture.
type Diffstat struct {
	Files      int `json:"files"`
	Insertions int `json:"insertions"`
	Deletions  int `json:"deletions"`
}

// A Spent is what the turns so far have cost.
type Spent struct {
	Tokens  int64   `json:"tokens"`
	CostUSD float64 `json:"cost_usd"`
}

// Limits are those of the run; 0 is none.
type Limits struct {
	Iterations   int     `json:"iterations"`
	Tokens       int64   `json:"tokens"`
	CostUSD      float64 `json:"cost_usd"`
	DurationSecs float64 `json:"duration_secs"`
	TurnSecs     float64 `json:"turn_secs"` // of the actor
}

// Asked is what users have asked for that has not taken effect yet.
type Asked struct {
	Stop  bool `json:"stop"`
	Pause bool `json:"pause"`
	Words int  `json:"words"` // number of texts that the actor has not got yet
}

// Role is the role of the agent that is at work, "" if none is.
func (n Now) Role() string {
	if len(n.Turns) == 0 {
		return ""
	}
	return n.Turns[len(n.Turns)-1].Role
}

const (
	mostPrompt = 300 // bytes
	mostWhat   = 300
)

// from fills in what the state tells.
func (s *Standing) from(state *progress.State, acts map[loop.Step]loop.Notice) {
	if of := state.Session; of.ID != "" {
		s.Session, s.Strategy = of.ID, of.Strategy.Name
		s.Prompt = Title(of.Prompt)
		s.Limits.Iterations = of.MaxIterations
	}
	open := state.Open
	s.Now = Now{Iteration: open.Number, Since: open.Since, Paused: state.Paused, Turns: []Turn{}}
	if open.Phase != loop.Start {
		s.Now.Phase = open.Phase.String()
	}
	for _, step := range state.Steps {
		if step.Role == "" || step.Over {
			continue
		}
		t := Turn{Role: string(step.Role), Agent: step.Agent.Agent, Model: step.Agent.Model, Began: step.Began}
		if step.Waiting != nil {
			t.Waiting = step.Waiting.Until
		}
		if act, ok := acts[step.Path]; ok {
			t.Does, t.What = string(act.Kind), act.Text
		}
		s.Now.Turns = append(s.Now.Turns, t)
	}
	total := state.Spent.Total()
	s.Spent = Spent{Tokens: total.Tokens, CostUSD: total.CostUSD}
	s.Change = Diffstat{Files: state.FilesChanged, Insertions: state.Insertions, Deletions: state.Deletions}
}

// Title is the beginning of a prompt.
func Title(prompt string) string { return cut(firstLine(prompt), mostPrompt) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// lastLine returns the last line that is not blank.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// cut returns the beginning of a text, without a partial character at its end.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
