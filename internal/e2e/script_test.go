package e2e

import (
	"regexp"
	"strconv"
	"strings"

	"codeloops/internal/e2e/model"
)

// A turn is a request to a model during a turn of a loop.
type turn struct {
	model.Request
	critic    bool
	iteration int
	prompt    string   // of codeloops, as it arrived
	results   []string // the results of the tools used so far
}

// The beginnings of codeloops' prompts.
const (
	actorMark  = "You are working in the git repository that is your working directory."
	criticMark = "You are the critic in a loop."
)

var (
	iterationMark = regexp.MustCompile(`This is iteration (\d+)`)
	sealMark      = regexp.MustCompile(`(?m)^SEAL: (\S+)$`)
)

// turns creates a script from a function that answers in turns. Agents also ask for other things: a
// title for the conversation, which of two models to take, what to remember. A request without a
// shell or without a prompt of codeloops is such a thing. A decision that was not cut off gets the
// seal of its prompt.
func turns(play func(turn) model.Answer) model.Script {
	return asked([]string{actorMark, criticMark}, play)
}

// asked does the same for prompts that contain one of the marks.
func asked(marks []string, play func(turn) model.Answer) model.Script {
	return func(r model.Request) model.Answer {
		t := turn{Request: r}
		var ok bool
		t.prompt, t.results, ok = r.Last(marks...)
		_, shell := r.Run("true")
		if !ok || !shell || aside(r) {
			return sideAnswer(r)
		}
		t.critic = strings.Contains(t.prompt, criticMark)
		if m := iterationMark.FindStringSubmatch(t.prompt); m != nil {
			t.iteration, _ = strconv.Atoi(m[1])
		}
		a := play(t)
		if m := sealMark.FindStringSubmatch(t.prompt); m != nil && a.Stop == "" && strings.Contains(a.Text, "DECISION:") {
			a.Text = strings.TrimRight(a.Text, "\n") + "\nSEAL: " + m[1] + "\n"
		}
		return a
	}
}

// count returns how many of the user's texts contain a mark.
func (t turn) count(mark string) int {
	n := 0
	for _, item := range t.Items {
		if item.By == model.User {
			n += strings.Count(item.Text, mark)
		}
	}
	return n
}

// aside recognizes an agent's own question about the conversation.
func aside(r model.Request) bool {
	for _, item := range r.Items {
		if item.By == model.System && strings.Contains(item.Text, "memory extraction") {
			return true
		}
	}
	return false
}

// sideAnswer fits all of them.
func sideAnswer(r model.Request) model.Answer {
	if r.Wire == model.Gemini && r.Schema {
		return model.Answer{Text: `{"reasoning":"scripted","complexity_reasoning":"scripted","complexity_score":10,"model_choice":"flash"}`}
	}
	return model.Answer{Text: "Scripted"}
}

// use returns an answer that uses a tool; ok comes from the request.
func use(c model.Call, ok bool) model.Answer {
	if !ok {
		return model.Answer{Text: "the agent offers no such tool"}
	}
	return model.Answer{Text: "I use " + c.Tool + ".", Call: &c}
}

// writes creates a file with the agent's own tool, or with its shell if it has none.
func (t turn) writes(path, text string) model.Answer {
	if call, ok := t.Write(path, text); ok {
		return use(call, true)
	}
	return use(t.Run("printf '%s' " + quoted(text) + " > " + quoted(path)))
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

const (
	done     = "It works.\n\nDECISION: DONE\nSUMMARY: the greeting is whole\nF1: settled\nCONFIDENCE: 0.9\n"
	goOn     = "It does not work yet.\n\nDECISION: CONTINUE\nFEEDBACK: greet the world\n"
	greeting = "greeting.txt"
)
